//! Every number of the medium, once, and what it can render.
//!
//! Sizes follow the Bot API reference (`sendMessage`, `sendPhoto`, "Sending files"). Text is counted
//! in UTF-16 units: the reference says characters, and units are never fewer.
use crate::config::Account;
use contract::{
    Capability as C, Descriptor, How, Limit, LimitName as L, Limits, Matrix, Medium, Pace, Rank,
    ReceiptName, RecipientPolicy, Recipients,
};

/// One message's text.
pub const TEXT: Limit = Limit::utf16(4096);
/// A caption.
pub const CAPTION: Limit = Limit::utf16(1024);
/// Text messages of one send, unless the channel says otherwise.
pub const TEXT_PARTS: u32 = 20;
/// Parts of one send, whatever they are.
pub const PARTS: usize = 72;
/// A button's label before labels become numbers.
pub const OPTION_LABEL: Limit = Limit::utf16(64);
/// A url button's address.
pub const BUTTON_URL: Limit = Limit::chars(2048);
/// A photo we upload.
pub const PHOTO_BYTES: u64 = 10_000_000;
/// Any other file we upload.
pub const FILE_BYTES: u64 = 50_000_000;
/// Any other file through a Bot API server of one's own.
pub const LOCAL_FILE_BYTES: u64 = 2_000_000_000;
/// `max_connections` of a webhook.
pub const CONNECTIONS: std::ops::RangeInclusive<i64> = 1..=100;
/// Ports the vendor calls webhooks on.
pub const WEBHOOK_PORTS: [u16; 4] = [443, 80, 88, 8443];

/// Requests of one bot.
pub const ACCOUNT_PACE: Pace = Pace { per_second: 25.0, burst: 30.0 };
/// Messages to one person.
pub const CHAT_PACE: Pace = Pace { per_second: 1.0, burst: 3.0 };
/// Messages to one group: 20 a minute.
pub const GROUP_PACE: Pace = Pace { per_second: 20.0 / 60.0, burst: 3.0 };

/// The declaration of an account.
pub fn descriptor(account: &Account, medium: Medium) -> Descriptor {
    let open = account.allowed.iter().any(|entry| entry == "*");
    Descriptor {
        medium,
        matrix: matrix(),
        limits: limits(account),
        receipts: &[ReceiptName::Sent, ReceiptName::Failed],
        accepted_rank: Rank::Sent,
        recipients: Recipients {
            policy: if open { RecipientPolicy::Open } else { RecipientPolicy::Allowlist },
            has_default: account.default_recipient.is_some(),
        },
        doors: Vec::new(),
        carries_own_media: true,
        idempotent_parts: false,
    }
}

fn matrix() -> Matrix {
    Matrix::declined()
        .native(&[
            C::Text,
            C::MediaImage,
            C::MediaDocument,
            C::MediaVideo,
            C::MediaAudio,
            C::MediaFilename,
            C::OptionsReply,
            C::OptionsLink,
            C::OptionsReplyId,
            C::Header,
            C::Location,
        ])
        .degraded(C::MediaLink, How::LinkLine)
        .degraded(C::OptionsDescription, How::EchoOnly)
        .degraded(C::Sections, How::GroupedButtons)
        .degraded(C::Footer, How::ItalicLine)
}

fn limits(account: &Account) -> Limits {
    let file = Limit::bytes(account.file_bytes());
    Limits(vec![
        (L::Text, TEXT),
        (L::TextParts, Limit::items(u64::from(account.text_parts))),
        (L::Caption, CAPTION),
        (L::InteractiveBody, TEXT),
        (L::Options, Limit::items(contract::content::OPTIONS_MAX as u64)),
        (L::OptionLabel, OPTION_LABEL),
        (L::ReplyId, Limit::chars(256)),
        (L::SectionTitle, Limit::chars(1000)),
        (L::Footer, Limit::chars(1000)),
        (L::MediaItems, Limit::items(contract::content::MEDIA_MAX as u64)),
        (L::ImageBytes, Limit::bytes(PHOTO_BYTES)),
        (L::VideoBytes, file),
        (L::AudioBytes, file),
        (L::DocumentBytes, file),
    ])
}
