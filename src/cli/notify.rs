//! `tidings notify` and `tidings preview`: every field of the call.
use super::USAGE;
use super::client::{self, Client};
use super::table::{safe, status};
use super::values::{Reader, check_shape};
use crate::clock::SystemClock;
use crate::ids::{Ids, SystemRandom};
use clap::Args;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The fields of a notification.
#[derive(Args)]
pub struct Fields {
    /// Plain text; "" for content alone, - for standard input.
    message: String,
    /// Registered channel; absent: the inbox alone.
    #[arg(long)]
    channel: Option<String>,
    /// Address on the channel.
    #[arg(long)]
    recipient: Option<String>,
    /// Identity whose inbox slice shows it.
    #[arg(long)]
    audience: Option<String>,
    /// JSON list of media items, or @FILE, or -.
    #[arg(long)]
    media: Option<String>,
    /// JSON object {latitude, longitude, name?, address?}.
    #[arg(long)]
    location: Option<String>,
    /// JSON object of a vendor template.
    #[arg(long)]
    template: Option<String>,
    /// JSON list of options.
    #[arg(long)]
    options: Option<String>,
    /// JSON list of sections.
    #[arg(long)]
    sections: Option<String>,
    /// JSON media item above the choices.
    #[arg(long)]
    header: Option<String>,
    /// A line below the choices.
    #[arg(long)]
    footer: Option<String>,
    /// JSON schema of a form.
    #[arg(long)]
    schema: Option<String>,
    /// JSON object: a form's values and options.
    #[arg(long)]
    data: Option<String>,
    /// JSON list of a form's pages.
    #[arg(long)]
    pages: Option<String>,
    /// Opaque correlation word of a form.
    #[arg(long)]
    form_tag: Option<String>,
    /// RFC 3339 time by which the send must be accepted.
    #[arg(long)]
    expires_at: Option<String>,
    /// JSON object of string pairs.
    #[arg(long)]
    metadata: Option<String>,
}

impl Fields {
    fn body(&self) -> Result<String, String> {
        let mut reader = Reader::default();
        let mut body = Map::new();
        body.insert("message".into(), Value::String(reader.text("MESSAGE", &self.message)?));
        let plain = [
            ("channel", &self.channel),
            ("recipient", &self.recipient),
            ("audience", &self.audience),
            ("footer", &self.footer),
            ("form_tag", &self.form_tag),
            ("expires_at", &self.expires_at),
        ];
        for (field, value) in plain {
            if let Some(value) = value {
                body.insert(field.into(), Value::String(value.clone()));
            }
        }
        let rich = [
            ("media", &self.media),
            ("location", &self.location),
            ("template", &self.template),
            ("options", &self.options),
            ("sections", &self.sections),
            ("header", &self.header),
            ("schema", &self.schema),
            ("data", &self.data),
            ("pages", &self.pages),
            ("metadata", &self.metadata),
        ];
        for (field, value) in rich {
            if let Some(value) = value {
                let json = reader.json(field, value)?;
                check_shape(field, field, &json)?;
                body.insert(field.into(), json);
            }
        }
        Ok(Value::Object(body).to_string())
    }
}

/// `tidings notify`.
#[derive(Args)]
pub struct Notify {
    #[command(flatten)]
    fields: Fields,
    /// Wait until the medium accepted or refused, at most N seconds (30 when bare).
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "30")]
    wait: Option<u32>,
    /// Repeats with this key give the first answer; a random one when absent.
    #[arg(long)]
    idempotency_key: Option<String>,
    /// Print the API's body.
    #[arg(long)]
    json: bool,
}

impl Notify {
    pub(super) fn run(self) -> u8 {
        let body = match self.fields.body() {
            Ok(body) => body,
            Err(error) => {
                eprintln!("tidings: {error}");
                return USAGE;
            }
        };
        client::run(|client| self.call(client, body))
    }

    async fn call(self, client: Client, body: String) -> Result<u8, String> {
        let ids = Ids::new(Arc::new(SystemClock), Arc::new(SystemRandom));
        let key = self.idempotency_key.unwrap_or_else(|| format!("cli-{}", ids.trace()));
        let recipient = self.fields.recipient.is_some();
        let mut headers = vec![("idempotency-key", key)];
        if let Some(seconds) = self.wait {
            headers.push(("prefer", format!("wait={seconds}")));
        }
        let answer =
            client.call(reqwest::Method::POST, "/api/notifications", &headers, Some(body)).await?;
        Ok(client::print(&answer, self.json, |answer| {
            println!("{}", answer["id"].as_str().unwrap_or_default());
            let send = &answer["send"];
            if let Some(id) = send["id"].as_str() {
                let channel = send["channel"].as_str().unwrap_or_default();
                println!("{id} {channel} {}", status(send["status"].as_str().unwrap_or_default()));
            }
            if send.is_null() && recipient {
                eprintln!("  recorded in the inbox only: without --channel nothing is delivered");
            }
            print_degrades(&send["degrades"]);
        }))
    }
}

fn print_degrades(degrades: &Value) {
    for degrade in degrades.as_array().into_iter().flatten() {
        let part = |name: &str| degrade[name].as_str().unwrap_or_default().to_owned();
        println!("  {} {}: {}", part("capability"), part("how"), part("detail"));
    }
}

/// `tidings preview`.
#[derive(Args)]
pub struct Preview {
    #[command(flatten)]
    fields: Fields,
    /// Print the API's body.
    #[arg(long)]
    json: bool,
}

impl Preview {
    pub(super) fn run(self) -> u8 {
        let body = match self.fields.body() {
            Ok(body) => body,
            Err(error) => {
                eprintln!("tidings: {error}");
                return USAGE;
            }
        };
        client::run(|client| async move {
            let path = "/api/notifications/preview";
            let answer = client.call(reqwest::Method::POST, path, &[], Some(body)).await?;
            Ok(client::print(&answer, self.json, show))
        })
    }
}

fn show(preview: &Value) {
    for channel in preview["channels"].as_array().into_iter().flatten() {
        let part = |name: &str| channel[name].as_str().unwrap_or_default().to_owned();
        println!("{} ({}): {}", part("channel"), part("medium"), status(&part("verdict")));
        if let Some(detail) = channel["problem"]["detail"].as_str() {
            println!("  {}: {detail}", channel["problem"]["code"].as_str().unwrap_or_default());
        }
        print_degrades(&channel["degrades"]);
        for request in channel["requests"].as_array().into_iter().flatten() {
            let text = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
            println!("  {} {}", text("method"), safe(&text("url"), 200));
            let body = serde_json::to_string_pretty(&request["body"]).unwrap_or_default();
            for line in body.lines() {
                println!("    {}", safe(line, 400));
            }
            if request["facts"].as_object().is_some_and(|facts| !facts.is_empty()) {
                println!("    facts: {}", request["facts"]);
            }
        }
    }
}
