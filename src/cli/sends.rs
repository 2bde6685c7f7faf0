//! `tidings sends`: the list, and one send explained in words.
use super::client::{self, query};
use super::table::{self, bold, safe, status};
use super::{DONE, USAGE};
use crate::clock::{Clock, Millis, SystemClock};
use crate::config::units;
use crate::sends::explain::explain;
use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};

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
    /// Try sends again that failed, expired or are unknown.
    Retry(Retry),
    /// Cancel a send that waits.
    Cancel {
        /// snd_…
        id: String,
        /// Print the API's body.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
struct Retry {
    /// snd_…, one or more; without any, all dead letters that match.
    ids: Vec<String>,
    /// Only this channel.
    #[arg(long, conflicts_with = "ids")]
    channel: Option<String>,
    /// Only this class or code of fault.
    #[arg(long, conflicts_with = "ids")]
    fault: Option<String>,
    /// Only those that ended since: RFC 3339, or a span such as 2h.
    #[arg(long, conflicts_with = "ids")]
    since: Option<String>,
    /// Print the API's body.
    #[arg(long)]
    json: bool,
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
            Some(Action::Retry(retry)) => retry.run(),
            Some(Action::Cancel { id, json }) => client::run(|client| async move {
                let path = format!("/api/sends/{}/cancel", safe(&id, 64));
                let answer = client.call(Method::POST, &path, &[], None).await?;
                Ok(client::print(&answer, json, |send| {
                    println!(
                        "{} {}",
                        text(&send["id"]),
                        status(send["status"].as_str().unwrap_or("-"))
                    );
                }))
            }),
            Some(Action::List(list)) => list.run(),
            None => self.list.run(),
        }
    }
}

impl Retry {
    fn run(self) -> u8 {
        if self.ids.is_empty() {
            return self.many();
        }
        client::run(|client| async move {
            let mut worst = DONE;
            for id in &self.ids {
                let path = format!("/api/sends/{}/retry", safe(id, 64));
                let answer = client.call(Method::POST, &path, &[], None).await?;
                let code = client::print(&answer, self.json, |send| {
                    println!(
                        "{} {}",
                        text(&send["id"]),
                        status(send["status"].as_str().unwrap_or("-"))
                    );
                });
                worst = worst.max(code);
            }
            Ok(worst)
        })
    }

    /// Without ids: what matches. Without any filter nothing is meant, so it is asked for.
    fn many(self) -> u8 {
        if self.channel.is_none() && self.fault.is_none() && self.since.is_none() {
            eprintln!("tidings: give ids, or --channel, --fault or --since");
            return USAGE;
        }
        let now = SystemClock.now();
        let since = self.since.map(|text| match units::duration(&text) {
            Some(span) => {
                Millis(now.0 - i64::try_from(span.as_millis()).unwrap_or(now.0)).rfc3339()
            }
            None => text,
        });
        let body = json!({ "channel": self.channel, "fault": self.fault, "since": since });
        client::run(|client| async move {
            let path = "/api/sends/retry";
            let answer = client.call(Method::POST, path, &[], Some(body.to_string())).await?;
            Ok(client::print(&answer, self.json, |done| println!("{} retried", done["retried"])))
        })
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
    for line in explain(send) {
        println!("{}", safe(&line, 600));
    }
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
