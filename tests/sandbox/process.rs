//! A `tidings sandbox` process and a client for it.
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A running sandbox; killed when dropped.
pub struct Sandbox {
    child: Child,
    pub gateway: String,
    pub vendors: String,
    pub key: String,
    pub http: reqwest::Client,
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn tidings() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidings"));
    command.env_remove("TIDINGS_URL").env_remove("TIDINGS_KEY").env_remove("TIDINGS_CONFIG");
    command
}

impl Sandbox {
    /// Starts on free ports and waits for READY.
    pub fn start(folder: &Path) -> Self {
        let mut child = tidings()
            .args(["sandbox", "--listen", "127.0.0.1:0", "--vendors", "127.0.0.1:0", "--data-dir"])
            .arg(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = lines.find_map(|line| line.ok()?.strip_prefix("READY ").map(str::to_owned));
        let Some(ready) = ready else {
            let mut errors = String::new();
            child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
            panic!("no READY: {errors}");
        };
        // Log lines must not fill the pipe.
        let mut errors = child.stderr.take().unwrap();
        std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        let ready: Value = serde_json::from_str(&ready).unwrap();
        let text = |name: &str| ready[name].as_str().unwrap().to_owned();
        assert_eq!(text("page"), format!("{}/", text("vendors")));
        Self {
            child,
            gateway: text("gateway"),
            vendors: text("vendors"),
            key: text("key"),
            http: tidings::cli::http_client().unwrap(),
        }
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM; gives the exit code.
    pub fn terminate(&mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }

    pub async fn notify(&self, body: &Value) -> Option<Value> {
        let request = self
            .http
            .post(format!("{}/api/notifications", self.gateway))
            .bearer_auth(&self.key)
            .header("content-type", "application/json")
            .body(body.to_string());
        let response = request.send().await.ok()?;
        let accepted = response.status().as_u16() == 202;
        let text = response.text().await.ok()?;
        accepted.then(|| serde_json::from_str(&text).unwrap())
    }

    pub async fn get(&self, path: &str) -> Value {
        let url = format!("{}{path}", self.gateway);
        let response = self.http.get(url).bearer_auth(&self.key).send().await.unwrap();
        serde_json::from_str(&response.text().await.unwrap()).unwrap()
    }

    /// Every request the vendors received, oldest first.
    pub async fn received(&self) -> Vec<Value> {
        let mut all = Vec::new();
        let mut after = 0;
        loop {
            let url = format!("{}/_/requests?after={after}", self.vendors);
            let text = self.http.get(url).send().await.unwrap().text().await.unwrap();
            let page: Value = serde_json::from_str(&text).unwrap();
            all.extend(page["requests"].as_array().unwrap().clone());
            match page["next"].as_u64() {
                Some(next) => after = next,
                None => return all,
            }
        }
    }
}
