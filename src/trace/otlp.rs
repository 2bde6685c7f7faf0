//! Spans in the OTLP wire form: the protobuf of `ExportTraceServiceRequest`, written by hand. Only
//! what is exported here is known; field numbers are those of opentelemetry-proto 1.x.
use super::spans::{Kind, Span};

/// Wire type of a number, of eight fixed bytes, of bytes with their length.
const NUMBER: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7f).unwrap_or_default() | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap_or_default());
}

fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    varint(out, field << 3 | BYTES);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3 | NUMBER);
    varint(out, value);
}

fn fixed(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3 | FIXED64);
    out.extend_from_slice(&value.to_le_bytes());
}

/// `KeyValue` with a string value.
fn attribute(name: &str, value: &str) -> Vec<u8> {
    let mut any = Vec::new();
    bytes(&mut any, 1, value.as_bytes());
    let mut pair = Vec::new();
    bytes(&mut pair, 1, name.as_bytes());
    bytes(&mut pair, 2, &any);
    pair
}

/// The bytes a hex id stands for.
fn id(hex: &str) -> Vec<u8> {
    let pair = |at: usize| hex.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
    (0..hex.len()).step_by(2).filter_map(pair).collect()
}

fn nanos(millis: i64) -> u64 {
    u64::try_from(millis).unwrap_or(0).saturating_mul(1_000_000)
}

fn span(span: &Span) -> Vec<u8> {
    let mut out = Vec::new();
    bytes(&mut out, 1, &id(&span.trace));
    bytes(&mut out, 2, &id(&span.id));
    if let Some(parent) = &span.parent {
        bytes(&mut out, 4, &id(parent));
    }
    bytes(&mut out, 5, span.name.as_bytes());
    let kind = match span.kind {
        Kind::Internal => 1,
        Kind::Server => 2,
        Kind::Client => 3,
        Kind::Producer => 4,
    };
    number(&mut out, 6, kind);
    fixed(&mut out, 7, nanos(span.start.0));
    fixed(&mut out, 8, nanos(span.end.0));
    for (name, value) in &span.attributes {
        bytes(&mut out, 9, &attribute(name, value));
    }
    if let Some(name) = span.event {
        let mut event = Vec::new();
        fixed(&mut event, 1, nanos(span.start.0));
        bytes(&mut event, 2, name.as_bytes());
        bytes(&mut out, 11, &event);
    }
    if span.failed {
        let mut status = Vec::new();
        number(&mut status, 3, 2);
        bytes(&mut out, 15, &status);
    }
    out
}

/// The body of one request to the collector.
#[must_use]
pub fn request(service: &str, spans: &[Span]) -> Vec<u8> {
    let mut resource = Vec::new();
    bytes(&mut resource, 1, &attribute("service.name", service));
    let mut scope = Vec::new();
    bytes(&mut scope, 1, b"tidings");
    bytes(&mut scope, 2, env!("CARGO_PKG_VERSION").as_bytes());
    let mut scoped = Vec::new();
    bytes(&mut scoped, 1, &scope);
    for one in spans {
        bytes(&mut scoped, 2, &span(one));
    }
    let mut of_resource = Vec::new();
    bytes(&mut of_resource, 1, &resource);
    bytes(&mut of_resource, 2, &scoped);
    let mut out = Vec::new();
    bytes(&mut out, 1, &of_resource);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Millis;

    #[test]
    fn d_59_a_span_has_the_wire_form_of_otlp() {
        let one = Span {
            trace: "000102030405060708090a0b0c0d0e0f".into(),
            id: "0001020304050607".into(),
            parent: None,
            name: "x".into(),
            kind: Kind::Client,
            start: Millis(1),
            end: Millis(2),
            attributes: vec![("k", "v".into())],
            event: None,
            failed: true,
        };
        let mut expected = vec![0x0a, 16];
        expected.extend(0u8..16);
        expected.extend([0x12, 8]);
        expected.extend(0u8..8);
        expected.extend([0x2a, 1, b'x', 0x30, 3, 0x39]);
        expected.extend(1_000_000u64.to_le_bytes());
        expected.push(0x41);
        expected.extend(2_000_000u64.to_le_bytes());
        expected.extend([0x4a, 8, 0x0a, 1, b'k', 0x12, 3, 0x0a, 1, b'v', 0x7a, 2, 0x18, 2]);
        assert_eq!(span(&one), expected);
        let whole = request("s", &[one]);
        assert!(whole.windows(expected.len()).any(|window| window == expected));
        let mut long = Vec::new();
        varint(&mut long, 300);
        assert_eq!(long, [0xac, 0x02]);
    }
}
