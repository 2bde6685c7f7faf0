//! `Idempotency-Key`: one key, one notification, one send.
use crate::world::{Plan, World};
use futures_util::future::join_all;
use serde_json::json;

#[tokio::test]
async fn nt_48_nt_49_nt_50_a_kept_answer_is_replayed_with_its_ids() {
    let world = World::ordinary().await;
    let body = json!({ "message": "once", "channel": "telegram" });
    let key = [("idempotency-key", "k-1")];
    let first = world.post_with("/api/notifications", &body, &world.admin, &key).await;
    assert_eq!(first.status, 202);
    assert_eq!(first.header("idempotency-replayed"), None);
    let again = [("idempotency-key", "k-1"), ("prefer", "wait=5"), ("traceparent", "junk")];
    let second = world.post_with("/api/notifications", &body, &world.admin, &again).await;
    assert_eq!(second.status, 202);
    assert_eq!(second.text, first.text);
    assert_eq!(second.header("idempotency-replayed"), Some("true"));
    let other = json!({ "message": "another", "channel": "telegram" });
    let conflict = world.post_with("/api/notifications", &other, &world.admin, &key).await;
    assert_eq!((conflict.status, conflict.code().as_str()), (409, "idempotency_conflict"));
    let theirs = world
        .post_with("/api/notifications", &json!({ "message": "once" }), &world.owned, &key)
        .await;
    assert_eq!(theirs.status, 201, "another identity's key is another key");
    world.stop().await;
}

#[tokio::test]
async fn a_refusal_keeps_nothing_under_its_key() {
    let world = World::ordinary().await;
    let key = [("idempotency-key", "k-2")];
    let bad =
        world.post_with("/api/notifications", &json!({ "message": "" }), &world.admin, &key).await;
    assert_eq!(bad.status, 400);
    let good =
        world.post_with("/api/notifications", &json!({ "message": "x" }), &world.admin, &key).await;
    assert_eq!(good.status, 201);
    world.stop().await;
}

#[tokio::test]
async fn nt_68_twins_at_once_share_one_notification_and_one_send() {
    let world = World::ordinary().await;
    let body = json!({ "message": "twins", "channel": "telegram" });
    let calls = (0..24).map(|i| {
        let (world, body) = (&world, &body);
        async move {
            let mut headers = vec![("idempotency-key", "twin")];
            if i % 2 == 0 {
                headers.push(("prefer", "wait=10"));
            }
            world.post_with("/api/notifications", body, &world.admin, &headers).await
        }
    });
    let answers = join_all(calls).await;
    let first = answers[0].json();
    for answer in &answers {
        assert!(matches!(answer.status, 200 | 202), "{}", answer.text);
        assert_eq!(answer.json()["id"], first["id"]);
        assert_eq!(answer.json()["send"]["id"], first["send"]["id"]);
    }
    let path = format!("/api/sends/{}", first["send"]["id"].as_str().unwrap());
    while world.get(&path).await.json()["status"] != "sent" {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(world.received().await.len(), 1);
    let listed = world.get("/api/notifications").await.json();
    assert_eq!(listed["notifications"].as_array().unwrap().len(), 1);
    world.stop().await;
}

#[tokio::test]
async fn nt_41_a_repeat_after_a_restart_gets_the_first_ids() {
    let world = World::start(Plan::default()).await;
    let body = json!({ "message": "survives" });
    let key = [("idempotency-key", "k-3")];
    let first = world.post_with("/api/notifications", &body, &world.admin, &key).await;
    let folder = world.stop().await;
    let world = World::start(Plan { folder: Some(folder), ..Plan::default() }).await;
    let second = world.post_with("/api/notifications", &body, &world.admin, &key).await;
    assert_eq!(second.text, first.text);
    world.stop().await;
}
