//! Who the account is, and what the vendor thinks of its webhook. Reads only.
use crate::config::{Account, TOKEN};
use crate::wire::{Answer, method_url};
use contract::{
    Body, Health, HealthState, Method, Wire, WireError, WireRequest, WireResponse, WireResult,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Longest quote of the vendor's last webhook error, in characters.
const QUOTE_MAX: usize = 200;

#[derive(Debug, Deserialize)]
struct Me {
    id: i64,
    username: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct WebhookInfo {
    #[serde(default)]
    url: String,
    #[serde(default)]
    pending_update_count: i64,
    last_error_message: Option<String>,
}

/// `getMe`, then `getWebhookInfo`.
pub async fn probe(account: &Account, wire: &dyn Wire) -> Health {
    let me = match call::<Me>(account, wire, "getMe").await {
        Ok(me) => me,
        Err(health) => return health,
    };
    let hint = me.username.map(|name| format!("@{name}"));
    if me.id.to_string() != account.bot_id.trim_start_matches('0') {
        let detail = "identity_mismatch: the token belongs to another bot than it names";
        return Health { identity_hint: hint, ..failing(detail.to_owned(), false) };
    }
    let webhook = match call::<WebhookInfo>(account, wire, "getWebhookInfo").await {
        Ok(webhook) => webhook,
        Err(health) => return Health { identity_hint: hint, ..health },
    };
    let detail = describe(&webhook, account);
    Health { state: HealthState::Ok, detail, identity_hint: hint, refused: false }
}

fn describe(webhook: &WebhookInfo, account: &Account) -> String {
    let mut detail = if webhook.url.is_empty() {
        "no webhook is registered".to_owned()
    } else {
        format!("the webhook is registered, {} updates pending", webhook.pending_update_count)
    };
    if let Some(error) = &webhook.last_error_message {
        let quote: String = error.chars().filter(|c| !c.is_control()).take(QUOTE_MAX).collect();
        detail.push_str("; the medium's last error with it: ");
        detail.push_str(&kit::redact::Redactor::new(&account.secrets).text(&quote));
    }
    detail
}

async fn call<T: DeserializeOwned>(
    account: &Account,
    wire: &dyn Wire,
    method: &str,
) -> Result<T, Health> {
    let url = method_url(account, method);
    let request = WireRequest { method: Method::Get, url, headers: Vec::new(), body: Body::Empty };
    result(&wire.send(&request, &account.secrets, &[]).await)
}

fn result<T: DeserializeOwned>(result: &WireResult) -> Result<T, Health> {
    let response = match result {
        Ok(response) => response,
        Err(error) => return Err(unanswered(error)),
    };
    let answer = Answer::<T>::read_owned(response);
    let code = answer.as_ref().and_then(|a| a.error_code).unwrap_or(response.status);
    match (answer, code) {
        (Some(Answer { ok: true, result: Some(result), .. }), _) => Ok(result),
        (_, 401 | 404) => Err(failing(format!("bad_token: {TOKEN} is not known there"), true)),
        (_, 409) => Err(failing("webhook_conflict: another program reads updates".into(), false)),
        (_, code) => Err(failing(format!("the medium answered {code}"), false)),
    }
}

fn unanswered(error: &WireError) -> Health {
    let fault = kit::fault::from_error(error);
    let detail = fault.detail.into_owned();
    let state = match error {
        WireError::Timeout => HealthState::Unknown,
        WireError::Connect
        | WireError::Reset
        | WireError::Unreadable
        | WireError::Blocked { .. } => HealthState::Failing,
    };
    Health { state, detail, identity_hint: None, refused: false }
}

fn failing(detail: String, refused: bool) -> Health {
    Health { state: HealthState::Failing, detail, identity_hint: None, refused }
}

impl<T: DeserializeOwned> Answer<T> {
    fn read_owned(response: &WireResponse) -> Option<Self> {
        serde_json::from_slice(&response.body).ok()
    }
}
