//! One Redis process, on a free port, gone with the test's process.
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running server. It ends when this is dropped or the process is gone, however it went: a shell
/// waits for the end of a pipe that only this process holds.
pub struct Server {
    shell: Child,
    pid: u32,
    pub port: u16,
    folder: tempfile::TempDir,
}

impl Server {
    /// Starts `program` with these arguments behind its own file, port and folder.
    pub fn start(program: &str, settings: &str, arguments: &[&str]) -> Self {
        // A port may be taken between finding and using it.
        for _ in 0..5 {
            if let Some(server) = Self::tried(program, settings, arguments) {
                return server;
            }
        }
        panic!("{program} does not start: is it installed?");
    }

    /// A plain `redis-server` with these settings.
    pub fn redis(settings: &str) -> Self {
        Self::start("redis-server", settings, &[])
    }

    fn tried(program: &str, settings: &str, arguments: &[&str]) -> Option<Self> {
        let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
        let file = folder.path().join("redis.conf");
        let settings = format!(
            "port {port}\nbind 127.0.0.1\ndir {}\nsave \"\"\nlogfile log\n{settings}\n",
            folder.path().display()
        );
        std::fs::write(&file, settings).unwrap();
        let (shell, pid) = run(program, &file, arguments);
        let server = Self { shell, pid, port, folder };
        server.comes().then_some(server)
    }

    fn comes(&self) -> bool {
        let deadline = Instant::now() + Duration::from_secs(5);
        while Instant::now() < deadline {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() && self.answers() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }

    /// Kills it and starts it again with what the last `SAVE` kept: what came after is lost.
    pub fn back_to_saved(&mut self) {
        self.end();
        let file = self.folder.path().join("redis.conf");
        (self.shell, self.pid) = run("redis-server", &file, &["--appendonly", "no"]);
        assert!(self.comes(), "the server does not start again");
    }

    fn end(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }

    /// An answer, be it a refusal, is one of a server.
    fn answers(&self) -> bool {
        !self.cli(&["PING"]).is_empty()
    }

    /// What `redis-cli` says.
    pub fn cli(&self, arguments: &[&str]) -> String {
        let output = Command::new("redis-cli")
            .args(["-p", &self.port.to_string()])
            .args(arguments)
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Sends its process a signal.
    pub fn signal(&self, name: &str) {
        let pid = self.pid.to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// A shell with the program; the program's process id.
fn run(program: &str, file: &Path, arguments: &[&str]) -> (Child, u32) {
    let script = "\"$@\" </dev/null >/dev/null 2>&1 & p=$!; echo $p; cat >/dev/null; kill -9 $p";
    let mut shell = Command::new("sh")
        .args(["-c", script, "sh", program])
        .arg(file)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (shell, line.trim().parse().unwrap())
}

fn free_port() -> u16 {
    // A Cluster node takes the port ten thousand above for its bus.
    loop {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        if port < 50_000 && TcpListener::bind(("127.0.0.1", port + 10_000)).is_ok() {
            return port;
        }
    }
}
