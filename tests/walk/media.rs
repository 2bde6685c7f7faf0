//! Media: storing, serving, using, and running out of room.
use crate::world::{Plan, World};
use serde_json::json;

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn png() -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(PNG).unwrap()
}

async fn upload(world: &World, bytes: Vec<u8>, kind: &str) -> crate::world::Answer {
    world
        .call("POST", "/api/media", Some(&world.admin), &[("content-type", kind)], Some(bytes))
        .await
}

#[tokio::test]
async fn uploads_are_sniffed_stored_and_served_with_ranges() {
    let world = World::start(Plan::default()).await;
    let stored = upload(&world, png(), "text/html").await;
    assert_eq!(stored.status, 201, "{}", stored.text);
    let row = stored.json();
    assert_eq!(row["content_type"], "image/png");
    let url = row["url"].as_str().unwrap();
    let whole = world.call("GET", url, None, &[], None).await;
    assert_eq!(whole.status, 200);
    assert_eq!(whole.header("content-type"), Some("image/png"));
    assert_eq!(whole.header("x-content-type-options"), Some("nosniff"));
    assert!(whole.header("content-security-policy").unwrap().contains("sandbox"));
    let part = world.call("GET", url, None, &[("range", "bytes=1-3")], None).await;
    assert_eq!((part.status, part.text.as_str()), (206, "PNG"));
    assert_eq!(part.header("content-range"), Some(format!("bytes 1-3/{}", png().len()).as_str()));
    let past = world.call("GET", url, None, &[("range", "bytes=9999-")], None).await;
    assert_eq!(past.status, 416);
    let head = world.call("HEAD", url, None, &[], None).await;
    assert_eq!(head.header("content-length"), Some(png().len().to_string().as_str()));
    assert_eq!(head.text, "");
    let gone = world.call("GET", &url.replace("med_", "med_A"), None, &[], None).await;
    assert_eq!((gone.status, gone.code().as_str()), (404, "not_found"));
    world.stop().await;
}

#[tokio::test]
async fn one_multipart_file_is_taken_and_what_is_no_medium_is_refused() {
    let world = World::start(Plan::default()).await;
    let form = |files: usize| {
        let mut body = Vec::new();
        for _ in 0..files {
            body.extend(b"--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n");
            body.extend(png());
            body.extend(b"\r\n");
        }
        body.extend(b"--x--\r\n");
        body
    };
    let kind = "multipart/form-data; boundary=x";
    assert_eq!(upload(&world, form(1), kind).await.status, 201);
    assert_eq!(upload(&world, form(2), kind).await.code(), "too_many");
    assert_eq!(upload(&world, form(0), kind).await.code(), "malformed_json");
    let svg =
        upload(&world, b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(), "image/png").await;
    assert_eq!((svg.status, svg.code().as_str()), (415, "unsupported_media_type"));
    let big = upload(&world, vec![b'a'; 25 * 1024 * 1024 + 1], "text/plain").await;
    assert_eq!((big.status, big.code().as_str()), (413, "too_large"));
    world.stop().await;
}

#[tokio::test]
async fn nt_31_own_media_and_data_images_reach_the_medium_as_bytes() {
    let world = World::ordinary().await;
    let url = upload(&world, png(), "image/png").await.json()["url"].as_str().unwrap().to_owned();
    let data = format!("data:image/png;base64,{PNG}");
    let body = json!({
        "message": "Pick one", "channel": "telegram",
        "media": [{ "kind": "image", "url": url }, { "kind": "image", "url": data }],
        "header": { "kind": "image", "url": data },
        "options": [{ "kind": "reply", "text": "Yes" }],
    });
    let answer = world.deliver(&body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let received = world.received().await;
    assert_eq!(received.len(), 3);
    for request in &received {
        let files: Vec<_> = request["parts"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|p| p["sha256"].is_string())
            .collect();
        assert_eq!(files.len(), 1);
        assert_eq!(files[0]["sha256"], tidings::sends::record::sha256_hex(&png()));
    }
    let id = answer.json()["id"].as_str().unwrap().to_owned();
    let entry = world.get(&format!("/api/notifications/{id}")).await.json();
    assert!(!entry.to_string().contains("data:"), "bytes are stored by reference");
    // Identical bytes of one request share one id.
    assert_eq!(entry["media"][1]["url"], entry["header"]["url"]);
    world.stop().await;
}

#[tokio::test]
async fn stored_media_must_exist_and_suit_their_kind() {
    let world = World::start(Plan::default()).await;
    let url = upload(&world, png(), "image/png").await.json()["url"].as_str().unwrap().to_owned();
    let asked =
        |kind: &str, url: &str| json!({ "message": "m", "media": [{ "kind": kind, "url": url }] });
    let mismatch = world.notify(&asked("video", &url)).await;
    assert_eq!((mismatch.status, mismatch.code().as_str()), (400, "media_kind_mismatch"));
    assert_eq!(world.notify(&asked("document", &url)).await.status, 201);
    let unknown = format!("/api/interactions/media/med_{}", "B".repeat(43));
    assert_eq!(world.notify(&asked("image", &unknown)).await.code(), "media_unknown");
    world.stop().await;
}

#[tokio::test]
async fn nt_62_a_full_shelf_says_so_and_stores_nothing() {
    let world = World::start(Plan::default().set("media.total_max", "'16MiB'")).await;
    let eight = || vec![b'a'; 8 * 1024 * 1024];
    assert_eq!(upload(&world, eight(), "text/plain").await.status, 201);
    assert_eq!(upload(&world, eight(), "text/plain").await.status, 201);
    let full = upload(&world, b"one more".to_vec(), "text/plain").await;
    assert_eq!((full.status, full.code().as_str()), (503, "media_full"));
    assert_eq!(full.header("retry-after"), Some("60"));
    let data = format!("data:image/png;base64,{PNG}");
    let before = world.state().await;
    let body = json!({ "message": "m", "media": [{ "kind": "image", "url": data }] });
    assert_eq!(world.notify(&body).await.code(), "media_full");
    assert_eq!(world.state().await, before);
    world.stop().await;
}
