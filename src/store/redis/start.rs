//! What a server must be before it is used: reachable, Redis 7, and never one that evicts.
use super::dial::Options;
use super::keys::Fixed;
use super::link::{Call, Link};
use super::reply::text;
use super::scripts::Step;
use redis::{ErrorKind, RedisError, ServerErrorKind};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Oldest major version that will do.
const MAJOR: u32 = 7;
/// How long a server that loads or fails over is waited for.
const PATIENCE: Duration = Duration::from_secs(3);

/// Why a server cannot be used; one sentence that names its address and no password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("store.url: Redis at {address} {why}")]
pub struct StartRefused {
    /// Host and port, or several.
    pub address: String,
    /// What is wrong, after the address.
    pub why: String,
}

/// The link to a server that passed every check.
pub(super) async fn checked(options: Options) -> Result<Arc<Link>, StartRefused> {
    let address = options.shown();
    let refused = |why: String| StartRefused { address: address.clone(), why };
    let link = Link::new(options).map_err(|error| refused(reason(&error)))?;
    let deadline = Instant::now() + PATIENCE;
    let info = loop {
        let call = Call::new(Step::Start, [link.keys.fixed(Fixed::Probe)]);
        let asked = tokio::time::timeout_at(deadline, link.once(call)).await;
        match asked {
            Ok(Ok(info)) => break text(info).map_err(|error| refused(error.to_string()))?,
            Ok(Err(error)) if final_answer(&error) => return Err(refused(reason(&error))),
            Ok(Err(error)) if Instant::now() + Duration::from_millis(200) > deadline => {
                return Err(refused(reason(&error)));
            }
            Ok(Err(_)) => tokio::time::sleep(Duration::from_millis(200)).await,
            Err(_) => return Err(refused("does not answer".to_owned())),
        }
    };
    judge(&info).map_err(refused)?;
    if field(&info, "aof_enabled") != Some("1") {
        tracing::warn!(
            address,
            "Redis keeps no append-only file: what it acknowledged may be lost when it stops"
        );
    }
    Ok(Arc::new(link))
}

/// Errors that waiting does not mend.
fn final_answer(error: &RedisError) -> bool {
    matches!(
        error.kind(),
        ErrorKind::AuthenticationFailed
            | ErrorKind::InvalidClientConfig
            | ErrorKind::Server(ServerErrorKind::NoPerm | ServerErrorKind::ResponseError)
    ) || matches!(error.code(), Some("WRONGPASS" | "NOAUTH" | "NOPERM"))
        || error.is_connection_refusal()
}

fn reason(error: &RedisError) -> String {
    let detail = error.to_string();
    let code = error.code().unwrap_or_default();
    if error.kind() == ErrorKind::AuthenticationFailed || matches!(code, "WRONGPASS" | "NOAUTH") {
        return "refuses user and password".to_owned();
    }
    if code == "NOPERM" || detail.contains("NOPERM") || detail.contains("ACL") {
        return format!("denies this user a right it needs: {detail}");
    }
    format!("cannot be reached: {detail}")
}

/// The value of a field of INFO.
pub(super) fn field<'i>(info: &'i str, name: &str) -> Option<&'i str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

/// Version and eviction policy.
fn judge(info: &str) -> Result<(), String> {
    let version = field(info, "redis_version").unwrap_or("unknown");
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < MAJOR) {
        return Err(format!("is version {version}; needed: {MAJOR} or newer"));
    }
    match field(info, "maxmemory_policy") {
        Some("noeviction") => Ok(()),
        other => Err(format!(
            "has maxmemory-policy {}; needed: noeviction, or it drops what it acknowledged",
            other.unwrap_or("unknown")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::judge;

    #[test]
    fn d_46_versions_and_policies_are_judged() {
        let cases = [
            ("redis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\n", None),
            ("redis_version:8.2.0\r\nmaxmemory_policy:noeviction\r\n", None),
            ("redis_version:6.2.14\r\nmaxmemory_policy:noeviction\r\n", Some("version 6.2.14")),
            ("redis_version:7.4.0\r\nmaxmemory_policy:allkeys-lru\r\n", Some("allkeys-lru")),
            ("redis_version:7.4.0\r\n", Some("unknown")),
            ("", Some("unknown")),
        ];
        for (info, expected) in cases {
            match (judge(info), expected) {
                (Ok(()), None) => {}
                (Err(why), Some(part)) => assert!(why.contains(part), "{why}"),
                (judged, _) => panic!("{info:?}: {judged:?}"),
            }
        }
    }
}
