//! Traces: what belongs together, in order, until its time has passed.
use crate::case::{Case, at, note, seconds, sent, snd};
use tidings::store::{OpenStep, TRACE_MAX, TraceRef};

crate::contract!(
    d_58_what_is_recorded_joins_its_trace_in_the_same_step,
    d_58_a_trace_is_bounded_and_lapses,
);

fn trace(name: &str, keep: u64) -> TraceRef {
    TraceRef { trace: name.repeat(32), keep: seconds(keep) }
}

async fn d_58_what_is_recorded_joins_its_trace_in_the_same_step(case: Case) {
    let one = trace("a", 60);
    case.open(OpenStep { trace: Some(one.clone()), ..sent(1, "r") }, at(0)).await;
    case.open(OpenStep { trace: Some(one.clone()), ..note(2) }, at(1)).await;
    case.open(OpenStep { trace: Some(one.clone()), ..note(2) }, at(2)).await;
    case.open(OpenStep { trace: Some(trace("b", 60)), ..note(3) }, at(2)).await;
    case.store.note_trace(&one, "msg_1", at(3)).await.unwrap();
    case.store.note_trace(&one, "msg_1", at(4)).await.unwrap();
    let ids = [
        crate::case::ntf(1).as_str().to_owned(),
        snd(1).as_str().to_owned(),
        crate::case::ntf(2).as_str().to_owned(),
        "msg_1".to_owned(),
    ];
    assert_eq!(case.store.trace(&one.trace, at(5)).await.unwrap(), ids);
    assert_eq!(case.store.trace(&"c".repeat(32), at(5)).await, Ok(vec![]));
}

async fn d_58_a_trace_is_bounded_and_lapses(case: Case) {
    let one = trace("a", 60);
    for number in 0..TRACE_MAX + 5 {
        case.store.note_trace(&one, &format!("msg_{number}"), at(0)).await.unwrap();
    }
    let held = case.store.trace(&one.trace, at(59_999)).await.unwrap();
    assert_eq!((held.len(), held[0].as_str()), (TRACE_MAX, "msg_0"));
    assert_eq!(case.store.trace(&one.trace, at(60_000)).await, Ok(vec![]));
    case.store.note_trace(&one, "again", at(60_001)).await.unwrap();
    assert_eq!(case.store.trace(&one.trace, at(60_002)).await, Ok(vec!["again".to_owned()]));
}
