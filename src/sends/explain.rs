//! The answer to "why has this not arrived, and what now?", in words, from the API's answer about
//! one send and nothing else. Pure.
use serde_json::Value;

/// Sentences about a send as `GET /api/sends/{id}` shows it: why it stands where it stands, then
/// what to do next.
#[must_use]
pub fn explain(send: &Value) -> Vec<String> {
    let told = Told(send);
    match told.text("status") {
        "queued" => told.waiting(),
        "sending" => told.lines(
            "A request is under way, or the gateway stopped during one.",
            "look again; a request without an answer becomes outcome_unknown when its lease ends",
        ),
        "accepted" => told.lines("The medium has it; it has not reported more yet.", ""),
        "sent" => told.lines("The medium put it into the chat.", ""),
        "delivered" => told.lines("It reached the person's device.", ""),
        "read" => told.lines("The person saw it.", ""),
        "outcome_unknown" => told.unknown(),
        "expired" => told.expired(),
        "cancelled" => told.lines("It was cancelled before it went out.", ""),
        "failed" => told.failed(),
        other => vec![format!("Status {other}.")],
    }
}

struct Told<'a>(&'a Value);

impl Told<'_> {
    fn text(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap_or_default()
    }

    fn lines(&self, why: impl Into<String>, next: impl Into<String>) -> Vec<String> {
        let (mut why, next) = (why.into(), next.into());
        if let Some(fault) = self.fault() {
            why.push_str(&fault);
        }
        let mut lines = vec![why];
        if !next.is_empty() {
            lines.push(format!("Next: {next}."));
        }
        lines
    }

    /// The last fault, with the vendor's code where it gave one.
    fn fault(&self) -> Option<String> {
        let fault = &self.0["fault"];
        let part = |key: &str| fault[key].as_str();
        let vendor = part("provider_code").map(|code| format!(", the medium's code {code}"));
        Some(format!(
            " Last fault: {} ({} {}{}).",
            part("detail")?,
            part("class")?,
            part("code").unwrap_or("-"),
            vendor.unwrap_or_default()
        ))
    }

    fn waiting(&self) -> Vec<String> {
        let waiting = &self.0["waiting"];
        let part = |key: &str| waiting[key].as_str().unwrap_or("-");
        let (id, channel) = (self.text("id"), self.text("channel"));
        let expires = format!("it expires at {}", self.text("expires_at"));
        match waiting["for"].as_str().unwrap_or("turn") {
            "others" => {
                let why = format!(
                    "It waits behind {} other(s) to the same person; they go in the order in which \
                     they were accepted.",
                    waiting["ahead"]
                );
                let next = match waiting["head"].as_str() {
                    Some(head) => format!(
                        "`tidings sends show {head}` says what holds up the first; `tidings sends \
                         cancel {head}` lets the next one go; {expires}"
                    ),
                    None => format!("wait; {expires}"),
                };
                self.lines(why, next)
            }
            "parked" => self.lines(
                format!(
                    "The channel {channel} is parked since {}: its account cannot send ({}). Nothing \
                     of it is sent until that is mended.",
                    part("since"),
                    part("reason")
                ),
                format!(
                    "mend the account's credentials and reload, or run `tidings channels check \
                     {channel}`; it is probed by itself at {}; {expires}",
                    part("until")
                ),
            ),
            "throttle" => self.lines(
                format!("The medium asked to wait until {}; that counts as no try.", part("until")),
                format!("nothing, it is tried again by itself; {expires}"),
            ),
            "retry" => self.lines(
                format!(
                    "The last try did not succeed; the next one is due at {} ({} counted so far).",
                    part("until"),
                    self.0["tries"]
                ),
                format!("nothing, or `tidings sends cancel {id}`; {expires}"),
            ),
            "account_pace" => self.lines(
                format!(
                    "The channel {channel} sends as fast as its pace allows; the next one goes at {}.",
                    part("until")
                ),
                format!(
                    "nothing; if the medium takes more, raise account_per_second in \
                     [channels.{channel}.pace]; {expires}"
                ),
            ),
            "recipient_pace" => self.lines(
                format!(
                    "This person gets messages no faster than the channel's pace; the next one goes \
                     at {}.",
                    part("until")
                ),
                format!(
                    "nothing; if the medium takes more, raise recipient_per_second in \
                     [channels.{channel}.pace]; {expires}"
                ),
            ),
            "channel" => self.lines(
                format!("This gateway has no channel {channel}; its sends wait."),
                format!("configure the channel again and reload; {expires}"),
            ),
            "worker" => self.lines("It is being worked right now.", "look again in a moment"),
            _ => self.lines(
                "It waits for its turn.",
                format!(
                    "if it stays so, `/readyz` says whether the gateway looks at its queues; {expires}"
                ),
            ),
        }
    }

    fn unknown(&self) -> Vec<String> {
        self.lines(
            "The request was written and no answer settled it: the person may have it or not. It is \
             not repeated by itself.",
            format!(
                "ask the person, or wait for a receipt; `tidings sends retry {}` sends it once more \
                 and may reach them twice",
                self.text("id")
            ),
        )
    }

    fn expired(&self) -> Vec<String> {
        self.lines(
            format!("It expired: the medium had not accepted it by {}.", self.text("expires_at")),
            format!("`tidings sends retry {}` gives it as long again", self.text("id")),
        )
    }

    fn failed(&self) -> Vec<String> {
        let (id, channel) = (self.text("id"), self.text("channel"));
        let fault = |key: &str| self.0["fault"][key].as_str().unwrap_or_default();
        let next = match (fault("class"), fault("code")) {
            ("recipient_gone", _) => format!(
                "`tidings opt-outs list --channel {channel}` shows whether they opted out; once they \
                 are back, `tidings opt-outs clear` and `tidings sends retry {id}`"
            ),
            ("window_closed", _) => {
                "send a template, or wait until the person writes; a retry meets the same"
                    .to_owned()
            }
            ("misconfigured", _) => format!(
                "give the account the right it lacks at the medium, then `tidings sends retry {id}`"
            ),
            ("permanent", "render_changed") => "send the content anew".to_owned(),
            ("permanent", _) => format!(
                "mend what the fault names and send anew; `tidings sends retry {id}` tries the same \
                 content"
            ),
            ("internal", _) => format!(
                "this is a defect of the gateway: report it with the attempts below; `tidings sends \
                 retry {id}` tries again"
            ),
            _ => format!("when the medium works again, `tidings sends retry {id}`"),
        };
        self.lines("It was not accepted and is not tried again by itself.", next)
    }
}

#[cfg(test)]
mod tests {
    use super::explain;
    use serde_json::{Value, json};

    fn send(status: &str, waiting: Value, fault: Value) -> Value {
        json!({ "id": "snd_1", "channel": "tg", "status": status, "expires_at": "T9", "tries": 2,
                "waiting": waiting, "fault": fault })
    }

    fn fault(class: &str, code: &str) -> Value {
        json!({ "class": class, "code": code, "detail": "the why", "provider_code": "130429" })
    }

    fn says(cases: Vec<(Value, Vec<&str>)>) {
        for (send, parts) in cases {
            let text = explain(&send).join("\n");
            for part in parts {
                assert!(text.contains(part), "{part} is not in: {text}");
            }
            assert!(text.contains("Next: "), "{text}");
        }
    }

    #[test]
    fn a_send_that_waits_says_what_for() {
        let none = Value::Null;
        says(vec![
            (
                send("queued", json!({"for":"others","ahead":3,"head":"snd_0"}), none.clone()),
                vec!["behind 3 other", "sends show snd_0", "cancel snd_0", "T9"],
            ),
            (
                send("queued", json!({"for":"others","ahead":1,"head":null}), none.clone()),
                vec!["behind 1 other", "wait"],
            ),
            (
                send(
                    "queued",
                    json!({"for":"parked","since":"T1","until":"T2","reason":"credentials_refused"}),
                    none.clone(),
                ),
                vec!["tg is parked since T1", "credentials_refused", "channels check tg", "T2"],
            ),
            (
                send(
                    "queued",
                    json!({"for":"throttle","until":"T2"}),
                    fault("throttled", "throttled"),
                ),
                vec!["asked to wait until T2", "no try", "code 130429"],
            ),
            (
                send(
                    "queued",
                    json!({"for":"retry","until":"T2"}),
                    fault("transient", "provider_error"),
                ),
                vec!["due at T2 (2 counted", "the why", "cancel snd_1"],
            ),
            (
                send("queued", json!({"for":"account_pace","until":"T2"}), none.clone()),
                vec![
                    "as fast as its pace allows",
                    "T2",
                    "account_per_second",
                    "[channels.tg.pace]",
                ],
            ),
            (
                send("queued", json!({"for":"recipient_pace","until":"T2"}), none.clone()),
                vec!["This person", "T2", "recipient_per_second"],
            ),
            (
                send("queued", json!({"for":"channel"}), none.clone()),
                vec!["no channel tg", "reload"],
            ),
            (
                send("queued", json!({"for":"worker"}), none.clone()),
                vec!["worked right now", "look again"],
            ),
            (send("queued", json!({"for":"turn"}), none.clone()), vec!["its turn", "/readyz"]),
        ]);
    }

    #[test]
    fn a_send_that_ended_says_why_and_what_next() {
        let none = Value::Null;
        says(vec![
            (send("sending", none.clone(), none.clone()), vec!["under way", "outcome_unknown"]),
            (
                send("expired", none.clone(), fault("transient", "connect_failed")),
                vec!["by T9", "connect_failed", "retry snd_1"],
            ),
            (
                send("outcome_unknown", none.clone(), fault("ambiguous", "no_answer")),
                vec!["may have it or not", "no_answer", "twice"],
            ),
            (
                send("failed", none.clone(), fault("recipient_gone", "opted_out")),
                vec!["opt-outs list --channel tg", "opted_out"],
            ),
            (
                send("failed", none.clone(), fault("window_closed", "window_closed")),
                vec!["template"],
            ),
            (send("failed", none.clone(), fault("misconfigured", "x")), vec!["right it lacks"]),
            (
                send("failed", none.clone(), fault("permanent", "rejected")),
                vec!["send anew", "the why"],
            ),
            (send("failed", none.clone(), fault("permanent", "render_changed")), vec!["anew"]),
            (send("failed", none.clone(), fault("internal", "internal")), vec!["defect", "report"]),
            (
                send("failed", none.clone(), fault("transient", "provider_error")),
                vec!["works again", "retry snd_1"],
            ),
        ]);
        for status in ["accepted", "sent", "delivered", "read", "cancelled"] {
            assert_eq!(explain(&send(status, none.clone(), none.clone())).len(), 1);
        }
    }
}
