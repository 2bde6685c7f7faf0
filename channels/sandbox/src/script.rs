//! Faults on order: what a room does to the requests that come next.
//!
//! Each medium has a list of items. A request takes the first item that matches it and has times
//! left; with none it is treated as ever. Reading an item from JSON (`read`) finds every problem of
//! the list at once. The lists live in memory and end with the process.
mod read;

pub use read::read;

use serde_json::{Map, Value, json};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Which requests an item meets. Empty meets any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// The vendor's method name.
    pub method: Option<String>,
    /// The address.
    pub chat: Option<String>,
}

/// Where a connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Before the body is read.
    BeforeRead,
    /// After the request was read; delivered when the flag says so.
    AfterRead {
        /// The room treats the request as ever.
        deliver: bool,
    },
    /// In the middle of the answer's body.
    HalfBody,
}

/// What an item does.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Gives this answer instead.
    Answer {
        /// HTTP status.
        status: u16,
        /// Headers.
        headers: Vec<(String, String)>,
        /// Text as it is, other JSON serialised; absent: an empty body.
        body: Option<Value>,
        /// The room treats the request as ever; only its answer is lost.
        deliver: bool,
    },
    /// Gives the room's answer, later.
    Delay(Duration),
    /// Cuts the connection.
    Close(Cut),
}

/// One item.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Whom it meets.
    pub matches: Match,
    /// How often it still acts.
    pub times: u32,
    /// What it does.
    pub effect: Effect,
}

impl Item {
    /// The item as it was put, with the times that are left.
    #[must_use]
    pub fn shown(&self) -> Value {
        let mut shown = Map::new();
        let mut matches = Map::new();
        let named = [("method", &self.matches.method), ("chat", &self.matches.chat)];
        for (name, value) in named {
            if let Some(value) = value {
                matches.insert(name.to_owned(), json!(value));
            }
        }
        if !matches.is_empty() {
            shown.insert("match".to_owned(), Value::Object(matches));
        }
        shown.insert("times".to_owned(), json!(self.times));
        self.effect.show(&mut shown);
        Value::Object(shown)
    }
}

impl Effect {
    fn show(&self, shown: &mut Map<String, Value>) {
        let mut put = |name: &str, value: Value| shown.insert(name.to_owned(), value);
        match self {
            Self::Answer { status, headers, body, deliver } => {
                let mut answer = json!({ "status": status });
                if !headers.is_empty() {
                    let pairs = headers.iter().map(|(name, value)| (name.clone(), json!(value)));
                    answer["headers"] = Value::Object(pairs.collect());
                }
                if let Some(body) = body {
                    answer["body"] = body.clone();
                }
                put("answer", answer);
                put("deliver", json!(deliver));
            }
            Self::Delay(delay) => {
                put("delay_ms", json!(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)));
            }
            Self::Close(Cut::BeforeRead) => {
                put("close", json!("before_read"));
            }
            Self::Close(Cut::HalfBody) => {
                put("close", json!("half_body"));
            }
            Self::Close(Cut::AfterRead { deliver }) => {
                put("close", json!("after_read"));
                put("deliver", json!(deliver));
            }
        }
    }
}

/// The script of one medium.
#[derive(Default)]
pub struct Script(Mutex<Vec<Item>>);

impl Script {
    fn lock(&self) -> MutexGuard<'_, Vec<Item>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces what was there.
    pub fn put(&self, items: Vec<Item>) {
        *self.lock() = items;
    }

    /// What is left.
    #[must_use]
    pub fn shown(&self) -> Value {
        self.lock().iter().map(Item::shown).collect()
    }

    /// True, once per time, when the request's head is enough to know that its connection is to be
    /// cut unread: no earlier item could still meet it by its chat.
    pub fn cuts_unread(&self, call: Option<&str>) -> bool {
        let mut items = self.lock();
        let first = items.iter().position(|item| item.matches.meets_call(call));
        let Some(at) = first.filter(|at| {
            items[*at].matches.chat.is_none() && items[*at].effect == Effect::Close(Cut::BeforeRead)
        }) else {
            return false;
        };
        spend(&mut items, at);
        true
    }

    /// The effect on a whole request; its item has one time less.
    pub fn take(&self, call: Option<&str>, chat: Option<&str>) -> Option<Effect> {
        let mut items = self.lock();
        let at = items.iter().position(|item| {
            item.matches.meets_call(call)
                && item.matches.chat.as_deref().is_none_or(|wanted| chat == Some(wanted))
        })?;
        Some(spend(&mut items, at))
    }
}

impl Match {
    fn meets_call(&self, call: Option<&str>) -> bool {
        self.method.as_deref().is_none_or(|wanted| call == Some(wanted))
    }
}

/// A spent item leaves the list, so every item in it has times left.
fn spend(items: &mut Vec<Item>, at: usize) -> Effect {
    let effect = items[at].effect.clone();
    items[at].times = items[at].times.saturating_sub(1);
    if items[at].times == 0 {
        items.remove(at);
    }
    effect
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(items: Value) -> Script {
        let script = Script::default();
        script.put(read(&items).unwrap());
        script
    }

    #[test]
    fn sb_19_the_first_item_that_matches_and_is_not_spent() {
        let script = script(json!([
            { "match": { "chat": "1" }, "times": 2, "delay_ms": 1 },
            { "match": { "method": "a" }, "delay_ms": 2 },
            { "delay_ms": 3 }
        ]));
        let ms = |effect: Option<Effect>| match effect {
            Some(Effect::Delay(delay)) => delay.as_millis(),
            _ => 0,
        };
        let taken = [
            (Some("a"), Some("1")),
            (Some("a"), Some("2")),
            (Some("a"), Some("1")),
            (None, None),
            (Some("a"), Some("1")),
        ];
        let seen: Vec<_> = taken.map(|(call, chat)| ms(script.take(call, chat))).into();
        assert_eq!(seen, [1, 2, 1, 3, 0]);
        assert_eq!(script.shown(), json!([]));
    }

    #[test]
    fn sb_19_a_head_is_cut_only_when_no_chat_could_change_it() {
        let cut = json!({ "match": { "method": "a" }, "close": "before_read" });
        let by_chat = json!({ "match": { "chat": "1" }, "delay_ms": 1 });
        let plain = script(json!([cut]));
        assert!(!plain.cuts_unread(Some("b")) && plain.cuts_unread(Some("a")));
        assert!(!plain.cuts_unread(Some("a")), "spent");
        let behind = script(json!([by_chat, cut]));
        assert!(!behind.cuts_unread(Some("a")));
        assert_eq!(behind.take(Some("a"), Some("2")), Some(Effect::Close(Cut::BeforeRead)));
        assert_eq!(
            behind.shown(),
            json!([{ "match": { "chat": "1" }, "times": 1, "delay_ms": 1 }])
        );
    }
}
