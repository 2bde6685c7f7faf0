//! The capability gate: the channel's descriptor against the fields present. Data only.
use super::request::NotifyRequest;
use crate::problem::Refused;
use contract::{Capability, ChannelName, ChoiceOption, Matrix, Support};
use serde_json::json;

/// The first capability the channel declines, in the order media, location, template, options,
/// sections, schema [NT-28].
#[must_use]
pub fn first_declined(request: &NotifyRequest, matrix: &Matrix) -> Option<Capability> {
    let media = request.media.iter().map(|item| Capability::of_media(item.kind));
    let options = request.options.iter().flatten().map(|option| match option {
        ChoiceOption::Reply(_) => Capability::OptionsReply,
        ChoiceOption::Link(_) => Capability::OptionsLink,
    });
    let present = |given: bool, capability| given.then_some(capability);
    media
        .chain(present(request.location.is_some(), Capability::Location))
        .chain(present(request.template.is_some(), Capability::Template))
        .chain(options)
        .chain(present(request.sections.is_some(), Capability::Sections))
        .chain(present(request.form.schema.is_some(), Capability::Form))
        .find(|capability| matrix.support(*capability) == Support::Declined)
}

/// The 501.
#[must_use]
pub fn declined(channel: &ChannelName, capability: Capability) -> Refused {
    let detail = format!(
        "The channel {channel} cannot render {capability}; GET /api/channels shows what it can."
    );
    Refused::new("unsupported_capability", detail)
        .with("channel", json!(channel))
        .with("capability", json!(capability))
}
