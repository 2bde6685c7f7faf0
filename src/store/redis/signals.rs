//! Wake-ups: a connection of its own that listens, and hands on what it hears.
//!
//! A signal is a hint. When the connection is lost, or the steps' connection was made anew (another
//! server may be the master now), the listener connects again; what was said meanwhile is found by
//! polling.
use super::super::steps::{QueueName, Signal};
use super::keys::Fixed;
use super::link::Link;
use contract::{ChannelName, SendId, VisitorId};
use futures_util::StreamExt;
use redis::aio::PubSub;
use redis::{Msg, RedisResult};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;

/// First wait before connecting again; it doubles.
const WAIT: Duration = Duration::from_millis(100);
/// Longest wait.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// Starts listening; returns once it does, or the first try failed.
pub(super) async fn listen(link: Arc<Link>, signals: broadcast::Sender<Signal>) -> JoinHandle<()> {
    let first = subscribe(&link).await;
    tokio::spawn(async move {
        let (mut subscribed, mut wait) = (first, WAIT);
        loop {
            match subscribed {
                Ok(listening) => {
                    wait = WAIT;
                    hear(&link, listening, &signals).await;
                }
                Err(error) => {
                    tracing::debug!(error = %error, "no connection to listen on");
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(WAIT_MAX);
                }
            }
            subscribed = subscribe(&link).await;
        }
    })
}

async fn subscribe(link: &Link) -> RedisResult<PubSub> {
    let mut listening = link.dial.listen().await?;
    listening.subscribe(link.keys.fixed(Fixed::Wake)).await?;
    listening.subscribe(link.keys.fixed(Fixed::Events)).await?;
    Ok(listening)
}

/// Hands on until the connection ends or the steps' connection changes.
async fn hear(link: &Link, mut listening: PubSub, signals: &broadcast::Sender<Signal>) {
    let wake = link.keys.fixed(Fixed::Wake);
    let mut generations = link.generations();
    generations.mark_unchanged();
    let mut messages = listening.on_message();
    loop {
        tokio::select! {
            message = messages.next() => match message {
                Some(message) => {
                    if let Some(signal) = signal(&message, &wake) {
                        // Nobody waiting is no fault.
                        let _ = signals.send(signal);
                    }
                }
                None => return,
            },
            changed = generations.changed() => {
                if changed.is_ok() {
                    return;
                }
            }
        }
    }
}

fn signal(message: &Msg, wake: &str) -> Option<Signal> {
    let text = std::str::from_utf8(message.get_payload_bytes()).ok()?;
    if message.get_channel_name() == wake {
        return (!text.is_empty()).then(|| Signal::Queue(QueueName::parse(text)));
    }
    if let Some(visitor) = text.strip_prefix("web:") {
        let (channel, visitor) = visitor.split_once(':')?;
        return Some(Signal::Frame(ChannelName::parse(channel)?, VisitorId::parse(visitor)?));
    }
    SendId::parse(text.strip_prefix("snd:")?).map(Signal::Send)
}
