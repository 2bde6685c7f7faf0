//! `tidings trace`: what happened in one trace, on one screen.
use super::client;
use super::table::{self, bold, safe};
use clap::Args;
use serde_json::Value;

/// `tidings trace`.
#[derive(Args)]
pub struct Trace {
    /// The trace id: 32 hex digits, as every answer carries it.
    id: String,
    /// Print the API's body.
    #[arg(long)]
    json: bool,
}

impl Trace {
    pub(super) fn run(self) -> u8 {
        client::run(|client| async move {
            let answer = client.get(&format!("/api/traces/{}", safe(&self.id, 64))).await?;
            Ok(client::print(&answer, self.json, show))
        })
    }
}

fn show(trace: &Value) {
    println!("{}", bold(&format!("Trace {}", text(&trace["trace_id"]))));
    let events = trace["events"].as_array().cloned().unwrap_or_default();
    let rows: Vec<Vec<String>> = events.iter().map(row).collect();
    table::print(&["AT", "EVENT", "PART", "WHAT"], &rows);
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => safe(text, 64),
        other => safe(&other.to_string(), 64),
    }
}

fn row(event: &Value) -> Vec<String> {
    let mut what: Vec<String> = Vec::new();
    match event["name"].as_str() {
        Some("notification_recorded") => what.push(text(&event["notification"])),
        Some("send_queued") => what.push(text(&event["send"])),
        _ => {}
    }
    let attributes = event["attributes"].as_object().cloned().unwrap_or_default();
    let shown = attributes.iter().filter(|(name, _)| *name != "span_id");
    what.extend(shown.map(|(name, value)| format!("{name}={}", text(value))));
    vec![text(&event["at"]), text(&event["name"]), text(&event["part"]), what.join(" ")]
}
