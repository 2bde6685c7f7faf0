//! A gateway for one test: its own folder, its own keys, its own vendors.
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tidings::auth::KeyText;
use tidings::boot::{self, Gateway, Overrides};
use tidings::clock::SystemClock;
use tidings::config::load::{Sources, load};
use tidings::ids::{Ids, SystemRandom};
use tidings::registry::MEDIA;

/// A bot token in the right form.
pub const TOKEN: &str = "1234567:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// A running world.
pub struct World {
    pub gateway: Gateway,
    pub vendors: Option<sandbox::Running>,
    pub url: String,
    pub admin: String,
    pub owned: String,
    pub http: reqwest::Client,
    pub folder: tempfile::TempDir,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }
    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|v| v.to_str().ok())
    }
}

/// How a world differs from the ordinary one.
#[derive(Default)]
pub struct Plan {
    pub flags: Vec<(String, String)>,
    pub overrides: Overrides,
    /// With the imitated vendors, and the channel `telegram` on them.
    pub vendors: bool,
    /// A folder of an earlier world.
    pub folder: Option<tempfile::TempDir>,
}

impl Plan {
    pub fn set(mut self, path: &str, value: &str) -> Self {
        self.flags.push((path.to_owned(), value.to_owned()));
        self
    }
    pub fn with_vendors(mut self) -> Self {
        self.vendors = true;
        self
    }
}

fn key() -> KeyText {
    KeyText::mint(&Ids::new(Arc::new(SystemClock), Arc::new(SystemRandom)))
}

impl World {
    pub async fn ordinary() -> Self {
        Self::start(Plan::default().with_vendors()).await
    }

    pub async fn start(plan: Plan) -> Self {
        let folder = plan.folder.unwrap_or_else(|| tempfile::tempdir().unwrap());
        let (admin, owned, narrow) = (key(), key(), key());
        let keys = format!(
            "[{{identity='ops',hash='{}',scopes=['admin']}},\
              {{identity='ada@example.test',restricted=true,hash='{}',scopes=['notify','inbox','sends','channels']}},\
              {{identity='narrow',hash='{}',scopes=['metrics']}}]",
            admin.spelt_hash(),
            owned.spelt_hash(),
            narrow.spelt_hash()
        );
        let data = folder.path().join("data");
        let mut flags = vec![
            ("keys".to_owned(), keys),
            ("store.data_dir".to_owned(), format!("'{}'", data.display())),
            ("listen.public".to_owned(), "'127.0.0.1:0'".to_owned()),
            ("delivery.drain_grace".to_owned(), "'0s'".to_owned()),
        ];
        let vendors = if plan.vendors {
            let vendors = vendors(&folder).await;
            flags.extend(telegram(&format!("http://{}", vendors.address)));
            Some(vendors)
        } else {
            None
        };
        flags.extend(plan.flags);
        let sources = Sources { file: None, environment: BTreeMap::new(), flags };
        let (config, _) = load(&sources, MEDIA).unwrap_or_else(|problems| panic!("{problems:?}"));
        let mut overrides = plan.overrides;
        if vendors.is_some() {
            let earlier = overrides.network;
            overrides.network = Box::new(move |builder| {
                earlier(builder).stand_in(Arc::new(tidings::cli::SandboxFiles))
            });
        }
        let gateway = boot::start(&config, overrides).await.unwrap_or_else(|e| panic!("{e}"));
        let url = format!("http://{}", gateway.address);
        Self {
            gateway,
            vendors,
            url,
            admin: admin.expose().to_owned(),
            owned: owned.expose().to_owned(),
            http: tidings::cli::http_client().unwrap(),
            folder,
        }
    }

    pub async fn call(
        &self,
        method: &str,
        path: &str,
        key: Option<&str>,
        headers: &[(&str, &str)],
        body: Option<Vec<u8>>,
    ) -> Answer {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let mut request = self.http.request(method, format!("{}{path}", self.url));
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.body(body);
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Answer { status, headers, text: response.text().await.unwrap_or_default() }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call("GET", path, Some(&self.admin), &[], None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_with(path, body, &self.admin, &[]).await
    }

    pub async fn post_with(
        &self,
        path: &str,
        body: &Value,
        key: &str,
        headers: &[(&str, &str)],
    ) -> Answer {
        let mut all = vec![("content-type", "application/json")];
        all.extend_from_slice(headers);
        self.call("POST", path, Some(key), &all, Some(body.to_string().into_bytes())).await
    }

    pub async fn notify(&self, body: &Value) -> Answer {
        self.post("/api/notifications", body).await
    }

    /// Notifies and waits for the outcome.
    pub async fn deliver(&self, body: &Value) -> Answer {
        let wait = [("prefer", "wait=20")];
        self.post_with("/api/notifications", body, &self.admin, &wait).await
    }

    /// Until every queue was looked at once.
    pub async fn ready(&self) {
        for _ in 0..100 {
            if self.get("/readyz").await.status == 200 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("{}", self.get("/readyz").await.text);
    }

    /// What a refusal must leave as it was.
    pub async fn state(&self) -> Value {
        let entries = self.get("/api/notifications?limit=200").await.json();
        let sends = self.get("/api/sends?limit=200").await.json();
        let bytes = self.gateway.app.store.media_bytes().await.unwrap();
        let queued = self.get("/api/channels").await.json()["channels"]
            .as_array()
            .map(|list| list.iter().map(|c| c["lane"]["queued"].clone()).collect::<Vec<_>>());
        json!({ "entries": entries, "sends": sends, "bytes": bytes, "queued": queued })
    }

    /// Requests the vendors received, after the probes.
    pub async fn received(&self) -> Vec<Value> {
        let vendors = self.vendors.as_ref().unwrap();
        let url = format!("http://{}/_/requests", vendors.address);
        let text = self.http.get(url).send().await.unwrap().text().await.unwrap();
        let whole: Value = serde_json::from_str(&text).unwrap();
        let control = ["getMe", "getWebhookInfo", "setWebhook"];
        let all = whole["requests"].as_array().unwrap().clone();
        all.into_iter().filter(|r| !control.contains(&r["call"].as_str().unwrap_or(""))).collect()
    }

    /// Puts a script before the Bot API.
    pub async fn script(&self, items: &Value) {
        let vendors = self.vendors.as_ref().unwrap();
        let url = format!("http://{}/_/script/telegram", vendors.address);
        let request = self.http.put(url).header("content-type", "application/json");
        let response = request.body(items.to_string()).send().await.unwrap();
        assert_eq!(response.status().as_u16(), 200, "{}", response.text().await.unwrap());
    }

    pub async fn stop(self) -> tempfile::TempDir {
        self.gateway.stop().await;
        if let Some(vendors) = self.vendors {
            vendors.stop().await;
        }
        self.folder
    }
}

/// The channel `telegram` on the imitated Bot API.
fn telegram(vendors: &str) -> Vec<(String, String)> {
    [
        ("medium", "'telegram'".to_owned()),
        ("bot_token", format!("'{TOKEN}'")),
        ("base_url", format!("'{vendors}/telegram'")),
        ("allowed_recipients", "['*']".to_owned()),
        ("default_recipient", "'42'".to_owned()),
        ("pace", "{account_per_second=0,recipient_per_second=0}".to_owned()),
    ]
    .into_iter()
    .map(|(key, value)| (format!("channels.telegram.{key}"), value))
    .collect()
}

async fn vendors(folder: &tempfile::TempDir) -> sandbox::Running {
    sandbox::Sandbox::start(sandbox::Settings {
        listen: "127.0.0.1:0".parse().unwrap(),
        data_dir: folder.path().to_owned(),
        gateway: "http://127.0.0.1:1".to_owned(),
        public_url: None,
        telegram_tokens: vec![TOKEN.to_owned()],
        links: Vec::new(),
    })
    .await
    .unwrap_or_else(|e| panic!("{e}"))
}
