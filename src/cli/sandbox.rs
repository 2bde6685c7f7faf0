//! `tidings sandbox`: the very gateway of `serve`, and the vendors imitated beside it on loopback.
use super::REFUSED;
use super::serve::{Running, log_to_stderr, run_until_stopped};
use crate::auth::KeyText;
use crate::boot::reload::Reloader;
use crate::boot::{self, Overrides, StartProblem, write_private};
use crate::clock::SystemClock;
use crate::config::load::{Sources, load};
use crate::ids::{Ids, SystemRandom};
use crate::registry::MEDIA;
use clap::Args;
use contract::{Fetched, WebUrl};
use kit::wire::StandIn;
use serde_json::json;
use std::io::IsTerminal;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An invented proxy that ends TLS in front of the gateway; no such name is looked up.
const PUBLIC_URL: &str = "https://tidings.test";
/// A photo for the first message: a small picture as a `data:` image.
const PHOTO: &str = include_str!("sandbox_photo.b64");

/// `tidings sandbox`.
#[derive(Args)]
pub struct SandboxCommand {
    /// The gateway's address, on loopback.
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: String,
    /// The vendors' and the page's address, on loopback.
    #[arg(long, default_value = "127.0.0.1:8090")]
    vendors: String,
    /// Folder, kept between runs.
    #[arg(long, default_value = "tidings-sandbox")]
    data_dir: PathBuf,
    /// Media to run, by name; all when absent.
    #[arg(long, value_delimiter = ',')]
    channels: Vec<String>,
}

/// Answers fetches of callers' files inside the process.
pub struct SandboxFiles;

impl StandIn for SandboxFiles {
    fn fetch(&self, url: &WebUrl) -> Option<Fetched> {
        Some(sandbox::stand_in(url.path()))
    }
}

impl SandboxCommand {
    pub(super) fn run(self) -> u8 {
        let known: Vec<&str> = MEDIA.iter().map(|r| r.medium).collect();
        if let Some(unknown) = self.channels.iter().find(|c| !known.contains(&c.as_str())) {
            let shown = super::table::safe(unknown, 32);
            eprintln!("tidings: --channels: there is no {shown}; known: {}", known.join(", "));
            return REFUSED;
        }
        let (listen, vendors) =
            match (loopback("--listen", &self.listen), loopback("--vendors", &self.vendors)) {
                (Ok(listen), Ok(vendors)) => (listen, vendors),
                (Err(error), _) | (_, Err(error)) => {
                    eprintln!("tidings: {error}");
                    return REFUSED;
                }
            };
        log_to_stderr();
        run_until_stopped(async move { self.start(listen, vendors).await })
    }

    async fn start(
        self,
        listen: SocketAddr,
        vendors: SocketAddr,
    ) -> Result<(Running, Reloader), StartProblem> {
        let dir = &self.data_dir;
        // A second run on one folder must not write over the first one's files.
        boot::refuse_locked(dir)?;
        let secrets = Secrets::in_folder(dir)?;
        let listen = free("--listen", listen)?;
        let vendors = free("--vendors", vendors)?;
        let config_path = dir.join("config.toml");
        write_private(&config_path, &self.config(dir, listen, vendors, &secrets))?;
        let sources = Sources { file: Some(config_path), ..Sources::default() };
        let (config, values) = load(&sources, MEDIA).map_err(|problems| {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            StartProblem::Refused(lines.join("\n"))
        })?;
        let overrides = Overrides {
            network: Box::new(|builder| {
                builder
                    .map(Arc::new(|address: SocketAddr| {
                        address.ip().is_loopback().then_some(address)
                    }))
                    .stand_in(Arc::new(SandboxFiles))
            }),
            ..Overrides::default()
        };
        // The vendors listen before the gateway probes its channels.
        let vendors = sandbox::Sandbox::start(sandbox::Settings {
            listen: vendors,
            data_dir: dir.clone(),
            gateway: format!("http://{listen}"),
            public_url: Some(PUBLIC_URL.to_owned()),
            telegram_tokens: vec![secrets.bot_token.clone()],
            links: if self.has("web") {
                vec![("The web chat".to_owned(), format!("http://{listen}/chat/web"))]
            } else {
                Vec::new()
            },
        })
        .await
        .map_err(|problem| StartProblem::Refused(problem.to_string()))?;
        let gateway = match boot::start(&config, overrides).await {
            Ok(gateway) => gateway,
            Err(problem) => {
                vendors.stop().await;
                return Err(problem);
            }
        };
        let gateway_url = format!("http://{}", gateway.address);
        announce(&gateway_url, &format!("http://{}", vendors.address), secrets.key.expose());
        Ok((Running::Sandbox(gateway, Box::new(vendors)), Reloader::new(sources, MEDIA, values)))
    }

    /// A configuration like any operator's; secrets by file.
    fn config(
        &self,
        dir: &Path,
        listen: SocketAddr,
        vendors: SocketAddr,
        secrets: &Secrets,
    ) -> String {
        let quoted = |text: String| toml::Value::String(text).to_string();
        let file =
            |name: &str| quoted(format!("file:{}", dir.join("secrets").join(name).display()));
        let mut text = format!(
            "# Written by `tidings sandbox` at each start; `tidings serve --config` on this file is the\n\
             # same gateway without the vendors.\n\
             [listen]\npublic = \"{listen}\"\npublic_url = \"{PUBLIC_URL}\"\n\n\
             [store]\ndata_dir = {}\n\n\
             [[keys]]\nidentity = \"sandbox\"\nhash = \"{}\"\nscopes = [\"admin\"]\n",
            quoted(dir.display().to_string()),
            secrets.key.spelt_hash(),
        );
        if self.has("telegram") {
            text.push_str(&format!(
                "\n[channels.telegram]\nmedium = \"telegram\"\nbot_token = {}\n\
                 webhook_secrets = [{}]\nregister_webhook = false\n\
                 base_url = \"http://{vendors}/telegram\"\n\
                 allowed_recipients = [\"*\"]\ndefault_recipient = \"42\"\n\
                 # The imitated Bot API takes any number at once. Without this table a real bot's pace\n\
                 # holds: 1 message a second to a person.\n\
                 pace = {{ account_per_second = 0, recipient_per_second = 0 }}\n",
                file("telegram_bot_token"),
                file("telegram_webhook_secret"),
            ));
        }
        if self.has("web") {
            text.push_str("\n[channels.web]\nmedium = \"web\"\n");
        }
        text
    }

    /// Whether a channel was asked for; without `--channels` all are.
    fn has(&self, channel: &str) -> bool {
        self.channels.is_empty() || self.channels.iter().any(|c| c == channel)
    }
}

fn loopback(flag: &str, text: &str) -> Result<SocketAddr, String> {
    let address: Option<SocketAddr> = text.parse().ok();
    address.filter(|a| a.ip().is_loopback()).ok_or_else(|| {
        format!("{flag}: must be a loopback address and a port, such as 127.0.0.1:8080")
    })
}

/// The address itself, or for port 0 one with a port that is free now: both addresses stand in the
/// configuration before either listener starts.
fn free(flag: &str, address: SocketAddr) -> Result<SocketAddr, StartProblem> {
    let taken =
        |error| StartProblem::Refused(format!("{flag}: {address} cannot be bound: {error}"));
    let socket = TcpListener::bind(address).map_err(taken)?;
    socket.local_addr().map_err(taken)
}

/// What is generated at the first start and kept.
struct Secrets {
    key: KeyText,
    bot_token: String,
}

impl Secrets {
    fn in_folder(dir: &Path) -> Result<Self, StartProblem> {
        let folder = dir.join("secrets");
        boot::private_folder(&folder)?;
        let ids = Ids::new(Arc::new(SystemClock), Arc::new(SystemRandom));
        let key = boot::operator_key(&dir.join("operator.key"), &ids)?;
        let number = u64::from_be_bytes(ids.random_array()) % 1_000_000_000 + 1_000_000_000;
        let token = format!("{number}:{}{}", ids.span(), &ids.trace()[..19]);
        let bot_token = kept(&folder.join("telegram_bot_token"), token)?;
        kept(&folder.join("telegram_webhook_secret"), ids.trace())?;
        Ok(Self { key, bot_token })
    }
}

/// The text of a file, or this one written to it.
fn kept(path: &Path, fresh: String) -> Result<String, StartProblem> {
    if let Ok(text) = std::fs::read_to_string(path) {
        return Ok(text.trim().to_owned());
    }
    write_private(path, &format!("{fresh}\n"))?;
    Ok(fresh)
}

/// The first message: buttons, a photo, a location.
fn first_message() -> serde_json::Value {
    json!({
        "message": "Table for two at 19:00?", "channel": "telegram",
        "media": [{ "kind": "image", "url": format!("data:image/png;base64,{}", PHOTO.trim()),
                    "caption": "The terrace" }],
        "location": { "latitude": 52.520_008, "longitude": 13.404_954, "name": "Bistro",
                      "address": "1 Main Street" },
        "options": [{ "kind": "reply", "text": "Yes", "id": "yes" },
                    { "kind": "reply", "text": "Another time", "id": "later" },
                    { "kind": "link", "label": "See the menu", "url": "https://menu.example.test/today" }],
        "footer": "Reply by noon",
    })
}

fn announce(gateway: &str, vendors: &str, key: &str) {
    if std::io::stdout().is_terminal() {
        println!("\nWhat people see: {vendors}/\n");
        println!("export TIDINGS_URL={gateway}\nexport TIDINGS_KEY={key}\n");
        println!(
            "curl -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' \\\n  \
             {gateway}/api/notifications -d '{}'\n",
            first_message()
        );
        let program =
            std::env::current_exe().map_or("tidings".to_owned(), |p| p.display().to_string());
        println!("{program} notify 'Hello from the terminal' --channel telegram --wait\n");
        open_page(vendors);
    }
    let ready = json!({
        "gateway": gateway, "vendors": vendors, "page": format!("{vendors}/"), "key": key,
    });
    println!("READY {ready}");
}

/// Opens the page once where a display and `xdg-open` exist.
fn open_page(vendors: &str) {
    let display =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if display {
        // A browser that does not open is no problem: the address is printed.
        let _ = std::process::Command::new("xdg-open")
            .arg(format!("{vendors}/"))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn();
    }
}
