//! A sandbox for one test, and a client that sees what really came over the socket.
use sandbox::{Running, Sandbox, Settings};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub const TOKEN: &str = "700100:sandbox-test-token-abcdefghijk";

/// What came back until the other side ended the connection.
#[derive(Debug, Default)]
pub struct Reply {
    /// `None`: nothing came at all.
    pub status: Option<u16>,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    fn parse(raw: &[u8]) -> Self {
        let Some(end) = raw.windows(4).position(|part| part == b"\r\n\r\n") else {
            return Self::default();
        };
        let head = String::from_utf8(raw[..end].to_vec()).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let pair = |line: &str| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_lowercase(), value.to_owned())
        };
        Self {
            status: Some(status),
            headers: lines.map(pair).collect(),
            body: raw[end + 4..].to_vec(),
        }
    }
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }
    /// All announced bytes came.
    pub fn is_whole(&self) -> bool {
        self.header("content-length") == self.body.len().to_string()
    }
}

pub struct Vendors {
    pub running: Running,
    folder: TempDir,
}

impl Vendors {
    pub async fn start() -> Self {
        Self::start_in(TempDir::new().unwrap()).await
    }

    async fn start_in(folder: TempDir) -> Self {
        let running = Sandbox::start(settings(folder.path())).await.unwrap();
        Self { running, folder }
    }

    /// The log's file.
    pub fn log(&self) -> PathBuf {
        self.folder.path().join("vendors/requests.jsonl")
    }

    pub fn address(&self) -> SocketAddr {
        self.running.address
    }

    /// Ends this one and starts another on its data.
    pub async fn restart(self) -> Self {
        self.running.stop().await;
        Self::start_in(self.folder).await
    }

    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        send(self.address(), method, path, headers, body).await
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], b"").await
    }

    /// A Bot API call with a JSON body: status and answer.
    pub async fn call(&self, method: &str, arguments: &Value) -> (u16, Value) {
        let reply = self.try_call(method, arguments).await;
        (reply.status.expect("an answer"), reply.json())
    }

    pub async fn try_call(&self, method: &str, arguments: &Value) -> Reply {
        let path = format!("/telegram/bot{TOKEN}/{method}");
        let headers = [("content-type", "application/json")];
        self.send("POST", &path, &headers, arguments.to_string().as_bytes()).await
    }

    /// The description of a refusal, or `""` for what was accepted.
    pub async fn refusal(&self, method: &str, arguments: &Value) -> String {
        let (status, answer) = self.call(method, arguments).await;
        assert_eq!(answer["ok"], json!(status == 200), "{answer}");
        if status != 200 {
            assert_eq!(answer["error_code"], json!(status), "{answer}");
        }
        answer["description"].as_str().unwrap_or_default().to_owned()
    }

    pub async fn requests(&self) -> Vec<Value> {
        let answer = self.get("/_/requests").await.json();
        assert_eq!(answer["next"], Value::Null);
        answer["requests"].as_array().unwrap().clone()
    }

    pub async fn script(&self, items: &Value) {
        let reply = self.send("PUT", "/_/script/telegram", &[], items.to_string().as_bytes()).await;
        assert_eq!(reply.status, Some(200), "{reply:?}");
    }
}

pub fn settings(folder: &Path) -> Settings {
    Settings {
        listen: "127.0.0.1:0".parse().unwrap(),
        data_dir: folder.to_owned(),
        gateway: "http://127.0.0.1:9".to_owned(),
        public_url: None,
        telegram_tokens: vec![TOKEN.to_owned()],
        links: vec![("Chat".to_owned(), "http://127.0.0.1:9/chat/web".to_owned())],
    }
}

/// One request over a connection of its own, read until the other side ends it.
pub async fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Reply {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    if !headers.iter().any(|(name, _)| *name == "host") {
        head += &format!("host: {address}\r\n");
    }
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += "\r\n";
    // The other side may end the connection while this one still writes.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(body).await;
    Reply::parse(&read_on(&mut stream, |_| false).await)
}

/// Reads until the end of the connection, or until `enough` says so.
pub async fn read_on(stream: &mut TcpStream, enough: impl Fn(&str) -> bool) -> Vec<u8> {
    let mut raw = Vec::new();
    let mut piece = vec![0; 65_536];
    loop {
        let read = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut piece));
        match read.await.expect("an answer in time") {
            Ok(0) | Err(_) => return raw,
            Ok(length) => raw.extend_from_slice(&piece[..length]),
        }
        if enough(&String::from_utf8_lossy(&raw)) {
            return raw;
        }
    }
}

/// A multipart body and its content type.
pub fn multipart(texts: &[(&str, &str)], files: &[(&str, &str, &str, &[u8])]) -> (String, Vec<u8>) {
    let mut body = Vec::new();
    for (name, value) in texts {
        body.extend(
            format!(
                "--b0undary\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            )
            .bytes(),
        );
    }
    for (name, filename, kind, bytes) in files {
        body.extend(format!("--b0undary\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{filename}\"\r\nContent-Type: {kind}\r\n\r\n").bytes());
        body.extend_from_slice(bytes);
        body.extend(b"\r\n");
    }
    body.extend(b"--b0undary--\r\n");
    ("multipart/form-data; boundary=b0undary".to_owned(), body)
}
