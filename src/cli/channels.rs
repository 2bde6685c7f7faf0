//! `tidings channels`: what is registered, and probing one.
use super::client;
use super::table::{self, safe, status};
use clap::{Args, Subcommand};
use serde_json::Value;

/// `tidings channels`.
#[derive(Args)]
pub struct Channels {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print the API's body.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Action {
    /// Every registered channel (the default).
    List,
    /// Probe one channel's account now.
    Check {
        /// Registered name.
        name: String,
    },
}

impl Channels {
    pub(super) fn run(self) -> u8 {
        let json = self.json;
        match self.action {
            None | Some(Action::List) => client::run(|client| async move {
                let answer = client.get("/api/channels").await?;
                Ok(client::print(&answer, json, |page| {
                    let channels = page["channels"].as_array().cloned().unwrap_or_default();
                    let rows: Vec<Vec<String>> = channels.iter().map(row).collect();
                    let headings =
                        ["NAME", "MEDIUM", "ACCOUNT", "RECIPIENTS", "QUEUED", "HEALTH", ""];
                    table::print(&headings, &rows);
                }))
            }),
            Some(Action::Check { name }) => client::run(|client| async move {
                let path = format!("/api/channels/{}/check", safe(&name, 64));
                let answer = client.call(reqwest::Method::POST, &path, &[], None).await?;
                Ok(client::print(&answer, json, |channel| {
                    let health = &channel["health"];
                    let account = channel["identity_hint"].as_str().unwrap_or("-");
                    println!(
                        "{} {account}: {}",
                        text(&channel["name"]),
                        status(health["state"].as_str().unwrap_or("-"))
                    );
                    println!("{}", text(&health["detail"]));
                }))
            }),
        }
    }
}

fn text(value: &Value) -> String {
    safe(value.as_str().unwrap_or("-"), 120)
}

fn row(channel: &Value) -> Vec<String> {
    vec![
        text(&channel["name"]),
        text(&channel["medium"]),
        text(&channel["identity_hint"]),
        text(&channel["recipients"]["policy"]),
        channel["lane"]["queued"].to_string(),
        status(channel["health"]["state"].as_str().unwrap_or("-")),
        text(&channel["health"]["detail"]),
    ]
}
