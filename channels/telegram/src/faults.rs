//! From answers to outcomes, by one table.
//!
//! The answer's own `error_code` and `parameters` decide, before the HTTP status does. A
//! description is matched by its beginning, without case, once `Bad Request: ` or `Forbidden: ` is
//! taken off. What no row names falls to the plain HTTP mapping.
use crate::config::{Chat, ChatId};
use crate::wire::{Answer, Sent, sent_to};
use contract::{
    FaultKind, GoneScope, MisconfiguredScope, Outcome, Part, Payload, Rank, SendFault,
    ThrottleScope, WireResponse, WireResult,
};
use kit::fault;
use std::time::Duration;

/// What a row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// This content or address is refused.
    Permanent(&'static str, &'static str),
    /// The person stopped us.
    Blocked,
    /// The person cannot be reached.
    Unreachable(&'static str, &'static str),
    /// Only a defect of our rendering can cause it.
    Defect,
    /// The vendor could not fetch a file by its url.
    Unfetchable,
}

const UNKNOWN: Says =
    Says::Permanent("recipient_unknown", "the medium knows no such chat for this bot");
const TOPIC: Says = Says::Permanent("topic_closed", "the topic is closed or gone");
const REFUSED: Says = Says::Permanent("media_refused", "the medium refuses the file");
const NOT_REACHABLE: Says =
    Says::Unreachable("not_reachable", "the bot may not write to this chat at the moment");

/// Beginnings of descriptions, lower case, for 400 and 403.
const ROWS: &[(&str, Says)] = &[
    ("chat not found", UNKNOWN),
    ("peer_id_invalid", UNKNOWN),
    ("user not found", UNKNOWN),
    ("bot was blocked by the user", Says::Blocked),
    (
        "user is deactivated",
        Says::Unreachable("deactivated", "the person's account is deactivated"),
    ),
    ("bot was kicked", NOT_REACHABLE),
    ("bot is not a member", NOT_REACHABLE),
    ("bot can't initiate conversation with a user", NOT_REACHABLE),
    ("chat_write_forbidden", NOT_REACHABLE),
    ("not enough rights", NOT_REACHABLE),
    ("have no rights to send a message", NOT_REACHABLE),
    ("message thread not found", TOPIC),
    ("topic_closed", TOPIC),
    ("message is too long", Says::Defect),
    ("message caption is too long", Says::Defect),
    ("text must be non-empty", Says::Defect),
    ("can't parse entities", Says::Defect),
    ("button_url_invalid", Says::Defect),
    ("button_data_invalid", Says::Defect),
    ("reply markup is too long", Says::Defect),
    ("failed to get http url content", Says::Unfetchable),
    ("wrong type of the web page content", Says::Unfetchable),
    ("wrong file identifier/http url specified", Says::Unfetchable),
    ("photo_invalid_dimensions", REFUSED),
    ("image_process_failed", REFUSED),
    ("file is too big", REFUSED),
];

/// What an exchange for a part came to.
pub fn interpret(part: &Part, result: &WireResult) -> Outcome {
    let response = match result {
        Ok(response) => response,
        Err(error) => return Outcome::Fault(fault::from_error(error)),
    };
    let to = match &part.payload {
        Payload::Request(request) => sent_to(request),
        Payload::Frame(_) => None,
    };
    match Answer::<serde_json::Value>::read(response) {
        Some(answer) if answer.ok => accepted(answer, response, to.as_ref()),
        Some(answer) if answer.error_code.is_some() || answer.description.is_some() => {
            refused(&answer, response, to.as_ref())
        }
        Some(_) | None => Outcome::Fault(from_status(response.status, response)),
    }
}

fn accepted(
    answer: Answer<serde_json::Value>,
    response: &WireResponse,
    to: Option<&Chat>,
) -> Outcome {
    let sent = answer.result.and_then(|result| serde_json::from_value::<Sent>(result).ok());
    match sent {
        Some(sent) if response.status == 200 => Outcome::Accepted {
            provider_message_id: format!("{}:{}", sent.chat.id, sent.message_id),
            alias: alias(&sent, to),
            rank: Rank::Sent,
        },
        Some(_) | None => Outcome::Fault(from_status(response.status, response)),
    }
}

/// The answered chat's own address, when it is not the one we wrote to.
fn alias(sent: &Sent, to: Option<&Chat>) -> Option<String> {
    let to = to?;
    let answered = Chat { id: ChatId::Number(sent.chat.id), topic: to.topic };
    (answered != *to).then(|| answered.address().as_str().to_owned())
}

fn refused(
    answer: &Answer<serde_json::Value>,
    response: &WireResponse,
    to: Option<&Chat>,
) -> Outcome {
    let code = answer.error_code.unwrap_or(response.status);
    let parameters = answer.parameters.as_ref();
    if let Some(chat) = parameters.and_then(|p| p.migrate_to_chat_id)
        && matches!(code, 400 | 403)
    {
        return Outcome::Moved { address: chat.to_string() };
    }
    let description = bare(answer.description.as_deref().unwrap_or_default());
    let fault = match code {
        429 => throttled(parameters.and_then(|p| p.retry_after), response, to),
        401 => bad_token(),
        404 if description == "not found" => bad_token(),
        413 => fault_of(REFUSED),
        400 | 403 => {
            let row = ROWS.iter().find(|(beginning, _)| description.starts_with(beginning));
            match row {
                Some((_, Says::Unfetchable)) => {
                    let fault = fault_of(Says::Unfetchable).provider(code.to_string());
                    return Outcome::UseAlternate { fault };
                }
                Some((_, says)) => fault_of(*says),
                None => SendFault::new(
                    FaultKind::Permanent,
                    "permanent",
                    "the medium refused the message; its own words are in the attempt log",
                ),
            }
        }
        _ => from_status(code, response),
    };
    Outcome::Fault(fault.provider(code.to_string()))
}

/// The plain mapping, for what is no answer of the Bot API too.
fn from_status(status: u16, response: &WireResponse) -> SendFault {
    match status {
        401 => bad_token(),
        413 => fault_of(REFUSED),
        _ => fault::from_status(status, fault::retry_after(response)),
    }
}

/// A description without its class, in lower case.
fn bare(description: &str) -> String {
    let lower = description.trim().to_ascii_lowercase();
    let bare = ["bad request: ", "forbidden: "].iter().find_map(|class| lower.strip_prefix(class));
    bare.map_or(lower.clone(), str::to_owned)
}

fn throttled(seconds: Option<u64>, response: &WireResponse, to: Option<&Chat>) -> SendFault {
    let scope = match to {
        Some(chat) if chat.is_group() => ThrottleScope::Recipient,
        Some(_) | None => ThrottleScope::Account,
    };
    let asked = seconds.map(|n| Duration::from_secs(n).min(fault::WAIT_MAX));
    SendFault::new(FaultKind::Throttled { scope }, "throttled", "the medium asks to wait")
        .after(asked.or_else(|| fault::retry_after(response)))
}

fn bad_token() -> SendFault {
    let scope = MisconfiguredScope::Account;
    SendFault::new(
        FaultKind::Misconfigured { scope },
        "bad_token",
        "the medium does not know the bot token",
    )
}

fn fault_of(says: Says) -> SendFault {
    let gone = |hard| FaultKind::RecipientGone { hard, scope: GoneScope::All };
    match says {
        Says::Permanent(code, detail) => SendFault::new(FaultKind::Permanent, code, detail),
        Says::Blocked => SendFault::new(gone(true), "blocked", "the person blocked the bot"),
        Says::Unreachable(code, detail) => SendFault::new(gone(false), code, detail),
        Says::Unfetchable => SendFault::new(
            FaultKind::Permanent,
            "media_unfetchable",
            "the medium could not fetch the file by its url",
        ),
        Says::Defect => {
            let mut fault = SendFault::new(
                FaultKind::Permanent,
                "render_defect",
                "the medium refused the form of the message, which our rendering should prevent",
            );
            fault.render_defect = true;
            fault
        }
    }
}
