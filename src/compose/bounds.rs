//! The bounds of a request, each once: the decoder, the published schema and the docs read them.

/// `message`, characters.
pub const MESSAGE: usize = 65_536;
/// `recipient`, `audience`, characters.
pub const ADDRESS: usize = 512;
/// Sum of all `url` and `src` of a request, characters.
pub const URLS_TOTAL: usize = 1_048_576;
/// Captions, footers, labels, titles, descriptions, place names, characters.
pub const LABEL: usize = 1000;
/// `filename`, characters.
pub const FILENAME: usize = 255;
/// An option's `id`, characters.
pub const OPTION_ID: usize = 256;
/// `schema`, bytes of compact JSON.
pub const SCHEMA_BYTES: usize = 65_536;
/// `pages`.
pub const PAGES: usize = 10;
/// `form_tag`, characters.
pub const FORM_TAG: usize = 64;
/// `metadata` pairs.
pub const METADATA_PAIRS: usize = 16;
/// A metadata key, characters.
pub const METADATA_KEY: usize = 64;
/// A metadata value, characters.
pub const METADATA_VALUE: usize = 512;
/// A template's name, characters.
pub const TEMPLATE_NAME: usize = 512;
/// A template's language, characters.
pub const TEMPLATE_LANGUAGE: usize = 35;
/// A template's body parameters.
pub const TEMPLATE_PARAMETERS: usize = 100;
/// A template's button arguments.
pub const TEMPLATE_BUTTONS: usize = 10;
/// A template argument, characters.
pub const TEMPLATE_VALUE: usize = 4096;
/// A `data:` URI, characters.
pub const DATA_URI: usize = 524_288;
/// `expires_at` at the latest: days after arrival.
pub const EXPIRY_DAYS: i64 = 7;
/// Parts of a send.
pub const PARTS: usize = 72;
