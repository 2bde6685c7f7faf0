//! `tidings opt-outs`: who wants nothing from a channel, and clearing one.
use super::client::{self, query};
use super::table::{self, safe};
use clap::{Args, Subcommand};
use serde_json::Value;

/// `tidings opt-outs`.
#[derive(Args)]
pub struct OptOuts {
    #[command(subcommand)]
    action: Option<Action>,
    /// Registered channel.
    #[arg(long, global = true)]
    channel: Option<String>,
    /// 1 to 200.
    #[arg(long, global = true)]
    limit: Option<u32>,
    /// Print the API's body.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Action {
    /// Opt-outs of the channel, newest first (the default).
    List,
    /// Forget an opt-out: the person is sent to again.
    Clear {
        /// Address on the channel.
        #[arg(allow_hyphen_values = true)]
        recipient: String,
    },
}

impl OptOuts {
    pub(super) fn run(self) -> u8 {
        let Some(channel) = self.channel else {
            eprintln!("tidings: give the channel: --channel NAME");
            return super::USAGE;
        };
        let base = format!("/api/channels/{}/opt-outs", safe(&channel, 64));
        let json = self.json;
        match self.action {
            None | Some(Action::List) => {
                let path =
                    format!("{base}{}", query(&[("limit", self.limit.map(|n| n.to_string()))]));
                client::run(|client| async move {
                    let answer = client.get(&path).await?;
                    Ok(client::print(&answer, json, |page| {
                        let rows = page["opt_outs"].as_array().cloned().unwrap_or_default();
                        let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
                        table::print(&["SINCE", "RECIPIENT", "SCOPE", "SOURCE"], &rows);
                    }))
                })
            }
            Some(Action::Clear { recipient }) => client::run(|client| async move {
                let path = format!("{base}/{}", segment(&recipient));
                let answer = client.call(reqwest::Method::DELETE, &path, &[], None).await?;
                Ok(client::print(&answer, json, |cleared| {
                    println!("{} is sent to again", text(&cleared["recipient"]));
                }))
            }),
        }
    }
}

fn text(value: &Value) -> String {
    safe(value.as_str().unwrap_or("-"), 120)
}

fn row(opt_out: &Value) -> Vec<String> {
    ["since", "recipient", "scope", "source"].iter().map(|key| text(&opt_out[key])).collect()
}

/// An address as one segment of a path.
fn segment(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
