//! The web chat: this gateway is the medium.
//!
//! A notification becomes one frame, appended to the visitor's transcript; no request leaves, so
//! there is nothing to interpret and nothing to probe. [`config`] reads the page's settings,
//! [`limits`] holds every number and the capability matrix, [`render`] turns content into a
//! [`wire::MessageFrame`]. Traps are listed in `QUIRKS.md`, each with the case that holds it.
mod config;
mod faults;
mod limits;
mod render;
mod wire;

use async_trait::async_trait;
use contract::account::{Opened, Sample};
use contract::{
    AccountConfig, Adapter, Address, ChatPage, Content, Descriptor, Health, HealthState,
    KeyProblem, Medium, Outcome, Part, Refusal, Registration, RenderCtx, Rendered, Secrets,
    VisitorId, Wire, WireResult,
};
use std::sync::Arc;

/// The medium as the registry lists it.
pub const REGISTRATION: Registration = Registration {
    medium: "web",
    base_url: None,
    takes_default_recipient: false,
    keys: config::KEYS,
    samples: &[Sample { name: "web", keys: &[] }],
    open,
};

/// Opens an account. Several channels of this medium are several pages: none is another's twin.
fn open(config: AccountConfig) -> Result<Opened, Vec<KeyProblem>> {
    let page = config::page(&config)?;
    let medium = Medium::parse(REGISTRATION.medium).ok_or_else(Vec::new)?;
    Ok(Opened {
        identity: String::new(),
        notes: Vec::new(),
        adapter: Arc::new(Web {
            page,
            secrets: Secrets::none(),
            descriptor: limits::descriptor(medium),
        }),
    })
}

/// One page.
#[derive(Debug)]
struct Web {
    page: ChatPage,
    secrets: Secrets,
    descriptor: Descriptor,
}

#[async_trait]
impl Adapter for Web {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// The grammar alone: whether the visitor is one of this channel's, the gateway looks up.
    fn recipient(&self, given: Option<&str>, _reply: bool) -> Result<Address, Refusal> {
        let Some(given) = given else {
            return Err(Refusal::bad_request(
                "recipient",
                "recipient_required",
                "give the visitor's address, vis_…, as the page shows it",
            ));
        };
        match VisitorId::parse(given) {
            Some(visitor) => Ok(Address::new(visitor.as_str())),
            None => Err(Refusal::bad_request(
                "recipient",
                "bad_recipient",
                "must be a visitor's address: vis_ and 26 characters",
            )),
        }
    }

    fn render(&self, ctx: &RenderCtx<'_>, content: &Content) -> Result<Rendered, Refusal> {
        render::render(ctx, content)
    }

    fn interpret(&self, _part: &Part, _result: &WireResult) -> Outcome {
        faults::no_exchange()
    }

    fn page(&self) -> Option<&ChatPage> {
        Some(&self.page)
    }

    async fn probe(&self, _wire: &dyn Wire) -> Health {
        Health {
            state: HealthState::Ok,
            detail: "served by this gateway".to_owned(),
            identity_hint: None,
            refused: false,
        }
    }
}

#[cfg(test)]
mod tests;
