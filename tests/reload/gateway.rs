//! One gateway process on a configuration file, an imitated Bot API with many bots, and its log.
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const BOTS: usize = 260;

/// A key and its hash.
#[derive(Clone)]
pub struct Key {
    pub text: String,
    hash: String,
}

/// One channel of the file.
pub struct Channel {
    pub name: String,
    bot: usize,
    pub text_parts: u8,
    pub token_file: Option<PathBuf>,
}

/// What the file says.
pub struct Settings {
    pub keys: Vec<Key>,
    pub channels: Vec<Channel>,
    pub extra: String,
}

pub struct Answer {
    pub status: u16,
    pub json: Value,
}

impl Answer {
    pub fn code(&self) -> String {
        self.json["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// The process; killed when dropped.
pub struct Gateway {
    child: Child,
    url: String,
    log: Mutex<mpsc::Receiver<Value>>,
    http: reqwest::Client,
    vendors: sandbox::Running,
    folder: tempfile::TempDir,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tidings() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidings"));
    command.env_remove("TIDINGS_URL").env_remove("TIDINGS_KEY").env_remove("TIDINGS_CONFIG");
    command
}

pub fn new_key() -> Key {
    let arguments = ["key", "new", "--identity", "ops", "--scope", "admin"];
    let output = tidings().args(arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let hash = text.split('"').find(|part| part.starts_with("sha256:")).unwrap().to_owned();
    Key { text: text.lines().next().unwrap().to_owned(), hash }
}

/// The token of a bot; the medium knows those below [`BOTS`].
pub fn token(bot: usize) -> String {
    format!("{}:AAF-abcdefghijklmnopqrstuvwxyz01234", 123_456_000 + bot)
}

impl Settings {
    pub fn new(channels: usize, keys: &[&Key]) -> Self {
        let keys = keys.iter().map(|key| (*key).clone()).collect();
        let mut settings = Self { keys, channels: Vec::new(), extra: String::new() };
        for number in 0..channels {
            settings.add(&format!("bot{number}"), number);
        }
        settings
    }

    pub fn add(&mut self, name: &str, bot: usize) {
        let channel = Channel { name: name.to_owned(), bot, text_parts: 4, token_file: None };
        self.channels.insert(self.channels.len().min(100), channel);
    }

    fn text(&self, vendors: &str) -> String {
        let mut text = String::from("[http]\ntimeout = \"5s\"\nconnect_timeout = \"5s\"\n");
        text.push_str(&self.extra);
        for key in &self.keys {
            let _ = write!(
                text,
                "[[keys]]\nidentity = \"ops\"\nhash = \"{}\"\nscopes = [\"admin\"]\n",
                key.hash
            );
        }
        for channel in &self.channels {
            let token = match &channel.token_file {
                Some(path) => format!("file:{}", path.display()),
                None => token(channel.bot),
            };
            let _ = write!(
                text,
                "[channels.{}]\nmedium = \"telegram\"\nbot_token = \"{token}\"\n\
                 base_url = \"{vendors}/telegram\"\nallowed_recipients = [\"*\"]\ntext_parts = {}\n",
                channel.name, channel.text_parts
            );
        }
        text
    }
}

impl Gateway {
    pub async fn start(settings: &Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let vendors = sandbox::Sandbox::start(sandbox::Settings {
            listen: "127.0.0.1:0".parse().unwrap(),
            data_dir: folder.path().join("vendors"),
            gateway: "http://127.0.0.1:1".to_owned(),
            public_url: None,
            telegram_tokens: (0..BOTS).map(token).collect(),
            links: Vec::new(),
        })
        .await
        .unwrap_or_else(|e| panic!("{e}"));
        let file = folder.path().join("config.toml");
        let origin = format!("http://{}", vendors.address);
        std::fs::write(&file, settings.text(&origin)).unwrap();
        let mut child = tidings()
            .args(["serve", "--listen", "127.0.0.1:0", "--config"])
            .arg(&file)
            .arg("--data-dir")
            .arg(folder.path().join("data"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (lines, log) = mpsc::channel();
        let errors = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                let _ = lines.send(serde_json::from_str(&line).unwrap_or(json!({ "text": line })));
            }
        });
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.find_map(|line| Some(line.ok()?.split_once(" at ")?.1.to_owned()));
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            child,
            url: url.expect("the gateway starts"),
            log: Mutex::new(log),
            http: tidings::cli::http_client().unwrap(),
            vendors,
            folder,
        }
    }

    /// Writes the file anew.
    pub fn write(&self, settings: &Settings) {
        let origin = format!("http://{}", self.vendors.address);
        std::fs::write(self.folder.path().join("config.toml"), settings.text(&origin)).unwrap();
    }

    /// A file beside it.
    pub fn secret(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// SIGHUP.
    pub fn hang_up(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-HUP", &pid]).status().unwrap().success());
    }

    /// The next log line with this message.
    pub async fn log_line(&self, message: &str) -> Value {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let line = self.log.lock().unwrap_or_else(PoisonError::into_inner).try_recv();
            match line {
                Ok(line) if line["message"] == message => return line,
                Ok(_) => {}
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
            assert!(Instant::now() < until, "no line says: {message}");
        }
    }

    async fn call(&self, request: reqwest::RequestBuilder, key: &str) -> Answer {
        let response = request.bearer_auth(key).send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        Answer { status, json: serde_json::from_str(&text).unwrap_or(Value::Null) }
    }

    pub async fn get(&self, key: &str, path: &str) -> Answer {
        self.call(self.http.get(format!("{}{path}", self.url)), key).await
    }

    pub async fn notify(&self, key: &str, channel: &str, recipient: &str) -> Answer {
        let body = json!({ "message": "hello", "channel": channel, "recipient": recipient });
        let request = self.http.post(format!("{}/api/notifications", self.url));
        let request = request.header("content-type", "application/json").body(body.to_string());
        self.call(request, key).await
    }

    /// The status of a send once it stands still.
    pub async fn settled(&self, key: &str, send: &str) -> String {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let record = self.get(key, &format!("/api/sends/{send}")).await.json;
            let status = record["status"].as_str().unwrap_or("gone").to_owned();
            if !matches!(status.as_str(), "queued" | "sending") {
                return status;
            }
            assert!(Instant::now() < until, "{record}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}
