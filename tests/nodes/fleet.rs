//! A Redis, an imitated medium, and gateways as processes of their own.
use crate::server::Server;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const TOKEN: &str = "123456789:AAF-abcdefghijklmnopqrstuvwxyz01234";

/// One gateway process; killed when dropped.
pub struct Node {
    child: Child,
    pub url: String,
}

impl Node {
    /// Its process.
    pub fn pid(&self) -> String {
        self.child.id().to_string()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer.
pub struct Answer {
    pub status: u16,
    pub retry_after: Option<String>,
    pub json: Value,
}

/// All of it.
pub struct Fleet {
    pub redis: Server,
    pub nodes: Vec<Node>,
    vendors: sandbox::Running,
    http: reqwest::Client,
    key: String,
    hash: String,
    folder: TempDir,
    pace: String,
}

/// What `serve` printed.
pub struct Refused {
    pub code: Option<i32>,
    pub errors: String,
}

pub fn tidings() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidings"));
    command.env_remove("TIDINGS_URL").env_remove("TIDINGS_KEY").env_remove("TIDINGS_CONFIG");
    command
}

/// Runs `serve` with these settings and waits for its end.
pub fn refused(settings: &[String], environment: &[(&str, &str)]) -> Refused {
    let folder = tempfile::tempdir().unwrap();
    let output = tidings()
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(folder.path().join("data"))
        .args(settings.iter().flat_map(|setting| ["--set", setting]))
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    Refused { code: output.status.code(), errors }
}

impl Fleet {
    /// So many gateways, unpaced.
    pub async fn start(nodes: usize) -> Self {
        Self::paced(nodes, "{account_per_second=0,recipient_per_second=0}").await
    }

    /// So many gateways whose Telegram channel keeps this pace.
    pub async fn paced(nodes: usize, pace: &str) -> Self {
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
        let output = tidings()
            .args(["key", "new", "--identity", "ops", "--scope", "admin"])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let key = text.lines().next().unwrap().to_owned();
        let hash = text.split('"').find(|part| part.starts_with("sha256:")).unwrap().to_owned();
        let redis = Server::redis("appendonly yes");
        let http = tidings::cli::http_client().unwrap();
        let (nodes_now, pace) = (Vec::new(), pace.to_owned());
        let mut fleet = Self { redis, nodes: nodes_now, vendors, http, key, hash, folder, pace };
        for _ in 0..nodes {
            fleet.add();
        }
        fleet
    }

    /// One gateway more.
    pub fn add(&mut self) {
        let settings = self.settings();
        self.serve(settings.iter().flat_map(|setting| ["--set", setting]));
    }

    /// One gateway more, whose configuration is a file of these lines.
    pub fn add_from_file(&mut self, lines: &[String]) {
        let file = self.folder.path().join(format!("config{}.toml", self.nodes.len()));
        std::fs::write(&file, lines.join("\n")).unwrap();
        self.serve(["--config", file.to_str().unwrap()]);
    }

    fn serve<'a>(&mut self, arguments: impl IntoIterator<Item = &'a str>) {
        let number = self.nodes.len();
        let mut child = tidings()
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(self.folder.path().join(format!("node{number}")))
            .args(arguments)
            .env("TIDINGS_LOG", "error")
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.find_map(|line| Some(line.ok()?.split_once(" at ")?.1.to_owned()));
        // What it prints later must find a reader.
        std::thread::spawn(move || lines.for_each(drop));
        self.nodes.push(Node { child, url: url.expect("the gateway starts") });
    }

    /// What every gateway is told, a line of TOML each.
    pub fn settings(&self) -> Vec<String> {
        let vendors = format!("http://{}/telegram", self.vendors.address);
        vec![
            "store.kind='redis'".to_owned(),
            format!("store.url='redis://127.0.0.1:{}'", self.redis.port),
            "delivery.lease='2s'".to_owned(),
            "delivery.drain_grace='0s'".to_owned(),
            "http.timeout='1s'".to_owned(),
            "http.connect_timeout='1s'".to_owned(),
            format!("keys=[{{identity='ops',hash='{}',scopes=['admin']}}]", self.hash),
            "limits.address_rate=0".to_owned(),
            "channels.web.medium='web'".to_owned(),
            "channels.telegram.medium='telegram'".to_owned(),
            format!("channels.telegram.bot_token='{TOKEN}'"),
            format!("channels.telegram.base_url='{vendors}'"),
            "channels.telegram.allowed_recipients=['*']".to_owned(),
            format!("channels.telegram.pace={}", self.pace),
        ]
    }

    /// A call to one gateway; nothing when it cannot be reached.
    async fn call(&self, request: reqwest::RequestBuilder) -> Option<Answer> {
        let response = request.bearer_auth(&self.key).send().await.ok()?;
        let (status, header) = (response.status().as_u16(), response.headers().get("retry-after"));
        let retry_after = header.and_then(|value| value.to_str().ok()).map(str::to_owned);
        let text = response.text().await.ok()?;
        let json = serde_json::from_str(&text).unwrap_or(Value::Null);
        Some(Answer { status, retry_after, json })
    }

    /// Notifies over one gateway. The same name again is the same notification.
    pub async fn notify(
        &self,
        node: usize,
        name: &str,
        recipient: &str,
        text: &str,
    ) -> Option<Answer> {
        let body = json!({ "message": text, "channel": "telegram", "recipient": recipient });
        self.post(node, "/api/notifications", name, &body).await
    }

    /// A POST under an idempotency key.
    pub async fn post(&self, node: usize, path: &str, key: &str, body: &Value) -> Option<Answer> {
        let request = self
            .http
            .post(format!("{}{path}", self.nodes[node].url))
            .header("content-type", "application/json")
            .header("idempotency-key", key)
            .body(body.to_string());
        self.call(request).await
    }

    /// Ends a gateway as nothing can be prepared for; its number stays.
    pub fn kill(&mut self, node: usize) {
        self.nodes[node].child.kill().unwrap();
    }

    /// Opens the chat as a new browser; gives its cookie and its visitor's address.
    pub async fn visit(&self, node: usize) -> (String, String) {
        let page =
            self.http.get(format!("{}/chat/web", self.nodes[node].url)).send().await.unwrap();
        let cookie = page.headers()["set-cookie"].to_str().unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let html = page.text().await.unwrap();
        let at = html.find("vis_").expect("the address is shown on loopback");
        (cookie, html[at..at + 30].to_owned())
    }

    /// Says something in the chat, again until some gateway has it.
    pub async fn say(&self, node: usize, cookie: &str, message: &Value) {
        for at in node..node + 30 {
            let url = format!("{}/chat/web/messages", self.nodes[at % self.nodes.len()].url);
            let request = self.http.post(url).header("content-type", "application/json");
            let answer = request.header("cookie", cookie).body(message.to_string()).send().await;
            if let Ok(answer) = answer {
                assert_eq!(answer.status().as_u16(), 202, "{}", answer.text().await.unwrap());
                return;
            }
        }
        panic!("no gateway took the message");
    }

    pub async fn get(&self, node: usize, path: &str) -> Option<Answer> {
        let request = self.http.get(format!("{}{path}", self.nodes[node].url));
        self.call(request).await
    }

    /// The status of a send once it stands still.
    pub async fn settled(&self, node: usize, send: &str) -> String {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let record = self.get(node, &format!("/api/sends/{send}")).await.unwrap();
            let status = record.json["status"].as_str().unwrap_or("gone").to_owned();
            if !matches!(status.as_str(), "queued" | "sending") {
                return status;
            }
            assert!(Instant::now() < until, "{}", record.json);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// When the medium got each message, milliseconds.
    pub async fn arrivals(&self) -> Vec<i64> {
        let (mut found, mut last) = (Vec::new(), 0);
        loop {
            let url = format!("http://{}/_/requests?after={last}", self.vendors.address);
            let text = self.http.get(url).send().await.unwrap().text().await.unwrap();
            let whole: Value = serde_json::from_str(&text).unwrap();
            let page = whole["requests"].as_array().unwrap();
            let Some(newest) = page.last() else { return found };
            last = newest["n"].as_u64().unwrap();
            let sent = page.iter().filter(|request| request["call"] == "sendMessage");
            found.extend(sent.map(|request| {
                let at: jiff::Timestamp = request["at"].as_str().unwrap().parse().unwrap();
                at.as_millisecond()
            }));
        }
    }

    /// Recipient and text of each message the medium got, in order, page by page.
    pub async fn received(&self) -> Vec<(String, String)> {
        let (mut found, mut last) = (Vec::new(), 0);
        loop {
            let url = format!("http://{}/_/requests?after={last}", self.vendors.address);
            let text = self.http.get(url).send().await.unwrap().text().await.unwrap();
            let whole: Value = serde_json::from_str(&text).unwrap();
            let page = whole["requests"].as_array().unwrap();
            let Some(newest) = page.last() else { return found };
            last = newest["n"].as_u64().unwrap();
            for request in page.iter().filter(|request| request["call"] == "sendMessage") {
                let chat = &request["body"]["chat_id"];
                let chat = chat.as_str().map_or_else(|| chat.to_string(), str::to_owned);
                found.push((chat, request["body"]["text"].as_str().unwrap().to_owned()));
            }
        }
    }
}
