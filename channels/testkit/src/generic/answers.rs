//! G-6: whatever a vendor answers, it is read, and never taken for success by mistake.
use super::Subject;
use contract::{
    FaultClass, MisconfiguredScope, Outcome, Part, SendFault, WireError, WireResponse, WireResult,
};
use serde_json::json;
use std::time::Duration;

fn answer(status: u16, headers: &[(&str, &str)], body: &[u8]) -> WireResult {
    let headers = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    Ok(WireResponse { status, headers, body: bytes::Bytes::copy_from_slice(body) })
}

fn fault(subject: &Subject, part: &Part, result: &WireResult) -> SendFault {
    match subject.adapter.interpret(part, result) {
        Outcome::Fault(fault) => fault,
        other => panic!("{result:?} is read as {other:?}"),
    }
}

/// A table of plain HTTP outcomes and garbage.
pub fn g_6_answers_are_read_by_the_common_table(subject: &Subject) {
    let rendered = subject.render_json(&json!({ "message": "hello" })).expect("a short text");
    let part = rendered.parts.first().expect("a part");
    // A frame is appended here and has no answer of a vendor's.
    if matches!(part.payload, contract::Payload::Frame(_)) {
        return;
    }
    let class = |result: &WireResult| fault(subject, part, result).kind.class();
    let mebibyte = vec![b'x'; 1 << 20];
    let html: &[u8] = b"<html>502 Bad Gateway</html>";
    for body in [&b""[..], html, &mebibyte, b"{\"ok\":tr", b"[]", b"null", b"\xff\xfe", b"{}", b"7"]
    {
        assert_eq!(class(&answer(200, &[], body)), FaultClass::Ambiguous, "200 with {body:.20?}");
    }
    for (status, expected) in [
        (204, FaultClass::Ambiguous),
        (301, FaultClass::Misconfigured),
        (401, FaultClass::Misconfigured),
        (408, FaultClass::Ambiguous),
        (429, FaultClass::Throttled),
        (500, FaultClass::Transient),
        (502, FaultClass::Transient),
        (503, FaultClass::Transient),
        (504, FaultClass::Ambiguous),
    ] {
        for body in [&b""[..], html, b"{}", b"{\"error\":null}"] {
            assert_eq!(class(&answer(status, &[], body)), expected, "{status} with {body:?}");
        }
    }
    for body in [&b""[..], html] {
        let found = fault(subject, part, &answer(404, &[], body)).kind;
        assert!(
            matches!(
                found,
                contract::FaultKind::Permanent
                    | contract::FaultKind::Misconfigured { scope: MisconfiguredScope::Account }
            ),
            "404 is {found:?}"
        );
    }
    let waits = |headers| fault(subject, part, &answer(429, headers, b"")).wait;
    assert_eq!(waits(&[("retry-after", "17")]), Some(Duration::from_secs(17)));
    assert_eq!(waits(&[]), None);
    assert_eq!(class(&Err(WireError::Connect)), FaultClass::Transient);
    for error in [WireError::Timeout, WireError::Reset, WireError::Unreadable] {
        assert_eq!(class(&Err(error)), FaultClass::Ambiguous);
    }
    let blocked = WireError::Blocked { rule: "private address", key: "http.allow_hosts" };
    assert_eq!(fault(subject, part, &Err(blocked)).code, "blocked_address");
}
