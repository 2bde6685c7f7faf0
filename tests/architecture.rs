//! The shape of the source: who may import whom, how long a file and a function may be, and names
//! that say nothing.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Longest file, lines.
const FILE_MAX: usize = 600;
/// Longest function, lines.
const FUNCTION_MAX: usize = 80;
/// Module names that name nothing.
const REFUSED: &[&str] =
    &["utils", "util", "common", "helper", "helpers", "manager", "misc", "data", "info"];

/// What each room of `src` may import, beside itself. Everything else depends downward only.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("clock", &[]),
    ("ids", &["clock"]),
    ("metrics", &[]),
    ("store", &["clock", "ids"]),
    ("problem", &["store"]),
    ("notification", &["clock"]),
    ("config", &["auth", "ids"]),
    ("auth", &["config", "ids", "problem", "clock"]),
    ("registry", &["config", "clock", "store"]),
    ("sends", &["clock", "config", "ids", "inbox", "metrics", "store", "trace"]),
    ("trace", &["clock", "metrics", "sends"]),
    ("ingress", &["clock", "inbox", "metrics", "sends", "store"]),
    ("inbox", &["clock", "ids", "metrics", "notification", "store"]),
    ("chat", &["clock", "store"]),
    ("conversation", &["clock", "ids", "inbox", "outbox", "store"]),
    ("compose", &["auth", "clock", "ids", "problem", "registry", "store"]),
    (
        "outbox",
        &[
            "chat",
            "clock",
            "config",
            "ids",
            "inbox",
            "metrics",
            "notification",
            "registry",
            "sends",
            "store",
            "trace",
        ],
    ),
    (
        "app",
        &[
            "auth",
            "chat",
            "clock",
            "compose",
            "config",
            "conversation",
            "http",
            "ids",
            "inbox",
            "ingress",
            "metrics",
            "outbox",
            "registry",
            "sends",
            "store",
            "trace",
        ],
    ),
    (
        "http",
        &[
            "app",
            "auth",
            "chat",
            "clock",
            "compose",
            "config",
            "conversation",
            "ids",
            "inbox",
            "metrics",
            "notification",
            "outbox",
            "problem",
            "registry",
            "sends",
            "store",
            "trace",
        ],
    ),
    ("reference", &["cli", "problem"]),
    (
        "boot",
        &[
            "app", "auth", "chat", "clock", "config", "http", "ids", "ingress", "outbox", "store",
            "trace",
        ],
    ),
    ("cli", &["auth", "boot", "clock", "compose", "config", "ids", "registry", "sends", "store"]),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                found.extend(sources(&path));
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found
}

fn all_sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    ["src", "channels", "tests"].iter().flat_map(|folder| sources(&root.join(folder))).collect()
}

fn room(path: &Path) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let first = path.strip_prefix(root).unwrap().components().next().unwrap();
    first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
}

/// Rooms named behind `crate::`, in `use` lines and in paths.
fn imported(text: &str) -> Vec<String> {
    let code: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut rooms = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + 7..];
        let name: String =
            rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        rooms.push(name);
    }
    rooms
}

#[test]
fn rooms_import_only_what_stands_below_them() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_IMPORT.iter().copied().collect();
    let mut broken = Vec::new();
    for path in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let room = room(&path);
        if matches!(room.as_str(), "lib" | "main") {
            continue;
        }
        let may = allowed.get(room.as_str()).unwrap_or_else(|| panic!("no row for src/{room}"));
        for name in imported(&std::fs::read_to_string(&path).unwrap()) {
            if name != room && !may.contains(&name.as_str()) {
                broken.push(format!("{} imports {name}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn stores_are_named_only_where_they_are_chosen_and_adapters_only_in_the_registry() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for path in sources(&root) {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
        if !name.starts_with("store/") && name != "boot.rs" {
            assert!(!text.contains("store::embedded"), "{name} names the embedded store");
            assert!(!text.contains("store::model"), "{name} names the model store");
            assert!(!text.contains("store::redis"), "{name} names the Redis store");
        }
        if name != "registry.rs" {
            assert!(!text.contains("telegram::"), "{name} names an adapter");
        }
    }
}

#[test]
fn d_5_no_store_knows_a_status_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store");
    for path in sources(&root) {
        let text = std::fs::read_to_string(&path).unwrap();
        for status in ["outcome_unknown", "\"sending\"", "\"accepted\"", "PartStatus"] {
            assert!(!text.contains(status), "{} knows {status}", path.display());
        }
    }
}

#[test]
fn crates_depend_downward_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("channels");
    let may: &[(&str, &[&str])] = &[
        ("contract", &[]),
        ("kit", &["contract"]),
        ("testkit", &["contract", "kit"]),
        ("sandbox", &["contract"]),
        ("telegram", &["contract", "kit"]),
    ];
    let ours: Vec<&str> = may.iter().map(|(name, _)| *name).collect();
    for (name, allowed) in may {
        let text = std::fs::read_to_string(root.join(name).join("Cargo.toml")).unwrap();
        let normal = text.split("[dev-dependencies]").next().unwrap();
        for other in ours.iter().filter(|other| *other != name) {
            let depends = normal.lines().any(|line| line.starts_with(&format!("{other}.")));
            assert!(!depends || allowed.contains(other), "{name} depends on {other}");
        }
    }
}

#[test]
fn files_and_functions_fit_their_bounds_and_names_say_something() {
    let mut broken = Vec::new();
    for path in all_sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        let shown = path.display();
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() > FILE_MAX {
            broken.push(format!("{shown} has {} lines", lines.len()));
        }
        let stem = path.file_stem().unwrap().to_str().unwrap();
        if REFUSED.contains(&stem) {
            broken.push(format!("{shown} is named for nothing"));
        }
        for (name, length) in functions(&lines) {
            if length > FUNCTION_MAX {
                broken.push(format!("{shown}: fn {name} has {length} lines"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Functions with their length: from `fn` to the closing brace at the same indent.
fn functions(lines: &[&str]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        let heads =
            ["fn ", "pub fn ", "async fn ", "pub async fn ", "pub(super) fn ", "pub(crate) fn "];
        let Some(head) = heads.iter().find(|head| code.starts_with(**head)) else { continue };
        let name: String =
            code[head.len()..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        // A declaration without a body ends before a brace opens.
        let opens = lines[start..].iter().find(|l| l.ends_with(['{', ';', '}']));
        if opens.is_none_or(|l| !l.ends_with('{')) {
            continue;
        }
        let closing = format!("{}}}", " ".repeat(indent));
        let length = lines[start..].iter().position(|line| **line == closing);
        found.push((name, length.map_or(1, |n| n + 1)));
    }
    found
}

#[test]
fn every_module_says_how_it_works() {
    for path in all_sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap_or_default();
        assert!(
            first.starts_with("//!") || first.starts_with("#!["),
            "{} has no header",
            path.display()
        );
    }
}

#[test]
fn nothing_is_ignored_or_left_open() {
    let words = [concat!("todo", "!("), concat!("unimpl", "emented!("), concat!("#[ign", "ore")];
    for path in all_sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        for word in words {
            assert!(!text.contains(word), "{} holds {word}", path.display());
        }
    }
}
