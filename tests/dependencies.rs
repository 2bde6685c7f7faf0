//! What the lock file brings along: licences, banned crates, duplicates.
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Licences that may come in, as SPDX names.
const LICENCES: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "0BSD",
    "Unlicense",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "MIT-0",
    "BSL-1.0",
    "Apache-2.0 WITH LLVM-exception",
];

/// Crates that may not come in, with the reason.
const BANNED: &[(&str, &str)] = &[
    ("openssl", "one TLS library: rustls with ring"),
    ("openssl-sys", "one TLS library: rustls with ring"),
    ("native-tls", "one TLS library: rustls with ring"),
    ("aws-lc-rs", "one TLS provider: ring"),
    ("aws-lc-sys", "one TLS provider: ring; needs more than gcc"),
    ("teloxide", "no vendor client makes a request behind the network door"),
    ("hyper-tls", "one TLS library"),
    ("chrono", "one time library: jiff"),
];

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform"])
        .arg("x86_64-unknown-linux-gnu")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn packages(metadata: &Value) -> Vec<&Value> {
    let resolved: BTreeSet<&str> = metadata["resolve"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n["id"].as_str().unwrap())
        .collect();
    let all = metadata["packages"].as_array().unwrap();
    all.iter().filter(|p| resolved.contains(p["id"].as_str().unwrap())).collect()
}

/// True when an SPDX expression can be satisfied by the allowed licences.
fn allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ").replace(['(', ')'], " ");
    // An expression of ANDs and ORs: every AND part needs one allowed alternative.
    expression
        .split(" AND ")
        .all(|part| part.split(" OR ").any(|name| LICENCES.contains(&name.trim())))
}

#[test]
fn licences_are_permissive() {
    let metadata = metadata();
    let refused: Vec<String> = packages(&metadata)
        .iter()
        .filter(|p| !p["license"].as_str().is_some_and(allowed))
        .map(|p| format!("{} {}", p["name"], p["license"]))
        .collect();
    assert!(refused.is_empty(), "{refused:?}");
}

#[test]
fn banned_crates_stay_out() {
    let metadata = metadata();
    for package in packages(&metadata) {
        let name = package["name"].as_str().unwrap();
        if let Some((_, why)) = BANNED.iter().find(|(banned, _)| *banned == name) {
            panic!("{name} came in: {why}");
        }
    }
}

#[test]
fn one_client_one_tls_and_every_direct_dependency_has_its_reason() {
    let metadata = metadata();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages(&metadata) {
        let version = package["version"].as_str().unwrap();
        versions.entry(package["name"].as_str().unwrap()).or_default().insert(version);
    }
    for single in ["hyper", "reqwest", "rustls", "ring", "tokio", "redb", "serde_json"] {
        let found = versions.get(single).map_or(0, BTreeSet::len);
        assert!(found <= 1, "{single} stands in the graph {found} times");
    }
    let reasons = include_str!("../docs/DEPENDENCIES.md");
    let manifest = include_str!("../Cargo.toml");
    let table = manifest.split("[workspace.dependencies]").nth(1).unwrap();
    let table = table.split("\n[").next().unwrap();
    for line in table.lines().filter(|line| line.contains('=') && !line.contains("path =")) {
        let name = line.split('=').next().unwrap().trim();
        assert!(
            reasons.contains(&format!("| `{name}`")),
            "docs/DEPENDENCIES.md has no row for {name}"
        );
    }
}
