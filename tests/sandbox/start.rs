//! How the command starts, refuses, and ends.
use crate::process::{Sandbox, tidings};
use serde_json::json;
use std::io::Write;
use std::process::Stdio;

#[test]
fn sb_1_sb_32_only_loopback_addresses_and_known_media_start() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, named) in [
        (["--listen", "0.0.0.0:0"], "--listen"),
        (["--vendors", "192.168.0.1:0"], "--vendors"),
        (["--listen", "nonsense"], "--listen"),
        (["--channels", "pigeon"], "--channels"),
    ] {
        let output = tidings()
            .arg("sandbox")
            .args(arguments)
            .arg("--data-dir")
            .arg(folder.path())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains(named), "{errors}");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let output = tidings()
        .args(["sandbox", "--vendors", &taken.local_addr().unwrap().to_string()])
        .args(["--listen", "127.0.0.1:0", "--data-dir"])
        .arg(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--vendors"));
}

#[tokio::test]
async fn sb_2_sb_41_ready_twice_one_at_a_time_and_chats_stay() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = Sandbox::start(folder.path());
    let body = json!({ "message": "kept", "channel": "telegram" });
    let made = first.notify(&body).await.unwrap();
    let path = format!("/api/sends/{}", made["send"]["id"].as_str().unwrap());
    while first.get(&path).await["status"] != "sent" {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let second = tidings()
        .args(["sandbox", "--listen", "127.0.0.1:0", "--vendors", "127.0.0.1:0", "--data-dir"])
        .arg(folder.path())
        .stdout(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(75), "{}", String::from_utf8_lossy(&second.stderr));
    let received = first.received().await.len();
    let key = first.key.clone();
    assert_eq!(first.terminate(), Some(0));
    let again = Sandbox::start(folder.path());
    assert_eq!(again.key, key);
    let kept = again.received().await;
    assert!(kept.len() >= received);
    assert!(kept.iter().any(|r| r["body"]["text"] == "kept"));
}

#[tokio::test]
async fn sb_4_sb_5_the_written_configuration_is_an_operators_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut sandbox = Sandbox::start(folder.path());
    sandbox.terminate();
    let config = folder.path().join("config.toml");
    let check =
        tidings().arg("serve").arg("--check").arg("--config").arg(&config).output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
    let show = tidings().args(["config", "show", "--config"]).arg(&config).output().unwrap();
    let shown = String::from_utf8(show.stdout).unwrap();
    let token = std::fs::read_to_string(folder.path().join("secrets/telegram_bot_token")).unwrap();
    assert!(!shown.contains(token.trim()), "a secret is shown");
    assert!(shown.contains("channels.telegram.bot_token = \"file:"), "{shown}");
    let text = std::fs::read_to_string(&config).unwrap();
    assert!(!text.contains(token.trim()));
    use std::os::unix::fs::PermissionsExt;
    for file in ["config.toml", "operator.key", "secrets/telegram_bot_token"] {
        let mode = std::fs::metadata(folder.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[tokio::test]
async fn the_command_line_talks_to_a_gateway_and_says_what_it_cannot() {
    let folder = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::start(folder.path());
    let run = |arguments: &[&str], stdin: &str| {
        let mut child = tidings()
            .args(arguments)
            .env("TIDINGS_URL", &sandbox.gateway)
            .env("TIDINGS_KEY", &sandbox.key)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, out, err) = run(&["notify", "-", "--channel", "telegram", "--wait"], "from a pipe");
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("ntf_") && out.contains("telegram sent"), "{out}");
    let send = out.split_whitespace().find(|word| word.starts_with("snd_")).unwrap().to_owned();
    let (_, shown, _) = run(&["sends", "show", &send], "");
    assert!(shown.contains("The medium put it into the chat."), "{shown}");
    let (_, listed, _) = run(&["inbox"], "");
    assert!(listed.contains("from a pipe"));
    let (_, listed, _) = run(&["sends", "list", "--status", "sent"], "");
    assert!(listed.contains(&send));
    let (code, shown, _) = run(&["channels", "check", "telegram"], "");
    assert_eq!(code, Some(0));
    assert!(shown.contains("@tidings_sandbox_bot"), "{shown}");
    let (code, out, _) =
        run(&["preview", "x", "--sections", r#"[{"title":"t","rows":[{"text":"a"}]}]"#], "");
    assert_eq!(code, Some(0));
    assert!(out.contains("degraded") && out.contains("sendMessage"), "{out}");
    let (code, _, err) = run(&["notify", "x", "--options", "{bad"], "");
    assert_eq!((code, err.contains("--options")), (Some(2), true), "{err}");
    let (code, _, err) = run(&["notify", "-", "--media", "-"], "x");
    assert_eq!(code, Some(2), "{err}");
    let unreachable =
        tidings().args(["inbox"]).env("TIDINGS_URL", "http://127.0.0.1:1").output().unwrap();
    assert_eq!(unreachable.status.code(), Some(3));
    for shell in ["bash", "zsh", "fish"] {
        let output = tidings().args(["completions", shell]).output().unwrap();
        assert!(output.status.success() && !output.stdout.is_empty());
    }
    let key = tidings().args(["key", "new", "--identity", "ada"]).output().unwrap();
    let text = String::from_utf8(key.stdout).unwrap();
    let first = text.lines().next().unwrap();
    let mut hash = tidings()
        .args(["key", "hash"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    hash.stdin.take().unwrap().write_all(first.as_bytes()).unwrap();
    let hashed = String::from_utf8(hash.wait_with_output().unwrap().stdout).unwrap();
    assert!(text.contains(hashed.trim()), "the printed block holds the printed key's hash");
}

#[test]
fn a_bad_configuration_is_refused_whole_with_every_problem_and_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(
        &config,
        r#"
[listen]
public = "0.0.0.0:8080"
colour = "blue"
[delivery]
lease = "3s"
schedule = ["2m", "1m"]
[channels.telegram]
medium = "telegram"
bot_token = "s3cr3t-token"
base_url = "http://api.example.com"
webhook = true
[channels.pigeon]
medium = "pigeon"
[nonsense]
x = 1
"#,
    )
    .unwrap();
    let output = tidings().args(["serve", "--check", "--config"]).arg(&config).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    for path in [
        "listen.public",
        "listen.colour",
        "delivery.lease",
        "delivery.schedule",
        "channels.telegram.base_url",
        "channels.telegram.webhook",
        "channels.pigeon.medium",
        "nonsense",
    ] {
        assert!(errors.contains(path), "{path} is missing in: {errors}");
    }
    assert!(!errors.contains("s3cr3t"), "{errors}");
}
