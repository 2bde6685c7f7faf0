//! A network that is a script: exchanges in order, each expected and answered.
//!
//! A request that is not the next one of the script fails the test at once; a script that was not
//! used up fails it when the wire is dropped.
use async_trait::async_trait;
use contract::{
    Fetched, Resource, Secrets, SendFault, WebUrl, Wire, WireRequest, WireResponse, WireResult,
};
use kit::view::Mask;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// One expected exchange.
#[derive(Debug)]
pub enum Step {
    /// A request to the medium: its method and masked url, and what it comes to.
    Send {
        /// `POST https://…/bot***/sendMessage`.
        line: String,
        /// The outcome.
        result: WireResult,
    },
    /// A fetch of a caller's file.
    Fetch {
        /// The url.
        url: String,
        /// The outcome.
        result: Result<Fetched, SendFault>,
    },
}

/// A scripted network.
#[derive(Debug)]
pub struct ScriptedWire {
    steps: Mutex<VecDeque<Step>>,
}

impl ScriptedWire {
    /// A wire that plays these steps.
    #[must_use]
    pub fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: Mutex::new(steps.into_iter().collect()) }
    }

    fn next(&self) -> Option<Step> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl Drop for ScriptedWire {
    fn drop(&mut self) {
        let left = self.steps.get_mut().unwrap_or_else(PoisonError::into_inner);
        assert!(left.is_empty() || std::thread::panicking(), "exchanges were not made: {left:?}");
    }
}

/// A response with a JSON body.
pub fn answer(status: u16, body: &Value) -> WireResult {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    Ok(WireResponse { status, headers, body: body.to_string().into() })
}

#[async_trait]
impl Wire for ScriptedWire {
    async fn send(&self, request: &WireRequest, _: &Secrets, _: &[Resource]) -> WireResult {
        let made = format!("{} {}", request.method.as_str(), Mask::Hidden.text(&request.url));
        match self.next() {
            Some(Step::Send { line, result }) if line == made => result,
            other => panic!("unexpected exchange {made}; the script has {other:?}"),
        }
    }

    async fn fetch(&self, url: &WebUrl, _: u64) -> Result<Fetched, SendFault> {
        match self.next() {
            Some(Step::Fetch { url: expected, result }) if expected == url.as_str() => result,
            other => panic!("unexpected fetch {}; the script has {other:?}", url.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{Body, Method, Sealed};
    use serde_json::json;
    use std::future::Future;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn get(url: &str) -> WireRequest {
        let url = Sealed::plain(url);
        WireRequest { method: Method::Get, url, headers: Vec::new(), body: Body::Empty }
    }

    fn now<T>(future: impl Future<Output = T>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => panic!("a scripted wire never waits"),
        }
    }

    #[test]
    fn a_script_fails_on_an_unexpected_and_on_an_unused_exchange() {
        let script = || {
            let line = "GET https://a.test/".to_owned();
            ScriptedWire::new([Step::Send { line, result: answer(200, &json!({})) }])
        };
        let made = |url| {
            catch_unwind(AssertUnwindSafe(|| now(script().send(&get(url), &Secrets::none(), &[]))))
        };
        assert!(made("https://a.test/").is_ok());
        assert!(made("https://b.test/").is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| drop(script()))).is_err());
    }
}
