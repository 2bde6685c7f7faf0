//! The command line: `serve` and `sandbox` run a gateway, everything else is an HTTP client of one.
//!
//! Exit codes: 0 done, 1 refused by the gateway or a refused start, 2 usage, 3 cannot reach it,
//! 75 the store is locked.
mod channels;
mod client;
mod config;
mod inbox;
mod key;
mod notify;
mod opt_outs;
mod sandbox;
mod sends;
mod serve;
mod table;
mod trace;
mod values;

pub use client::http_client;
pub use sandbox::SandboxFiles;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Done.
const DONE: u8 = 0;
/// Refused.
const REFUSED: u8 = 1;
/// Usage.
const USAGE: u8 = 2;
/// The gateway cannot be reached.
const UNREACHABLE: u8 = 3;
/// The store is locked.
const LOCKED: u8 = 75;

/// Tidings: one call, delivered on the person's own medium.
#[derive(Parser)]
#[command(name = "tidings", version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the gateway.
    Serve(serve::Serve),
    /// Run a gateway with imitated vendors on loopback: no account needed.
    Sandbox(sandbox::SandboxCommand),
    /// Record a notification and, with --channel, deliver it.
    Notify(notify::Notify),
    /// Show what each channel would do with a notification; nothing is sent.
    Preview(notify::Preview),
    /// Read the inbox.
    Inbox(inbox::Inbox),
    /// Read sends.
    Sends(sends::Sends),
    /// What happened in one trace.
    Trace(trace::Trace),
    /// Show the registered channels, or probe one.
    Channels(channels::Channels),
    /// Show who wants nothing from a channel, or clear one.
    OptOuts(opt_outs::OptOuts),
    /// Make a key, or hash one.
    Key(key::KeyCommand),
    /// Show the configuration.
    Config(config::ConfigCommand),
    /// Print a completion script.
    Completions {
        /// bash, zsh or fish.
        shell: clap_complete::Shell,
    },
}

/// Runs the process's command line.
#[must_use]
pub fn run() -> ExitCode {
    leave_quietly_without_a_reader();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { USAGE } else { DONE });
        }
    };
    let code = match arguments.command {
        Command::Serve(command) => command.run(),
        Command::Sandbox(command) => command.run(),
        Command::Notify(command) => command.run(),
        Command::Preview(command) => command.run(),
        Command::Inbox(command) => command.run(),
        Command::Sends(command) => command.run(),
        Command::Trace(command) => command.run(),
        Command::Channels(command) => command.run(),
        Command::OptOuts(command) => command.run(),
        Command::Key(command) => command.run(),
        Command::Config(command) => command.run(),
        Command::Completions { shell } => {
            let mut command = Arguments::command();
            clap_complete::generate(shell, &mut command, "tidings", &mut std::io::stdout());
            DONE
        }
    };
    ExitCode::from(code)
}

/// A reader that left (`tidings … | head`) is no defect, and nobody is there to be told.
fn leave_quietly_without_a_reader() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let said = panic.payload().downcast_ref::<String>().map_or("", String::as_str);
        if said.starts_with("failed printing to stdout") && said.contains("Broken pipe") {
            std::process::exit(i32::from(DONE));
        }
        usual(panic);
    }));
}

/// The command reference, for the docs.
#[must_use]
pub fn reference() -> String {
    fn write(command: &mut clap::Command, path: &str, text: &mut String) {
        let name = format!("{path}{}", command.get_name());
        text.push_str(&format!("## `{name}`\n\n```text\n{}\n```\n\n", command.render_help()));
        let names: Vec<String> =
            command.get_subcommands().map(|c| c.get_name().to_owned()).collect();
        for sub in names.iter().filter(|name| *name != "help") {
            if let Some(command) = command.find_subcommand_mut(sub) {
                write(command, &format!("{name} "), text);
            }
        }
    }
    let mut text = String::new();
    write(&mut Arguments::command(), "", &mut text);
    text
}
