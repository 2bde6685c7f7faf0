//! Files written from the code: a test fails when one drifts. Refresh with `TIDINGS_REFRESH_DOCS=1`.
use std::path::Path;
use tidings::registry::MEDIA;

fn holds(path: &str, wanted: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("TIDINGS_REFRESH_DOCS").is_some() {
        std::fs::write(&file, wanted).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == wanted,
        "{path} differs from the code; run the test with TIDINGS_REFRESH_DOCS=1"
    );
}

#[test]
fn the_shipped_configuration_is_what_the_code_declares() {
    holds("config.toml", &tidings::config::default::config_toml(MEDIA));
}

#[test]
fn the_documentation_is_what_the_code_declares() {
    holds("docs/CHANNELS.md", &tidings::reference::channels(MEDIA));
    holds("docs/PROBLEMS.md", &tidings::reference::problems());
    holds("docs/CLI.md", &tidings::reference::commands());
}
