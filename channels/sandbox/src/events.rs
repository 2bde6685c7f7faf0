//! The live feed: server-sent events, one per request, from any number on.
//!
//! A stream holds its place in the log and nothing else. It reads the next lines, sends them, and
//! sleeps until the log's mark moves; so a slow reader holds no memory and loses nothing. When the
//! log was emptied the stream says `cleared` and goes on from the first number. What people do
//! (taps, texts) belongs into the same log, and then appears here under its own event name.
use crate::log::{Log, Mark};
use crate::server::Shared;
use actix_web::HttpResponse;
use bytes::Bytes;
use futures_util::stream;
use std::convert::Infallible;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Lines in one piece.
const BATCH: usize = 200;

/// A silent stream says something this often, so that a dead connection is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);

struct Reader {
    shared: Arc<Shared>,
    mark: watch::Receiver<Mark>,
    stop: watch::Receiver<bool>,
    emptied: u64,
    after: u64,
    greeted: bool,
}

/// The feed behind a number. A number that the log has not reached is of a log emptied since, and
/// everything is sent.
pub(crate) fn feed(shared: Arc<Shared>, after: u64) -> HttpResponse {
    let mut mark = shared.log.watch();
    let now = *mark.borrow_and_update();
    let reader = Reader {
        stop: shared.stop.clone(),
        shared,
        mark,
        emptied: now.emptied,
        after: if after > now.newest { 0 } else { after },
        greeted: false,
    };
    let pieces = stream::unfold(reader, |mut reader| async move {
        let piece = reader.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(piece)), reader))
    });
    HttpResponse::Ok()
        .insert_header(("content-type", "text/event-stream"))
        .insert_header(("cache-control", "no-store"))
        .insert_header(("x-content-type-options", "nosniff"))
        .streaming(pieces)
}

impl Reader {
    /// The next piece; `None` ends the stream.
    async fn next(&mut self) -> Option<String> {
        if !self.greeted {
            self.greeted = true;
            return Some("retry: 1000\n\n".to_owned());
        }
        loop {
            if *self.stop.borrow() {
                return None;
            }
            let emptied = self.mark.borrow_and_update().emptied;
            if emptied != self.emptied {
                self.emptied = emptied;
                self.after = 0;
                return Some("event: cleared\ndata: {}\n\n".to_owned());
            }
            if let Some(piece) = lines(&self.shared.log, &mut self.after) {
                return Some(piece);
            }
            tokio::select! {
                _ = self.stop.changed() => return None,
                moved = self.mark.changed() => moved.ok()?,
                () = tokio::time::sleep(HEARTBEAT) => return Some(":\n\n".to_owned()),
            }
        }
    }
}

fn lines(log: &Log, after: &mut u64) -> Option<String> {
    let run = log.after(*after, None, BATCH).unwrap_or_default();
    *after = run.lines.last()?.0;
    let mut piece = String::new();
    for (n, line) in run.lines {
        let _ = write!(piece, "id: {n}\nevent: request\ndata: {line}\n\n");
    }
    Some(piece)
}
