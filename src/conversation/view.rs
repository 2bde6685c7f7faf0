//! The form the API shows; a key that has no value is left out.
use super::inbound::InboundMessage;
use serde_json::{Map, Value, json};

/// One message.
#[must_use]
pub fn message(message: &InboundMessage) -> Value {
    let mut view = Map::new();
    let mut put = |name: &str, value: Value| view.insert(name.to_owned(), value);
    put("type", json!("inbound.message"));
    put("id", json!(message.id));
    put("at", json!(message.at.rfc3339()));
    put("received_at", json!(message.received_at.rfc3339()));
    put("channel", json!(message.channel));
    put("medium", json!(message.medium));
    put("thread", json!(message.thread));
    put("sender", json!(message.sender));
    put("kind", json!(message.kind));
    put("text", json!(message.text));
    let params: Map<_, _> = message.params.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
    put("params", Value::Object(params));
    put("reply_to", json!(message.reply_to));
    put("state", json!(message.state.as_str()));
    Value::Object(view)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_tap_is_shown_with_what_it_answers() {
        let view = super::message(&super::super::inbound::tests::message());
        assert_eq!(view["kind"], "tap");
        assert_eq!(view["params"], serde_json::json!({ "reply_id": "yes-1" }));
        assert_eq!(view["reply_to"]["part"], 0);
        assert_eq!(view["sender"]["locale"], "de-AT");
        assert_eq!(view["at"], "2026-09-21T14:13:20.000Z");
    }
}
