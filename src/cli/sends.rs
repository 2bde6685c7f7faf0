//! `tidings sends`: the list, and one send explained in words.
use super::client::{self, query};
use super::table::{self, bold, safe, status};
use crate::sends::view::explain;
use clap::{Args, Subcommand};
use serde_json::Value;

/// `tidings sends`.
#[derive(Args)]
pub struct Sends {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    list: List,
}

#[derive(Subcommand)]
enum Action {
    /// Newest sends (the default).
    List(List),
    /// One send: why it stands where it stands.
    Show {
        /// snd_…
        id: String,
        /// Print the API's body.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
struct List {
    /// Only this status.
    #[arg(long)]
    status: Option<String>,
    /// Only this channel.
    #[arg(long)]
    channel: Option<String>,
    /// Only this recipient; needs --channel.
    #[arg(long)]
    recipient: Option<String>,
    /// 1 to 200.
    #[arg(long, default_value = "20")]
    limit: u32,
    /// Print the API's body.
    #[arg(long)]
    json: bool,
}

impl Sends {
    pub(super) fn run(self) -> u8 {
        match self.action {
            Some(Action::Show { id, json }) => client::run(|client| async move {
                let answer = client.get(&format!("/api/sends/{}", safe(&id, 64))).await?;
                Ok(client::print(&answer, json, show))
            }),
            Some(Action::List(list)) => list.run(),
            None => self.list.run(),
        }
    }
}

impl List {
    fn run(self) -> u8 {
        let pairs = [
            ("status", self.status),
            ("channel", self.channel),
            ("recipient", self.recipient),
            ("limit", Some(self.limit.to_string())),
        ];
        let path = format!("/api/sends{}", query(&pairs));
        client::run(|client| async move {
            let answer = client.get(&path).await?;
            Ok(client::print(&answer, self.json, |page| {
                let sends = page["sends"].as_array().cloned().unwrap_or_default();
                let rows: Vec<Vec<String>> = sends.iter().map(row).collect();
                table::print(&["AT", "ID", "CHANNEL", "RECIPIENT", "STATUS", "FAULT"], &rows);
            }))
        })
    }
}

fn text(value: &Value) -> String {
    safe(value.as_str().unwrap_or("-"), 60)
}

fn row(send: &Value) -> Vec<String> {
    vec![
        text(&send["created_at"]),
        text(&send["id"]),
        text(&send["channel"]),
        text(&send["recipient"]),
        status(send["status"].as_str().unwrap_or("-")),
        text(&send["fault"]["code"]),
    ]
}

fn show(send: &Value) {
    let word = send["status"].as_str().unwrap_or_default();
    println!("{} {} {}", bold(&text(&send["id"])), text(&send["channel"]), status(word));
    let fault = send["fault"]["class"].as_str().zip(send["fault"]["detail"].as_str());
    let expires = send["expires_at"].as_str().unwrap_or_default();
    println!("{}", explain(word, fault, send["next_at"].as_str(), expires));
    println!("notification {}  to {}", text(&send["notification"]), text(&send["recipient"]));
    println!("trace {}  tries {}  cycle {}", text(&send["trace_id"]), send["tries"], send["cycle"]);
    for part in send["parts"].as_array().into_iter().flatten() {
        let id = text(&part["provider_message_id"]);
        let kind = text(&part["kind"]);
        println!(
            "  part {} {kind} {} {id}",
            part["index"],
            status(part["status"].as_str().unwrap_or("-"))
        );
        for step in part["history"].as_array().into_iter().flatten() {
            let reason = step["reason"].as_str().map(|r| format!(" ({r})")).unwrap_or_default();
            println!(
                "    {} {} → {} by {}{reason}",
                text(&step["at"]),
                text(&step["from"]),
                text(&step["to"]),
                text(&step["actor"])
            );
        }
    }
    for attempt in send["attempts"].as_array().into_iter().flatten() {
        let fault = attempt["fault"].as_str().unwrap_or("accepted");
        let status = attempt["http_status"].as_u64();
        let answer = status.map_or("no answer".to_owned(), |status| format!("HTTP {status}"));
        println!(
            "  attempt {} part {} at {}: {fault}, {answer}, {} ms",
            attempt["number"],
            attempt["part"],
            text(&attempt["started_at"]),
            attempt["elapsed_ms"]
        );
    }
    for degrade in send["degrades"].as_array().into_iter().flatten() {
        println!(
            "  degrade {} {}: {}",
            text(&degrade["capability"]),
            text(&degrade["how"]),
            safe(degrade["detail"].as_str().unwrap_or("-"), 200)
        );
    }
}
