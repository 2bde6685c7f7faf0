//! Visitors, transcripts, inbound messages, threads.
use crate::case::{Case, at, channel, commit, out, record, seconds, sent, snd, time};
use bytes::Bytes;
use contract::{ChannelName, InboundId, ThreadId, VisitorId};
use tidings::store::{
    Append, At, Claim, Commit, FrameId, FrameNoted, Hold, InboundStep, ProviderRef, Recorded,
    Signal, Sweep, TokenHash, Visit, Visited,
};

crate::contract!(
    wb_2_an_unknown_token_is_replaced_and_a_known_one_kept,
    a_visitor_that_never_came_back_is_soon_forgotten_and_use_prolongs,
    one_browser_is_another_visitor_on_each_channel,
    wb_9_a_frame_and_its_part_are_written_together_or_not_at_all,
    wb_9_of_many_appends_of_one_part_one_is_written,
    frames_rise_and_the_newest_are_kept,
    wb_8_a_message_and_its_frame_are_written_together,
    wb_4_a_claim_acts_once_until_it_lapses,
    i_41_an_address_has_one_thread,
    messages_are_listed_newest_first_page_by_page,
);

pub fn vis(number: u128) -> VisitorId {
    VisitorId::from_bits(number)
}

fn msg(number: u128) -> InboundId {
    InboundId::from_bits(number)
}

fn token(name: &str) -> TokenHash {
    TokenHash(name.to_owned())
}

fn fid(millis: i64, n: u64) -> FrameId {
    FrameId { ms: u64::try_from(time(millis).0).unwrap(), n }
}

/// A visit with a fresh token and visitor of this number.
fn visit(given: Option<&str>, number: u128, now: i64) -> Visit {
    Visit {
        channel: channel(),
        given: given.map(token),
        fresh: token(&format!("fresh{number}")),
        visitor: vis(number),
        until: time(now + 100_000),
        pending_until: time(now + 1_000),
    }
}

/// The visitor of this number, known for a long time.
async fn known(case: &Case, number: u128) {
    let visit = Visit { pending_until: time(90_000_000), ..visit(None, number, 0) };
    case.store.visit(visit, at(0)).await.unwrap();
}

pub fn append(visitor: u128, id: FrameId, text: &str) -> Append {
    Append {
        channel: channel(),
        visitor: vis(visitor),
        id,
        frame: Bytes::from(text.to_owned()),
        keep: 100,
        ttl: seconds(3600),
    }
}

async fn transcript(case: &Case, visitor: u128) -> Vec<String> {
    let ends = case.store.transcript_ends(&channel(), &vis(visitor), at(0)).await.unwrap();
    let Some((_, newest)) = ends else { return Vec::new() };
    let (channel, visitor) = (channel(), vis(visitor));
    let read = case.store.transcript(&channel, &visitor, FrameId::START, newest, 20_000);
    let frames = read.await.unwrap();
    assert!(frames.windows(2).all(|pair| pair[0].0 < pair[1].0));
    frames.iter().map(|(_, frame)| String::from_utf8_lossy(frame).into_owned()).collect()
}

async fn wb_2_an_unknown_token_is_replaced_and_a_known_one_kept(case: Case) {
    let store = &case.store;
    let first = store.visit(visit(Some("planted"), 1, 0), at(0)).await;
    assert_eq!(first, Ok(Visited { visitor: vis(1), fresh: true }));
    let planted = store.visitor(&channel(), &token("planted"), time(9), at(1)).await;
    assert_eq!(planted, Ok(None), "never adopted");
    let again = store.visit(visit(Some("fresh1"), 2, 1), at(1)).await;
    assert_eq!(again, Ok(Visited { visitor: vis(1), fresh: false }));
    let none = store.visit(visit(None, 3, 1), at(1)).await;
    assert_eq!(none, Ok(Visited { visitor: vis(3), fresh: true }));
    assert_eq!(store.visitor_known(&channel(), &vis(1), at(2)).await, Ok(true));
    assert_eq!(store.visitor_known(&channel(), &vis(2), at(2)).await, Ok(false));
}

async fn a_visitor_that_never_came_back_is_soon_forgotten_and_use_prolongs(case: Case) {
    let store = &case.store;
    for number in [1, 2] {
        store.visit(visit(None, number, 0), at(0)).await.unwrap();
    }
    let found = store.visitor(&channel(), &token("fresh1"), time(50_000), at(999)).await;
    assert_eq!(found, Ok(Some(vis(1))));
    // Never for less than it is kept already.
    store.visitor(&channel(), &token("fresh1"), time(2_000), at(999)).await.unwrap();
    for (number, moment, stands) in [(1, 49_999, true), (2, 1_000, false), (1, 50_000, false)] {
        let known = store.visitor_known(&channel(), &vis(number), at(moment)).await;
        assert_eq!(known, Ok(stands), "{number} at {moment}");
    }
    assert_eq!(store.visitor(&channel(), &token("fresh1"), time(9), at(50_000)).await, Ok(None));
    let lapsed = store.visit(visit(Some("fresh2"), 4, 1_000), at(1_000)).await;
    assert_eq!(lapsed, Ok(Visited { visitor: vis(4), fresh: true }));
}

async fn one_browser_is_another_visitor_on_each_channel(case: Case) {
    let other = ChannelName::parse("other").unwrap();
    case.store.visit(visit(None, 1, 0), at(0)).await.unwrap();
    let there = Visit { channel: other.clone(), ..visit(Some("fresh1"), 2, 1) };
    let visited = case.store.visit(there, at(1)).await;
    assert_eq!(visited, Ok(Visited { visitor: vis(2), fresh: false }));
    assert_eq!(case.store.visitor_known(&channel(), &vis(2), at(2)).await, Ok(false));
    let found = case.store.visitor(&other, &token("fresh1"), time(9), at(2)).await;
    assert_eq!(found, Ok(Some(vis(2))));
}

async fn note(
    case: &Case,
    commit: Commit,
    append: Append,
    last: Option<&Hold>,
    at: At,
) -> FrameNoted {
    let provider = ProviderRef { hash: append.id.to_string(), part: 0 };
    case.store.note_frame(commit, provider, append, last, at).await.unwrap()
}

async fn wb_9_a_frame_and_its_part_are_written_together_or_not_at_all(case: Case) {
    case.open(sent(1, "r"), at(0)).await;
    case.open(sent(2, "r"), at(0)).await;
    let hold = case.take(&out(), at(0)).await;
    let frame = |id| append(7, id, "hello");
    let nobody = note(&case, commit(1, 1, "sent"), frame(fid(1, 0)), None, at(1)).await;
    assert_eq!(nobody, FrameNoted::NoVisitor);
    known(&case, 7).await;
    let stale = note(&case, commit(1, 5, "sent"), frame(fid(1, 0)), None, at(1)).await;
    assert_eq!(stale, FrameNoted::Conflict(record(1, "queued")));
    assert_eq!(
        note(&case, commit(9, 1, "x"), frame(fid(1, 0)), None, at(1)).await,
        FrameNoted::Gone
    );
    assert_eq!(transcript(&case, 7).await, Vec::<String>::new());
    assert_eq!(case.store.record(&snd(1)).await, Ok(Some(record(1, "queued"))));

    let mut signals = case.store.signals();
    let done = note(&case, commit(1, 1, "sent"), frame(fid(1, 0)), Some(&hold), at(1)).await;
    assert_eq!(done, FrameNoted::Done);
    let wanted = Signal::Frame(channel(), vis(7));
    let heard = async { while signals.recv().await != Ok(wanted.clone()) {} };
    tokio::time::timeout(seconds(5), heard).await.expect("the frame is announced");
    assert_eq!(transcript(&case, 7).await, ["hello"]);
    assert_eq!(case.store.record(&snd(1)).await, Ok(Some(record(2, "sent"))));
    let hash = fid(1, 0).to_string();
    assert_eq!(case.store.by_provider(&channel(), &hash).await, Ok(Some((snd(1), 0))));
    let next = case.claim(&out(), 1, at(2)).await.leases.remove(0);
    assert_eq!(next.item, snd(2).as_str(), "the head went with the last part");
    let behind = note(&case, commit(2, 1, "sent"), frame(fid(1, 0)), None, at(2)).await;
    assert_eq!(behind, FrameNoted::Behind(fid(1, 0)));
}

async fn wb_9_of_many_appends_of_one_part_one_is_written(case: Case) {
    known(&case, 7).await;
    case.open(sent(1, "r"), at(0)).await;
    let writers: Vec<_> = (0..8u64)
        .map(|n| {
            let store = case.store.clone();
            let provider = ProviderRef { hash: n.to_string(), part: 0 };
            let append = append(7, fid(1, n), "once");
            tokio::spawn(async move {
                store.note_frame(commit(1, 1, "sent"), provider, append, None, at(1)).await
            })
        })
        .collect();
    let mut done = 0;
    for writer in writers {
        done += usize::from(writer.await.unwrap() == Ok(FrameNoted::Done));
    }
    assert_eq!((done, transcript(&case, 7).await.len()), (1, 1));
}

fn inbound(number: u128, visitor: u128) -> InboundStep {
    InboundStep {
        id: msg(number),
        channel: channel(),
        received_at: time(i64::try_from(number).unwrap()),
        value: Bytes::from(format!("message {number}")),
        address: format!("address{visitor}"),
        thread: ThreadId::from_bits(visitor),
        thread_value: Bytes::from(format!("thread {visitor}")),
        keep: seconds(3600),
        claim: None,
        frame: None,
    }
}

async fn frames_rise_and_the_newest_are_kept(case: Case) {
    known(&case, 7).await;
    for n in 0..130u64 {
        let frame = Append { keep: 100, ..append(7, fid(5, n), &format!("{n}")) };
        let step = InboundStep { frame: Some(frame), ..inbound(u128::from(n) + 1, 7) };
        assert_eq!(case.store.record_inbound(step, at(5)).await, Ok(Recorded::Done));
    }
    let kept = transcript(&case, 7).await;
    assert_eq!((kept.len(), kept[0].as_str(), kept[99].as_str()), (100, "30", "129"));
    let ends = case.store.transcript_ends(&channel(), &vis(7), at(5)).await;
    assert_eq!(ends, Ok(Some((fid(5, 30), fid(5, 129)))));
    let page = case.store.transcript(&channel(), &vis(7), fid(5, 40), fid(5, 60), 5).await.unwrap();
    let ids: Vec<_> = page.iter().map(|(id, _)| id.n).collect();
    assert_eq!(ids, [41, 42, 43, 44, 45]);
    let none = case.store.transcript(&channel(), &vis(7), fid(5, 60), fid(5, 60), 5).await;
    assert_eq!(none, Ok(Vec::new()));
    assert_eq!(case.store.transcript_ends(&channel(), &vis(8), at(5)).await, Ok(None));
}

async fn wb_8_a_message_and_its_frame_are_written_together(case: Case) {
    let with =
        |number, id| InboundStep { frame: Some(append(7, id, "I said")), ..inbound(number, 7) };
    let store = &case.store;
    assert_eq!(store.record_inbound(with(1, fid(1, 0)), at(1)).await, Ok(Recorded::NoVisitor));
    assert_eq!(store.inbound(&[msg(1)], at(1)).await, Ok(vec![None]));
    known(&case, 7).await;
    for _ in 0..2 {
        // The second is a repeat after a lost answer.
        assert_eq!(store.record_inbound(with(1, fid(1, 0)), at(1)).await, Ok(Recorded::Done));
    }
    assert_eq!(transcript(&case, 7).await, ["I said"]);
    let behind = store.record_inbound(with(2, fid(1, 0)), at(1)).await;
    assert_eq!(behind, Ok(Recorded::Behind(fid(1, 0))));
    let read = store.inbound(&[msg(2), msg(1)], at(1)).await;
    assert_eq!(read, Ok(vec![None, Some(Bytes::from_static(b"message 1"))]));
}

async fn wb_4_a_claim_acts_once_until_it_lapses(case: Case) {
    let said = |number, fingerprint: &str| InboundStep {
        claim: Some(Claim {
            hash: "c".into(),
            keep: seconds(60),
            fingerprint: fingerprint.to_owned(),
        }),
        ..inbound(number, 7)
    };
    let store = &case.store;
    assert_eq!(store.record_inbound(said(1, "a b"), at(0)).await, Ok(Recorded::Done));
    let seen = |same| Ok(Recorded::Seen { id: msg(1), same });
    assert_eq!(store.record_inbound(said(2, "a b"), at(59_999)).await, seen(true));
    assert_eq!(store.record_inbound(said(2, "other"), at(59_999)).await, seen(false));
    assert_eq!(store.inbound(&[msg(2)], at(0)).await, Ok(vec![None]));
    assert_eq!(store.record_inbound(said(2, "other"), at(60_000)).await, Ok(Recorded::Done));
    let twins: Vec<_> = (10..18)
        .map(|number| {
            let store = case.store.clone();
            let claim = Claim { hash: "t".into(), keep: seconds(60), fingerprint: "f".into() };
            let step = InboundStep { claim: Some(claim), ..inbound(number, 7) };
            tokio::spawn(async move { store.record_inbound(step, at(61_000)).await })
        })
        .collect();
    let mut done = 0;
    for twin in twins {
        done += usize::from(twin.await.unwrap() == Ok(Recorded::Done));
    }
    assert_eq!(done, 1);
}

async fn i_41_an_address_has_one_thread(case: Case) {
    let store = &case.store;
    assert_eq!(store.thread_of(&channel(), "address7", at(0)).await, Ok(None));
    store.record_inbound(inbound(1, 7), at(1)).await.unwrap();
    let thread = ThreadId::from_bits(7);
    assert_eq!(store.thread_of(&channel(), "address7", at(1)).await, Ok(Some(thread.clone())));
    let other = InboundStep { thread: ThreadId::from_bits(8), ..inbound(2, 7) };
    assert_eq!(store.record_inbound(other, at(2)).await, Ok(Recorded::Thread(thread)));
    assert_eq!(store.inbound(&[msg(2)], at(2)).await, Ok(vec![None]));
    let elsewhere = ChannelName::parse("other").unwrap();
    assert_eq!(store.thread_of(&elsewhere, "address7", at(1)).await, Ok(None));
}

async fn messages_are_listed_newest_first_page_by_page(case: Case) {
    for number in 1..=25 {
        // Several share one time: the id decides.
        let received_at = time(i64::try_from(number / 5).unwrap());
        let visitor = if number % 2 == 0 { 7 } else { 8 };
        let step = InboundStep { received_at, ..inbound(number, visitor) };
        case.store.record_inbound(step, at(10)).await.unwrap();
    }
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page = case.store.inbound_of(&channel(), before, 4).await.unwrap();
        let Some(last) = page.last() else { break };
        before = Some(last.clone());
        seen.extend(page.into_iter().map(|(_, id)| id));
    }
    assert_eq!(seen, (1..=25).rev().map(msg).collect::<Vec<_>>());
    let own = case.store.inbound_in(&ThreadId::from_bits(7), None, 3).await.unwrap();
    assert_eq!(own.into_iter().map(|(_, id)| id).collect::<Vec<_>>(), [msg(24), msg(22), msg(20)]);
    // A sweep takes what has lapsed and nothing else; Redis lets it lapse itself.
    case.store.sweep(Sweep::Conversations, 200, at(10)).await.unwrap();
    assert_eq!(case.store.inbound_of(&channel(), None, 50).await.unwrap().len(), 25);
}
