//! `tidings serve`: the gateway.
use super::config::refuse;
use super::{DONE, LOCKED, REFUSED, USAGE};
use crate::boot::reload::Reloader;
use crate::boot::{self, Gateway, Overrides, StartProblem};
use crate::config::Config;
use crate::config::load::{Sources, load};
use crate::registry::MEDIA;
use clap::Args;
use std::path::PathBuf;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// `tidings serve`.
#[derive(Args)]
pub struct Serve {
    /// Configuration file; `TIDINGS_CONFIG`, else the built-in defaults.
    #[arg(long)]
    config: Option<PathBuf>,
    /// Check the configuration, print every problem, and stop.
    #[arg(long)]
    check: bool,
    /// Address: listen.public.
    #[arg(long)]
    listen: Option<String>,
    /// Folder: `store.data_dir`.
    #[arg(long)]
    data_dir: Option<String>,
    /// Any key: PATH=VALUE, the value as TOML or text.
    #[arg(long = "set")]
    set: Vec<String>,
}

impl Serve {
    pub(super) fn run(self) -> u8 {
        let mut flags = Vec::new();
        for pair in &self.set {
            let Some((path, value)) = pair.split_once('=') else {
                eprintln!("tidings: --set takes PATH=VALUE");
                return USAGE;
            };
            flags.push((path.to_owned(), value.to_owned()));
        }
        let quoted = |text: String| toml::Value::String(text).to_string();
        flags.extend(self.listen.map(|a| ("listen.public".to_owned(), quoted(a))));
        flags.extend(self.data_dir.map(|d| ("store.data_dir".to_owned(), quoted(d))));
        let sources = Sources::of_process(self.config, flags);
        let (config, values) = match load(&sources, MEDIA) {
            Ok(loaded) => loaded,
            Err(problems) => return refuse(&problems),
        };
        if self.check {
            println!("the configuration is sound");
            return DONE;
        }
        log_to_stderr();
        run_until_stopped(async move {
            let gateway = boot::start(&config, Overrides::default()).await?;
            announce(&config, &gateway);
            Ok((Running::Gateway(gateway), Reloader::new(sources, MEDIA, values)))
        })
    }
}

/// What runs in the foreground.
pub(super) enum Running {
    /// A gateway alone.
    Gateway(Gateway),
    /// A gateway with the imitated vendors.
    Sandbox(Gateway, Box<sandbox::Running>),
}

impl Running {
    fn gateway(&self) -> &Gateway {
        match self {
            Self::Gateway(gateway) | Self::Sandbox(gateway, _) => gateway,
        }
    }

    async fn stop(self) {
        match self {
            Self::Gateway(gateway) => gateway.stop().await,
            Self::Sandbox(gateway, vendors) => {
                gateway.stop().await;
                vendors.stop().await;
            }
        }
    }
}

/// Starts something, waits for SIGINT or SIGTERM, and stops it; a second signal ends at once.
/// SIGHUP meanwhile reloads its configuration.
pub(super) fn run_until_stopped(
    start: impl Future<Output = Result<(Running, Reloader), StartProblem>>,
) -> u8 {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("tidings: {error}");
            return REFUSED;
        }
    };
    runtime.block_on(async {
        // Handled before anything starts: a signal in between must not end the process halfway.
        let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) = (
            signal(SignalKind::interrupt()),
            signal(SignalKind::terminate()),
            signal(SignalKind::hangup()),
        ) else {
            eprintln!("tidings: signals cannot be handled");
            return REFUSED;
        };
        let started = tokio::select! {
            started = start => started,
            () = either(&mut interrupt, &mut terminate) => return REFUSED,
        };
        let (running, mut reloader) = match started {
            Ok(running) => running,
            Err(problem) => {
                eprintln!("tidings: {problem}");
                return if matches!(problem, StartProblem::Locked(_)) { LOCKED } else { REFUSED };
            }
        };
        loop {
            tokio::select! {
                () = either(&mut interrupt, &mut terminate) => break,
                _ = hangup.recv() => {
                    running.gateway().reload(&mut reloader);
                }
            }
        }
        tokio::select! {
            () = running.stop() => {}
            () = either(&mut interrupt, &mut terminate) => {}
        }
        DONE
    })
}

async fn either(one: &mut Signal, two: &mut Signal) {
    tokio::select! {
        _ = one.recv() => {}
        _ = two.recv() => {}
    }
}

fn announce(config: &Config, gateway: &Gateway) {
    println!("tidings {} at http://{}", env!("CARGO_PKG_VERSION"), gateway.address);
    if let Some(internal) = gateway.internal {
        println!("internal listener at http://{internal}");
    }
    for channel in &config.channels {
        if channel.adapter.page().is_some() {
            println!("chat at http://{}/chat/{}", gateway.address, channel.name);
        }
    }
    if let Some(path) = &gateway.operator_key {
        println!("operator's key in {}", path.display());
    }
    if config.channels.is_empty() {
        println!("no channel is configured: notifications go to the inbox alone");
    }
    for channel in &config.channels {
        for note in &channel.notes {
            println!("channel {}: {note}", channel.name);
        }
    }
}

/// Log lines go to standard error: text on a terminal, JSON elsewhere. `TIDINGS_LOG` filters.
pub(super) fn log_to_stderr() {
    use std::io::IsTerminal;
    let filter = std::env::var("TIDINGS_LOG")
        .unwrap_or_else(|_| "info,actix_server=warn,actix_http::h1::dispatcher=off".to_owned());
    let filter = tracing_subscriber::EnvFilter::try_new(filter)
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second start in one process keeps the first subscriber.
    let _ = if std::io::stderr().is_terminal() {
        builder.try_init()
    } else {
        builder.json().flatten_event(true).try_init()
    };
}
