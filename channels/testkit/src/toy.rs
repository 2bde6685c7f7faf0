//! A sixth medium: enough of one to show that nothing beside its registration has to know it.
//!
//! It sends everything as lines of one form-encoded request, numbers every choice, and declines
//! media, templates and forms.
use async_trait::async_trait;
use contract::account::{Opened, admits};
use contract::{
    AccountConfig, Adapter, Address, Body, Capability, Content, Degrades, Descriptor, FaultKind,
    FormField, Health, HealthState, How, Key, KeyDefault, KeyKind, KeyProblem, Limit, LimitName,
    Limits, Matrix, Medium, Method, Outcome, Part, PartKind, Payload, Rank, ReceiptName,
    RecipientPolicy, Recipients, Refusal, RefusalStatus, Registration, RenderCtx, Rendered, Sealed,
    Secrets, SendFault, Surface, Wire, WireRequest, WireResult,
};
use std::sync::Arc;

/// The toy as a registry lists it.
pub const REGISTRATION: Registration = Registration {
    samples: &[],
    medium: "toy",
    base_url: Some("https://toy.example.test"),
    takes_default_recipient: true,
    keys: &[Key {
        name: "toy_key",
        kind: KeyKind::Secret,
        default: KeyDefault::Required,
        doc: "The key that opens the toy.",
    }],
    open,
};

const TEXT: Limit = Limit::chars(2000);

fn open(config: AccountConfig) -> Result<Opened, Vec<KeyProblem>> {
    let Some(key) = config.secret("toy_key").cloned() else {
        return Err(vec![KeyProblem { key: "toy_key", detail: "must be given".to_owned() }]);
    };
    let descriptor = Descriptor {
        medium: Medium::parse("toy").expect("a name"),
        matrix: Matrix::declined()
            .native(&[Capability::Text, Capability::OptionsReplyId])
            .degraded(Capability::OptionsReply, How::NumberedText)
            .degraded(Capability::OptionsLink, How::LinkLine)
            .degraded(Capability::OptionsDescription, How::InText)
            .degraded(Capability::Sections, How::NumberedText)
            .degraded(Capability::Footer, How::InBody)
            .degraded(Capability::Location, How::MapLink),
        limits: Limits(vec![
            (LimitName::Text, TEXT),
            (LimitName::TextParts, Limit::items(20)),
            (LimitName::OptionLabel, Limit::chars(1000)),
        ]),
        receipts: &[ReceiptName::Sent, ReceiptName::Failed],
        accepted_rank: Rank::Sent,
        recipients: Recipients { policy: RecipientPolicy::Allowlist, has_default: true },
        doors: Vec::new(),
        carries_own_media: false,
        idempotent_parts: false,
    };
    let secrets = Secrets::none().with("toy_key", key);
    let identity = "toy".to_owned();
    let adapter = Arc::new(Toy { descriptor, secrets, config });
    Ok(Opened { adapter, identity, notes: Vec::new() })
}

#[derive(Debug)]
struct Toy {
    descriptor: Descriptor,
    secrets: Secrets,
    config: AccountConfig,
}

impl Toy {
    fn request(&self, fields: Vec<FormField>) -> WireRequest {
        let base = self.config.base_url.clone().unwrap_or_default();
        WireRequest {
            method: Method::Post,
            url: Sealed::plain(format!("{base}/say")),
            headers: vec![("authorization", Sealed::plain("Bearer ").secret("toy_key"))],
            body: Body::Form(fields),
        }
    }
}

fn field(name: &str, value: &str) -> FormField {
    FormField { name: name.to_owned(), value: value.to_owned() }
}

/// The lines a content comes to.
fn lines(content: &Content, ctx: &RenderCtx<'_>, degrades: &mut Degrades) -> String {
    let mut lines = vec![content.message.as_str().to_owned()];
    if let Some(place) = &content.location {
        degrades.note(Capability::Location, How::MapLink, "location", "a line of the text");
        let names = [&place.name, &place.address].map(|n| n.as_ref().map_or("", |n| n.as_str()));
        lines.push(format!("{} {} {},{}", names[0], names[1], place.latitude, place.longitude));
    }
    let Surface::Choice(choice) = &content.surface else { return lines.join("\n") };
    match &choice.list {
        contract::ChoiceList::Options(options) => {
            for (index, option) in options.iter().enumerate() {
                if let contract::ChoiceOption::Link(link) = option {
                    let path = format!("options[{index}]");
                    degrades.note(Capability::OptionsLink, How::LinkLine, path, "a line");
                    lines.push(format!("{}: {}", link.label, link.url.as_str()));
                }
            }
        }
        contract::ChoiceList::Sections(sections) => {
            degrades.note(Capability::Sections, How::NumberedText, "sections", "lines");
            lines.extend(sections.iter().map(|section| section.title.as_str().to_owned()));
        }
    }
    for entry in choice.list.replies() {
        if entry.section.is_none() {
            degrades.note(Capability::OptionsReply, How::NumberedText, entry.path(), "a line");
        }
        let mut line = format!("{}. {}", ctx.minted_option_id(entry.index), entry.reply.text);
        if let Some(description) = &entry.reply.description {
            let path = format!("{}.description", entry.path());
            degrades.note(Capability::OptionsDescription, How::InText, path, "a line");
            line = format!("{line} ({description})");
        }
        lines.push(line);
    }
    if let Some(footer) = &choice.footer {
        degrades.note(Capability::Footer, How::InBody, "footer", "the last line");
        lines.push(footer.as_str().to_owned());
    }
    lines.join("\n")
}

/// The first thing the toy does not take, in the order of the gate.
fn declined(content: &Content) -> Option<&'static str> {
    match &content.surface {
        _ if !content.media.is_empty() => Some("media"),
        Surface::Template(_) => Some("template"),
        Surface::Form(_) => Some("schema"),
        Surface::Choice(choice) if choice.header.is_some() => Some("header"),
        Surface::Choice(_) | Surface::None => None,
    }
}

#[async_trait]
impl Adapter for Toy {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    fn recipient(&self, given: Option<&str>, reply: bool) -> Result<Address, Refusal> {
        let given = given.or(self.config.default_recipient.as_deref()).ok_or_else(|| {
            Refusal::bad_request("recipient", "recipient_required", "give a recipient")
        })?;
        let address = Address::new(given);
        if reply || admits(&self.config.allowed_recipients, &address) {
            return Ok(address);
        }
        Err(Refusal::forbidden("recipient", "recipient_not_allowed", "not in the list"))
    }

    fn render(&self, ctx: &RenderCtx<'_>, content: &Content) -> Result<Rendered, Refusal> {
        if let Some(member) = declined(content) {
            let mut refusal =
                Refusal::bad_request(member, "unsupported_capability", "the toy takes none");
            refusal.status = RefusalStatus::NotImplemented;
            return Err(refusal);
        }
        let mut degrades = Degrades::default();
        let text = lines(content, ctx, &mut degrades);
        let pieces = kit::text::split(&text, TEXT, TEXT);
        if pieces.len() > 20 {
            return Err(Refusal::bad_request("message", "too_long_for_channel", "over 20 parts"));
        }
        if pieces.len() > 1 {
            degrades.note(Capability::Text, How::Split, "message", "over 2000 characters");
        }
        let to = ctx.address.as_str();
        let parts = pieces.iter().map(|piece| Part {
            kind: PartKind::Text,
            needs: Vec::new(),
            payload: Payload::Request(self.request(vec![field("to", to), field("say", piece)])),
            alternate: None,
            requests: 1,
            facts: contract::Facts::default(),
        });
        Ok(Rendered { parts: parts.collect(), degrades: degrades.into_list() })
    }

    fn interpret(&self, _: &Part, result: &WireResult) -> Outcome {
        let said = result.as_ref().ok().filter(|response| response.status == 200).and_then(|r| {
            let body: serde_json::Value = serde_json::from_slice(&r.body).ok()?;
            body["said"].as_str().map(str::to_owned)
        });
        said.map_or_else(
            || Outcome::Fault(kit::fault::from_wire(result)),
            |id| Outcome::Accepted { provider_message_id: id, alias: None, rank: Rank::Sent },
        )
    }

    async fn probe(&self, wire: &dyn Wire) -> Health {
        let result = wire.send(&self.request(Vec::new()), &self.secrets, &[]).await;
        let fault: SendFault = kit::fault::from_wire(&result);
        let up = result.is_ok_and(|response| response.status == 200);
        let state = if up { HealthState::Ok } else { HealthState::Failing };
        let refused = matches!(fault.kind, FaultKind::Misconfigured { .. });
        Health { state, detail: fault.detail.into_owned(), identity_hint: None, refused }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generic::{self, Subject};
    use serde_json::json;

    #[test]
    fn n_45_a_sixth_medium_passes_every_generic_case() {
        let table = json!({ "toy_key": "0123456789abcdef-toy", "allowed_recipients": ["*"] });
        generic::run(&Subject::new(&REGISTRATION, &table, "someone"));
    }
}
