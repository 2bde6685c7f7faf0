//! `tidings config`: the effective values, the shipped file, the environment variables.
use super::{DONE, REFUSED};
use crate::config::load::{Sources, merge, show};
use crate::config::{Config, default};
use crate::registry::MEDIA;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `tidings config`.
#[derive(Args)]
pub struct ConfigCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Effective values, secrets masked, each with the layer it came from.
    Show {
        /// Configuration file.
        #[arg(long)]
        config: Option<PathBuf>,
    },
    /// The shipped config.toml.
    Default,
    /// Every environment variable with its default.
    Env,
}

impl ConfigCommand {
    pub(super) fn run(self) -> u8 {
        match self.action {
            Action::Default => print!("{}", default::config_toml(MEDIA)),
            Action::Env => print!("{}", default::environment()),
            Action::Show { config } => {
                let sources = Sources::of_process(config, Vec::new());
                let values = match merge(&sources) {
                    Ok(values) => values,
                    Err(problems) => return refuse(&problems),
                };
                for (path, value, layer) in show(&values, MEDIA) {
                    println!("{path} = {value}  # {layer}");
                }
                if let Err(problems) = Config::read(&values, MEDIA) {
                    return refuse(&problems);
                }
            }
        }
        DONE
    }
}

/// Prints every problem on standard error.
pub(super) fn refuse(problems: &[crate::config::values::ConfigProblem]) -> u8 {
    for problem in problems {
        eprintln!("tidings: {problem}");
    }
    REFUSED
}
