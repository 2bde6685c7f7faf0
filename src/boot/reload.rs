//! SIGHUP: the configuration is read again and its channels and keys are taken over while
//! requests run. A reading with a problem is refused whole.
use super::{Gateway, StartProblem, keyring_of};
use crate::config::load::Sources;
use crate::config::reload::reread;
use crate::config::values::Values;
use contract::Registration;

/// Reads the same layers again and again.
pub struct Reloader {
    sources: Sources,
    media: &'static [&'static Registration],
    running: Values,
}

impl Reloader {
    /// For a gateway that was started with these values of these layers.
    #[must_use]
    pub fn new(sources: Sources, media: &'static [&'static Registration], running: Values) -> Self {
        Self { sources, media, running }
    }
}

impl Gateway {
    /// Reads the configuration again and takes its channels and keys over; what came of it is
    /// logged. True when it was taken.
    pub fn reload(&self, reloader: &mut Reloader) -> bool {
        let reread = match reread(&reloader.sources, &reloader.running, reloader.media) {
            Ok(reread) => reread,
            Err(problems) => {
                for problem in &problems {
                    tracing::error!(code = "reload_refused", problem = %problem, "the configuration has a problem");
                }
                tracing::error!(
                    problems = problems.len(),
                    "the configuration was not reloaded; everything stays as it was"
                );
                return false;
            }
        };
        let keys = match keyring_of(&reread.config, &self.app.ids) {
            Ok((keys, _)) => keys,
            Err(StartProblem::Refused(why)) => {
                tracing::error!(
                    code = "reload_refused",
                    problem = why,
                    "the configuration was not reloaded"
                );
                return false;
            }
            Err(StartProblem::Locked(_)) => return false,
        };
        let count = keys.len();
        let changes = self.app.adopt(&reread.config.channels, keys);
        self.app.outbox.note_digest(&reread.config.digest);
        let made = changes.added.iter().chain(&changes.changed);
        let made = made.filter_map(|name| self.app.channels.get(name)).collect();
        let outbox = self.app.outbox.clone();
        tokio::spawn(async move { outbox.reloaded(made).await });
        for channel in &reread.config.channels {
            let fresh = |list: &[String]| list.iter().any(|name| name == channel.name.as_str());
            if fresh(&changes.added) || fresh(&changes.changed) {
                for note in &channel.notes {
                    tracing::info!(channel = %channel.name, "{note}");
                }
            }
        }
        if !reread.held_back.is_empty() {
            tracing::warn!(
                keys = reread.held_back.join(", "),
                "these keys of the configuration changed and take effect at a restart"
            );
        }
        tracing::info!(
            added = changes.added.join(", "),
            changed = changes.changed.join(", "),
            removed = changes.removed.join(", "),
            keys = count,
            "the configuration was reloaded"
        );
        reloader.running = reread.values;
        true
    }
}
