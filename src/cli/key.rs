//! `tidings key`: making a key and hashing one. Nothing is stored: the block is pasted.
use super::{DONE, USAGE};
use crate::auth::{KeyText, Scope};
use crate::clock::SystemClock;
use crate::ids::{Ids, SystemRandom};
use clap::{Args, Subcommand};
use std::sync::Arc;

/// `tidings key`.
#[derive(Args)]
pub struct KeyCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Print a new key on the first line, then the block for config.toml.
    New {
        /// Whose key it is.
        #[arg(long)]
        identity: String,
        /// An owned key: sees only its own slice and sends, and addresses no other audience. Whom
        /// it can deliver to is each channel's list of allowed recipients, as for any key.
        #[arg(long)]
        restricted: bool,
        /// What it may do; may be given several times.
        #[arg(long = "scope")]
        scopes: Vec<String>,
    },
    /// Read a key from standard input and print its hash.
    Hash,
}

/// What a key may do when nobody says.
const DEFAULT_SCOPES: &[&str] = &["notify", "inbox", "sends", "channels", "briefing.read"];

impl KeyCommand {
    pub(super) fn run(self) -> u8 {
        match self.action {
            Action::New { identity, restricted, scopes } => new(&identity, restricted, scopes),
            Action::Hash => {
                let mut line = String::new();
                let read = std::io::stdin().read_line(&mut line);
                match read.ok().and_then(|_| KeyText::parse(line.trim())) {
                    Some(key) => {
                        println!("{}", key.spelt_hash());
                        DONE
                    }
                    None => {
                        eprintln!("tidings: standard input holds no key (tk_ and 43 characters)");
                        USAGE
                    }
                }
            }
        }
    }
}

fn new(identity: &str, restricted: bool, scopes: Vec<String>) -> u8 {
    if contract::Line::parse(identity, 512).is_err() {
        eprintln!("tidings: --identity must be one visible line of at most 512 characters");
        return USAGE;
    }
    let unknown = scopes.iter().any(|word| Scope::parse(word).is_none());
    let admin = scopes.iter().any(|word| word == "admin");
    if unknown || (restricted && admin) {
        let words: Vec<_> = Scope::ALL.iter().map(|s| s.as_str()).collect();
        let note = if restricted { " (not admin for a restricted key)" } else { "" };
        eprintln!("tidings: --scope is one of: {}{note}", words.join(", "));
        return USAGE;
    }
    let scopes = if scopes.is_empty() {
        DEFAULT_SCOPES.iter().map(|s| (*s).to_owned()).collect()
    } else {
        scopes
    };
    let key = KeyText::mint(&Ids::new(Arc::new(SystemClock), Arc::new(SystemRandom)));
    let quoted: Vec<String> = scopes.iter().map(|s| format!("\"{s}\"")).collect();
    println!("{}", key.expose());
    println!("\n[[keys]]");
    println!("identity = {}", toml::Value::String(identity.to_owned()));
    println!("hash = \"{}\"", key.spelt_hash());
    if restricted {
        println!("restricted = true");
    }
    println!("scopes = [{}]", quoted.join(", "));
    DONE
}
