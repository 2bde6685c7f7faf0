//! Telegram, over the Bot API.
//!
//! [`config`] reads the account and its address grammar; [`limits`] holds every number and the
//! capability matrix; [`render`] turns content into parts; [`wire`] are the narrow shapes of
//! requests and answers; [`faults`] reads answers by a table; [`probe`] asks the vendor who the
//! account is. A message is plain text always: no `parse_mode`, only entities over what this
//! adapter adds itself. Traps are listed in `QUIRKS.md`, each with the case that holds it.
mod config;
mod faults;
mod limits;
mod probe;
mod render;
mod wire;

use async_trait::async_trait;
use config::Account;
use contract::account::{Opened, Sample};
use contract::{
    AccountConfig, Adapter, Address, Content, Descriptor, Health, KeyProblem, Medium, Outcome,
    Pace, Part, Refusal, Registration, RenderCtx, Rendered, Secrets, Wire, WireResult,
};
use std::sync::Arc;

/// Where the vendor's Bot API is.
pub const BASE_URL: &str = "https://api.telegram.org";

/// The medium as the registry lists it.
pub const REGISTRATION: Registration = Registration {
    medium: "telegram",
    base_url: Some(BASE_URL),
    takes_default_recipient: true,
    keys: config::KEYS,
    samples: &[Sample {
        name: "telegram",
        keys: &[("bot_token", "1234567:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")],
    }],
    open,
};

/// Opens an account.
fn open(config: AccountConfig) -> Result<Opened, Vec<KeyProblem>> {
    let account = Account::read(&config)?;
    let medium = Medium::parse(REGISTRATION.medium).ok_or_else(Vec::new)?;
    let descriptor = limits::descriptor(&account, medium);
    Ok(Opened {
        identity: account.bot_id.clone(),
        notes: account.notes(),
        adapter: Arc::new(Telegram { account, descriptor }),
    })
}

/// One bot.
#[derive(Debug)]
struct Telegram {
    account: Account,
    descriptor: Descriptor,
}

#[async_trait]
impl Adapter for Telegram {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn secrets(&self) -> &Secrets {
        &self.account.secrets
    }

    fn account_pace(&self) -> Pace {
        limits::ACCOUNT_PACE
    }

    fn recipient_pace(&self, address: &Address) -> Pace {
        // Groups and channels have negative ids.
        if address.as_str().starts_with('-') { limits::GROUP_PACE } else { limits::CHAT_PACE }
    }

    fn recipient(&self, given: Option<&str>, reply: bool) -> Result<Address, Refusal> {
        self.account.recipient(given, reply)
    }

    fn render(&self, ctx: &RenderCtx<'_>, content: &Content) -> Result<Rendered, Refusal> {
        render::render(&self.account, ctx, content)
    }

    fn interpret(&self, part: &Part, result: &WireResult) -> Outcome {
        faults::interpret(part, result)
    }

    async fn probe(&self, wire: &dyn Wire) -> Health {
        probe::probe(&self.account, wire).await
    }
}

#[cfg(test)]
mod tests;
