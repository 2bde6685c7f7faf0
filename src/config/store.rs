//! `[store]`: where everything is kept.
use super::spec::{KeySpec, Kind, Section};
use super::values::{Problems, Values, add};
use contract::Secret;
use std::path::PathBuf;
use url::Url;

/// The section's keys.
pub const SECTION: Section = Section {
    name: "store",
    doc: "The store.",
    keys: &[
        KeySpec {
            name: "kind",
            kind: Kind::Word(&["embedded", "redis"]),
            default: "\"embedded\"",
            doc: "\"embedded\": durable on disk in `data_dir`, one process, nothing to install. \"redis\": Redis 7, shared by any number of gateways.",
        },
        KeySpec {
            name: "data_dir",
            kind: Kind::Text,
            default: "\"tidings-data\"",
            doc: "Folder of the embedded store, the operator's key and the address file.",
        },
        KeySpec {
            name: "cache",
            kind: Kind::Size { min: 1 << 20, max: 4 << 30 },
            default: "\"16MiB\"",
            doc: "Page cache of the embedded store.",
        },
        KeySpec {
            name: "url",
            kind: Kind::Text,
            default: "\"redis://127.0.0.1:6379\"",
            doc: "Redis: redis://USER:PASSWORD@HOST:PORT/DATABASE, or rediss:// for TLS.",
        },
        KeySpec {
            name: "password",
            kind: Kind::Text,
            default: "\"\"",
            doc: "Redis: a secret (\"env:NAME\", \"file:PATH\" or inline); replaces the url's.",
        },
        KeySpec {
            name: "ca",
            kind: Kind::Text,
            default: "\"\"",
            doc: "File of root certificates (PEM) that rediss:// trusts instead of the system's.",
        },
        KeySpec {
            name: "mode",
            kind: Kind::Word(&["single", "sentinel", "cluster"]),
            default: "\"single\"",
            doc: "Redis: one server, a master that Sentinels name, or a Cluster.",
        },
        KeySpec {
            name: "nodes",
            kind: Kind::Texts,
            default: "[]",
            doc: "Redis: \"HOST:PORT\" of Sentinels or of nodes of the Cluster, instead of the url's.",
        },
        KeySpec {
            name: "sentinel_master",
            kind: Kind::Text,
            default: "\"\"",
            doc: "Redis: the name the Sentinels know the master by.",
        },
        KeySpec {
            name: "prefix",
            kind: Kind::Text,
            default: "\"tidings\"",
            doc: "Redis: every key begins with {PREFIX}: and so deployments can share a server.",
        },
    ],
};

/// The store's settings.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    /// Folder of the embedded store and of the process's own files.
    pub data_dir: PathBuf,
    /// Page cache of the embedded store, bytes.
    pub cache: u64,
    /// Redis, when that is the store.
    pub redis: Option<RedisConfig>,
}

/// How to reach Redis.
#[derive(Clone, Debug)]
pub struct RedisConfig {
    /// How the servers stand together.
    pub mode: RedisMode,
    /// Hosts and ports, at least one.
    pub nodes: Vec<(String, u16)>,
    /// Over TLS.
    pub tls: bool,
    /// User, if not the default one.
    pub user: Option<String>,
    /// Password.
    pub password: Option<Secret>,
    /// Database number.
    pub database: i64,
    /// Root certificates in PEM, instead of the system's.
    pub ca: Option<Vec<u8>>,
    /// Key prefix.
    pub prefix: String,
}

/// How the servers stand together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedisMode {
    /// One server.
    Single,
    /// Sentinels name the master of this name.
    Sentinel(String),
    /// A Cluster.
    Cluster,
}

impl StoreConfig {
    pub(super) fn read(values: &Values, problems: &mut Problems) -> Self {
        let kind = values.text(&SECTION, "kind", problems);
        // Read whichever the store is, so that switching brings no surprise.
        let redis = RedisConfig::read(values, problems);
        Self {
            data_dir: PathBuf::from(values.text(&SECTION, "data_dir", problems)),
            cache: values.size(&SECTION, "cache", problems),
            redis: redis.filter(|_| kind == "redis"),
        }
    }
}

impl RedisConfig {
    /// The settings, when there is no problem with them.
    fn read(values: &Values, problems: &mut Problems) -> Option<Self> {
        let before = problems.len();
        let text = values.text(&SECTION, "url", problems);
        let url = Url::parse(&text).ok().filter(|url| {
            matches!(url.scheme(), "redis" | "rediss")
                && url.host_str().is_some_and(|h| !h.is_empty())
        });
        if url.is_none() {
            add(problems, "store.url", "must be redis://… or rediss://… with a host");
        }
        let database = url.as_ref().map_or(Ok(0), database);
        if let Err(detail) = &database {
            add(problems, "store.url", detail.clone());
        }
        let mode = mode(values, problems);
        if mode == RedisMode::Cluster && database.as_ref().is_ok_and(|number| *number != 0) {
            add(problems, "store.url", "a Cluster has database 0 only");
        }
        let nodes = nodes(values, url.as_ref(), problems);
        let password = password(values, url.as_ref(), problems);
        let user = url.as_ref().map(|url| decoded(url.username())).filter(|user| !user.is_empty());
        if user.is_some() && password.is_none() && problems.len() == before {
            add(problems, "store.password", "the url names a user; a password is needed");
        }
        let ca = ca(values, problems);
        let prefix = values.text(&SECTION, "prefix", problems);
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if prefix.is_empty() || prefix.len() > 64 || !prefix.chars().all(plain) {
            let detail = "must be 1 to 64 letters, digits, '-', '_' or '.'";
            add(problems, "store.prefix", detail);
        }
        if problems.len() > before {
            return None;
        }
        let tls = url.is_some_and(|url| url.scheme() == "rediss");
        Some(Self { mode, nodes, tls, user, password, database: database.ok()?, ca, prefix })
    }
}

fn mode(values: &Values, problems: &mut Problems) -> RedisMode {
    let master = values.text(&SECTION, "sentinel_master", problems);
    match values.text(&SECTION, "mode", problems).as_str() {
        "cluster" => RedisMode::Cluster,
        "sentinel" => {
            if master.is_empty() {
                let detail = "mode \"sentinel\" needs the name the Sentinels know the master by";
                add(problems, "store.sentinel_master", detail);
            }
            RedisMode::Sentinel(master)
        }
        _ => RedisMode::Single,
    }
}

/// The certificates of the file, which must hold one at least.
fn ca(values: &Values, problems: &mut Problems) -> Option<Vec<u8>> {
    let path = values.text(&SECTION, "ca", problems);
    if path.is_empty() {
        return None;
    }
    match std::fs::read(&path) {
        Ok(pem) if String::from_utf8_lossy(&pem).contains("-----BEGIN CERTIFICATE-----") => {
            Some(pem)
        }
        Ok(_) => {
            add(problems, "store.ca", "the file holds no certificate in PEM");
            None
        }
        Err(error) => {
            add(problems, "store.ca", format!("the file cannot be read: {}", error.kind()));
            None
        }
    }
}

/// The number in the url's path.
fn database(url: &Url) -> Result<i64, String> {
    match url.path().trim_start_matches('/') {
        "" => Ok(0),
        path => path
            .parse::<u16>()
            .map(i64::from)
            .map_err(|_| "what follows the host must be a database number".to_owned()),
    }
}

/// The listed nodes, or the url's host.
fn nodes(values: &Values, url: Option<&Url>, problems: &mut Problems) -> Vec<(String, u16)> {
    let listed = values.texts(&SECTION, "nodes", problems);
    let mut found = Vec::new();
    for (place, node) in listed.iter().enumerate() {
        let parts = node.rsplit_once(':').and_then(|(host, port)| {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            Some((host.to_owned(), port.parse::<u16>().ok().filter(|port| *port > 0)?))
        });
        match parts.filter(|(host, _)| !host.is_empty() && !host.contains(['@', '/'])) {
            Some(parts) => found.push(parts),
            None => add(problems, format!("store.nodes[{place}]"), "must be HOST:PORT"),
        }
    }
    if listed.is_empty()
        && let Some(url) = url
    {
        let host = url.host_str().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        found.push((host.to_owned(), url.port().unwrap_or(6379)));
    }
    found
}

fn password(values: &Values, url: Option<&Url>, problems: &mut Problems) -> Option<Secret> {
    let given = values.text(&SECTION, "password", problems);
    if given.is_empty() {
        let own = url?.password()?;
        return Some(Secret::new(decoded(own))).filter(|secret| !secret.expose().is_empty());
    }
    match values.secret(&given) {
        Ok(secret) => Some(secret),
        Err(detail) => {
            add(problems, "store.password", detail);
            None
        }
    }
}

/// Percent-decoded; a part that is no text is taken as it stands.
fn decoded(part: &str) -> String {
    let pair = format!("p={}", part.replace('+', "%2B"));
    let mut pairs = url::form_urlencoded::parse(pair.as_bytes());
    pairs.next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::values::Values;
    use super::*;

    fn read(toml: &str) -> (StoreConfig, Vec<String>) {
        let tree = format!("[store]\n{toml}").parse().unwrap();
        let environment = [("REDIS_PW".to_owned(), "from env".to_owned())].into();
        let values = Values { tree, environment, ..Values::default() };
        let mut problems = Problems::new();
        let store = StoreConfig::read(&values, &mut problems);
        (store, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn redis_settings_come_from_the_url_and_the_keys_beside_it() {
        let (store, problems) = read(
            "kind = 'redis'\nurl = 'rediss://ana:p%40ss+word@redis.test:7000/3'\nprefix = 'a.b-c'",
        );
        assert!(problems.is_empty(), "{problems:?}");
        let redis = store.redis.unwrap();
        assert_eq!((redis.mode, redis.tls, redis.database), (RedisMode::Single, true, 3));
        assert_eq!(redis.nodes, [("redis.test".to_owned(), 7000)]);
        assert_eq!((redis.user.as_deref(), redis.prefix.as_str()), (Some("ana"), "a.b-c"));
        assert_eq!(redis.password.unwrap().expose(), "p@ss+word");
        let (store, _) = read(
            "kind = 'redis'\nurl = 'redis://:old@h'\npassword = 'env:REDIS_PW'\nmode = 'sentinel'\n\
             sentinel_master = 'm'\nnodes = ['a:26379', '[::1]:26380']",
        );
        let redis = store.redis.unwrap();
        assert_eq!(redis.mode, RedisMode::Sentinel("m".into()));
        assert_eq!(redis.nodes, [("a".to_owned(), 26379), ("::1".to_owned(), 26380)]);
        assert_eq!(redis.password.unwrap().expose(), "from env");
        assert!(read("").0.redis.is_none(), "the embedded store is the default");
    }

    #[test]
    fn every_problem_is_told_at_once_and_no_password() {
        let (store, problems) = read(
            "kind = 'redis'\nurl = 'http://:hunter2@h/x'\nmode = 'sentinel'\nnodes = ['a', 'b:0']\n\
             password = 'env:ABSENT'\nprefix = '{x}'",
        );
        assert!(store.redis.is_none());
        let paths: Vec<&str> =
            problems.iter().map(|problem| problem.split(": ").next().unwrap()).collect();
        let expected = [
            "store.url",
            "store.sentinel_master",
            "store.nodes[0]",
            "store.nodes[1]",
            "store.password",
            "store.prefix",
        ];
        assert_eq!(paths, expected);
        assert!(!problems.concat().contains("hunter2"));
        let (_, problems) = read("url = 'redis://h/2'\nmode = 'cluster'");
        assert_eq!(problems, ["store.url: a Cluster has database 0 only"]);
        let (_, problems) = read("url = 'redis://h/two'");
        assert_eq!(problems.len(), 1);
        let (_, problems) = read("url = 'redis://ana@h'");
        assert_eq!(problems, ["store.password: the url names a user; a password is needed"]);
    }
}
