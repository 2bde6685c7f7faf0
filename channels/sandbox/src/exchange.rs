//! One request to a room, from its head to its answer.
//!
//! 1. the head names the call; a script may cut the connection here, unread;
//! 2. the body is read, at most [`MAX_BODY`]; more is read on and thrown away;
//! 3. the script's next item for this call and chat is taken;
//! 4. the room judges, unless the item keeps the request from it;
//! 5. under the log's lock: the delivery happens, the record is written;
//! 6. the answer leaves: the room's or the item's, at once, late, or cut.
use crate::connection::Knife;
use crate::entry::{Entry, Seen};
use crate::mask;
use crate::received::{Content, Head, Received, ShownContent};
use crate::room::{Act, Answer, Done, Outcome, Outside, Verdict};
use crate::script::{Cut, Effect};
use crate::server::{Seat, Shared};
use actix_web::body::SizedStream;
use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, web};
use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, stream};
use jiff::Timestamp;
use serde_json::Value;
use std::io;
use std::time::Duration;

/// Bytes of a request's body that are read.
pub(crate) const MAX_BODY: usize = 100_000_000;

/// How long the first half of a cut answer has to leave.
const HALF: Duration = Duration::from_millis(30);

/// Answers one request to a room.
pub(crate) async fn exchange(
    shared: &Shared,
    seat: &Seat,
    request: &HttpRequest,
    payload: web::Payload,
) -> HttpResponse {
    let knife = Knife::of(request);
    let head = head_of(request);
    let call = seat.room.call(&head);
    let (received, effect) = if seat.script.cuts_unread(call.as_deref()) {
        let received = Received { head, content: Content::Nothing, oversize: false };
        (received, Some(Effect::Close(Cut::BeforeRead)))
    } else {
        let Some(received) = read(head, payload).await else {
            // The client went away inside its body: nothing was received.
            return HttpResponse::BadRequest().finish();
        };
        let chat = seat.room.chat(&received);
        let effect = seat.script.take(call.as_deref(), chat.as_deref());
        (received, effect)
    };
    let outside = Outside { gateway: &shared.gateway, files: &shared.files };
    let verdict = if delivers(effect.as_ref()) {
        Some(seat.room.judge(&received, outside).await)
    } else {
        None
    };
    let record = Record { seat, received: &received, call, effect: effect.as_ref() };
    match record.write(shared, verdict) {
        Ok(answer) => leave(answer, effect, knife).await,
        Err(problem) => {
            tracing::error!(%problem, "a received request cannot be recorded");
            HttpResponse::InternalServerError().finish()
        }
    }
}

/// False when a script keeps the request from its room.
fn delivers(effect: Option<&Effect>) -> bool {
    match effect {
        None | Some(Effect::Delay(_) | Effect::Close(Cut::HalfBody)) => true,
        Some(Effect::Answer { deliver, .. } | Effect::Close(Cut::AfterRead { deliver })) => {
            *deliver
        }
        Some(Effect::Close(Cut::BeforeRead)) => false,
    }
}

fn head_of(request: &HttpRequest) -> Head {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let headers = request.headers().iter();
    Head {
        method: request.method().as_str().to_owned(),
        path: request.uri().path().to_owned(),
        query: request.query_string().to_owned(),
        headers: headers
            .map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes())))
            .collect(),
    }
}

/// The whole request; `None` when the connection ended inside the body.
async fn read(head: Head, mut payload: web::Payload) -> Option<Received> {
    let mut bytes = BytesMut::new();
    let mut oversize = false;
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.ok()?;
        if bytes.len() + chunk.len() > MAX_BODY {
            oversize = true;
            bytes.clear();
        }
        if !oversize {
            bytes.extend_from_slice(&chunk);
        }
    }
    let content = Content::read(head.header("content-type").unwrap_or_default(), bytes.freeze());
    Some(Received { head, content, oversize })
}

struct Record<'a> {
    seat: &'a Seat,
    received: &'a Received,
    call: Option<String>,
    effect: Option<&'a Effect>,
}

/// What a request came to, before it has its number.
enum Pending {
    Act(Act),
    Known(Done),
}

impl Record<'_> {
    /// Delivers and writes the record in one step; gives the answer that leaves.
    fn write(self, shared: &Shared, verdict: Option<Verdict>) -> io::Result<Answer> {
        let shown = self.received.shown(&shared.files, self.seat.room.secret_fields())?;
        let drawn = verdict.is_some();
        let (pending, media) = match verdict {
            Some(Verdict { media, outcome: Outcome::Taken(act) }) => (Pending::Act(act), media),
            Some(Verdict { media, outcome: Outcome::Answer(answer) }) => {
                (Pending::Known(Done { answer, result: None }), media)
            }
            None => (Pending::Known(Done { answer: no_answer(), result: None }), Vec::new()),
        };
        let mut given = no_answer();
        shared.log.append(self.seat.room.medium(), |n| {
            let now = (shared.now)();
            let done = match pending {
                Pending::Act(act) => act(now.as_second()),
                Pending::Known(done) => done,
            };
            given = scripted(self.effect).unwrap_or(done.answer);
            self.entry(n, now, &given, done.result, Parts { shown, media, drawn })
        })?;
        Ok(given)
    }

    fn entry(
        self,
        n: u64,
        now: Timestamp,
        given: &Answer,
        result: Option<Value>,
        parts: Parts,
    ) -> Entry {
        let head = &self.received.head;
        let mut path = self.seat.room.shown_path(&head.path);
        if !head.query.is_empty() {
            path = format!("{path}?{}", mask::query(&head.query));
        }
        let cut = matches!(self.effect, Some(Effect::Close(_)));
        let told = given.status >= 400 || matches!(self.effect, Some(Effect::Answer { .. }));
        Entry {
            n,
            at: Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now).to_string(),
            medium: self.seat.room.medium().to_owned(),
            chat: self.seat.room.chat(self.received),
            call: self.call,
            method: head.method.clone(),
            path,
            headers: head.shown_headers(),
            body: parts.shown.body,
            form: parts.shown.form,
            parts: parts.shown.parts,
            status: (!cut).then_some(given.status),
            result,
            answer: (told && !cut).then(|| given.shown()),
            media: parts.media,
            drawn: parts.drawn,
        }
    }
}

struct Parts {
    shown: ShownContent,
    media: Vec<Seen>,
    drawn: bool,
}

fn no_answer() -> Answer {
    Answer { status: 200, headers: Vec::new(), body: Bytes::new() }
}

/// The answer an item gives instead of the room's.
fn scripted(effect: Option<&Effect>) -> Option<Answer> {
    let Some(Effect::Answer { status, headers, body, .. }) = effect else { return None };
    let mut headers = headers.clone();
    let (kind, bytes) = match body {
        None => (None, Bytes::new()),
        Some(Value::String(text)) => (Some("text/plain; charset=utf-8"), text.clone().into()),
        Some(other) => (Some("application/json"), other.to_string().into()),
    };
    if let Some(kind) = kind
        && !headers.iter().any(|(name, _)| name == "content-type")
    {
        headers.push(("content-type".to_owned(), kind.to_owned()));
    }
    // These two never have a body.
    let bytes = if matches!(status, 204 | 304) { Bytes::new() } else { bytes };
    Some(Answer { status: *status, headers, body: bytes })
}

async fn leave(answer: Answer, effect: Option<Effect>, knife: Knife) -> HttpResponse {
    match effect {
        Some(Effect::Delay(delay)) => {
            tokio::time::sleep(delay).await;
            whole(answer)
        }
        Some(Effect::Close(Cut::HalfBody)) => half(answer, knife),
        Some(Effect::Close(Cut::BeforeRead | Cut::AfterRead { .. })) => {
            knife.cut();
            HttpResponse::Ok().finish()
        }
        None | Some(Effect::Answer { .. }) => whole(answer),
    }
}

fn builder(answer: &Answer) -> HttpResponseBuilder {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut builder = HttpResponse::build(status);
    for (name, value) in &answer.headers {
        builder.insert_header((name.as_str(), value.as_str()));
    }
    builder
}

fn whole(answer: Answer) -> HttpResponse {
    builder(&answer).body(answer.body)
}

/// Announces the whole body, lets half of it leave, and cuts.
fn half(answer: Answer, knife: Knife) -> HttpResponse {
    let length = answer.body.len() as u64;
    let first = answer.body.slice(..answer.body.len() / 2);
    let rest = stream::once(async move {
        tokio::time::sleep(HALF).await;
        knife.cut();
        Err(io::Error::from(io::ErrorKind::ConnectionReset))
    });
    let pieces = stream::once(async { Ok(first) }).chain(rest);
    builder(&answer).body(SizedStream::new(length, Box::pin(pieces)))
}
