//! The sandbox's own enforcement, from its own constants, agrees with what the adapter declares:
//! the most is taken, one more sent past the adapter is refused with the vendor's error. [G-11]
use crate::world::{TOKEN, World};
use contract::LimitName;
use serde_json::{Value, json};
use tidings::registry::MEDIA;

/// Limits that are choices of ours: the vendor does not refuse past them.
const OURS: &[LimitName] = &[
    LimitName::TextParts,
    LimitName::Options,
    LimitName::OptionLabel,
    LimitName::ReplyId,
    LimitName::SectionTitle,
    LimitName::Footer,
    LimitName::MediaItems,
    LimitName::RowDescription,
];

async fn post(world: &World, method: &str, kind: &str, body: Vec<u8>) -> (u16, Value) {
    let vendors = world.vendors.as_ref().unwrap();
    let url = format!("http://{}/telegram/bot{TOKEN}/{method}", vendors.address);
    let response =
        world.http.post(url).header("content-type", kind).body(body).send().await.unwrap();
    let status = response.status().as_u16();
    (status, serde_json::from_str(&response.text().await.unwrap()).unwrap_or(Value::Null))
}

async fn post_json(world: &World, method: &str, body: Value) -> (u16, Value) {
    post(world, method, "application/json", body.to_string().into_bytes()).await
}

/// An upload of `size` bytes that begin like a file of this kind.
async fn upload(
    world: &World,
    method: &str,
    field: &str,
    head: &[u8],
    size: usize,
) -> (u16, Value) {
    let mut body = format!(
        "--x\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n42\r\n\
         --x\r\nContent-Disposition: form-data; name=\"{field}\"\r\n\r\nattach://f0\r\n\
         --x\r\nContent-Disposition: form-data; name=\"f0\"; filename=\"f\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    )
    .into_bytes();
    body.extend_from_slice(head);
    body.resize(body.len() + size - head.len(), 0);
    body.extend_from_slice(b"\r\n--x--\r\n");
    post(world, method, "multipart/form-data; boundary=x", body).await
}

async fn holds(world: &World, name: LimitName, max: usize) -> Option<((u16, Value), (u16, Value))> {
    // Four-byte characters count two units each.
    let text = |units: usize| format!("{}{}", "😀".repeat(units / 2), "a".repeat(units % 2));
    let button = json!({ "inline_keyboard": [[{ "text": "Yes", "callback_data": "o:1" }]] });
    let message = |n: usize| json!({ "chat_id": 42, "text": text(n) });
    let surface = |n: usize| json!({ "chat_id": 42, "text": text(n), "reply_markup": button });
    let captioned = |n: usize| json!({ "chat_id": 42, "photo": "https://h.example.test/p.png", "caption": text(n) });
    let both = match name {
        LimitName::Text => (
            post_json(world, "sendMessage", message(max)).await,
            post_json(world, "sendMessage", message(max + 1)).await,
        ),
        LimitName::InteractiveBody => (
            post_json(world, "sendMessage", surface(max)).await,
            post_json(world, "sendMessage", surface(max + 1)).await,
        ),
        LimitName::Caption => (
            post_json(world, "sendPhoto", captioned(max)).await,
            post_json(world, "sendPhoto", captioned(max + 1)).await,
        ),
        LimitName::ImageBytes => {
            let png = sandbox::stand_in("/x.png").bytes;
            (
                upload(world, "sendPhoto", "photo", &png, max).await,
                upload(world, "sendPhoto", "photo", &png, max + 1).await,
            )
        }
        LimitName::VideoBytes => (
            upload(world, "sendVideo", "video", b"", max).await,
            upload(world, "sendVideo", "video", b"", max + 1).await,
        ),
        LimitName::AudioBytes => (
            upload(world, "sendAudio", "audio", b"", max).await,
            upload(world, "sendAudio", "audio", b"", max + 1).await,
        ),
        LimitName::DocumentBytes => (
            upload(world, "sendDocument", "document", b"", max).await,
            upload(world, "sendDocument", "document", b"", max + 1).await,
        ),
        _ => return None,
    };
    Some(both)
}

#[tokio::test]
async fn g_11_the_sandbox_takes_what_the_adapter_allows_and_refuses_one_more() {
    let world = World::ordinary().await;
    let registration = MEDIA.iter().find(|r| r.medium == "telegram").unwrap();
    let Ok(opened) = registration.open_sample(&registration.samples[0]) else {
        panic!("the sample account does not open");
    };
    for (name, limit) in &opened.adapter.descriptor().limits.0 {
        let max = usize::try_from(limit.max).unwrap();
        let Some((taken, refused)) = holds(&world, *name, max).await else {
            assert!(OURS.contains(name), "{name} is held by nothing");
            continue;
        };
        assert_eq!(taken.0, 200, "{name} at {max}: {}", taken.1);
        assert!(matches!(refused.0, 400 | 413), "{name} past {max}: {}", refused.1);
        assert_eq!(refused.1["ok"], false, "{name}");
    }
    world.stop().await;
}
