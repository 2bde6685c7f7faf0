//! The account: its keys, what they must look like, and the grammar of addresses.
use crate::limits;
use contract::account::admits;
use contract::target::Scheme;
use contract::{
    AccountConfig, Address, Key, KeyDefault, KeyKind, KeyProblem, KeyValue, Refusal, Secrets,
    WebUrl,
};
use serde::{Serialize, Serializer};

/// Name of the token's reference in requests.
pub const TOKEN: &str = "bot_token";

/// The medium's own keys.
pub const KEYS: &[Key] = &[
    Key {
        name: TOKEN,
        kind: KeyKind::Secret,
        default: KeyDefault::Required,
        doc: "The bot's token, as BotFather gave it: digits, a colon, the secret.",
    },
    Key {
        name: "webhook_secrets",
        kind: KeyKind::Secrets,
        default: KeyDefault::Empty,
        doc: "Secrets that webhooks must carry, newest first: the first is registered, all are \
              accepted. Without one there is no door.",
    },
    Key {
        name: "register_webhook",
        kind: KeyKind::Flag,
        default: KeyDefault::Flag(true),
        doc: "Register the webhook at start, when the public address is https and a webhook \
              secret is configured.",
    },
    Key {
        name: "webhook_url",
        kind: KeyKind::Text,
        default: KeyDefault::None,
        doc: "Where the webhook is registered instead of {public_url}/webhooks/{channel}; port \
              443, 80, 88 or 8443 unless local_api is set.",
    },
    Key {
        name: "max_connections",
        kind: KeyKind::Integer,
        default: KeyDefault::Integer(40),
        doc: "Simultaneous webhook connections of the vendor, 1 to 100.",
    },
    Key {
        name: "local_api",
        kind: KeyKind::Flag,
        default: KeyDefault::Flag(false),
        doc: "base_url is a Bot API server of your own: files up to 2000 MB, webhooks on any port.",
    },
    Key {
        name: "link_previews",
        kind: KeyKind::Flag,
        default: KeyDefault::Flag(false),
        doc: "Let the vendor show previews of links in texts.",
    },
    Key {
        name: "media_hosts",
        kind: KeyKind::Texts,
        default: KeyDefault::Empty,
        doc: "Hosts that inbound files may be read from; empty: the host of base_url.",
    },
];

/// An account with every key checked. `Debug` shows no secret.
#[derive(Clone, Debug)]
pub struct Account {
    /// The digits of the token: the vendor's identity of the bot.
    pub bot_id: String,
    /// Secrets by the names requests use.
    pub secrets: Secrets,
    /// Without a trailing slash.
    pub base_url: String,
    /// A Bot API server of one's own.
    pub local_api: bool,
    /// Link previews are shown.
    pub link_previews: bool,
    /// Canonical addresses, or `*`.
    pub allowed: Vec<String>,
    /// Canonical.
    pub default_recipient: Option<Address>,
    /// Most text messages of a send.
    pub text_parts: u32,
    /// What keeps the webhook from being registered at start; `None`: nothing.
    unregistered: Option<&'static str>,
    /// Without a webhook secret there is no door.
    has_door: bool,
}

impl Account {
    /// Reads the keys, or reports every problem at once.
    pub fn read(config: &AccountConfig) -> Result<Self, Vec<KeyProblem>> {
        let mut problems = Vec::new();
        let mut problem = |key: &'static str, detail: &str| {
            problems.push(KeyProblem { key, detail: detail.to_owned() });
        };
        let token = config.secret(TOKEN).cloned();
        let bot_id = token.as_ref().and_then(|secret| bot_id(secret.expose()));
        if bot_id.is_none() {
            problem(TOKEN, "must be 3 to 20 digits, a colon, and 20 to 100 of A-Z a-z 0-9 _ -");
        }
        let webhook_secrets = config.secrets("webhook_secrets");
        if !webhook_secrets.iter().all(|secret| is_webhook_secret(secret.expose())) {
            problem("webhook_secrets", "each must be 16 to 256 of A-Z a-z 0-9 _ -");
        }
        let connections = config.integer("max_connections").unwrap_or(40);
        if !limits::CONNECTIONS.contains(&connections) {
            problem("max_connections", "must be 1 to 100");
        }
        let local_api = config.flag("local_api");
        let webhook = Webhook::of(config, !webhook_secrets.is_empty());
        if !webhook.is_callable(local_api) {
            problem("webhook_url", "must be https on port 443, 80, 88 or 8443");
        }
        if !config.texts("media_hosts").iter().all(|host| is_host(host)) {
            problem("media_hosts", "each must be a host name without scheme, port or path");
        }
        let mut canonical = |key: &'static str, text: &String| {
            let chat = Chat::parse(text);
            if chat.is_none() {
                problem(key, "must be a chat id, @username or chat:topic");
            }
            chat.map(|chat| chat.address())
        };
        let allowed = config.allowed_recipients.iter().filter_map(|text| match text.as_str() {
            "*" => Some("*".to_owned()),
            _ => canonical("allowed_recipients", text).map(|a| a.as_str().to_owned()),
        });
        let allowed = allowed.collect();
        let default_recipient =
            config.default_recipient.as_ref().and_then(|text| canonical("default_recipient", text));
        let (Some(token), Some(bot_id), true) = (token, bot_id, problems.is_empty()) else {
            return Err(problems);
        };
        let secrets =
            webhook_secrets.iter().fold(Secrets::none().with(TOKEN, token), |secrets, webhook| {
                secrets.with("webhook_secrets", webhook.clone())
            });
        Ok(Self {
            bot_id,
            secrets,
            base_url: config.base_url.clone().unwrap_or_else(|| crate::BASE_URL.to_owned()),
            local_api,
            link_previews: config.flag("link_previews"),
            allowed,
            default_recipient,
            text_parts: config.text_parts.unwrap_or(limits::TEXT_PARTS),
            unregistered: webhook.missing,
            has_door: !webhook_secrets.is_empty(),
        })
    }

    /// Most bytes of a file that is no photo.
    pub fn file_bytes(&self) -> u64 {
        if self.local_api { limits::LOCAL_FILE_BYTES } else { limits::FILE_BYTES }
    }

    /// What an operator should know at start.
    pub fn notes(&self) -> Vec<String> {
        if !self.has_door {
            return vec![
                "no webhook secret is configured: nothing that people answer is received; set \
                 webhook_secrets"
                    .to_owned(),
            ];
        }
        self.unregistered
            .map(|missing| format!("the webhook is not registered at start: {missing}"))
            .into_iter()
            .collect()
    }

    /// The address a caller's recipient stands for.
    pub fn recipient(&self, given: Option<&str>, reply: bool) -> Result<Address, Refusal> {
        let Some(given) = given else {
            return self.default_recipient.clone().ok_or_else(|| {
                Refusal::bad_request(
                    "recipient",
                    "recipient_required",
                    "this channel has no default recipient; give a chat id or @username",
                )
            });
        };
        let Some(chat) = Chat::parse(given) else {
            return Err(Refusal::bad_request(
                "recipient",
                "bad_recipient",
                "must be a chat id (decimal, may be negative), @username, or chat:topic",
            ));
        };
        let address = chat.address();
        if reply || admits(&self.allowed, &address) {
            return Ok(address);
        }
        Err(Refusal::forbidden(
            "recipient",
            "recipient_not_allowed",
            "the recipient is not in allowed_recipients of this channel",
        ))
    }
}

/// Where a webhook would be registered, and what is missing for it.
struct Webhook {
    url: Option<String>,
    given: bool,
    missing: Option<&'static str>,
}

impl Webhook {
    fn of(config: &AccountConfig, has_secret: bool) -> Self {
        let given = config.text("webhook_url").filter(|url| !url.is_empty());
        let wanted = !matches!(config.keys.get("register_webhook"), Some(KeyValue::Flag(false)));
        let public = config.public_url.as_deref();
        let derived = public.map(|url| format!("{url}/webhooks/{}", config.channel));
        let url = given.map(str::to_owned).or(derived);
        let missing = match &url {
            _ if !has_secret => Some("webhook_secrets is empty"),
            _ if !wanted => Some("register_webhook is false"),
            None => Some("listen.public_url is not set"),
            Some(url) if !url.starts_with("https://") => Some("listen.public_url is not https"),
            Some(_) => None,
        };
        Self { url, given: given.is_some(), missing }
    }

    /// False when the vendor would refuse to call this address. An address that is derived and not
    /// going to be registered is nobody's mistake.
    fn is_callable(&self, local_api: bool) -> bool {
        let Some(url) = self.url.as_deref().filter(|_| self.given || self.missing.is_none()) else {
            return true;
        };
        let port = url::Url::parse(url).ok().and_then(|url| url.port_or_known_default());
        WebUrl::parse(url, Scheme::Https).is_some()
            && port.is_some_and(|port| local_api || limits::WEBHOOK_PORTS.contains(&port))
    }
}

fn bot_id(token: &str) -> Option<String> {
    let (digits, secret) = token.split_once(':')?;
    let fine = (3..=20).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_digit())
        && (20..=100).contains(&secret.len())
        && secret.bytes().all(is_token_byte);
    fine.then(|| digits.to_owned())
}

fn is_webhook_secret(secret: &str) -> bool {
    (16..=256).contains(&secret.len()) && secret.bytes().all(is_token_byte)
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_host(host: &str) -> bool {
    !host.contains(['/', ':', '?', '#'])
        && WebUrl::parse(&format!("https://{host}"), Scheme::Https).is_some()
}

/// How the vendor names a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatId {
    /// A number; negative for groups and channels, up to 52 bits.
    Number(i64),
    /// `@username`, or a preview's literal.
    Name(String),
}

impl Serialize for ChatId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(id) => serializer.serialize_i64(*id),
            Self::Name(name) => serializer.serialize_str(name),
        }
    }
}

/// An address: a chat, and a topic of a forum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chat {
    /// Which chat.
    pub id: ChatId,
    /// `message_thread_id`.
    pub topic: Option<i64>,
}

impl Chat {
    /// Reads `-?\d{1,19}`, `@name` or either with `:topic`.
    pub fn parse(text: &str) -> Option<Self> {
        let (chat, topic) = match text.split_once(':') {
            Some((chat, topic)) => (chat, Some(topic_id(topic)?)),
            None => (text, None),
        };
        let id = match chat.strip_prefix('@') {
            Some(name) if is_username(name) => ChatId::Name(chat.to_owned()),
            Some(_) => return None,
            None => ChatId::Number(chat_number(chat)?),
        };
        Some(Self { id, topic })
    }

    /// Reads a canonical address; anything else (a preview's literal) is taken as a name.
    pub fn of(address: &Address) -> Self {
        Self::parse(address.as_str())
            .unwrap_or_else(|| Self { id: ChatId::Name(address.as_str().to_owned()), topic: None })
    }

    /// The canonical text.
    pub fn address(&self) -> Address {
        let chat = match &self.id {
            ChatId::Number(id) => id.to_string(),
            ChatId::Name(name) => name.clone(),
        };
        Address::new(match self.topic {
            Some(topic) => format!("{chat}:{topic}"),
            None => chat,
        })
    }

    /// True for groups, supergroups and channels.
    pub fn is_group(&self) -> bool {
        matches!(self.id, ChatId::Number(id) if id < 0)
    }
}

fn topic_id(text: &str) -> Option<i64> {
    let digits = text.bytes().all(|b| b.is_ascii_digit()) && (1..=10).contains(&text.len());
    text.parse().ok().filter(|id| digits && (1..=1 << 31).contains(id))
}

fn chat_number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let fine = (1..=19).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    if fine { text.parse().ok() } else { None }
}

fn is_username(name: &str) -> bool {
    (5..=32).contains(&name.len())
        && name.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
