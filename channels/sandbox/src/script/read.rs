//! Script items from JSON: every problem of the list, with its place.
use super::{Cut, Effect, Item, Match};
use crate::problem::{FieldProblem, Problem};
use actix_web::http::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};
use std::time::Duration;

const MAX_ITEMS: usize = 1_000;
const MAX_TIMES: u64 = 1_000_000;
const MAX_DELAY_MS: u64 = 600_000;

/// Headers that belong to the connection: the server sets them.
const CONNECTION_HEADERS: [&str; 5] =
    ["connection", "content-length", "keep-alive", "transfer-encoding", "upgrade"];

const KEYS: [&str; 8] =
    ["match", "times", "answer", "deliver", "delay_ms", "close", "receipts", "early"];

/// The effects: an item has exactly one.
const EFFECTS: [&str; 4] = ["answer", "delay_ms", "close", "receipts"];

type Object = Map<String, Value>;

/// Reads a whole script.
///
/// # Errors
/// 400 with every field's problem.
pub fn read(value: &Value) -> Result<Vec<Item>, Problem> {
    let mut reader = Reader::default();
    let items = reader.items(value);
    if reader.problems.is_empty() { Ok(items) } else { Err(Problem::fields(reader.problems)) }
}

#[derive(Default)]
struct Reader {
    problems: Vec<FieldProblem>,
}

impl Reader {
    fn say(&mut self, field: &str, code: &'static str, detail: &str) {
        self.problems.push(FieldProblem {
            field: field.to_owned(),
            code,
            detail: detail.to_owned(),
        });
    }

    fn items(&mut self, value: &Value) -> Vec<Item> {
        let Value::Array(list) = value else {
            self.say("", "wrong_type", "A script is a list of items.");
            return Vec::new();
        };
        if list.len() > MAX_ITEMS {
            self.say("", "too_many", "A script holds at most 1000 items.");
            return Vec::new();
        }
        let indexed = list.iter().enumerate();
        indexed.filter_map(|(at, item)| self.item(&format!("[{at}]"), item)).collect()
    }

    fn item(&mut self, path: &str, value: &Value) -> Option<Item> {
        let object = self.object(path, value)?;
        self.only(path, object, &KEYS);
        let matches =
            object.get("match").map(|value| self.matches(&format!("{path}.match"), value));
        let times = self.number(object, path, "times", 1, MAX_TIMES).unwrap_or(1);
        let effect = self.effect(path, object);
        Some(Item {
            matches: matches.unwrap_or_default(),
            times: u32::try_from(times).unwrap_or(u32::MAX),
            effect: effect?,
        })
    }

    fn effect(&mut self, path: &str, object: &Object) -> Option<Effect> {
        // No medium here reports receipts.
        if let Some(key) = ["receipts", "early"].into_iter().find(|key| object.contains_key(*key)) {
            self.say(&format!("{path}.{key}"), "not_applicable", "This medium has no receipts.");
            return None;
        }
        let named: Vec<&str> =
            EFFECTS.into_iter().filter(|effect| object.contains_key(*effect)).collect();
        let effect = match named.as_slice() {
            [] => {
                self.say(path, "required", "An item needs answer, delay_ms, close or receipts.");
                return None;
            }
            ["answer"] => self.answer(path, object),
            ["delay_ms"] => self
                .number(object, path, "delay_ms", 0, MAX_DELAY_MS)
                .map(|ms| Effect::Delay(Duration::from_millis(ms))),
            ["close"] => self.close(path, object),
            [_, second, ..] => {
                self.say(&format!("{path}.{second}"), "conflict", "An item has one effect.");
                return None;
            }
            [_] => None,
        };
        let takes_deliver = matches!(
            effect,
            None | Some(Effect::Answer { .. } | Effect::Close(Cut::AfterRead { .. }))
        );
        if !takes_deliver && object.contains_key("deliver") {
            let detail = "deliver goes with answer and with close: after_read.";
            self.say(&format!("{path}.deliver"), "not_allowed_here", detail);
        }
        effect
    }

    fn answer(&mut self, path: &str, object: &Object) -> Option<Effect> {
        let deliver = self.flag(object, path, "deliver").unwrap_or(false);
        let path = format!("{path}.answer");
        let answer = self.object(&path, object.get("answer")?)?;
        self.only(&path, answer, &["status", "headers", "body"]);
        if !answer.contains_key("status") {
            self.say(&format!("{path}.status"), "required", "An answer needs its status.");
        }
        let status = self.number(answer, &path, "status", 200, 599)?;
        let headers = answer
            .get("headers")
            .map(|value| self.headers(&format!("{path}.headers"), value))
            .unwrap_or_default();
        let body = answer.get("body").filter(|body| !body.is_null()).cloned();
        Some(Effect::Answer { status: u16::try_from(status).ok()?, headers, body, deliver })
    }

    fn headers(&mut self, path: &str, value: &Value) -> Vec<(String, String)> {
        let Some(object) = self.object(path, value) else { return Vec::new() };
        let mut headers = Vec::new();
        for (name, value) in object {
            let lower = name.to_ascii_lowercase();
            if CONNECTION_HEADERS.contains(&lower.as_str()) {
                self.say(path, "not_allowed_here", "The connection's headers are the server's.");
            } else if HeaderName::from_bytes(lower.as_bytes()).is_err() {
                self.say(path, "bad_format", "A header's name is an HTTP token.");
            } else if let Value::String(text) = value {
                if HeaderValue::from_str(text).is_err() {
                    self.say(path, "bad_format", "A header's value is one line of text.");
                }
                headers.push((lower, text.clone()));
            } else {
                self.say(path, "wrong_type", "A header's value is a string.");
            }
        }
        headers
    }

    fn close(&mut self, path: &str, object: &Object) -> Option<Effect> {
        let deliver = self.flag(object, path, "deliver").unwrap_or(true);
        let field = format!("{path}.close");
        match object.get("close") {
            Some(Value::String(word)) => match word.as_str() {
                "before_read" => Some(Effect::Close(Cut::BeforeRead)),
                "after_read" => Some(Effect::Close(Cut::AfterRead { deliver })),
                "half_body" => Some(Effect::Close(Cut::HalfBody)),
                _ => {
                    let detail = "close is one of before_read, after_read, half_body.";
                    self.say(&field, "not_one_of", detail);
                    None
                }
            },
            _ => {
                self.say(&field, "wrong_type", "close is a string.");
                None
            }
        }
    }

    fn matches(&mut self, path: &str, value: &Value) -> Match {
        let Some(object) = self.object(path, value) else { return Match::default() };
        self.only(path, object, &["method", "chat"]);
        Match { method: self.text(object, path, "method"), chat: self.text(object, path, "chat") }
    }

    fn object<'a>(&mut self, path: &str, value: &'a Value) -> Option<&'a Object> {
        let object = value.as_object();
        if object.is_none() {
            self.say(path, "wrong_type", "An object belongs here.");
        }
        object
    }

    /// Unknown keys are named by their place only.
    fn only(&mut self, path: &str, object: &Object, known: &[&str]) {
        if object.keys().any(|key| !known.contains(&key.as_str())) {
            let detail = format!("Known here: {}.", known.join(", "));
            self.say(path, "unknown_field", &detail);
        }
    }

    fn text(&mut self, object: &Object, path: &str, name: &str) -> Option<String> {
        match object.get(name)? {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::String(_) => {
                self.say(&format!("{path}.{name}"), "blank", "It must not be empty.");
                None
            }
            _ => {
                self.say(&format!("{path}.{name}"), "wrong_type", "A string belongs here.");
                None
            }
        }
    }

    fn flag(&mut self, object: &Object, path: &str, name: &str) -> Option<bool> {
        let value = object.get(name)?;
        if !value.is_boolean() {
            self.say(&format!("{path}.{name}"), "wrong_type", "true or false belongs here.");
        }
        value.as_bool()
    }

    fn number(
        &mut self,
        object: &Object,
        path: &str,
        name: &str,
        least: u64,
        most: u64,
    ) -> Option<u64> {
        let value = object.get(name)?;
        let field = format!("{path}.{name}");
        if !value.is_i64() && !value.is_u64() {
            self.say(&field, "wrong_type", "A whole number belongs here.");
            return None;
        }
        let within = value.as_u64().filter(|number| (least..=most).contains(number));
        if within.is_none() {
            self.say(&field, "out_of_range", &format!("It is {least} to {most}."));
        }
        within
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sb_19_an_item_comes_back_as_it_was_put() {
        let list = json!([
            { "match": { "method": "sendPhoto", "chat": "1" }, "times": 3,
              "answer": { "status": 429, "headers": { "retry-after": "1" }, "body": { "a": [null, "x"] } }, "deliver": false },
            { "times": 1, "answer": { "status": 200, "body": "<html>" }, "deliver": true },
            { "times": 1, "delay_ms": 0 },
            { "times": 1, "close": "before_read" },
            { "times": 1, "close": "after_read", "deliver": false },
            { "times": 1, "close": "half_body" }
        ]);
        let items = read(&list).unwrap();
        assert_eq!(items.iter().map(Item::shown).collect::<Value>(), list);
    }

    #[test]
    fn sb_17_every_bad_item_has_its_field_and_code() {
        for (item, field, code) in [
            (json!(1), "[0]", "wrong_type"),
            (json!({}), "[0]", "required"),
            (json!({ "delay_ms": 1, "x": 1 }), "[0]", "unknown_field"),
            (json!({ "delay_ms": 1, "close": "half_body" }), "[0].close", "conflict"),
            (json!({ "delay_ms": -1 }), "[0].delay_ms", "out_of_range"),
            (json!({ "delay_ms": 600_001 }), "[0].delay_ms", "out_of_range"),
            (json!({ "delay_ms": "1" }), "[0].delay_ms", "wrong_type"),
            (json!({ "delay_ms": 1, "deliver": true }), "[0].deliver", "not_allowed_here"),
            (json!({ "delay_ms": 1, "times": 0 }), "[0].times", "out_of_range"),
            (json!({ "delay_ms": 1, "times": 1.5 }), "[0].times", "wrong_type"),
            (json!({ "delay_ms": 1, "match": { "chat": 1 } }), "[0].match.chat", "wrong_type"),
            (json!({ "delay_ms": 1, "match": { "chat": "" } }), "[0].match.chat", "blank"),
            (json!({ "delay_ms": 1, "match": { "n": "" } }), "[0].match", "unknown_field"),
            (json!({ "delay_ms": 1, "match": [] }), "[0].match", "wrong_type"),
            (json!({ "close": "later" }), "[0].close", "not_one_of"),
            (json!({ "close": true }), "[0].close", "wrong_type"),
            (json!({ "close": "half_body", "deliver": true }), "[0].deliver", "not_allowed_here"),
            (json!({ "close": "after_read", "deliver": 1 }), "[0].deliver", "wrong_type"),
            (json!({ "answer": {} }), "[0].answer.status", "required"),
            (json!({ "answer": { "status": 101 } }), "[0].answer.status", "out_of_range"),
            (
                json!({ "answer": { "status": 200, "headers": { "Content-Length": "1" } } }),
                "[0].answer.headers",
                "not_allowed_here",
            ),
            (
                json!({ "answer": { "status": 200, "headers": { "a b": "1" } } }),
                "[0].answer.headers",
                "bad_format",
            ),
            (
                json!({ "answer": { "status": 200, "headers": { "a": "1\n2" } } }),
                "[0].answer.headers",
                "bad_format",
            ),
            (
                json!({ "answer": { "status": 200, "headers": { "a": 1 } } }),
                "[0].answer.headers",
                "wrong_type",
            ),
            (json!({ "receipts": [] }), "[0].receipts", "not_applicable"),
            (json!({ "delay_ms": 1, "early": true }), "[0].early", "not_applicable"),
        ] {
            let problem = read(&json!([item])).unwrap_err();
            assert_eq!((problem.status, problem.code), (400, code), "{item}");
            assert_eq!(problem.errors[0].field, field, "{item}");
        }
        assert_eq!(read(&json!({})).unwrap_err().code, "wrong_type");
        assert_eq!(read(&json!(vec![json!({}); 1001])).unwrap_err().code, "too_many");
        let two = read(&json!([{ "delay_ms": 1, "times": 0 }, {}])).unwrap_err();
        assert_eq!(
            two.errors.iter().map(|e| e.code).collect::<Vec<_>>(),
            ["out_of_range", "required"]
        );
    }
}
