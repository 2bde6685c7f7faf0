//! `tidings inbox`: the list, one entry, or following the list every two seconds.
use super::client::{self, Client, query};
use super::table::{self, safe, status};
use clap::{Args, Subcommand};
use serde_json::Value;
use std::time::Duration;

/// `tidings inbox`.
#[derive(Args)]
pub struct Inbox {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    list: List,
}

#[derive(Subcommand)]
enum Action {
    /// Newest entries (the default).
    List(List),
    /// One entry.
    Show {
        /// ntf_…
        id: String,
        /// Print the API's body.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args, Clone)]
struct List {
    /// One audience's slice.
    #[arg(long)]
    audience: Option<String>,
    /// Only this channel.
    #[arg(long)]
    channel: Option<String>,
    /// caller or platform.
    #[arg(long)]
    origin: Option<String>,
    /// 1 to 200.
    #[arg(long, default_value = "20")]
    limit: u32,
    /// Read the list again every two seconds and print what is new.
    #[arg(long)]
    follow: bool,
    /// Print the API's body.
    #[arg(long)]
    json: bool,
}

impl Inbox {
    pub(super) fn run(self) -> u8 {
        match self.action {
            Some(Action::Show { id, json }) => client::run(|client| async move {
                let answer = client.get(&format!("/api/notifications/{}", safe(&id, 64))).await?;
                Ok(client::print(&answer, json, |entry| {
                    println!("{}", serde_json::to_string_pretty(entry).unwrap_or_default());
                }))
            }),
            Some(Action::List(list)) => client::run(|client| list.call(client)),
            None => client::run(|client| self.list.call(client)),
        }
    }
}

impl List {
    fn path(&self) -> String {
        let pairs = [
            ("audience", self.audience.clone()),
            ("channel", self.channel.clone()),
            ("origin", self.origin.clone()),
            ("limit", Some(self.limit.to_string())),
        ];
        format!("/api/notifications{}", query(&pairs))
    }

    async fn call(self, client: Client) -> Result<u8, String> {
        if self.follow {
            return self.follow(&client).await;
        }
        let answer = client.get(&self.path()).await?;
        Ok(client::print(&answer, self.json, |page| {
            let rows: Vec<Vec<String>> = entries(page).iter().map(row).collect();
            table::print(&["AT", "ID", "CHANNEL", "STATUS", "MESSAGE"], &rows);
        }))
    }

    async fn follow(&self, client: &Client) -> Result<u8, String> {
        let mut last: Option<String> = None;
        loop {
            let answer = client.get(&self.path()).await?;
            if !answer.is_done() {
                return Ok(client::refused(&answer, self.json));
            }
            let page = answer.json();
            let fresh: Vec<Value> = entries(&page)
                .into_iter()
                .take_while(|entry| entry["id"].as_str() != last.as_deref())
                .collect();
            for entry in fresh.iter().rev() {
                if self.json { println!("{entry}") } else { println!("{}", row(entry).join("  ")) }
            }
            if let Some(newest) = fresh.first() {
                last = newest["id"].as_str().map(str::to_owned);
            }
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    }
}

fn entries(page: &Value) -> Vec<Value> {
    page["notifications"].as_array().cloned().unwrap_or_default()
}

fn row(entry: &Value) -> Vec<String> {
    let text = |value: &Value| safe(value.as_str().unwrap_or("-"), 60);
    vec![
        text(&entry["created_at"]),
        text(&entry["id"]),
        text(&entry["channel"]),
        status(entry["send"]["status"].as_str().unwrap_or("-")),
        text(&entry["message"]),
    ]
}
