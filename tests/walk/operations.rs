//! Health, readiness, metrics, channels, `OpenAPI`, a store that is down.
use crate::world::{Plan, World};
use serde_json::{Value, json};
use tidings::http::routes::ROUTES;

#[tokio::test]
async fn the_open_routes_need_no_key_and_say_what_is_wrong() {
    let world = World::ordinary().await;
    world.ready().await;
    for path in ["/healthz", "/readyz", "/openapi.json"] {
        assert_eq!(world.call("GET", path, None, &[], None).await.status, 200, "{path}");
    }
    let metrics = world.call("GET", "/metrics", None, &[], None).await;
    assert_eq!(metrics.status, 401);
    let metrics = world.get("/metrics").await;
    assert_eq!(metrics.status, 200);
    assert!(metrics.text.contains("tidings_build_info"));
    world.gateway.app.outbox.drain();
    let ready = world.call("GET", "/readyz", None, &[], None).await;
    assert_eq!(ready.status, 503);
    assert_eq!(ready.json()["ready"], false);
    world.stop().await;
}

#[tokio::test]
async fn the_openapi_document_holds_every_route_and_no_other() {
    let world = World::start(Plan::default()).await;
    let document = world.get("/openapi.json").await.json();
    let mut held: Vec<(String, String)> = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            held.push((method.to_uppercase(), path.clone()));
        }
    }
    let mut routes: Vec<(String, String)> =
        ROUTES.iter().map(|r| (r.method.to_owned(), r.template.to_owned())).collect();
    held.sort();
    routes.sort();
    assert_eq!(held, routes);
    world.stop().await;
}

#[tokio::test]
async fn the_channel_list_shows_capabilities_limits_health_and_queue() {
    let world = World::ordinary().await;
    let checked =
        world.call("POST", "/api/channels/telegram/check", Some(&world.admin), &[], None).await;
    assert_eq!(checked.json()["health"]["state"], "ok", "{}", checked.text);
    let list = world.get("/api/channels").await.json();
    let channel = &list["channels"][0];
    assert_eq!(channel["name"], "telegram");
    assert_eq!(
        channel["capabilities"]["sections"],
        json!({ "support": "degraded", "how": "grouped_buttons" })
    );
    assert_eq!(channel["capabilities"]["form"]["support"], "declined");
    assert_eq!(channel["limits"]["text"], json!({ "max": 4096, "unit": "utf16" }));
    assert_eq!(channel["recipients"], json!({ "policy": "open", "has_default": true }));
    assert_eq!(channel["receipts"], json!(["sent", "failed"]));
    assert!(!list.to_string().contains("AAAAAAAA"), "no token is shown");
    let unknown =
        world.call("POST", "/api/channels/nope/check", Some(&world.admin), &[], None).await;
    assert_eq!(unknown.code(), "unknown_channel");
    world.stop().await;
}

#[tokio::test]
async fn what_is_public_stays_public_beside_an_internal_listener() {
    let plan = Plan::default().set("listen.internal", "'127.0.0.1:0'");
    let world = World::start(plan).await;
    let internal = world.gateway.internal.unwrap();
    for path in ["/api/notifications", "/metrics", "/openapi.json"] {
        assert_eq!(world.get(path).await.status, 404, "{path}");
    }
    assert_eq!(world.get("/healthz").await.status, 200);
    let url = format!("http://{internal}/metrics");
    let metrics = world.http.get(url).send().await.unwrap();
    assert_eq!(metrics.status().as_u16(), 200, "no key is needed on the internal listener");
    world.stop().await;
}

#[tokio::test]
async fn a_full_backlog_refuses_with_a_time_to_wait() {
    let plan = Plan::default().set("delivery.lane_max", "2").with_vendors();
    let world = World::start(plan).await;
    world.script(&json!([{ "times": 100, "delay_ms": 3000 }])).await;
    let body = json!({ "message": "x", "channel": "telegram" });
    let mut codes = Vec::new();
    for _ in 0..4 {
        codes.push(world.notify(&body).await);
    }
    let last = codes.last().unwrap();
    assert_eq!((last.status, last.code().as_str()), (503, "backlog_full"));
    assert!(last.header("retry-after").is_some());
    let listed = world.get("/api/notifications").await.json();
    assert_eq!(listed["notifications"].as_array().unwrap().len(), 2, "a refusal leaves no entry");
    world.stop().await;
}

#[tokio::test]
async fn nt_41_a_store_that_is_down_is_503_and_nothing_is_sent() {
    let world = World::ordinary().await;
    // The folder of media is replaced by a file: bytes cannot be stored.
    let media = world.folder.path().join("data/media");
    let _ = std::fs::remove_dir_all(&media);
    std::fs::write(&media, b"no folder").unwrap();
    let png = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let body = json!({ "message": "x", "channel": "telegram", "media": [{ "kind": "image", "url": png }] });
    let answer = world.notify(&body).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "store_unavailable"),
        "{}",
        answer.text
    );
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert!(world.received().await.is_empty());
    let list: Value = world.get("/api/notifications").await.json();
    assert_eq!(list["notifications"], json!([]));
    world.stop().await;
}
