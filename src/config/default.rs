//! The shipped `config.toml` and the list of environment variables, written from the declarations.
use super::SECTIONS;
use super::channels::COMMON;
use super::spec::{Kind, Section};
use contract::{Key, KeyDefault, KeyKind, Registration};
use std::fmt::Write;

/// The built-in copy of the shipped file.
pub const SHIPPED: &str = include_str!("../../config.toml");

/// Writes the whole file: every key with its default, commented.
#[must_use]
pub fn config_toml(media: &[&Registration]) -> String {
    let mut text = String::from(
        "# Tidings: the complete configuration with its defaults. Generated; every key may be left\n\
         # out. Stronger layers: environment (TIDINGS__SECTION__KEY), then flags (--set PATH=VALUE).\n\
         # A secret is \"env:NAME\", \"file:PATH\", or the value itself.\n",
    );
    for section in SECTIONS {
        write_section(&mut text, section);
    }
    text.push_str(
        "\n# Who may call: one [[keys]] entry for each; `tidings key new --identity NAME` prints one.\n\
         # [[keys]]\n# identity = \"ops\"\n# hash = \"sha256:…\"\n# restricted = false\n\
         # scopes = [\"admin\"]\n",
    );
    text.push_str("\n# Channels: one [channels.NAME] for each account. Keys of every medium:\n");
    for (name, default, doc) in COMMON {
        let shown = if default.is_empty() { String::new() } else { format!(" = {default}") };
        let _ = writeln!(text, "#   {name}{shown}: {doc}");
    }
    for registration in media {
        write_medium(&mut text, registration);
    }
    text
}

fn write_section(text: &mut String, section: &Section) {
    let _ = write!(text, "\n# {}\n[{}]\n", section.doc, section.name);
    for key in section.keys {
        let _ = writeln!(text, "# {}{}", key.doc, range(key.kind));
        let _ = writeln!(text, "{} = {}", key.name, key.default);
    }
}

fn range(kind: Kind) -> String {
    let spell = |ms: u64| super::units::spell(std::time::Duration::from_millis(ms));
    match kind {
        Kind::Integer { min, max } => format!(" {min} to {max}."),
        Kind::Duration { min, max } => format!(" {} to {}.", spell(min), spell(max)),
        Kind::Size { min, max } => format!(" {min} to {max} bytes."),
        Kind::Word(words) if words.len() > 1 => format!(" One of: {}.", words.join(", ")),
        Kind::Text | Kind::Texts | Kind::Durations | Kind::Word(_) => String::new(),
    }
}

fn write_medium(text: &mut String, registration: &Registration) {
    let medium = registration.medium;
    let _ = write!(text, "\n# [channels.{medium}]\n# medium = \"{medium}\"\n");
    if let Some(base_url) = registration.base_url {
        let _ = writeln!(text, "# base_url = \"{base_url}\"");
    }
    for key in registration.keys {
        let _ = writeln!(text, "# {} = {}   # {}", key.name, key_default(medium, key), key.doc);
    }
}

fn key_default(medium: &str, key: &Key) -> String {
    match (key.default, key.kind) {
        (KeyDefault::Text(value), _) => format!("\"{value}\""),
        (KeyDefault::Integer(value), _) => value.to_string(),
        (KeyDefault::Flag(value), _) => value.to_string(),
        (_, KeyKind::Secret) => {
            format!("\"env:{}_{}\"", medium.to_uppercase(), key.name.to_uppercase())
        }
        (_, KeyKind::Secrets | KeyKind::Texts) => "[]".to_owned(),
        (_, KeyKind::Text | KeyKind::File { .. } | KeyKind::Duration) => "\"\"".to_owned(),
        (_, KeyKind::Table(members)) => {
            let members: Vec<_> = members.iter().map(|name| format!("{name} = \"\"")).collect();
            format!("{{{}}}", members.join(", "))
        }
        (_, KeyKind::Integer) => "0".to_owned(),
        (_, KeyKind::Flag) => "false".to_owned(),
    }
}

/// Every variable with its default, one a line.
#[must_use]
pub fn environment() -> String {
    let mut text = String::new();
    for section in SECTIONS {
        for key in section.keys {
            let name = format!("TIDINGS__{}__{}", section.name, key.name).to_uppercase();
            let _ = writeln!(text, "{name}={}", key.default);
        }
    }
    text.push_str("TIDINGS__KEYS=[]\nTIDINGS__CHANNELS__<NAME>__<KEY>=\n");
    text
}
