//! One gateway process that may end at a fail point, and the imitated medium it sends to.
use crate::server::Server;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const TOKEN: &str = "123456789:AAF-abcdefghijklmnopqrstuvwxyz01234";

/// Which store.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Embedded,
    Redis,
}

/// The gateway with everything around it.
pub struct Scene {
    child: Mutex<Option<(Child, String)>>,
    pub redis: Option<Server>,
    pub vendors: sandbox::Running,
    http: reqwest::Client,
    key: String,
    config: PathBuf,
    _folder: TempDir,
}

impl Drop for Scene {
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some((child, _)) = child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// An answer.
pub struct Answer {
    pub status: u16,
    pub json: Value,
}

/// The program built beside this one.
fn program() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let built = std::fs::read_dir(own.parent().unwrap()).unwrap().filter_map(Result::ok);
    let newest = built
        .filter(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.starts_with("crash_child-") && !name.contains('.')
        })
        .max_by_key(|entry| entry.metadata().and_then(|data| data.modified()).ok());
    newest.expect("build it too: cargo test --release --test crash_child --test faults").path()
}

impl Scene {
    /// A gateway on this store; `extra` is put into its configuration, `at` is its fail point.
    pub async fn start(kind: Kind, extra: &str, at: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let vendors = sandbox::Sandbox::start(sandbox::Settings {
            listen: "127.0.0.1:0".parse().unwrap(),
            data_dir: folder.path().join("vendors"),
            gateway: "http://127.0.0.1:1".to_owned(),
            public_url: None,
            telegram_tokens: vec![TOKEN.to_owned()],
            links: Vec::new(),
        })
        .await
        .unwrap_or_else(|e| panic!("{e}"));
        let output = Command::new(env!("CARGO_BIN_EXE_tidings"))
            .args(["key", "new", "--identity", "ops", "--scope", "admin"])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let key = text.lines().next().unwrap().to_owned();
        let hash = text.split('"').find(|part| part.starts_with("sha256:")).unwrap();
        let redis = matches!(kind, Kind::Redis).then(|| Server::redis("appendonly yes"));
        let store = redis.as_ref().map_or(String::new(), |redis| {
            format!("kind = \"redis\"\nurl = \"redis://127.0.0.1:{}\"\n", redis.port)
        });
        let config = folder.path().join("config.toml");
        let text = format!(
            "[listen]\npublic = \"127.0.0.1:0\"\n[store]\ndata_dir = \"{}\"\n{store}\
             [delivery]\nlease = \"2s\"\ndrain_grace = \"0s\"\n\
             schedule = [\"1s\", \"1s\", \"1s\", \"1s\"]\n\
             [http]\ntimeout = \"1s\"\nconnect_timeout = \"1s\"\n[limits]\naddress_rate = 0\n\
             [[keys]]\nidentity = \"ops\"\nhash = \"{hash}\"\nscopes = [\"admin\"]\n\
             [channels.telegram]\nmedium = \"telegram\"\nbot_token = \"{TOKEN}\"\n\
             base_url = \"http://{}/telegram\"\nallowed_recipients = [\"*\"]\n\
             pace = {{ account_per_second = 0, recipient_per_second = 0 }}\n{extra}\n",
            folder.path().join("data").display(),
            vendors.address,
        );
        std::fs::write(&config, text).unwrap();
        let http = tidings::cli::http_client().unwrap();
        let child = Mutex::new(None);
        let scene = Self { child, redis, vendors, http, key, config, _folder: folder };
        scene.run(at);
        scene
    }

    /// Starts the process.
    fn run(&self, at: Option<&str>) {
        let mut command = Command::new(program());
        command.env_clear().env("TIDINGS_CRASH_CONFIG", &self.config).stdout(Stdio::piped());
        if let Some(at) = at {
            command.env("TIDINGS_CRASH_AT", at);
        }
        let mut child = command.stderr(Stdio::inherit()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.find_map(|line| line.ok()?.strip_prefix("READY ").map(str::to_owned));
        std::thread::spawn(move || lines.for_each(drop));
        let url = url.expect("the gateway starts");
        *self.child.lock().unwrap_or_else(PoisonError::into_inner) = Some((child, url));
    }

    fn url(&self) -> String {
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        child.as_ref().map(|(_, url)| url.clone()).unwrap_or_default()
    }

    /// Starts the gateway again if it ended; true when it did.
    pub fn revive(&self) -> bool {
        let ended = {
            let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
            child.as_mut().is_none_or(|(child, _)| child.try_wait().unwrap().is_some())
        };
        if ended {
            self.run(None);
        }
        ended
    }

    async fn call(&self, request: reqwest::RequestBuilder) -> Option<Answer> {
        let response = request.bearer_auth(&self.key).send().await.ok()?;
        let status = response.status().as_u16();
        let text = response.text().await.ok()?;
        Some(Answer { status, json: serde_json::from_str(&text).unwrap_or(Value::Null) })
    }

    pub async fn get(&self, path: &str) -> Option<Answer> {
        self.call(self.http.get(format!("{}{path}", self.url()))).await
    }

    /// Notifies until it is accepted: the same name again is the same notification. Gives the send.
    pub async fn accepted(&self, name: &str, recipient: &str, text: &str) -> String {
        let until = Instant::now() + Duration::from_secs(60);
        let body = json!({ "message": text, "channel": "telegram", "recipient": recipient });
        loop {
            let request = self.http.post(format!("{}/api/notifications", self.url()));
            let request = request
                .header("content-type", "application/json")
                .header("idempotency-key", name)
                .body(body.to_string());
            match self.call(request).await {
                Some(Answer { status: 200 | 202, json }) => {
                    return json["send"]["id"].as_str().unwrap().to_owned();
                }
                Some(Answer { status: 502 | 503, .. }) | None => {}
                Some(Answer { status, json }) => panic!("{status} {json}"),
            }
            assert!(Instant::now() < until, "{name} is never accepted");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The record of a send once it stands still.
    pub async fn settled(&self, send: &str) -> Value {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(answer) = self.get(&format!("/api/sends/{send}")).await {
                let status = answer.json["status"].as_str().unwrap_or_default().to_owned();
                if answer.status == 200 && !matches!(status.as_str(), "queued" | "sending") {
                    return answer.json;
                }
                assert!(Instant::now() < until, "{}", answer.json);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Puts a script before the medium.
    pub async fn script(&self, items: &Value) {
        let url = format!("http://{}/_/script/telegram", self.vendors.address);
        let request = self.http.put(url).header("content-type", "application/json");
        let answer = request.body(items.to_string()).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 200, "{}", answer.text().await.unwrap());
    }

    /// Recipient and text of each message the medium kept, in order.
    pub async fn received(&self) -> Vec<(String, String)> {
        let (mut found, mut last) = (Vec::new(), 0);
        loop {
            let url = format!("http://{}/_/requests?after={last}", self.vendors.address);
            let text = self.http.get(url).send().await.unwrap().text().await.unwrap();
            let whole: Value = serde_json::from_str(&text).unwrap();
            let page = whole["requests"].as_array().unwrap();
            let Some(newest) = page.last() else { return found };
            last = newest["n"].as_u64().unwrap();
            let kept = |request: &&Value| {
                request["call"] == "sendMessage" && request["drawn"].as_bool().unwrap_or(true)
            };
            for request in page.iter().filter(kept) {
                let chat = &request["body"]["chat_id"];
                let chat = chat.as_str().map_or_else(|| chat.to_string(), str::to_owned);
                found.push((chat, request["body"]["text"].as_str().unwrap().to_owned()));
            }
        }
    }
}
