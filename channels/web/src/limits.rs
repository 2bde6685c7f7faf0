//! Every number of the medium, once, and what it can render. The bounds are our own: what callers
//! may give at all, and how much one page draws well.
use contract::{
    Capability as C, Descriptor, Limit, LimitName as L, Limits, Matrix, Medium, Rank, ReceiptName,
    RecipientPolicy, Recipients,
};

/// One bubble's text.
pub const TEXT: Limit = Limit::chars(65_536);
/// Captions, labels, titles, footers, descriptions.
pub const LINE: Limit = Limit::chars(1000);
/// A file this gateway stores.
pub const FILE_BYTES: u64 = 25 * 1024 * 1024;

/// The declaration.
pub fn descriptor(medium: Medium) -> Descriptor {
    Descriptor {
        medium,
        matrix: matrix(),
        limits: limits(),
        receipts: &[ReceiptName::Sent, ReceiptName::Failed],
        accepted_rank: Rank::Sent,
        recipients: Recipients { policy: RecipientPolicy::Visitor, has_default: false },
        doors: Vec::new(),
        carries_own_media: true,
        idempotent_parts: true,
    }
}

/// Everything but templates, receipts, and the form card, which is not drawn yet.
fn matrix() -> Matrix {
    Matrix::declined().native(&[
        C::Text,
        C::MediaImage,
        C::MediaDocument,
        C::MediaVideo,
        C::MediaAudio,
        C::MediaLink,
        C::MediaFilename,
        C::OptionsReply,
        C::OptionsLink,
        C::OptionsReplyId,
        C::OptionsDescription,
        C::Sections,
        C::Header,
        C::Footer,
        C::Location,
    ])
}

fn limits() -> Limits {
    let file = Limit::bytes(FILE_BYTES);
    Limits(vec![
        (L::Text, TEXT),
        (L::TextParts, Limit::items(1)),
        (L::Caption, LINE),
        (L::InteractiveBody, TEXT),
        (L::Options, Limit::items(contract::content::OPTIONS_MAX as u64)),
        (L::OptionLabel, LINE),
        (L::ReplyId, Limit::chars(256)),
        (L::RowDescription, LINE),
        (L::SectionTitle, LINE),
        (L::Footer, LINE),
        (L::MediaItems, Limit::items(contract::content::MEDIA_MAX as u64)),
        (L::ImageBytes, file),
        (L::VideoBytes, file),
        (L::AudioBytes, file),
        (L::DocumentBytes, file),
    ])
}
