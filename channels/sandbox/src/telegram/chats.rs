//! Chats as the room knows them, and what it remembers of each.
//!
//! Every chat id is a person who wrote first; a negative one is a group, and one beyond the vendor's
//! border a supergroup. A name is a public supergroup whose id follows from the name. Of a chat only
//! the number of its messages is held: `message_id` counts per chat, from 1.
use super::answers::Refused;
use super::limits::THREAD_ID;
use super::request::Arguments;
use super::webhook::Webhook;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Ids at and below are supergroups and channels. Bot API, `ChatFullInfo`.
const SUPERGROUP: i64 = -1_000_000_000_000;

/// One chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chat {
    /// Its id.
    pub id: i64,
    /// Its public name.
    pub username: Option<String>,
}

impl Chat {
    /// Reads an address: a decimal id or `@name`.
    #[must_use]
    pub fn of(address: &str) -> Option<Self> {
        if let Some(name) = address.strip_prefix('@') {
            let letters = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            let starts = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
            return (letters && starts && (5..=32).contains(&name.len()))
                .then(|| Self { id: named(name), username: Some(name.to_owned()) });
        }
        let id = address.parse::<i64>().ok()?;
        (id != 0 && id.to_string() == address).then_some(Self { id, username: None })
    }

    fn kind(&self) -> &'static str {
        match self.id {
            1.. => "private",
            id if id <= SUPERGROUP => "supergroup",
            _ => "group",
        }
    }

    /// As the vendor shows it in a message.
    #[must_use]
    pub fn shown(&self) -> Value {
        let mut chat = json!({ "id": self.id, "type": self.kind() });
        match self.kind() {
            "private" if self.id == 42 => chat["first_name"] = json!("Ada"),
            "private" => chat["first_name"] = json!("Person"),
            _ => chat["title"] = json!("Group"),
        }
        if let Some(name) = &self.username {
            chat["username"] = json!(name);
        }
        chat
    }
}

/// The id of a public name: the same for the same name in any case.
fn named(name: &str) -> i64 {
    let fold =
        |hash: i64, byte: u8| (hash * 31 + i64::from(byte.to_ascii_lowercase())) % 1_000_000_007;
    SUPERGROUP - 1 - name.bytes().fold(7, fold)
}

/// The chat a call is for.
///
/// # Errors
/// None is named, or nothing of that form exists.
pub fn chat(arguments: &Arguments<'_>) -> Result<Chat, Refused> {
    let address = arguments.text("chat_id").ok_or_else(|| Refused::bad("chat_id is empty"))?;
    Chat::of(address).ok_or_else(|| Refused::bad("chat not found"))
}

/// The topic a call is for; 0 is none.
///
/// # Errors
/// It is no topic's number.
pub fn thread(arguments: &Arguments<'_>) -> Result<Option<i64>, Refused> {
    let Some(text) = arguments.text("message_thread_id") else { return Ok(None) };
    match text.parse::<i64>() {
        Ok(0) => Ok(None),
        Ok(id) if (1..=THREAD_ID).contains(&id) => Ok(Some(id)),
        _ => Err(Refused::bad("message thread not found")),
    }
}

/// What the room remembers.
#[derive(Default)]
pub struct Memory(Mutex<Remembered>);

#[derive(Default)]
struct Remembered {
    messages: HashMap<i64, u64>,
    webhooks: HashMap<String, Webhook>,
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next message id of a chat.
    pub fn next(&self, chat: i64) -> u64 {
        let mut remembered = self.lock();
        let count = remembered.messages.entry(chat).or_default();
        *count += 1;
        *count
    }

    /// Takes up that a chat had a message of that id.
    pub fn had(&self, chat: i64, message: u64) {
        let mut remembered = self.lock();
        let count = remembered.messages.entry(chat).or_default();
        *count = message.max(*count);
    }

    /// The message that a call replies to; `None` when it replies to none, or may go without.
    ///
    /// # Errors
    /// The shape is not one, or the message is not there and the call insists on it.
    pub fn reply(&self, arguments: &Arguments<'_>, chat: i64) -> Result<Option<u64>, Refused> {
        let Some(value) = arguments.json("reply_parameters", "reply parameters")? else {
            return Ok(None);
        };
        let Value::Object(reply) = value else {
            return Err(Refused::bad("object expected as reply parameters"));
        };
        let id = reply.get("message_id").filter(|id| !id.is_null());
        let id = id.ok_or_else(|| Refused::bad("can't find field \"message_id\""))?;
        let may_go_without = match reply.get("allow_sending_without_reply") {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(_) => {
                let what = "field \"allow_sending_without_reply\" must be of type Boolean";
                return Err(Refused::bad(what));
            }
        };
        let sent = self.lock().messages.get(&chat).copied().unwrap_or(0);
        match id.as_u64().filter(|id| (1..=sent).contains(id)) {
            None if !may_go_without => Err(Refused::bad("message to be replied not found")),
            found => Ok(found),
        }
    }

    /// The registration of a bot.
    #[must_use]
    pub fn webhook(&self, bot: &str) -> Webhook {
        self.lock().webhooks.get(bot).cloned().unwrap_or_default()
    }

    /// Registers a bot's webhook.
    pub fn register(&self, bot: &str, webhook: Webhook) {
        self.lock().webhooks.insert(bot.to_owned(), webhook);
    }

    /// All of it, for the log to carry.
    #[must_use]
    pub fn snapshot(&self) -> Value {
        let remembered = self.lock();
        let messages = remembered.messages.iter().map(|(chat, n)| (chat.to_string(), json!(n)));
        let webhooks = remembered.webhooks.iter().map(|(bot, hook)| (bot.clone(), hook.shown()));
        json!({
            "messages": Value::Object(messages.collect::<Map<_, _>>()),
            "webhooks": Value::Object(webhooks.collect::<Map<_, _>>()),
        })
    }

    /// Takes a snapshot up.
    pub fn restore(&self, snapshot: &Value) {
        for (chat, count) in snapshot["messages"].as_object().into_iter().flatten() {
            if let (Ok(chat), Some(count)) = (chat.parse(), count.as_u64()) {
                self.had(chat, count);
            }
        }
        for (bot, hook) in snapshot["webhooks"].as_object().into_iter().flatten() {
            self.register(bot, Webhook::from_shown(hook));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sb_11_ids_are_people_groups_and_names() {
        let kind = |address: &str| Chat::of(address).map(|chat| chat.kind());
        assert_eq!(kind("42"), Some("private"));
        assert_eq!(kind("-500"), Some("group"));
        assert_eq!(kind("-1000000000001"), Some("supergroup"));
        assert_eq!(kind("9223372036854775807"), Some("private"));
        assert_eq!(kind("@news_room"), Some("supergroup"));
        assert_eq!(Chat::of("@News_Room").map(|c| c.id), Chat::of("@news_room").map(|c| c.id));
        for bad in [
            "",
            "0",
            "+1",
            "01",
            " 1",
            "1.0",
            "9223372036854775808",
            "@abcd",
            "@1abcd",
            "@ab-cde",
            "name",
        ] {
            assert_eq!(kind(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_remembered_comes_back() {
        let memory = Memory::default();
        assert_eq!((memory.next(7), memory.next(7), memory.next(8)), (1, 2, 1));
        let again = Memory::default();
        again.had(7, 1);
        again.restore(&memory.snapshot());
        assert_eq!((again.next(7), again.next(8), again.next(9)), (3, 2, 1));
    }
}
