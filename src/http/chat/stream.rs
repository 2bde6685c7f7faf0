//! `GET /chat/{channel}/stream`: a visitor's transcript as server-sent events.
//!
//! The tail is read first, then the backlog after the cursor up to that tail, page by page, then
//! what comes. A stream holds its cursor and one page: frames are read when the client has taken
//! those before, so a slow reader costs no memory. Nothing is pushed to it; a wake says that there
//! may be more, and a look every few seconds finds what no wake announced.
use super::{origin, visitor};
use crate::app::App;
use crate::chat::frame;
use crate::chat::watch::{Full, Slot};
use crate::http::router::Call;
use crate::problem::Refused;
use crate::registry::Channel;
use crate::store::{At, FrameId, StoreResult, TokenHash};
use actix_web::HttpResponse;
use actix_web::http::header;
use bytes::Bytes;
use contract::VisitorId;
use futures_util::stream;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Frames of one read.
const PAGE: usize = 64;
/// Longest time between two looks at the store.
const LOOK: Duration = Duration::from_secs(5);
/// How often a stream sees whether its visitor and channel still stand.
const CHECK: Duration = Duration::from_secs(15);
/// How often a visitor's streams are made to speak before a new one is refused. The first write to
/// a client that is gone goes well; the answer to it ends the connection.
const SOUNDINGS: u32 = 4;
/// Between two of those.
const SOUNDING: Duration = Duration::from_millis(100);
/// After everything.
const END: FrameId = FrameId { ms: u64::MAX, n: u64::MAX };

const RESET: &str = "event: chat.reset\ndata: {}\n\n";
const BACKLOG_DONE: &str = "event: chat.backlog_done\ndata: {}\n\n";
const CLOSED: &str = "event: chat.closed\ndata: {}\n\n";

/// Opens a stream.
///
/// # Errors
/// 401 `visitor_session_missing`, 403 `forbidden_host`, `forbidden_origin`, 404, 429, 503, all before the stream begins.
pub async fn open(call: Call) -> Result<HttpResponse, Refused> {
    let own = origin::of(&call)?;
    let chat = visitor::chat(&call)?;
    origin::require_own_read(&call.request, &own)?;
    if let Some(address) = visitor::bucket(&call) {
        call.app.rates.spend_stream(address).map_err(visitor::rated)?;
    }
    let visitor = visitor::known(&call, &chat, &own).await?;
    let slot = slot(&call, &chat, &visitor).await.map_err(full)?;
    let token = visitor::token_hash(&call.request, &own);
    let reader = Reader::begin(&call, chat, visitor, token, slot).await?;
    let body = stream::unfold(Some(Box::new(reader)), |reader| async move {
        let (text, reader) = Reader::next(reader?).await;
        Some((Ok::<_, Infallible>(Bytes::from(text)), reader))
    });
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/event-stream; charset=utf-8"))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header(("x-accel-buffering", "no"))
        .streaming(body))
}

/// Takes a slot. When the visitor has none left, its streams are made to speak first: a tab that was
/// closed a moment ago must not keep the next one out.
async fn slot(call: &Call, chat: &visitor::Chat, visitor: &VisitorId) -> Result<Slot, Full> {
    let (name, streams) = (&chat.channel.name, &call.app.streams);
    let take =
        || streams.take(name, visitor, chat.page.streams_per_visitor, chat.page.streams_per_node);
    for _ in 0..SOUNDINGS {
        match take() {
            Err(Full::Visitor) => {}
            taken => return taken,
        }
        streams.sound(name, visitor);
        tokio::time::sleep(SOUNDING).await;
    }
    take()
}

fn full(full: Full) -> Refused {
    match full {
        Full::Visitor => Refused::new(
            "too_many_streams",
            "This chat is open in too many tabs; close one and try again.",
        )
        .retry_after(5),
        Full::Node => Refused::new(
            "too_many_streams",
            "This gateway holds as many open chats as it may; try again.",
        )
        .at_status(503)
        .retry_after(5),
    }
}

/// Where a stream stands.
enum Phase {
    /// Nothing was sent; with a cursor that is of no use, the client is told so.
    Hello { reset: bool },
    /// Frames that were there when it began, up to this one.
    Backlog(FrameId),
    /// Frames that come.
    Live,
}

/// One open stream.
struct Reader {
    app: Arc<App>,
    channel: Arc<Channel>,
    keepalive: Duration,
    visitor_ttl: Duration,
    visitor: VisitorId,
    token: Option<TokenHash>,
    slot: Slot,
    cursor: FrameId,
    tail: FrameId,
    phase: Phase,
    spoke: Instant,
    checked: Instant,
    prolonged: Instant,
    sounded: u64,
}

impl Reader {
    async fn begin(
        call: &Call,
        chat: visitor::Chat,
        visitor: VisitorId,
        token: Option<TokenHash>,
        slot: Slot,
    ) -> Result<Self, Refused> {
        let app = call.app.clone();
        let given = cursor(call);
        let ends = app.store.transcript_ends(&chat.channel.name, &visitor, At::Store).await?;
        let (tail, cursor, reset) = start(given.as_deref(), ends);
        let now = Instant::now();
        let sounded = slot.bell.sounded();
        Ok(Self {
            app,
            channel: chat.channel,
            keepalive: chat.page.keepalive,
            visitor_ttl: chat.page.visitor_ttl,
            visitor,
            token,
            slot,
            cursor,
            tail,
            phase: Phase::Hello { reset },
            spoke: now,
            checked: now,
            prolonged: now,
            sounded,
        })
    }

    /// What is sent next, and the stream unless it ends with that.
    async fn next(mut self: Box<Self>) -> (String, Option<Box<Self>>) {
        let text = loop {
            match self.advance().await {
                Ok(Step::Say(text)) => break text,
                Ok(Step::Again) => {}
                Ok(Step::End(text)) => return (text, None),
                // The client comes back by itself; what is stored is sent then.
                Err(_) => return ("retry: 3000\n\n".to_owned(), None),
            }
        };
        self.spoke = Instant::now();
        (text, Some(self))
    }

    async fn advance(&mut self) -> StoreResult<Step> {
        match self.phase {
            Phase::Hello { reset } => {
                self.phase = Phase::Backlog(self.tail);
                let reset = if reset { RESET } else { "" };
                Ok(Step::Say(format!("retry: 3000\n\n{reset}")))
            }
            Phase::Backlog(tail) => {
                let text = self.frames(tail).await?;
                if text.is_empty() {
                    self.phase = Phase::Live;
                    return Ok(Step::Say(BACKLOG_DONE.to_owned()));
                }
                Ok(Step::Say(text))
            }
            Phase::Live => self.live().await,
        }
    }

    async fn live(&mut self) -> StoreResult<Step> {
        if self.app.outbox.is_draining() {
            return Ok(Step::End("retry: 1000\n\n".to_owned()));
        }
        if self.checked.elapsed() >= CHECK {
            self.checked = Instant::now();
            if !self.stands().await? {
                return Ok(Step::End(CLOSED.to_owned()));
            }
        }
        let text = self.frames(END).await?;
        if !text.is_empty() {
            return Ok(Step::Say(text));
        }
        let keepalive = self.spoke + self.keepalive;
        let sounded = self.slot.bell.sounded();
        if Instant::now() >= keepalive || sounded != self.sounded {
            self.sounded = sounded;
            return Ok(Step::Say(": keepalive\n\n".to_owned()));
        }
        let until = keepalive.min(Instant::now() + LOOK);
        // A wake or the time: either way the store is looked at again.
        let _ = tokio::time::timeout_at(until, self.slot.bell.rung()).await;
        Ok(Step::Again)
    }

    /// The next page of frames up to `until`, as events; the cursor moves behind them.
    async fn frames(&mut self, until: FrameId) -> StoreResult<String> {
        let (channel, store) = (&self.channel.name, &self.app.store);
        let read = store.transcript(channel, &self.visitor, self.cursor, until, PAGE).await?;
        let mut text = String::new();
        for (id, stored) in read {
            frame::write_event(&mut text, id, &stored);
            self.cursor = id;
        }
        Ok(text)
    }

    /// Whether the visitor is still known and the channel still has this page. An open stream is
    /// use: it prolongs the session, now and then.
    async fn stands(&mut self) -> StoreResult<bool> {
        let (name, store) = (&self.channel.name, &self.app.store);
        let registered =
            self.app.channels.get(name.as_str()).is_some_and(|c| c.adapter.page().is_some());
        if !registered {
            return Ok(false);
        }
        match &self.token {
            Some(token) if self.prolonged.elapsed() >= self.visitor_ttl / 8 => {
                self.prolonged = Instant::now();
                let until = self.app.clock.now().plus(self.visitor_ttl);
                Ok(store.visitor(name, token, until, At::Store).await?.is_some())
            }
            _ => store.visitor_known(name, &self.visitor, At::Store).await,
        }
    }
}

enum Step {
    Say(String),
    Again,
    End(String),
}

/// The place a client resumes at: the header, else the parameter.
fn cursor(call: &Call) -> Option<String> {
    if let Some(header) = call.request.headers().get("last-event-id") {
        return Some(header.to_str().unwrap_or_default().to_owned());
    }
    let query = call.request.query_string().as_bytes();
    url::form_urlencoded::parse(query)
        .find(|(name, _)| name == "last_event_id")
        .map(|(_, value)| value.into_owned())
}

/// Tail, cursor, and whether the client must begin anew: its place is no place, or lies outside
/// what is kept.
fn start(given: Option<&str>, ends: Option<(FrameId, FrameId)>) -> (FrameId, FrameId, bool) {
    let tail = ends.map_or(FrameId::START, |(_, newest)| newest);
    let Some(given) = given else { return (tail, FrameId::START, false) };
    let kept = FrameId::parse(given)
        .filter(|id| ends.is_some_and(|(oldest, newest)| (oldest..=newest).contains(id)));
    match kept {
        Some(cursor) => (tail, cursor, false),
        None => (tail, FrameId::START, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wb_25_a_place_outside_the_transcript_begins_anew() {
        let id = |ms| FrameId { ms, n: 0 };
        let ends = Some((id(10), id(20)));
        assert_eq!(start(None, ends), (id(20), FrameId::START, false));
        assert_eq!(start(Some("15-0"), ends), (id(20), id(15), false));
        for at_the_ends in ["10-0", "20-0"] {
            assert!(!start(Some(at_the_ends), ends).2);
        }
        for bad in ["9-0", "21-0", "abc", "-1-0", "", "15"] {
            assert_eq!(start(Some(bad), ends), (id(20), FrameId::START, true), "{bad}");
        }
        assert_eq!(start(Some("15-0"), None), (FrameId::START, FrameId::START, true));
    }
}
