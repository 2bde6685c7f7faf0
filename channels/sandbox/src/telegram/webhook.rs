//! The bot's registration: `setWebhook`, `getWebhookInfo`.
//!
//! What was registered is served back; the secret is judged and not kept.
use super::answers::Refused;
use super::limits::{
    WEBHOOK_CONNECTIONS, WEBHOOK_CONNECTIONS_DEFAULT, WEBHOOK_PORTS, WEBHOOK_SECRET_CHARS,
};
use super::request::Arguments;
use serde_json::{Value, json};
use url::Url;

/// What a bot registered; an empty url is no registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Where updates go.
    pub url: String,
    /// Connections at once.
    pub max_connections: i64,
    /// Kinds of update; `None` until a call named some.
    pub allowed_updates: Option<Vec<String>>,
}

impl Default for Webhook {
    fn default() -> Self {
        Self {
            url: String::new(),
            max_connections: WEBHOOK_CONNECTIONS_DEFAULT,
            allowed_updates: None,
        }
    }
}

impl Webhook {
    /// Reads a registration. The kinds of update stay as they were when the call names none.
    ///
    /// # Errors
    /// The vendor would not take it.
    pub fn read(arguments: &Arguments<'_>, before: &Self) -> Result<Self, Refused> {
        let url = arguments.text("url").unwrap_or_default();
        if url.is_empty() {
            return Ok(Self { allowed_updates: before.allowed_updates.clone(), ..Self::default() });
        }
        check_url(url)?;
        check_secret(arguments.text("secret_token"))?;
        let connections = arguments.text("max_connections").map(str::parse::<i64>);
        let connections = connections.unwrap_or(Ok(WEBHOOK_CONNECTIONS_DEFAULT)).ok();
        let connections = connections.filter(|count| WEBHOOK_CONNECTIONS.contains(count));
        Ok(Self {
            url: url.to_owned(),
            max_connections: connections
                .ok_or_else(|| Refused::bad("max_connections must be between 1 and 100"))?,
            allowed_updates: updates(arguments)?.or_else(|| before.allowed_updates.clone()),
        })
    }

    /// As `getWebhookInfo` shows it.
    #[must_use]
    pub fn shown(&self) -> Value {
        let mut info = json!({
            "url": self.url,
            "has_custom_certificate": false,
            "pending_update_count": 0,
        });
        if !self.url.is_empty() {
            info["max_connections"] = json!(self.max_connections);
        }
        if let Some(kinds) = &self.allowed_updates {
            info["allowed_updates"] = json!(kinds);
        }
        info
    }

    /// The same, read back.
    #[must_use]
    pub fn from_shown(shown: &Value) -> Self {
        let kinds = shown["allowed_updates"]
            .as_array()
            .map(|kinds| kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        Self {
            url: shown["url"].as_str().unwrap_or_default().to_owned(),
            max_connections: shown["max_connections"]
                .as_i64()
                .unwrap_or(WEBHOOK_CONNECTIONS_DEFAULT),
            allowed_updates: kinds,
        }
    }
}

fn check_url(text: &str) -> Result<(), Refused> {
    let url = Url::parse(text).map_err(|_| Refused::bad("invalid webhook URL specified"))?;
    if url.scheme() != "https" {
        return Err(Refused::bad("bad webhook: An HTTPS URL must be provided for webhook"));
    }
    if !WEBHOOK_PORTS.contains(&url.port_or_known_default().unwrap_or(443)) {
        let what = "bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443";
        return Err(Refused::bad(what));
    }
    Ok(())
}

fn check_secret(secret: Option<&str>) -> Result<(), Refused> {
    let Some(secret) = secret else { return Ok(()) };
    if secret.chars().count() > WEBHOOK_SECRET_CHARS {
        return Err(Refused::bad("secret token is too long"));
    }
    if !secret.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')) {
        return Err(Refused::bad("secret token contains unallowed characters"));
    }
    Ok(())
}

fn updates(arguments: &Arguments<'_>) -> Result<Option<Vec<String>>, Refused> {
    let Some(value) = arguments.json("allowed_updates", "allowed updates")? else {
        return Ok(None);
    };
    let list = value.as_array().ok_or_else(|| Refused::bad("expected an Array of updates"))?;
    let kinds = list.iter().map(|kind| kind.as_str().map(str::to_owned));
    let kinds = kinds.collect::<Option<Vec<_>>>();
    kinds.map(Some).ok_or_else(|| Refused::bad("expected an Array of String"))
}
