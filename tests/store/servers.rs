//! Redis servers the suite starts itself, on free ports, gone with the test's process.
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tidings::store::redis::{Mode, Options, Redis};

use crate::case::{Case, Folder};

/// A running server. It ends when this is dropped or the process is gone, however it went: a shell
/// waits for the end of a pipe that only this process holds.
pub struct Server {
    shell: Child,
    pid: u32,
    pub port: u16,
    _folder: Folder,
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
        let (folder, port) = (Folder::new(), free_port());
        let file = folder.path().join("redis.conf");
        let settings = format!(
            "port {port}\nbind 127.0.0.1\ndir {}\nsave \"\"\nlogfile log\n{settings}\n",
            folder.path().display()
        );
        std::fs::write(&file, settings).unwrap();
        let script =
            "\"$@\" </dev/null >/dev/null 2>&1 & p=$!; echo $p; cat >/dev/null; kill -9 $p";
        let mut shell = Command::new("sh")
            .args(["-c", script, "sh", program])
            .arg(&file)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let pid = line.trim().parse().unwrap();
        let server = Self { shell, pid, port, _folder: folder };
        let deadline = Instant::now() + Duration::from_secs(5);
        while Instant::now() < deadline {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() && server.answers() {
                return Some(server);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
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
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
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

/// A prefix nobody used before.
pub fn prefix() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("case{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// Waits until this holds.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The server all cases on one server share.
pub fn shared() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| Server::redis(""))
}

/// One master, one replica, three Sentinels; the master killed, the replica taken over.
pub struct Watched {
    pub sentinels: Vec<Server>,
    pub nodes: Vec<Server>,
}

impl Watched {
    /// Before anything failed.
    pub fn start() -> Self {
        let master = Server::redis("");
        let replica = Server::redis(&format!("replicaof 127.0.0.1 {}", master.port));
        wait_until("the replica follows", || {
            replica.cli(&["INFO", "replication"]).contains("master_link_status:up")
        });
        let settings = format!(
            "sentinel monitor tidings 127.0.0.1 {} 2\nsentinel down-after-milliseconds tidings 500\n\
             sentinel failover-timeout tidings 3000\n",
            master.port
        );
        let sentinels: Vec<Server> =
            (0..3).map(|_| Server::start("redis-server", &settings, &["--sentinel"])).collect();
        wait_until("the Sentinels know each other", || {
            sentinels.iter().all(|sentinel| {
                let known = sentinel.cli(&["INFO", "sentinel"]);
                known.contains("slaves=1") && known.contains("sentinels=3")
            })
        });
        Self { sentinels, nodes: vec![master, replica] }
    }

    pub fn options(&self) -> Options {
        Options {
            mode: Mode::Sentinel("tidings".into()),
            nodes: self.sentinels.iter().map(|s| ("127.0.0.1".to_owned(), s.port)).collect(),
            ..Options::single("", 0, &prefix())
        }
    }

    /// Kills the master and waits for another.
    pub fn fail_over(&self) {
        self.nodes[0].signal("-KILL");
        wait_until("the replica takes over", || {
            self.nodes[1].cli(&["ROLE"]).starts_with("master")
                && self.sentinels.iter().all(|sentinel| {
                    sentinel
                        .cli(&["SENTINEL", "get-master-addr-by-name", "tidings"])
                        .contains(&self.nodes[1].port.to_string())
                })
        });
    }

    fn failed_over() -> &'static Self {
        static WATCHED: OnceLock<Watched> = OnceLock::new();
        WATCHED.get_or_init(|| {
            let watched = Self::start();
            watched.fail_over();
            watched
        })
    }
}

/// Three masters that share the slots.
pub fn cluster() -> &'static [Server] {
    static CLUSTER: OnceLock<Vec<Server>> = OnceLock::new();
    CLUSTER.get_or_init(|| {
        let settings = "cluster-enabled yes\ncluster-node-timeout 2000";
        let nodes: Vec<Server> = (0..3).map(|_| Server::redis(settings)).collect();
        let mut create = vec!["--cluster".to_owned(), "create".to_owned()];
        create.extend(nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)));
        create.extend(["--cluster-yes".to_owned()]);
        let output = Command::new("redis-cli").args(&create).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        wait_until("the Cluster stands", || {
            nodes.iter().all(|node| node.cli(&["CLUSTER", "INFO"]).contains("cluster_state:ok"))
        });
        nodes
    })
}

async fn case(options: Options) -> Case {
    Case::of(Redis::open(options).await.unwrap())
}

/// A store on the shared server.
pub async fn redis() -> Case {
    case(Options::single("127.0.0.1", shared().port, &prefix())).await
}

/// A store behind Sentinels after a failover.
pub async fn sentinel() -> Case {
    case(Watched::failed_over().options()).await
}

/// A store on the Cluster.
pub async fn on_cluster() -> Case {
    case(cluster_options()).await
}

/// The way to the Cluster.
pub fn cluster_options() -> Options {
    Options {
        mode: Mode::Cluster,
        nodes: cluster().iter().map(|node| ("127.0.0.1".to_owned(), node.port)).collect(),
        ..Options::single("", 0, &prefix())
    }
}
