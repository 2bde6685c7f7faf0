//! The layers of the configuration: which wins, where secrets come from, what is refused and how.
use tidings::config::load::{Sources, load, show};
use tidings::config::values::Layer;
use tidings::registry::MEDIA;

fn sources(
    file: &str,
    environment: &[(&str, &str)],
    flags: &[(&str, &str)],
) -> (Sources, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tidings.toml");
    std::fs::write(&path, file).unwrap();
    let pairs = |list: &[(&str, &str)]| -> Vec<(String, String)> {
        list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    };
    let environment = pairs(environment).into_iter().collect();
    (Sources { file: Some(path), environment, flags: pairs(flags) }, folder)
}

#[test]
fn stronger_layers_win_and_show_where_a_value_came_from() {
    let file = "[inbox]\nring = 10\ncache = 20\n[delivery]\nexpiry = '1h'";
    let environment = [("TIDINGS__INBOX__CACHE", "30"), ("TIDINGS__DELIVERY__EXPIRY", "2h")];
    let (sources, _folder) = sources(file, &environment, &[("delivery.expiry", "'3h'")]);
    let (config, values) = load(&sources, MEDIA).unwrap();
    assert_eq!((config.inbox.ring, config.inbox.cache), (10, 30));
    assert_eq!(config.delivery.expiry, std::time::Duration::from_secs(3 * 3600));
    let shown = show(&values, MEDIA);
    let layer = |path: &str| shown.iter().find(|(p, _, _)| p == path).map(|(_, _, l)| *l);
    assert_eq!(layer("inbox.ring"), Some(Layer::File));
    assert_eq!(layer("inbox.cache"), Some(Layer::Environment));
    assert_eq!(layer("delivery.expiry"), Some(Layer::Flag));
    assert_eq!(layer("delivery.lease"), Some(Layer::BuiltIn));
}

#[test]
fn variables_name_channels_with_a_dash_and_whole_lists() {
    let hash = format!("sha256:{}", "ab".repeat(32));
    let keys = format!("[{{identity='ops',hash='{hash}',scopes=['admin']}}]");
    let environment = [
        ("TIDINGS__CHANNELS__SUPPORT_2__DEFAULT_RECIPIENT", "42"),
        ("TIDINGS__KEYS", keys.as_str()),
        ("BOT", "1234567:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
    ];
    let file = "[channels.support-2]\nmedium='telegram'\nbot_token='env:BOT'\ndefault_recipient='7'\n\
                allowed_recipients=['7']";
    let (sources, _folder) = sources(file, &environment, &[]);
    let problems = load(&sources, MEDIA).err();
    // 42 reads as a number; a recipient is a string: the type is checked, the layer is right.
    assert!(problems.unwrap()[0].path == "channels.support-2.default_recipient");
}

#[test]
fn secrets_come_from_files_and_variables_and_are_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("token");
    std::fs::write(&secret, "1234567:SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS\n").unwrap();
    let file = format!(
        "[channels.a]\nmedium='telegram'\nbot_token='file:{}'\n\
                        [channels.b]\nmedium='telegram'\nbot_token='7654321:IIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIII'",
        secret.display()
    );
    let (sources, _folder) = sources(&file, &[], &[]);
    let (config, values) = load(&sources, MEDIA).unwrap();
    assert_eq!(config.channels.len(), 2);
    let shown = format!("{:?} {config:?}", show(&values, MEDIA));
    assert!(!shown.contains("SSSSS") && !shown.contains("IIIII"), "{shown}");
    assert!(shown.contains("file:"));
}

#[test]
fn every_problem_is_found_at_once_and_none_repeats_a_secret() {
    let file = "[channels.a]\nmedium='telegram'\nbot_token='short-s3cr3t'\n[channels.a-b]\nmedium='telegram'\n\
                bot_token='env:NOT_SET'\n[channels.a_b]\nmedium='telegram'\nbot_token=''\n[delivery]\nlease='20s'\n\
                drain='1s'\n[http]\nconnect_timeout='50s'\n[[keys]]\nidentity='x'\nhash='plain'\nscopes=['everything']";
    let (sources, _folder) = sources(file, &[], &[]);
    let problems = load(&sources, MEDIA).unwrap_err();
    let text = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    for wanted in [
        "channels.a.bot_token",
        "channels.a-b.bot_token: the environment variable NOT_SET",
        "channels.a_b",
        "delivery.lease",
        "delivery.drain",
        "http.timeout",
        "keys[0].hash",
        "keys[0].scopes",
    ] {
        assert!(text.contains(wanted), "{wanted} is missing in:\n{text}");
    }
    assert!(!text.contains("s3cr3t"), "{text}");
}

#[test]
fn two_channels_of_one_account_are_refused() {
    let token = "1234567:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let file = format!(
        "[channels.a]\nmedium='telegram'\nbot_token='{token}'\n\
                        [channels.b]\nmedium='telegram'\nbot_token='{token}'"
    );
    let (sources, _folder) = sources(&file, &[], &[]);
    let problems = load(&sources, MEDIA).unwrap_err();
    assert_eq!(problems[0].path, "channels.b");
}

#[test]
fn beyond_loopback_a_key_is_needed() {
    let (sources, _folder) = sources("[listen]\npublic='0.0.0.0:8080'", &[], &[]);
    assert_eq!(load(&sources, MEDIA).unwrap_err()[0].path, "listen.public");
}
