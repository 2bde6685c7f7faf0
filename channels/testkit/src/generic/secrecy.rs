//! G-8: no secret of the account is shown anywhere.
use super::{Subject, shown};
use crate::corpus::corpus;
use crate::{account, wire};
use async_trait::async_trait;
use contract::{
    Fetched, Payload, Resource, Secrets, SendFault, WebUrl, Wire, WireRequest, WireResult,
};
use kit::redact::exchange;
use kit::view::{Mask, part_views};
use serde_json::{Value, json};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A network that answers everything by saying the secrets aloud.
struct Echo(Value);

#[async_trait]
impl Wire for Echo {
    async fn send(&self, _: &WireRequest, _: &Secrets, _: &[Resource]) -> WireResult {
        wire::answer(400, &self.0)
    }
    async fn fetch(&self, _: &WebUrl, _: u64) -> Result<Fetched, SendFault> {
        Err(kit::fault::blocked("private address", "http.allow_hosts"))
    }
}

fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing here waits"),
    }
}

/// Previews, golden views, exchanges whose answer echoes the secrets, faults, health and `Debug`
/// of the configuration: the account's secrets are in none of them.
pub fn g_8_no_secret_is_shown_anywhere(subject: &Subject) {
    let secrets = account::secrets(subject.registration, &subject.table);
    let clean = |what: &str, text: &str| {
        for secret in &secrets {
            assert!(!text.contains(secret.as_str()), "{what} shows a secret: {text:.300}");
        }
    };
    let echo = json!({ "ok": false, "error": secrets, "description": secrets.join(" ") });
    let answer = wire::answer(400, &echo);
    for sample in corpus() {
        let Ok(rendered) = subject.render_json(&sample.json) else { continue };
        clean("a golden view", &format!("{:?}", shown(&rendered.parts)));
        clean("a part's Debug", &format!("{rendered:?}"));
        for part in &rendered.parts {
            clean("a preview", &format!("{:?}", part_views(part, "frame:", Mask::Hidden)));
            clean("an outcome", &format!("{:?}", subject.adapter.interpret(part, &answer)));
            let Payload::Request(request) = &part.payload else { continue };
            let made = exchange(
                request,
                &[],
                &answer,
                subject.adapter.secrets(),
                subject.adapter.kept_headers(),
                Duration::from_millis(1),
            );
            clean("an exchange", &serde_json::to_string(&made).expect("JSON"));
        }
    }
    let health = at_once(subject.adapter.probe(&Echo(echo)));
    clean("health", &format!("{health:?}"));
    let config = account::config(subject.registration, &subject.table);
    clean("the configuration's Debug", &format!("{config:?}"));
    clean("the secrets' Debug", &format!("{:?}", subject.adapter.secrets()));
    clean("the descriptor's Debug", &format!("{:?}", subject.adapter.descriptor()));
}
