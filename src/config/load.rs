//! Merging the layers.
use super::Config;
use super::default::SHIPPED;
use super::values::{ConfigProblem, Layer, Values, add};
use contract::Registration;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// What the layers are made of.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// A file; without one the built-in copy of the shipped file.
    pub file: Option<PathBuf>,
    /// The process's environment.
    pub environment: BTreeMap<String, String>,
    /// `PATH=VALUE` of the command line, in order.
    pub flags: Vec<(String, String)>,
}

impl Sources {
    /// The process's own environment with a file and flags.
    #[must_use]
    pub fn of_process(file: Option<PathBuf>, flags: Vec<(String, String)>) -> Self {
        let environment: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .collect();
        let file = file.or_else(|| environment.get("TIDINGS_CONFIG").map(PathBuf::from));
        Self { file, environment, flags }
    }
}

/// Merges the layers.
///
/// # Errors
/// A file that cannot be read or is not TOML, or a flag without a path.
pub fn merge(sources: &Sources) -> Result<Values, Vec<ConfigProblem>> {
    let mut values = Values { environment: sources.environment.clone(), ..Values::default() };
    let mut problems = Vec::new();
    match read_file(sources.file.as_deref()) {
        Ok(mut table) => {
            if sources.file.is_none() {
                register_web(&mut table);
            }
            let layer = if sources.file.is_some() { Layer::File } else { Layer::BuiltIn };
            for (key, value) in table {
                put(&mut values, vec![key], value, layer);
            }
        }
        Err(problem) => problems.push(problem),
    }
    for (name, text) in &sources.environment {
        if let Some(path) = name.strip_prefix("TIDINGS__") {
            let path = variable_path(path, &values.tree);
            put(&mut values, path, toml_or_text(text), Layer::Environment);
        }
    }
    for (path, text) in &sources.flags {
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        if path.len() < 2 && path[0] != "keys" {
            add(&mut problems, path.join("."), "--set takes SECTION.KEY=VALUE");
            continue;
        }
        put(&mut values, path, toml_or_text(text), Layer::Flag);
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

/// Merges and reads.
///
/// # Errors
/// Every problem.
pub fn load(
    sources: &Sources,
    media: &[&Registration],
) -> Result<(Config, Values), Vec<ConfigProblem>> {
    let values = merge(sources)?;
    let config = Config::read(&values, media)?;
    Ok((config, values))
}

/// Without a file there is one channel, which needs no account: our own chat.
fn register_web(shipped: &mut Table) {
    let web = Table::from_iter([("medium".to_owned(), Value::String("web".to_owned()))]);
    let channels = Table::from_iter([("web".to_owned(), Value::Table(web))]);
    shipped.entry("channels").or_insert(Value::Table(channels));
}

fn read_file(file: Option<&Path>) -> Result<Table, ConfigProblem> {
    let problem =
        |path: &Path, detail: String| ConfigProblem { path: path.display().to_string(), detail };
    let Some(path) = file else {
        return SHIPPED
            .parse()
            .map_err(|_| problem(Path::new("config.toml"), "built-in copy".into()));
    };
    let text = std::fs::read_to_string(path)
        .map_err(|error| problem(path, format!("cannot be read: {}", error.kind())))?;
    // The message alone: the rest of the error repeats the line, which may hold a secret.
    text.parse::<Table>().map_err(|error| {
        let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
        let place = line.map(|n| format!(" at line {n}")).unwrap_or_default();
        problem(path, format!("is not TOML{place}"))
    })
}

/// `CHANNELS__SUPPORT_2__MEDIUM` names `channels.support-2.medium` when that channel is known.
fn variable_path(name: &str, tree: &Table) -> Vec<String> {
    let mut path: Vec<String> = name.split("__").map(str::to_lowercase).collect();
    if path.len() > 1
        && path[0] == "channels"
        && let Some(Value::Table(channels)) = tree.get("channels")
        && let Some(known) = channels.keys().find(|key| key.replace('-', "_") == path[1])
    {
        path[1].clone_from(known);
    }
    path
}

fn toml_or_text(text: &str) -> Value {
    format!("v = {text}")
        .parse::<Table>()
        .ok()
        .and_then(|mut table| table.remove("v"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Puts a value at a path, table into table; leaves remember their layer.
fn put(values: &mut Values, path: Vec<String>, value: Value, layer: Layer) {
    if let Value::Table(table) = value {
        let target = path.join(".");
        for (key, value) in table {
            let mut deeper = path.clone();
            deeper.push(key);
            put(values, deeper, value, layer);
        }
        // An empty table still registers: [channels.web] alone is a channel.
        let _ = place(&mut values.tree, &target);
        return;
    }
    let dotted = path.join(".");
    let (parents, leaf) = path.split_at(path.len() - 1);
    let Some(table) = place(&mut values.tree, &parents.join(".")) else { return };
    table.insert(leaf[0].clone(), value);
    values.layers.insert(dotted, layer);
}

/// The table at a dotted path, made when absent; `None` where a value stands in the way.
fn place<'t>(tree: &'t mut Table, path: &str) -> Option<&'t mut Table> {
    let mut table = tree;
    for key in path.split('.').filter(|key| !key.is_empty()) {
        table = table.entry(key).or_insert_with(|| Value::Table(Table::new())).as_table_mut()?;
    }
    Some(table)
}

/// The effective values as `config show` prints them: one line each, secrets masked.
#[must_use]
pub fn show(values: &Values, media: &[&Registration]) -> Vec<(String, String, Layer)> {
    let mut lines = Vec::new();
    for section in super::SECTIONS {
        for key in section.keys {
            let path = format!("{}.{}", section.name, key.name);
            let layer = values.layers.get(&path).copied().unwrap_or(Layer::BuiltIn);
            let given = values.given(section.name, key.name).map(Value::to_string);
            let shown = given.unwrap_or_else(|| key.default.to_owned());
            let shown = match path.as_str() {
                // A url may carry a password.
                "http.proxy" | "store.url" if shown.contains('@') => "***".to_owned(),
                "store.password" => {
                    let given = values.given(section.name, key.name);
                    given.filter(|v| v.as_str() != Some("")).map_or(shown, masked)
                }
                _ => shown,
            };
            lines.push((path, shown, layer));
        }
    }
    for (path, layer) in &values.layers {
        let Some(rest) = path.strip_prefix("channels.") else { continue };
        let Some((channel, key)) = rest.split_once('.') else { continue };
        let table = values.given("channels", channel).and_then(Value::as_table);
        let Some(value) = table.and_then(|t| lookup(t, key)) else { continue };
        let medium = table.and_then(|t| t.get("medium")).and_then(Value::as_str);
        let plain =
            super::channels::COMMON.iter().any(|(name, _, _)| key.split('.').next() == Some(name))
                || media.iter().any(|r| Some(r.medium) == medium && is_plain(r, key));
        let shown = if plain { value.to_string() } else { masked(value) };
        lines.push((path.clone(), shown, *layer));
    }
    if let Some(Value::Array(keys)) = values.tree.get("keys") {
        let layer = values.layers.get("keys").copied().unwrap_or(Layer::BuiltIn);
        for (i, key) in keys.iter().enumerate() {
            let identity = key.get("identity").map(ToString::to_string).unwrap_or_default();
            lines.push((format!("keys[{i}].identity"), identity, layer));
        }
    }
    lines
}

fn lookup<'t>(table: &'t Table, path: &str) -> Option<&'t Value> {
    match path.split_once('.') {
        Some((head, rest)) => lookup(table.get(head)?.as_table()?, rest),
        None => table.get(path),
    }
}

fn is_plain(registration: &Registration, key: &str) -> bool {
    registration.keys.iter().any(|k| {
        k.name == key && !matches!(k.kind, contract::KeyKind::Secret | contract::KeyKind::Secrets)
    })
}

/// A reference to a secret may be shown; the secret may not.
fn masked(value: &Value) -> String {
    match value {
        Value::String(text) if text.starts_with("env:") || text.starts_with("file:") => {
            value.to_string()
        }
        Value::Array(list) => {
            format!("[{}]", list.iter().map(masked).collect::<Vec<_>>().join(", "))
        }
        _ => "***".to_owned(),
    }
}
