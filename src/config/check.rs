//! Budgets compared with each other: path, found relation, needed relation.
use super::Config;
use super::units::spell;
use super::values::{Problems, add};
use std::time::Duration;

/// Checks every relation between sections.
pub(super) fn budgets(config: &Config, problems: &mut Problems) {
    let (http, delivery) = (&config.http, &config.delivery);
    let needed = (http.timeout * 3 / 2).max(Duration::from_secs(2));
    if delivery.lease < needed {
        let detail = format!(
            "{} is less than 1.5 × http.timeout ({}); needed: at least {}",
            spell(delivery.lease),
            spell(http.timeout),
            spell(needed)
        );
        add(problems, "delivery.lease", detail);
    }
    if !(http.connect_timeout <= http.timeout && http.timeout <= http.upload_timeout) {
        let detail = format!(
            "connect_timeout {}, timeout {}, upload_timeout {} must not descend",
            spell(http.connect_timeout),
            spell(http.timeout),
            spell(http.upload_timeout)
        );
        add(problems, "http.timeout", detail);
    }
    let drain = http.timeout + delivery.drain_grace + Duration::from_secs(3);
    if delivery.drain < drain {
        let detail = format!(
            "{} is less than http.timeout + drain_grace + 3s; needed: at least {}",
            spell(delivery.drain),
            spell(drain)
        );
        add(problems, "delivery.drain", detail);
    }
    for channel in &config.channels {
        let Some(page) = channel.adapter.page() else { continue };
        if page.transcript_ttl > config.media.retention {
            let detail = format!(
                "{} is more than media.retention ({}): bubbles would outlive their files",
                spell(page.transcript_ttl),
                spell(config.media.retention)
            );
            add(problems, format!("channels.{}.transcript_ttl", channel.name), detail);
        }
    }
    let open = |address: std::net::SocketAddr| !address.ip().is_loopback();
    let beyond = open(config.listen.public) || config.listen.internal.is_some_and(open);
    if beyond && config.keys.is_empty() {
        let detail = "an address beyond loopback needs at least one entry in [[keys]]; \
                      make one with `tidings key new --identity NAME`";
        add(problems, "listen.public", detail);
    }
}
