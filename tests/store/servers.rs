//! The servers the suite starts itself: one alone, one behind Sentinels, a Cluster.
use crate::case::Case;
use crate::server::Server;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tidings::store::redis::{Mode, Options, Redis};

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
