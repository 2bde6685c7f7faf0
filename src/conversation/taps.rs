//! From the id of a tapped option to what it says: the id names a send and an index, the send's
//! content has the option. Nothing is found for another person's send.
use super::inbound::ReplyTo;
use crate::inbox::entry;
use crate::outbox::Outbox;
use crate::store::StoreResult;
use contract::{ChannelName, PartStatus, ReplyOption, SendId, Surface};

/// What a tapped option says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tapped {
    /// The option's own text.
    pub text: String,
    /// The author's id and the description, where there are any.
    pub params: Vec<(String, String)>,
    /// The send.
    pub reply_to: ReplyTo,
}

/// The send and index a minted id names: `o:<26 characters>:<index>`.
#[must_use]
pub fn minted(id: &str) -> Option<(SendId, usize)> {
    let (tail, index) = id.strip_prefix("o:")?.split_once(':')?;
    let number: usize = index.parse().ok().filter(|number| *number < 100)?;
    let send = SendId::parse(&format!("snd_{tail}"))?;
    // One spelling alone: `00` and `+0` are nobody's.
    (number.to_string() == index).then_some((send, number))
}

/// Resolves a tap of the person at this address.
///
/// # Errors
/// The store's.
pub async fn resolve(
    outbox: &Outbox,
    channel: &ChannelName,
    address: &str,
    id: &str,
) -> StoreResult<Option<Tapped>> {
    let Some((send, index)) = minted(id) else { return Ok(None) };
    let Some((_, record)) = outbox.record(&send).await? else { return Ok(None) };
    let theirs = record.channel == *channel
        && (record.recipient == address || record.recipient_now.as_deref() == Some(address));
    if !theirs {
        return Ok(None);
    }
    // The choice is on the last part that went out.
    let sent = |status: PartStatus| status.rank().is_some();
    let Some((part, row)) =
        record.parts.iter().enumerate().rev().find(|(_, part)| sent(part.status))
    else {
        return Ok(None);
    };
    let body = outbox.store.bodies(std::slice::from_ref(&record.notification)).await?;
    let stored = body.into_iter().next().flatten();
    let public_url = outbox.settings.public_url.as_deref();
    let Some(stored) = stored.and_then(|body| entry::decode(&body, public_url)) else {
        return Ok(None);
    };
    let Surface::Choice(choice) = &stored.notification.content.surface else { return Ok(None) };
    let replies = choice.list.replies();
    let Some(option) = replies.iter().find(|choice| choice.index == index) else {
        return Ok(None);
    };
    Ok(Some(Tapped {
        text: option.reply.text.as_str().to_owned(),
        params: params(option.reply),
        reply_to: ReplyTo {
            send: Some(send),
            part: u16::try_from(part).ok(),
            provider_message_id: row.provider_message_id.clone().unwrap_or_default(),
        },
    }))
}

fn params(reply: &ReplyOption) -> Vec<(String, String)> {
    let id = reply.id.as_ref().map(|id| ("reply_id".to_owned(), id.as_str().to_owned()));
    let description = reply.description.as_ref();
    let description =
        description.map(|text| ("reply_description".to_owned(), text.as_str().to_owned()));
    id.into_iter().chain(description).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_minted_id_names_a_send() {
        let found = minted("o:01j0000000000000000000000a:7");
        assert_eq!(
            found.map(|(send, index)| (send.to_string(), index)),
            Some(("snd_01j0000000000000000000000a".into(), 7))
        );
        for bad in [
            "",
            "yes-1",
            "o:",
            "o::0",
            "o:01j0000000000000000000000a:",
            "o:01j0000000000000000000000a:+1",
            "o:01j0000000000000000000000a:100",
            "o:01j0000000000000000000000a:0:0",
            "o:<send>:0",
        ] {
            assert_eq!(minted(bad), None, "{bad}");
        }
    }
}
