//! The web chat over HTTP: who is let in, what they see, what they say.
use crate::world::{Answer, Plan, World};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// A browser of its own: an address (behind a trusted proxy) and a cookie.
struct Browser<'w> {
    world: &'w World,
    from: String,
    cookie: String,
    address: String,
}

fn plan() -> Plan {
    Plan::default()
        .set("channels.web", "{medium='web'}")
        .set("channels.shop", "{medium='web', title='<Shop & Co>', theme={accent='#336699'}}")
        .set("listen.trusted_proxies", "['127.0.0.1/32']")
}

impl<'w> Browser<'w> {
    /// Opens the page of `web`.
    async fn open(world: &'w World, number: u8) -> Self {
        let mut browser = Self {
            world,
            from: format!("198.51.100.{number}"),
            cookie: String::new(),
            address: String::new(),
        };
        browser.visit("web").await;
        browser
    }

    async fn visit(&mut self, channel: &str) {
        let page = self.get(&format!("/chat/{channel}"), &[]).await;
        assert_eq!(page.status, 200, "{}", page.text);
        let cookie = page.header("set-cookie").expect("a visit renews the cookie");
        assert!(cookie.contains("; HttpOnly; SameSite=Lax; Path=/"), "{cookie}");
        self.cookie = cookie.split(';').next().unwrap().to_owned();
        let known = self.world.http.get(format!("{}/chat/{channel}", self.world.url));
        // The address is shown to this machine alone, so it is asked for without the proxy's word.
        let shown = known.header("cookie", &self.cookie).send().await.unwrap();
        let html = shown.text().await.unwrap();
        let at = html.find("vis_").expect("the address is shown on loopback");
        self.address = html[at..at + 30].to_owned();
    }

    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.call("GET", path, headers, None).await
    }

    async fn call(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> Answer {
        let mut all = vec![("x-forwarded-for", self.from.as_str())];
        if !self.cookie.is_empty() && !headers.iter().any(|(name, _)| *name == "cookie") {
            all.push(("cookie", &self.cookie));
        }
        all.extend_from_slice(headers);
        self.world.call(method, path, None, &all, body.map(String::into_bytes)).await
    }

    async fn say(&self, body: &Value) -> Answer {
        let json = [("content-type", "application/json")];
        self.call("POST", "/chat/web/messages", &json, Some(body.to_string())).await
    }

    /// The events of a stream until `enough` says so; comments are left out.
    async fn stream(
        &self,
        headers: &[(&str, &str)],
        enough: impl Fn(&[Event]) -> bool,
    ) -> Vec<Event> {
        let mut request = self.world.http.get(format!("{}/chat/web/stream", self.world.url));
        request = request.header("x-forwarded-for", &self.from).header("cookie", &self.cookie);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        assert_eq!(response.headers()["cache-control"], "no-store");
        let (mut response, mut text) = (response, String::new());
        let reading = async {
            loop {
                let events = events(&text);
                if enough(&events) {
                    return events;
                }
                match response.chunk().await.unwrap() {
                    Some(chunk) => text.push_str(std::str::from_utf8(&chunk).unwrap()),
                    None => return events,
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), reading).await.expect("enough events")
    }

    /// The transcript as a fresh stream gives it.
    async fn transcript(&self) -> Vec<Event> {
        let mut all = self.stream(&[], |e| e.iter().any(|e| e.name == "chat.backlog_done")).await;
        all.retain(|event| event.name != "chat.backlog_done");
        all
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Event {
    id: Option<String>,
    name: String,
    data: Value,
}

/// The whole events in a stream's text.
fn events(text: &str) -> Vec<Event> {
    let whole = text.rfind("\n\n").map_or("", |end| &text[..end]);
    whole
        .split("\n\n")
        .filter_map(|block| {
            let field = |name: &str| {
                block.lines().find_map(|l| l.strip_prefix(&format!("{name}: ")).map(str::to_owned))
            };
            Some(Event {
                id: field("id"),
                name: field("event")?,
                data: serde_json::from_str(&field("data")?).expect("data is one line of JSON"),
            })
        })
        .collect()
}

fn text(text: &str, id: &str) -> Value {
    json!({ "text": text, "client_message_id": id })
}

async fn send(world: &World, to: &str, body: Value) -> Answer {
    let mut whole = json!({ "channel": "web", "recipient": to });
    whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    world.deliver(&whole).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_send_is_a_bubble_and_a_tap_comes_back_as_what_it_says() {
    let world = World::start(plan()).await;
    let ada = Browser::open(&world, 1).await;
    let options = json!([
        { "kind": "reply", "text": "Yes", "id": "yes-1", "description": "2 seats" },
        { "kind": "link", "label": "Menu", "url": "https://ex.example.test/" },
        { "kind": "reply", "text": "No" },
    ]);
    let body = json!({ "message": "Table?", "options": options });
    let sent = send(&world, &ada.address, body).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    let part = &sent.json()["send"]["parts"][0];
    assert_eq!((&part["status"], &part["kind"]), (&json!("sent"), &json!("choice")));

    let seen = ada.transcript().await;
    assert_eq!(seen.len(), 1);
    let frame = &seen[0].data;
    assert_eq!(seen[0].id.as_deref(), part["provider_message_id"].as_str());
    assert_eq!((&frame["dir"], &frame["text"]), (&json!("out"), &json!("Table?")));
    assert!(!frame.to_string().contains("yes-1"), "[WB-13] the author's id stays with us");
    let tapped = frame["options"][0]["id"].as_str().unwrap().to_owned();

    // [WB-16], [WB-21]: another visitor's option is nobody's; ours is read in full.
    let eve = Browser::open(&world, 2).await;
    let tap = json!({ "reply_id": tapped, "client_message_id": "tap-00001" });
    let foreign = eve.say(&tap).await;
    let unknown =
        json!({ "reply_id": "o:01j0000000000000000000000a:0", "client_message_id": "tap-00002" });
    let unknown = eve.say(&unknown).await;
    assert_eq!((foreign.status, foreign.code().as_str()), (404, "unknown_reply"));
    assert_eq!(foreign.text, unknown.text, "one and the same answer");
    let mine = ada.say(&tap).await;
    assert_eq!(mine.status, 202, "{}", mine.text);
    assert_eq!(ada.say(&tap).await.json(), mine.json(), "a repeat is the same message");

    let id = mine.json()["id"].as_str().unwrap().to_owned();
    let message = world.get(&format!("/api/inbound/{id}")).await.json();
    assert_eq!((&message["kind"], &message["text"]), (&json!("tap"), &json!("Yes")));
    assert_eq!(message["params"], json!({ "reply_id": "yes-1", "reply_description": "2 seats" }));
    assert_eq!(message["reply_to"]["send"], sent.json()["send"]["id"]);
    assert_eq!(message["sender"]["address"], json!(ada.address));
    let list = world.get("/api/inbound?kind=tap").await.json();
    assert_eq!(list["inbound"].as_array().unwrap().len(), 1);
    let other = world.get("/api/inbound?channel=shop").await.json();
    assert_eq!(other, json!({ "inbound": [], "next": null }));
    let owned = world.call("GET", "/api/inbound", Some(&world.owned), &[], None).await;
    assert_eq!(owned.status, 403);

    let bubbles: Vec<_> =
        ada.transcript().await.into_iter().map(|e| e.data["dir"].clone()).collect();
    assert_eq!(bubbles, ["out", "in"], "[WB-8] what was said stands in the transcript");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_resumes_anywhere_without_gap_or_double_and_begins_anew_where_it_cannot() {
    let world = World::start(plan()).await;
    let ada = Browser::open(&world, 1).await;
    for n in 0..150 {
        let sent = send(&world, &ada.address, json!({ "message": format!("m{n}") })).await;
        assert_eq!(sent.status, 200);
    }
    let all = ada.transcript().await;
    let ids: Vec<String> = all.iter().map(|event| event.id.clone().unwrap()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 150);
    let texts: Vec<_> = all.iter().map(|event| event.data["text"].clone()).collect();
    assert_eq!(texts, (0..150).map(|n| json!(format!("m{n}"))).collect::<Vec<_>>());
    for at in [0, 1, 63, 64, 65, 149] {
        let header = [("last-event-id", ids[at].as_str())];
        let done = |e: &[Event]| e.iter().any(|e| e.name == "chat.backlog_done");
        let rest = ada.stream(&header, done).await;
        let found: Vec<_> = rest.iter().filter_map(|event| event.id.clone()).collect();
        assert_eq!(found, ids[at + 1..], "[WB-12] after {at}");
        assert_eq!(rest.last().unwrap().id, None, "a mark of ours never moves the cursor");
    }
    for bad in ["0-1", "99999999999999-0", "abc", "-1-0"] {
        let whole = ada.stream(&[("last-event-id", bad)], |e| e.len() == 152).await;
        assert_eq!(whole[0].name, "chat.reset", "[WB-25] {bad}");
        assert_eq!(whole.iter().filter(|event| event.id.is_some()).count(), 150);
    }

    // Live: a frame reaches an open stream at once.
    let header = [("last-event-id", ids[149].as_str())];
    let live = ada.stream(&header, |e| e.iter().any(|e| e.data["text"] == "live"));
    let sending = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        send(&world, &ada.address, json!({ "message": "live" })).await
    };
    let (events, sent) = tokio::join!(live, sending);
    assert_eq!(sent.status, 200);
    assert_eq!(events.iter().filter(|e| e.name == "chat.message").count(), 1);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_a_browser_that_opens_the_page_becomes_a_visitor() {
    let world = World::start(plan()).await;
    let mut ada = Browser::open(&world, 1).await;
    let before = ada.address.clone();
    ada.visit("web").await;
    assert_eq!(ada.address, before, "a known cookie keeps its visitor");
    let token = ada.cookie.clone();
    ada.visit("shop").await;
    assert_ne!(ada.address, before, "another channel, another visitor");
    assert_eq!(ada.cookie, token, "one token for all");

    let none = Browser {
        world: &world,
        from: "198.51.100.9".into(),
        cookie: String::new(),
        address: String::new(),
    };
    // [WB-1], [WB-24]: what a foreign page causes gives no visitor.
    for (dest, mode) in [("image", "no-cors"), ("iframe", "navigate"), ("document", "cors")] {
        let headers = [("sec-fetch-dest", dest), ("sec-fetch-mode", mode)];
        let page = none.get("/chat/web", &headers).await;
        assert_eq!((page.status, page.header("set-cookie")), (403, None), "{dest} {mode}");
        assert!(page.header("content-type").unwrap().starts_with("text/html"));
    }
    // [WB-23]: a planted cookie is replaced, never adopted.
    let planted = format!("tidings_visitor={}", "x".repeat(43));
    let page = none.get("/chat/web", &[("cookie", &planted)]).await;
    let given = page.header("set-cookie").unwrap().to_owned();
    assert!(!given.contains(&"x".repeat(43)));
    let stream = none.get("/chat/web/stream", &[("cookie", &planted)]).await;
    assert_eq!((stream.status, stream.code().as_str()), (401, "visitor_session_missing"));
    // [WB-35]
    for (method, path) in [
        ("GET", "/chat/web"),
        ("GET", "/chat/web/stream"),
        ("GET", "/chat/_/x.js"),
        ("POST", "/chat/web/messages"),
    ] {
        let answer = ada.call(method, path, &[("host", "evil.test")], None).await;
        assert_eq!(answer.status, 403, "{path}");
        assert!(answer.text.contains("forbidden_host"), "{path}: {}", answer.text);
        assert_eq!(answer.header("set-cookie"), None);
    }
    let public = plan().set("listen.public_url", "'http://chat.example.test:8080'");
    let beyond = World::start(public).await;
    let plain = [("host", "chat.example.test:8080")];
    let page = beyond.call("GET", "/chat/web", None, &plain, None).await;
    assert_eq!((page.status, page.header("set-cookie")), (403, None));
    assert!(page.text.contains("https_required"), "{}", page.text);
    beyond.stop().await;
    for path in ["/chat/nobody", "/chat/web?a=1&a=2", "/chat/web?reply_id=x"] {
        let page = none.get(path, &[]).await;
        assert!(matches!(page.status, 400 | 404), "{path}");
        assert_eq!(page.header("set-cookie"), None, "{path}");
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wb_7_the_page_runs_its_own_scripts_alone_and_its_files_are_kept_for_ever() {
    let world = World::start(plan()).await;
    let page = world.call("GET", "/chat/shop", None, &[], None).await;
    let policy = page.header("content-security-policy").unwrap();
    for rule in
        ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'"]
    {
        assert!(policy.contains(rule), "{policy}");
    }
    for (name, value) in [
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        assert_eq!(page.header(name), Some(value));
    }
    assert!(page.text.contains("&lt;Shop &amp; Co&gt;") && !page.text.contains("<Shop"));
    let mut kinds = BTreeSet::new();
    for (at, _) in page.text.match_indices("/chat/_/") {
        let path: String = page.text[at..].chars().take_while(|c| *c != '"').collect();
        let file = world.call("GET", &path, None, &[], None).await;
        assert_eq!(file.status, 200, "{path}");
        assert!(file.header("cache-control").unwrap().contains("immutable"));
        assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
        kinds.insert(file.header("content-type").unwrap().to_owned());
        if path.contains("theme") {
            assert_eq!(file.text, ":root:root{--accent:#336699;--on-accent:#ffffff;}\n");
        }
    }
    assert_eq!(kinds.len(), 2, "scripts and styles: {kinds:?}");
    for path in [
        "/chat/_/index.html",
        "/chat/_/nothing.js",
        "/chat/_/shop.theme-000000000000.css",
        "/docs/index.html",
    ] {
        assert_eq!(world.call("GET", path, None, &[], None).await.status, 404, "{path}");
    }
    let docs = world.call("GET", "/docs", None, &[], None).await;
    assert_eq!(docs.status, 200);
    assert!(docs.header("content-security-policy").unwrap().contains("script-src 'self'"));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_post_is_refused_for_and_that_nothing_is_recorded_then() {
    let world = World::start(plan()).await;
    let ada = Browser::open(&world, 1).await;
    let json_type = ("content-type", "application/json");
    let own = ("origin", world.url.as_str());
    let good = text("hello", "c-00000001").to_string();
    let post = async |headers: &[(&str, &str)], body: &str| {
        let answer = ada.call("POST", "/chat/web/messages", headers, Some(body.to_owned())).await;
        (answer.status, answer.code())
    };
    let wanted = |status: u16, code: &str| (status, code.to_owned());
    // [WB-22], [WB-5]
    let origin = |origin| [json_type, ("origin", origin)];
    for foreign in ["https://evil.test", "null", "http://localhost:1"] {
        assert_eq!(post(&origin(foreign), &good).await, wanted(403, "forbidden_origin"));
    }
    let site = [json_type, ("sec-fetch-site", "cross-site")];
    assert_eq!(post(&site, &good).await, wanted(403, "forbidden_origin"));
    let plain = [("content-type", "text/plain"), own];
    assert_eq!(post(&plain, &good).await, wanted(415, "unsupported_media_type"));
    let big = text(&"a".repeat(65_536), "c-00000001").to_string();
    assert_eq!(post(&[json_type, own], &big).await, wanted(413, "too_large"));
    let long = text(&"a".repeat(8001), "c-00000001").to_string();
    assert_eq!(post(&[json_type, own], &long).await, wanted(400, "too_long"));
    let stranger = [json_type, own, ("cookie", "tidings_visitor=none")];
    assert_eq!(post(&stranger, &good).await, wanted(401, "visitor_session_missing"));
    for path in ["/chat/telegram/messages", "/chat/none/messages"] {
        let answer = ada.call("POST", path, &[json_type], Some(good.clone())).await;
        assert_eq!(answer.status, 404, "{path}");
    }
    assert_eq!(world.get("/api/inbound").await.json()["inbound"], json!([]));
    assert_eq!(ada.transcript().await, []);

    // [WB-4], [WB-30]
    assert_eq!(post(&[json_type, own], &good).await.0, 202);
    assert_eq!(post(&[json_type, own], &good).await.0, 202);
    let other = text("other", "c-00000001").to_string();
    assert_eq!(post(&[json_type, own], &other).await, wanted(409, "idempotency_conflict"));
    assert_eq!(world.get("/api/inbound").await.json()["inbound"].as_array().unwrap().len(), 1);
    assert_eq!(ada.transcript().await.len(), 1);
    // Link parameters of the page go along.
    let from_mail = ada
        .call(
            "POST",
            "/chat/web/messages?from=mail",
            &[json_type, own, ("accept-language", "de-AT,en;q=0.5")],
            Some(text("hi", "c-00000002").to_string()),
        )
        .await;
    let id = from_mail.json()["id"].as_str().unwrap().to_owned();
    let message = world.get(&format!("/api/inbound/{id}")).await.json();
    assert_eq!(message["params"], json!({ "from": "mail" }));
    assert_eq!(message["sender"]["locale"], "de-AT");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wb_6_rates_go_by_address_and_slots_come_back() {
    let world = World::start(plan()).await;
    let mut visits = Vec::new();
    for _ in 0..31 {
        let browser = Browser {
            world: &world,
            from: "203.0.113.7".into(),
            cookie: String::new(),
            address: String::new(),
        };
        visits.push(browser.get("/chat/web", &[]).await);
    }
    // [WB-31]: a fresh cookie each time does not help.
    assert!(visits[..30].iter().all(|page| page.status == 200));
    assert_eq!(visits[30].status, 429);
    assert!(visits[30].header("retry-after").is_some());
    let ada = Browser::open(&world, 1).await;
    let mut codes = Vec::new();
    for n in 0..25 {
        codes.push(ada.say(&text("x", &format!("c-{n:08}"))).await.status);
    }
    assert_eq!(
        codes.iter().filter(|status| **status == 429).count(),
        codes.len() - codes.iter().filter(|s| **s == 202).count()
    );
    assert!(codes[..20].iter().all(|status| *status == 202) && codes.contains(&429), "{codes:?}");

    // [WB-27]: four tabs, not five; opened and dropped, the slots are there again.
    let bob = Browser::open(&world, 2).await;
    let open = async |from: u8| {
        let mut request = world.http.get(format!("{}/chat/web/stream", world.url));
        request = request.header("x-forwarded-for", format!("198.51.100.{from}"));
        request.header("cookie", &bob.cookie).send().await.unwrap()
    };
    for round in 0..10 {
        let mut held = Vec::new();
        for _ in 0..4 {
            held.push(open(100 + round).await);
        }
        assert!(held.iter().all(|stream| stream.status().as_u16() == 200));
        let fifth = open(100 + round).await;
        assert_eq!(fifth.status().as_u16(), 429);
        assert!(fifth.text().await.unwrap().contains("too_many_streams"));
        drop(held);
    }
    // The gateway finds out about closed connections by writing to them.
    let freed = async {
        while world.gateway.app.streams.count() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            send(&world, &bob.address, json!({ "message": "wake" })).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), freed).await.expect("slots come back");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recipient_is_a_known_visitor_of_this_channel_or_refused_before_anything_is_recorded() {
    let world = World::start(plan()).await;
    let ada = Browser::open(&world, 1).await;
    let before = world.state().await;
    let code = async |recipient: Value| {
        let answer = world
            .notify(&json!({ "message": "x", "channel": "web", "recipient": recipient }))
            .await;
        (answer.status, answer.code())
    };
    let stranger = json!("vis_01j0000000000000000000000a");
    assert_eq!(code(stranger).await, (403, "recipient_not_allowed".to_owned()));
    assert_eq!(code(json!("42")).await, (400, "bad_recipient".to_owned()));
    assert_eq!(code(Value::Null).await, (400, "recipient_required".to_owned()));
    let shop = json!({ "message": "x", "channel": "shop", "recipient": ada.address });
    assert_eq!(world.notify(&shop).await.code(), "recipient_not_allowed", "of another channel");
    assert_eq!(world.state().await, before);
    let form = json!({ "message": "x", "channel": "web", "recipient": ada.address,
        "schema": { "type": "object", "properties": { "a": { "type": "string" } } } });
    assert_eq!(world.notify(&form).await.status, 501);

    let preview = world.post("/api/notifications/preview", &json!({ "message": "x" })).await.json();
    let web =
        preview["channels"].as_array().unwrap().iter().find(|c| c["channel"] == "web").unwrap();
    assert_eq!(web["verdict"], "native");
    let request = &web["requests"][0];
    assert_eq!(
        (&request["method"], &request["url"]),
        (&json!("APPEND"), &json!("/chat/web/stream"))
    );
    assert_eq!(request["body"], json!({ "text": "x" }));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_ends_streams_and_a_restart_keeps_visitor_and_transcript() {
    let world = World::start(plan()).await;
    let ada = Browser::open(&world, 1).await;
    send(&world, &ada.address, json!({ "message": "before" })).await;
    let (from, cookie, address) = (ada.from.clone(), ada.cookie.clone(), ada.address.clone());
    let request = world.http.get(format!("{}/chat/web/stream", world.url));
    let stream =
        request.header("x-forwarded-for", &from).header("cookie", &cookie).send().await.unwrap();
    let whole = tokio::spawn(stream.text());
    tokio::time::sleep(Duration::from_millis(300)).await;
    let began = std::time::Instant::now();
    let folder = world.stop().await;
    assert!(began.elapsed() < Duration::from_secs(10), "a stream does not hold the stop up");
    let text = whole.await.unwrap().unwrap();
    assert!(text.ends_with("retry: 1000\n\n"), "{text}");

    let world = World::start(Plan { folder: Some(folder), ..plan() }).await;
    let ada = Browser { world: &world, from, cookie, address };
    assert_eq!(ada.transcript().await[0].data["text"], "before");
    assert_eq!(send(&world, &ada.address, json!({ "message": "after" })).await.status, 200);
    assert_eq!(ada.transcript().await.len(), 2);
    world.stop().await;
}
