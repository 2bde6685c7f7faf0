//! Listing and showing entries. Ids come from the store's list, bodies from memory where they are
//! (entries never change), and send statuses from the records' header lines: nothing is decoded.
use super::entry;
use crate::store::{At, Scope, Store, StoreResult};
use bytes::Bytes;
use contract::{NotificationId, SendId};
use serde_json::json;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// Most bytes of bodies kept in memory.
const CACHE_BYTES: usize = 8 << 20;

/// One line of a list, ready to be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its place.
    pub seq: u64,
    /// The entry's JSON.
    pub json: String,
}

/// Filters inside a list: exact matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Channel name.
    pub channel: Option<String>,
    /// Origin word.
    pub origin: Option<&'static str>,
}

/// A page of the inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Newest first.
    pub lines: Vec<Line>,
    /// Continue before this place, if more may follow.
    pub next: Option<u64>,
}

/// Reads the inbox.
pub struct Inbox {
    store: Arc<dyn Store>,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    bodies: HashMap<NotificationId, Bytes>,
    order: VecDeque<NotificationId>,
    bytes: usize,
    most: usize,
}

impl Cache {
    fn put(&mut self, id: NotificationId, body: Bytes) {
        if self.most == 0 || self.bodies.contains_key(&id) {
            return;
        }
        self.bytes += body.len();
        self.order.push_back(id.clone());
        self.bodies.insert(id, body);
        while self.order.len() > self.most || self.bytes > CACHE_BYTES {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some(body) = self.bodies.remove(&oldest) {
                self.bytes -= body.len();
            }
        }
    }
}

impl Inbox {
    /// A reader that keeps up to `cache` bodies in memory.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, cache: u32) -> Self {
        let cache = Cache { most: cache as usize, ..Cache::default() };
        Self { store, cache: Mutex::new(cache) }
    }

    /// A page of a list, newest first. `next` continues after the last entry looked at; a body
    /// that was evicted meanwhile is left out, so a page may be short.
    ///
    /// # Errors
    /// The store's.
    pub async fn list(
        &self,
        scope: &Scope,
        before: Option<u64>,
        limit: usize,
        filter: &Filter,
    ) -> StoreResult<Page> {
        let found = self.store.list(scope, before, limit, At::Store).await?;
        let next = (found.len() == limit).then(|| found.last().map(|(seq, _)| *seq)).flatten();
        let ids: Vec<NotificationId> = found.iter().map(|(_, id)| id.clone()).collect();
        let bodies = self.bodies(&ids).await?;
        let mut rows = Vec::with_capacity(found.len());
        for ((seq, id), body) in found.into_iter().zip(bodies) {
            if let Some(body) = body.filter(|body| matches(body, filter)) {
                rows.push((seq, id, body));
            }
        }
        let sends: Vec<SendId> =
            rows.iter().filter_map(|(_, _, body)| entry::split(body)?.0).collect();
        let headers =
            if sends.is_empty() { Vec::new() } else { self.store.send_headers(&sends).await? };
        let mut headers = headers.into_iter();
        let lines = rows
            .into_iter()
            .map(|(seq, id, body)| Line {
                seq,
                json: serve(&id, &body, || headers.next().flatten()),
            })
            .collect();
        Ok(Page { lines, next })
    }

    /// One entry as JSON while the scope can see it: the whole inbox, or one audience.
    ///
    /// # Errors
    /// The store's.
    pub async fn show(
        &self,
        id: &NotificationId,
        seen_by: Option<&str>,
    ) -> StoreResult<Option<String>> {
        let Some(found) = self.store.entry(id, At::Store).await? else { return Ok(None) };
        let visible = match seen_by {
            None => found.in_ring || found.in_slice,
            Some(identity) => {
                found.in_slice && member(&found.body, "audience").as_deref() == Some(identity)
            }
        };
        if !visible {
            return Ok(None);
        }
        let header = match entry::split(&found.body) {
            Some((Some(send), _)) => self.store.send_headers(&[send]).await?.pop().flatten(),
            _ => None,
        };
        Ok(Some(serve(id, &found.body, || header)))
    }

    async fn bodies(&self, ids: &[NotificationId]) -> StoreResult<Vec<Option<Bytes>>> {
        let mut bodies: Vec<Option<Bytes>> = {
            let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
            ids.iter().map(|id| cache.bodies.get(id).cloned()).collect()
        };
        let missing: Vec<usize> = (0..ids.len()).filter(|i| bodies[*i].is_none()).collect();
        if missing.is_empty() {
            return Ok(bodies);
        }
        let wanted: Vec<NotificationId> = missing.iter().map(|i| ids[*i].clone()).collect();
        let read = self.store.bodies(&wanted).await?;
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        for (place, body) in missing.into_iter().zip(read) {
            if let Some(body) = &body {
                cache.put(ids[place].clone(), body.clone());
            }
            bodies[place] = body;
        }
        Ok(bodies)
    }
}

fn serve(id: &NotificationId, body: &[u8], header: impl FnOnce() -> Option<String>) -> String {
    let Some((send, json)) = entry::split(body) else {
        tracing::error!(notification.id = %id, "a stored inbox entry cannot be read");
        return json!({"id": id, "unreadable": true}).to_string();
    };
    let Some(send) = send else { return format!("{json},\"send\":null}}") };
    let status = header().and_then(|line| line.split(' ').nth(1).map(str::to_owned));
    let channel = member(body, "channel");
    let send = json!({"id": send, "channel": channel, "status": status});
    format!("{json},\"send\":{send}}}")
}

/// The string value of a top-level member that stands before the message: `channel`, `audience`,
/// `origin`. Read with a parser, since a value may hold anything a line may.
fn member(body: &[u8], name: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Head {
        origin: String,
        audience: Option<String>,
        channel: Option<String>,
    }
    let (_, json) = entry::split(body)?;
    // `message` is the first member that can be long; what stands before it is read alone.
    let end = json.find(",\"message\":").unwrap_or(json.len());
    let head: Head = serde_json::from_str(&format!("{}}}", &json[..end])).ok()?;
    match name {
        "origin" => Some(head.origin),
        "audience" => head.audience,
        _ => head.channel,
    }
}

fn matches(body: &[u8], filter: &Filter) -> bool {
    let is = |name: &str, wanted: Option<&str>| {
        wanted.is_none_or(|wanted| member(body, name).as_deref() == Some(wanted))
    };
    is("channel", filter.channel.as_deref()) && is("origin", filter.origin)
}
