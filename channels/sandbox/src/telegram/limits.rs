//! The vendor's bounds, each with the document it was read in.
//!
//! They are this room's own: a test holds them against the adapter's. "Bot API" is
//! <https://core.telegram.org/bots/api>, "FAQ" <https://core.telegram.org/bots/faq>, "server" the
//! public Bot API server, <https://github.com/tdlib/telegram-bot-api>.

/// UTF-16 units of a message's text, after its outer blanks are gone. Bot API, `sendMessage`:
/// 1–4096 characters after entities parsing.
pub const TEXT_UNITS: usize = 4096;

/// UTF-16 units of a caption. Bot API, `sendPhoto` and its like: 0–1024 characters.
pub const CAPTION_UNITS: usize = 1024;

/// Entities of one text that are kept; more would be dropped in silence, so they are refused.
/// Observed by clients of the Bot API, not documented.
pub const ENTITIES: usize = 100;

/// Bytes of `callback_data`. Bot API, `InlineKeyboardButton`: 1–64 bytes.
pub const CALLBACK_DATA_BYTES: usize = 64;

/// Characters of a button's url. Not documented; taken as the bound of urls elsewhere in the API.
pub const BUTTON_URL_CHARS: usize = 2048;

/// Buttons of one keyboard. Observed by clients of the Bot API, not documented.
pub const BUTTONS: usize = 100;

/// Buttons of one row. Observed by clients of the Bot API, not documented.
pub const ROW_BUTTONS: usize = 8;

/// Bytes of an uploaded photo. Bot API, "Sending files": 10 MB for photos.
pub const PHOTO_UPLOAD_BYTES: u64 = 10_000_000;

/// Bytes of any other upload. Bot API, "Sending files": 50 MB for other files.
pub const FILE_UPLOAD_BYTES: u64 = 50_000_000;

/// Bytes of a photo by url. Bot API, "Sending files": 5 MB for photos.
pub const PHOTO_URL_BYTES: usize = 5_000_000;

/// Bytes of any other file by url. Bot API, "Sending files": 20 MB for other content.
pub const FILE_URL_BYTES: usize = 20_000_000;

/// Width and height of a photo together. Bot API, `sendPhoto`: at most 10000 in total.
pub const PHOTO_SIDES: u64 = 10_000;

/// The longer side of a photo over the shorter. Bot API, `sendPhoto`: at most 20.
pub const PHOTO_RATIO: u64 = 20;

/// Endings of the documents that are taken by url. Bot API, "Sending files": currently only .PDF
/// and .ZIP; FAQ adds GIF.
pub const URL_DOCUMENTS: [&str; 3] = ["pdf", "zip", "gif"];

/// Bytes of a file that `getFile` hands out. Bot API, `getFile`: up to 20 MB.
pub const DOWNLOAD_BYTES: usize = 20_000_000;

/// Degrees of latitude either way. Bot API, `Location`, WGS 84.
pub const LATITUDE: f64 = 90.0;

/// Degrees of longitude either way. Bot API, `Location`, WGS 84.
pub const LONGITUDE: f64 = 180.0;

/// Greatest `message_thread_id`: the API's integers of that kind have 31 bits. Server.
pub const THREAD_ID: i64 = 2_147_483_647;

/// Characters of a notice on a tap. Bot API, `answerCallbackQuery`: 0–200 characters.
pub const NOTICE_CHARS: usize = 200;

/// Ports of a webhook. Bot API, `setWebhook`: 443, 80, 88, 8443.
pub const WEBHOOK_PORTS: [u16; 4] = [443, 80, 88, 8443];

/// Characters of a webhook's secret. Bot API, `setWebhook`: 1–256 of `A-Z a-z 0-9 _ -`.
pub const WEBHOOK_SECRET_CHARS: usize = 256;

/// Connections of a webhook. Bot API, `setWebhook`: 1–100, default 40.
pub const WEBHOOK_CONNECTIONS: std::ops::RangeInclusive<i64> = 1..=100;

/// Connections when none are named. Bot API, `setWebhook`.
pub const WEBHOOK_CONNECTIONS_DEFAULT: i64 = 40;
