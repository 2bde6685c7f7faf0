//! `[channels.NAME]`: the registered channels. Common keys are read here; a medium's own keys are
//! declared by its crate, typed here, and judged by its `open`.
use super::delivery::{OnAmbiguous, check_schedule};
use super::pace::PaceConfig;
use super::spec::Kind;
use super::units;
use super::values::{Problems, Values, add, kind_problem, strings};
use bytes::Bytes;
use contract::{
    AccountConfig, Adapter, ChannelName, Key, KeyDefault, KeyKind, KeyValue, Medium, Registration,
    Word, Words,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;
use toml::{Table, Value};

/// Common keys of a channel with their default as TOML and a line for people.
pub const COMMON: &[(&str, &str, &str)] = &[
    ("medium", "", "Required."),
    ("enabled", "true", "false: the channel is not registered."),
    ("base_url", "", "Origin of the vendor's API; https unless loopback."),
    ("allowed_recipients", "[]", "Addresses that may be sent to; [\"*\"] is everyone."),
    ("default_recipient", "\"\"", "Used when a call names none."),
    ("max_in_flight", "", "As in [delivery], for this channel."),
    ("on_ambiguous", "", "As in [delivery], for this channel."),
    ("schedule", "", "As in [delivery], for this channel."),
    ("expiry", "", "As in [delivery], for this channel."),
    (
        "pace",
        "",
        "A table: account_per_second, account_burst, recipient_per_second, recipient_burst; 0 is \
         unpaced; the medium's own figures.",
    ),
    ("text_parts", "", "Most messages one text is split into, 1 to 20; the medium's own default."),
    ("language", "\"en\"", "Language of the few words Tidings adds."),
    ("words", "{}", "Single words replaced."),
];

const WORDS_EN: &str = include_str!("../../templates/words/en.toml");

/// How a channel's sends are delivered where it differs from `[delivery]`.
#[derive(Clone, Debug, Default)]
pub struct ChannelDelivery {
    /// Sends in flight.
    pub max_in_flight: Option<u32>,
    /// After no answer.
    pub on_ambiguous: Option<OnAmbiguous>,
    /// Waits between tries.
    pub schedule: Option<Vec<Duration>>,
    /// Expiry.
    pub expiry: Option<Duration>,
}

/// One channel, its adapter opened.
#[derive(Clone)]
pub struct ChannelConfig {
    /// Registered name.
    pub name: ChannelName,
    /// Its medium.
    pub medium: Medium,
    /// The adapter bound to the account.
    pub adapter: Arc<dyn Adapter>,
    /// The vendor's identity of the account.
    pub identity: String,
    /// Notes for the operator at start.
    pub notes: Vec<String>,
    /// Origin of the vendor's API.
    pub base_url: Option<String>,
    /// Differences from `[delivery]`.
    pub delivery: ChannelDelivery,
    /// Differences from the medium's pace.
    pub pace: PaceConfig,
    /// SHA-256 over everything it is made of, its secrets' values included: two readings with
    /// equal ones make equal channels.
    pub fingerprint: [u8; 32],
}

impl fmt::Debug for ChannelConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelConfig")
            .field("name", &self.name)
            .field("medium", &self.medium)
            .field("delivery", &self.delivery)
            .finish_non_exhaustive()
    }
}

pub(super) fn read(
    values: &Values,
    public_url: Option<&str>,
    media: &[&Registration],
    problems: &mut Problems,
) -> Vec<ChannelConfig> {
    let Some(table) = values.tree.get("channels") else { return Vec::new() };
    let Some(table) = table.as_table() else {
        add(problems, "channels", "must be tables: [channels.NAME]");
        return Vec::new();
    };
    let mut channels: Vec<ChannelConfig> = Vec::new();
    let mut as_variable: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in table {
        let path = format!("channels.{name}");
        if let Some(other) = as_variable.insert(name.replace('-', "_"), name.clone()) {
            let detail = format!("reads like the channel {other} in an environment variable");
            add(problems, path.clone(), detail);
        }
        let Some(channel) = value.as_table() else {
            add(problems, path, "must be a table");
            continue;
        };
        if channel.get("enabled") == Some(&Value::Boolean(false)) {
            continue;
        }
        let reader = Reader { path, table: channel, values, public_url };
        let Some(opened) = reader.open(name, media, problems) else { continue };
        if let Some(twin) = channels.iter().find(|c| {
            c.medium == opened.medium && c.identity == opened.identity && !c.identity.is_empty()
        }) {
            let detail = format!("is the same account as the channel {}", twin.name);
            add(problems, format!("channels.{name}"), detail);
        }
        channels.push(opened);
    }
    channels
}

struct Reader<'a> {
    path: String,
    table: &'a Table,
    values: &'a Values,
    public_url: Option<&'a str>,
}

impl Reader<'_> {
    fn at(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    /// A common key of this kind.
    fn common(&self, key: &str, kind: Kind, problems: &mut Problems) -> Option<&Value> {
        let value = self.table.get(key)?;
        if let Some(needed) = kind_problem(kind, value) {
            add(problems, self.at(key), needed);
            return None;
        }
        Some(value)
    }

    fn text(&self, key: &str, problems: &mut Problems) -> Option<String> {
        let value = self.common(key, Kind::Text, problems)?;
        value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    }

    fn open(
        &self,
        name: &str,
        media: &[&Registration],
        problems: &mut Problems,
    ) -> Option<ChannelConfig> {
        let before = problems.len();
        let channel = ChannelName::parse(name);
        if channel.is_none() {
            let needed = "a channel's name is lower-case letters, digits, _ and -, at most 32";
            add(problems, self.path.clone(), needed);
        }
        let medium = self.text("medium", problems).unwrap_or_default();
        let Some(registration) = media.iter().find(|r| r.medium == medium) else {
            let known: Vec<_> = media.iter().map(|r| r.medium).collect();
            add(problems, self.at("medium"), format!("must be one of: {}", known.join(", ")));
            return None;
        };
        self.unknown_keys(registration, problems);
        let delivery = self.delivery(problems);
        let base_url = self.base_url(registration, problems);
        let pace = self.pace(problems);
        let account = AccountConfig {
            channel: channel.clone()?,
            public_url: self.public_url.map(str::to_owned),
            base_url: base_url.clone(),
            allowed_recipients: self
                .common("allowed_recipients", Kind::Texts, problems)
                .map(strings)
                .unwrap_or_default(),
            default_recipient: self.default_recipient(registration, problems),
            text_parts: self
                .common("text_parts", Kind::Integer { min: 1, max: 20 }, problems)
                .and_then(Value::as_integer)
                .and_then(|n| u32::try_from(n).ok()),
            words: self.words(problems),
            keys: registration
                .keys
                .iter()
                .filter_map(|key| Some((key.name, self.own_key(key, problems)?)))
                .collect(),
        };
        if problems.len() > before {
            return None;
        }
        let fingerprint = self.fingerprint(&account);
        match (registration.open)(account) {
            Ok(opened) => Some(ChannelConfig {
                fingerprint,
                name: channel?,
                medium: Medium::parse(registration.medium)?,
                adapter: opened.adapter,
                identity: opened.identity,
                notes: opened.notes,
                base_url,
                delivery,
                pace,
            }),
            Err(refused) => {
                for problem in refused {
                    add(problems, self.at(problem.key), problem.detail);
                }
                None
            }
        }
    }

    fn fingerprint(&self, account: &AccountConfig) -> [u8; 32] {
        let mut hasher = Sha256::new();
        let mut add = |text: &[u8]| {
            hasher.update(text.len().to_be_bytes());
            hasher.update(text);
        };
        add(self.table.to_string().as_bytes());
        add(account.public_url.as_deref().unwrap_or_default().as_bytes());
        // What a reference to a secret or a path leads to may change while the text stays.
        for value in account.keys.values() {
            match value {
                KeyValue::Secret(secret) => add(secret.expose().as_bytes()),
                KeyValue::Secrets(secrets) => {
                    secrets.iter().for_each(|s| add(s.expose().as_bytes()));
                }
                KeyValue::File(bytes) => add(bytes),
                KeyValue::Text(_)
                | KeyValue::Texts(_)
                | KeyValue::Integer(_)
                | KeyValue::Flag(_)
                | KeyValue::Duration(_)
                | KeyValue::Table(_) => {}
            }
        }
        hasher.finalize().into()
    }

    fn unknown_keys(&self, registration: &Registration, problems: &mut Problems) {
        let own = registration.keys.iter().map(|key| key.name);
        let known: Vec<&str> = COMMON.iter().map(|(name, _, _)| *name).chain(own).collect();
        for key in self.table.keys().filter(|key| !known.contains(&key.as_str())) {
            let detail = format!("there is no such key; known: {}", known.join(", "));
            add(problems, self.at(key), detail);
        }
    }

    fn delivery(&self, problems: &mut Problems) -> ChannelDelivery {
        let integer = Kind::Integer { min: 1, max: 4096 };
        let expiry = Kind::Duration { min: 10_000, max: 7 * super::spec::DAY };
        let schedule = self.common("schedule", Kind::Durations, problems).map(|list| {
            strings(list).iter().filter_map(|step| units::duration(step)).collect::<Vec<_>>()
        });
        if let Some(steps) = &schedule {
            check_schedule(&self.at("schedule"), steps, problems);
        }
        ChannelDelivery {
            max_in_flight: self
                .common("max_in_flight", integer, problems)
                .and_then(Value::as_integer)
                .and_then(|n| u32::try_from(n).ok()),
            on_ambiguous: self
                .common("on_ambiguous", Kind::Word(&["hold", "retry"]), problems)
                .and_then(Value::as_str)
                .map(OnAmbiguous::parse),
            schedule,
            expiry: self
                .common("expiry", expiry, problems)
                .and_then(Value::as_str)
                .and_then(units::duration),
        }
    }

    fn pace(&self, problems: &mut Problems) -> PaceConfig {
        match self.table.get("pace") {
            None => PaceConfig::default(),
            Some(Value::Table(table)) => PaceConfig::read(&self.at("pace"), table, problems),
            Some(_) => {
                add(problems, self.at("pace"), "must be a table");
                PaceConfig::default()
            }
        }
    }

    /// An origin with an optional path; https unless the host is loopback or listed as private.
    fn base_url(&self, registration: &Registration, problems: &mut Problems) -> Option<String> {
        let Some(given) = self.text("base_url", problems) else {
            return registration.base_url.map(str::to_owned);
        };
        let trimmed = given.trim_end_matches('/').to_owned();
        let fine = registration.base_url.is_some()
            && url::Url::parse(&trimmed).is_ok_and(|url| {
                let plain = url.query().is_none()
                    && url.fragment().is_none()
                    && url.username().is_empty()
                    && url.has_host();
                plain && (url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url)))
            });
        if !fine {
            add(problems, self.at("base_url"), "must be an https url (http for a loopback host)");
        }
        Some(trimmed)
    }

    fn default_recipient(
        &self,
        registration: &Registration,
        problems: &mut Problems,
    ) -> Option<String> {
        let given = self.text("default_recipient", problems)?;
        if !registration.takes_default_recipient {
            add(problems, self.at("default_recipient"), "this medium has no default recipient");
        }
        Some(given)
    }

    fn words(&self, problems: &mut Problems) -> Words {
        let language = self.text("language", problems).unwrap_or_else(|| "en".to_owned());
        if language != "en" {
            add(problems, self.at("language"), "must be one of: en");
        }
        let mut table = WORDS_EN.parse::<Table>().unwrap_or_default();
        if let Some(own) = self.table.get("words") {
            let Some(own) = own.as_table() else {
                add(problems, self.at("words"), "must be a table of strings");
                return Words::default();
            };
            for (word, text) in own {
                if Word::parse(word).is_none() || text.as_str().is_none() {
                    let known: Vec<_> = Word::ALL.iter().map(|w| w.as_str()).collect();
                    let detail =
                        format!("must be a string, and its name one of: {}", known.join(", "));
                    add(problems, format!("{}.{word}", self.at("words")), detail);
                }
                table.insert(word.clone(), text.clone());
            }
        }
        Words::new(
            table
                .iter()
                .filter_map(|(word, text)| Some((Word::parse(word)?, text.as_str()?.to_owned())))
                .collect(),
        )
    }

    /// A key the medium declares, typed; secrets resolved.
    fn own_key(&self, key: &Key, problems: &mut Problems) -> Option<KeyValue> {
        let path = self.at(key.name);
        let Some(given) = self.table.get(key.name) else {
            if key.default == KeyDefault::Required {
                add(problems, path, format!("is required: {}", key.doc));
            }
            return default_of(key);
        };
        let typed = match (key.kind, given) {
            (KeyKind::Text, Value::String(text)) => Ok(KeyValue::Text(text.clone())),
            (KeyKind::Integer, Value::Integer(n)) => Ok(KeyValue::Integer(*n)),
            (KeyKind::Flag, Value::Boolean(flag)) => Ok(KeyValue::Flag(*flag)),
            (KeyKind::Texts, Value::Array(list)) if list.iter().all(|v| v.as_str().is_some()) => {
                Ok(KeyValue::Texts(strings(given)))
            }
            (KeyKind::Secret, Value::String(text)) => {
                self.values.secret(text).map(KeyValue::Secret)
            }
            (KeyKind::Secrets, Value::Array(list))
                if list.len() <= 4 && list.iter().all(|v| v.as_str().is_some()) =>
            {
                let secrets = strings(given);
                let resolved: Result<Vec<_>, _> =
                    secrets.iter().map(|text| self.values.secret(text)).collect();
                resolved.map(KeyValue::Secrets)
            }
            (KeyKind::Duration, Value::String(text)) => units::duration(text)
                .map(KeyValue::Duration)
                .ok_or_else(|| format!("must be {}", kind_words(key.kind))),
            (KeyKind::Table(members), Value::Table(table)) => {
                members_of(table, members).map(KeyValue::Table)
            }
            (KeyKind::File { .. }, Value::String(path)) if path.is_empty() => return None,
            (KeyKind::File { max }, Value::String(path)) => file(path, max).map(KeyValue::File),
            (kind, _) => Err(format!("must be {}", kind_words(kind))),
        };
        typed.map_err(|detail| add(problems, path, detail)).ok()
    }
}

fn kind_words(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Text => "a string",
        KeyKind::Texts => "a list of strings",
        KeyKind::Integer => "a whole number",
        KeyKind::Flag => "true or false",
        KeyKind::Secret => "a secret: \"env:NAME\", \"file:PATH\" or inline",
        KeyKind::Duration => "a duration such as \"30d\"",
        KeyKind::Table(_) => "a table of strings",
        KeyKind::File { .. } => "the path of a file",
        KeyKind::Secrets => "a list of at most 4 secrets: \"env:NAME\", \"file:PATH\" or inline",
    }
}

/// The texts of a table whose members are all known; empty ones are left out.
fn members_of(table: &Table, members: &[&str]) -> Result<BTreeMap<String, String>, String> {
    let needed = || format!("must be a table of strings with the members {}", members.join(", "));
    let mut found = BTreeMap::new();
    for (name, value) in table {
        let text =
            value.as_str().filter(|_| members.contains(&name.as_str())).ok_or_else(needed)?;
        if !text.is_empty() {
            found.insert(name.clone(), text.to_owned());
        }
    }
    Ok(found)
}

/// A file's bytes, at most `max`.
fn file(path: &str, max: u64) -> Result<Bytes, String> {
    let unread = |error: std::io::Error| format!("the file cannot be read: {}", error.kind());
    let file = std::fs::File::open(path).map_err(unread)?;
    let mut bytes = Vec::new();
    file.take(max + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() as u64 > max {
        return Err(format!("the file may hold at most {max} bytes"));
    }
    Ok(bytes.into())
}

fn default_of(key: &Key) -> Option<KeyValue> {
    match key.default {
        KeyDefault::Text(text) if key.kind == KeyKind::Duration => {
            units::duration(text).map(KeyValue::Duration)
        }
        KeyDefault::Required | KeyDefault::None | KeyDefault::Empty => None,
        KeyDefault::Text(text) => Some(KeyValue::Text(text.to_owned())),
        KeyDefault::Integer(n) => Some(KeyValue::Integer(n)),
        KeyDefault::Flag(flag) => Some(KeyValue::Flag(flag)),
    }
}

/// True for `localhost` and loopback addresses.
#[must_use]
pub fn is_loopback(url: &url::Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
