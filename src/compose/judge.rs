//! The ordered list of checks 10–18. The first failing check answers; nothing here writes.
use super::bounds::PARTS;
use super::gate;
use super::json::Json;
use super::media::{self, Mint, Place, Plan, Upload};
use super::request::{DecodeCtx, NotifyRequest};
use super::rules::{self, Purpose};
use crate::auth::{Caller, clamp};
use crate::clock::Millis;
use crate::ids::Ids;
use crate::problem::Refused;
use crate::registry::{Channel, Channels};
use crate::store::{At, Lane, OptScope, Store};
use contract::{
    Address, Content, MediaId, Problem, RecipientPolicy, Refusal, RenderCtx, Rendered, SendId,
    VisitorId,
};
use serde_json::json;
use std::sync::Arc;

/// What judging needs.
pub struct Composer {
    /// Registered channels.
    pub channels: Arc<Channels>,
    /// For stored media.
    pub store: Arc<dyn Store>,
    /// `listen.public_url`.
    pub public_url: Option<String>,
    /// Mints media and send ids.
    pub ids: Arc<Ids>,
}

/// A request whose content has been judged (checks 10–13): the same on every channel.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The request.
    pub request: NotifyRequest,
    /// Effective audience.
    pub audience: Option<String>,
}

/// A judged request with its content planned, and where it goes (checks 14–18).
pub struct Planned {
    /// What is delivered and recorded.
    pub content: Content,
    /// Bytes to store.
    pub uploads: Vec<Upload>,
    /// Stored media in use.
    pub used: Vec<MediaId>,
    /// The send, unless it is for the inbox alone.
    pub destination: Option<Destination>,
}

/// Where a notification goes, rendered.
pub struct Destination {
    /// The channel.
    pub channel: Arc<Channel>,
    /// Canonical address.
    pub address: Address,
    /// Parts and degrades.
    pub rendered: Rendered,
    /// The send's id.
    pub send: SendId,
}

impl Composer {
    /// Checks 10–13 over the parsed body.
    ///
    /// # Errors
    /// 400 with every problem of the first check that fails; 403 `audience_not_allowed`.
    pub fn content(
        &self,
        entries: Vec<(String, Json)>,
        caller: &Caller,
        purpose: Purpose,
        now: Millis,
    ) -> Result<Judged, Refused> {
        // 10 shape and bounds
        let ctx = DecodeCtx { now, public_url: self.public_url.as_deref() };
        let request = NotifyRequest::decode(entries, ctx).map_err(refused)?;
        // 11 audience clamp
        let audience = clamp(caller, request.audience.as_ref().map(contract::Line::as_str))?;
        // 12 composition
        let violations = rules::violations(&request, purpose);
        if let Some(refused) = Refused::from_problems(violations) {
            return Err(refused);
        }
        // 13 form rules: a form is declined by every channel until the rules exist (check 15)
        Ok(Judged { request, audience })
    }

    /// Checks 14–18 for recording.
    ///
    /// # Errors
    /// 404, 501, 403, 400 as the first failing check says; 503 from the store.
    pub async fn destination(&self, judged: &Judged) -> Result<Planned, Refused> {
        let request = &judged.request;
        let Some(name) = &request.channel else {
            // Without a channel: 17 alone.
            let place = Place { public_url: self.public_url.as_deref(), fetched_by_url: false };
            let plan = media::plan(request, &*self.store, Mint::Ids(&self.ids), place).await?;
            return Ok(planned(plan, None));
        };
        // 14 channel registered
        let channel = self.channels.get(name).ok_or_else(|| self.unknown_channel())?;
        let send = self.ids.send();
        let (plan, address, rendered) =
            self.on_channel(request, &channel, Some(&send), Mint::Ids(&self.ids), false).await?;
        let destination = Destination { channel, address, rendered, send };
        Ok(planned(plan, Some(destination)))
    }

    /// Checks 15–18 for one channel. With `lenient` (a preview of all channels) a missing
    /// recipient is the literal `<recipient>`.
    ///
    /// # Errors
    /// As the first failing check says.
    pub(super) async fn on_channel(
        &self,
        request: &NotifyRequest,
        channel: &Channel,
        send: Option<&SendId>,
        mint: Mint<'_>,
        lenient: bool,
    ) -> Result<(Plan, Address, Rendered), Refused> {
        let descriptor = channel.adapter.descriptor();
        // 15 capability gate
        if let Some(capability) = gate::first_declined(request, &descriptor.matrix) {
            return Err(gate::declined(&channel.name, capability));
        }
        // 16 recipient
        let given = request.recipient.as_ref().map(contract::Line::as_str);
        let address = match channel.adapter.recipient(given, false) {
            Ok(address) => address,
            Err(refusal) if lenient && refusal.code() == "recipient_required" => Address::literal(),
            Err(refusal) => return Err(refusal.into()),
        };
        self.require_known(channel, &address).await?;
        if address != Address::literal() {
            let lane = Lane::of(&channel.name, address.as_str());
            let opted = self.store.opt_get(&channel.name, &lane).await?;
            if opted.is_some_and(|row| row.scope == OptScope::All) {
                return Err(opted_out());
            }
        }
        // 17 media plan
        let place = Place {
            public_url: self.public_url.as_deref(),
            fetched_by_url: !descriptor.carries_own_media,
        };
        let plan = media::plan(request, &*self.store, mint, place).await?;
        // 18 the adapter's render
        let ctx = RenderCtx { send, form_token: None, address: &address, reply_to: None };
        let rendered = channel.adapter.render(&ctx, &plan.content)?;
        if rendered.parts.len() > PARTS {
            let detail = format!("{} parts needed, at most {PARTS}", rendered.parts.len());
            let problem = Problem::new("media", "too_long_for_channel", detail);
            return Err(refused(vec![problem]));
        }
        Ok((plan, address, rendered))
    }

    /// A page's visitors are known here alone, so the adapter's grammar is half the rule.
    async fn require_known(&self, channel: &Channel, address: &Address) -> Result<(), Refused> {
        let policy = channel.adapter.descriptor().recipients.policy;
        if policy != RecipientPolicy::Visitor || *address == Address::literal() {
            return Ok(());
        }
        let known = match VisitorId::parse(address.as_str()) {
            Some(visitor) => self.store.visitor_known(&channel.name, &visitor, At::Store).await?,
            None => false,
        };
        if known {
            return Ok(());
        }
        let detail = "no visitor of this channel has this address now; it is shown on the page";
        Err(Refusal::forbidden("recipient", "recipient_not_allowed", detail).into())
    }

    /// The 404 that names what is registered.
    #[must_use]
    pub fn unknown_channel(&self) -> Refused {
        let names = self.channels.names();
        let detail = if names.is_empty() {
            "No channel is registered; add a [channels.NAME] section to the configuration."
                .to_owned()
        } else {
            format!("Registered channels: {}.", names.join(", "))
        };
        Refused::new("unknown_channel", detail).with("registered", json!(names))
    }
}

fn planned(plan: Plan, destination: Option<Destination>) -> Planned {
    Planned { content: plan.content, uploads: plan.uploads, used: plan.used, destination }
}

/// The 403 for a recipient who wants nothing from the channel.
#[must_use]
pub fn opted_out() -> Refused {
    let detail = "The recipient opted out of this channel; nothing is sent to them until they opt in \
                  or an operator clears the opt-out.";
    Refused::new("recipient_opted_out", detail)
}

fn refused(problems: Vec<Problem>) -> Refused {
    Refused::from_problems(problems)
        .unwrap_or_else(|| Refused::new("malformed_json", "The body could not be read."))
}
