//! Files: uploads, own media behind the public origin, addresses that nobody opens.
use crate::client::{Reply, TOKEN, Vendors, multipart, read_on};
use sandbox::stand_in;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

async fn upload(vendors: &Vendors, method: &str, field: &str, name: &str, bytes: &[u8]) -> Reply {
    let attach = format!("attach://{field}0");
    let part = format!("{field}0");
    let (kind, body) = multipart(
        &[("chat_id", "42"), (field, &attach), ("caption", "see")],
        &[(&part, name, "application/x-test", bytes)],
    );
    let path = format!("/telegram/bot{TOKEN}/{method}");
    vendors.send("POST", &path, &[("content-type", &kind)], &body).await
}

fn padded(path: &str, length: usize) -> Vec<u8> {
    let mut bytes = stand_in(path).bytes.to_vec();
    bytes.resize(length, 0);
    bytes
}

#[tokio::test]
async fn sb_35_uploads_at_and_over_their_bytes() {
    let vendors = Vendors::start().await;
    for (method, field, bytes, status, description) in [
        ("sendPhoto", "photo", padded("/a.png", 10_000_000), 200, ""),
        ("sendPhoto", "photo", padded("/a.png", 10_000_001), 400, "Bad Request: file is too big"),
        (
            "sendPhoto",
            "photo",
            stand_in("/a.pdf").bytes.to_vec(),
            400,
            "Bad Request: IMAGE_PROCESS_FAILED",
        ),
        ("sendPhoto", "photo", Vec::new(), 400, "Bad Request: file must be non-empty"),
        ("sendDocument", "document", padded("/a", 50_000_000), 200, ""),
        ("sendDocument", "document", padded("/a", 50_000_001), 413, "Request Entity Too Large"),
        ("sendVideo", "video", padded("/a.mp4", 100_000_000), 413, "Request Entity Too Large"),
        ("sendAudio", "audio", padded("/a.mp3", 5_000), 200, ""),
        ("sendAnimation", "animation", padded("/a.gif", 7_000), 200, ""),
    ] {
        let length = bytes.len();
        let reply = upload(&vendors, method, field, "name", &bytes).await;
        assert_eq!(reply.status, Some(status), "{method} {length}");
        let said = reply.json()["description"].as_str().unwrap_or_default().to_owned();
        assert!(said.starts_with(description), "{method} {length}: {said}");
    }
}

#[tokio::test]
async fn an_upload_is_shown_and_can_be_fetched_again() {
    let vendors = Vendors::start().await;
    let file = stand_in("/x.docx");
    let reply = upload(&vendors, "sendDocument", "document", "Q3 %22a%22.docx", &file.bytes).await;
    let document = &reply.json()["result"]["document"];
    assert_eq!(
        (&document["file_name"], &document["file_size"]),
        (&json!("Q3 \"a\".docx"), &json!(file.bytes.len()))
    );
    assert_eq!(reply.json()["result"]["caption"], "see");
    let (_, got) = vendors.call("getFile", &json!({ "file_id": document["file_id"] })).await;
    let path =
        format!("/telegram/file/bot{TOKEN}/{}", got["result"]["file_path"].as_str().unwrap());
    assert_eq!(vendors.get(&path).await.body, file.bytes);
    let again = json!({ "chat_id": 1, "document": document["file_id"] });
    assert_eq!(vendors.refusal("sendDocument", &again).await, "");

    let record = &vendors.requests().await[0];
    let part = &record["parts"][3];
    assert_eq!((&part["name"], &part["filename"]), (&json!("document0"), &json!("Q3 \"a\".docx")));
    assert_eq!(
        (&part["size"], &part["content_type"]),
        (&json!(file.bytes.len()), &json!("application/x-test"))
    );
    assert_eq!(record["parts"][0], json!({ "name": "chat_id", "value": "42" }));
    let shown = vendors.get(&format!("/_/files/{}", part["sha256"].as_str().unwrap())).await;
    assert_eq!(shown.body, file.bytes);
    assert_eq!(shown.header("content-disposition"), "attachment");
    assert_eq!(shown.header("content-type"), "application/octet-stream");
}

#[tokio::test]
async fn sb_8_files_that_are_not_there_or_not_of_the_kind() {
    let vendors = Vendors::start().await;
    let at = |field: &str, url: &str| {
        let mut arguments = json!({ "chat_id": 42 });
        arguments[field] = json!(url);
        arguments
    };
    let document = |url: &str| ("sendDocument", at("document", url));
    let photo = |url: &str| ("sendPhoto", at("photo", url));
    let wrong_type = "Bad Request: wrong type of the web page content";
    let wrong = "Bad Request: wrong file identifier/HTTP URL specified";
    for ((method, arguments), description) in [
        (document("https://h.test/a.pdf"), ""),
        (document("https://h.test/a.ZIP?x=1"), ""),
        (document("https://h.test/a.gif"), ""),
        (document("https://h.test/a.docx"), wrong_type),
        (document("https://h.test/a"), wrong_type),
        (photo("https://h.test/a"), ""),
        (photo("http://h.test/a.jpg"), ""),
        (photo("https://h.test/a.pdf"), wrong_type),
        (("sendVideo", at("video", "https://h.test/a.mp4")), ""),
        (("sendVideo", at("video", "https://h.test/a.mp3")), wrong_type),
        (("sendAudio", at("audio", "https://h.test/a.m4a")), ""),
        (("sendAnimation", at("animation", "https://h.test/a.gif")), ""),
        (("sendAnimation", at("animation", "https://h.test/a.png")), wrong_type),
        (photo("ftp://h.test/a.png"), wrong),
        (photo("AgACAgIAAx"), wrong),
        (photo("sandbox-00"), wrong),
        (photo("sandbox-../../requests.jsonl"), wrong),
        (photo("attach://f0"), "Bad Request: there is no photo in the request"),
        (("sendPhoto", json!({ "chat_id": 42 })), "Bad Request: there is no photo in the request"),
        (("getFile", json!({})), "Bad Request: file_id not specified"),
        (("getFile", json!({ "file_id": "x" })), "Bad Request: wrong file_id"),
    ] {
        let said = vendors.refusal(method, &arguments).await;
        let told =
            if description.is_empty() { said.is_empty() } else { said.starts_with(description) };
        assert!(told, "{method} {arguments}: {said}");
    }
}

type Shelf = Arc<Mutex<HashMap<String, (&'static str, Vec<u8>)>>>;

/// A gateway that serves what is on its shelf, and the requests it got.
async fn gateway() -> (String, Shelf, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (shelf, seen) = (Shelf::default(), Arc::<Mutex<Vec<String>>>::default());
    let (held, list) = (Arc::clone(&shelf), Arc::clone(&seen));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let raw = read_on(&mut stream, |text| text.ends_with("\r\n\r\n")).await;
            let head = String::from_utf8(raw).unwrap();
            let target = head.split(' ').nth(1).unwrap().to_owned();
            list.lock().unwrap().push(head);
            let found = held.lock().unwrap().get(&target).cloned();
            let mut answer = Vec::new();
            match found {
                Some((kind, bytes)) => {
                    answer.extend(
                        format!(
                            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
                            bytes.len()
                        )
                        .bytes(),
                    );
                    answer.extend(bytes);
                }
                None => answer.extend(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"),
            }
            let _ = stream.write_all(&answer).await;
        }
    });
    (address, shelf, seen)
}

#[tokio::test]
async fn sb_12_own_media_are_read_from_the_gateway_and_nothing_else_is_opened() {
    let vendors = Vendors::start().await;
    let (address, shelf, seen) = gateway().await;
    vendors.running.lead_to(&address).unwrap();
    let own = "https://tidings.test/api/interactions/media/";
    let put = |name: &str, kind: &'static str, bytes: Vec<u8>| {
        shelf.lock().unwrap().insert(format!("/api/interactions/media/{name}"), (kind, bytes));
    };
    let png = stand_in("/a.png").bytes.to_vec();
    put("png", "image/png; x=y", png.clone());
    put("five", "image/png", padded("/a.png", 5_000_000));
    put("six", "image/png", padded("/a.png", 5_000_001));
    put("twenty", "application/pdf", padded("/a.pdf", 20_000_000));
    put("more", "application/pdf", padded("/a.pdf", 20_000_001));
    put("docx", "application/octet-stream", stand_in("/a.docx").bytes.to_vec());
    put("wide", "image/gif", [b"GIF89a".as_slice(), &[0xFF, 0x27, 2, 0], &[0; 9]].concat());
    for (method, field, name, description) in [
        ("sendPhoto", "photo", "png", ""),
        ("sendPhoto", "photo", "five", ""),
        ("sendPhoto", "photo", "six", "failed to get HTTP URL content"),
        ("sendPhoto", "photo", "gone", "failed to get HTTP URL content"),
        ("sendPhoto", "photo", "docx", "wrong type of the web page content"),
        ("sendPhoto", "photo", "wide", "PHOTO_INVALID_DIMENSIONS"),
        ("sendDocument", "document", "twenty", ""),
        ("sendDocument", "document", "more", "failed to get HTTP URL content"),
        ("sendDocument", "document", "docx", "wrong type of the web page content"),
        ("sendVideo", "video", "png", "wrong type of the web page content"),
    ] {
        let mut arguments = json!({ "chat_id": 42 });
        arguments[field] = json!(format!("{own}{name}"));
        let said = vendors.refusal(method, &arguments).await;
        assert_eq!(
            said.strip_prefix("Bad Request: ").unwrap_or(&said),
            description,
            "{method} {name}"
        );
    }
    let asked = seen.lock().unwrap().len();
    assert_eq!(asked, 10);
    assert!(seen.lock().unwrap()[0].starts_with("GET /api/interactions/media/png HTTP/1.1\r\n"));
    assert!(seen.lock().unwrap()[0].to_lowercase().contains("\r\nhost: tidings.test\r\n"));
    for foreign in [
        format!("{address}/api/interactions/media/png"),
        "https://tidings.test:444/a.png".to_owned(),
        "http://tidings.test/a.png".to_owned(),
    ] {
        assert_eq!(
            vendors.refusal("sendPhoto", &json!({ "chat_id": 42, "photo": foreign })).await,
            ""
        );
    }
    assert_eq!(seen.lock().unwrap().len(), asked, "no other address is opened");

    let requests = vendors.requests().await;
    let media = &requests[0]["media"][0];
    assert_eq!(
        (&media["url"], &media["content_type"]),
        (&json!(format!("{own}png")), &json!("image/png"))
    );
    let shown = vendors.get(&format!("/_/files/{}", media["sha256"].as_str().unwrap())).await;
    assert_eq!(
        (shown.header("content-type"), shown.header("content-disposition")),
        ("image/png", "")
    );
    assert_eq!(shown.body, png);
    assert_eq!(shown.header("x-content-type-options"), "nosniff");
    assert_eq!(requests.last().unwrap().get("media"), None::<&Value>);
}
