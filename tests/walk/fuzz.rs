//! Generated and seeded bytes at the notify door: no panic, no 5xx, no value repeated.
//! `TIDINGS_FUZZ_SECS` makes it longer by hand.
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::time::{Duration, Instant};
use tidings::clock::Millis;
use tidings::compose::json::Json;
use tidings::compose::rules::{Purpose, violations};
use tidings::compose::{DecodeCtx, NotifyRequest};

/// Bodies that mutations start from.
const SEEDS: &[&str] = &[
    r#"{"message":"hello","channel":"telegram","recipient":"42"}"#,
    r#"{"message":"m","options":[{"kind":"reply","text":"Yes","id":"y"},{"kind":"link","label":"L","url":"https://h/x"}],"footer":"f"}"#,
    r#"{"message":"","media":[{"kind":"image","url":"https://h/a.png","caption":"c"},{"kind":"document","url":"/api/interactions/media/med_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","filename":"a.pdf"}]}"#,
    r#"{"message":"m","sections":[{"title":"t","rows":[{"text":"a"},{"kind":"reply","text":"b","description":"d"}]}],"header":{"kind":"image","url":"data:image/png;base64,iVBORw0KGgo="}}"#,
    r#"{"message":"m","location":{"latitude":-90,"longitude":180.0,"name":"n","address":"a"},"expires_at":"2030-01-01T00:00:00.123Z","metadata":{"k":"v"}}"#,
    r#"{"message":"m","channel":"c","schema":{"type":"object","properties":{"a":{"type":"string"}}},"data":{"values":{"a":null}},"pages":[{"title":"p","display":[{"kind":"image","src":"https://h/i.png"}]}],"form_tag":"t"}"#,
    r#"{"message":"m","template":{"name":"n","language":"en","body_parameters":["x"],"buttons":[{"kind":"quick_reply","payload":"p"},{"kind":"url","url_parameter":"u"}]}}"#,
];

/// A word that must never come back.
const MARK: &str = "c4n4ry";

fn judge(body: &[u8]) {
    let Ok(entries) = Json::object(body) else { return };
    let ctx = DecodeCtx { now: Millis(1_893_000_000_000), public_url: Some("https://p.test") };
    let problems = match NotifyRequest::decode(entries, ctx) {
        Ok(request) => violations(&request, Purpose::Record),
        Err(problems) => problems,
    };
    for problem in problems {
        assert_ne!(tidings::problem::status_of(problem.code), 500, "{}", problem.code);
        assert!(!problem.field.contains(MARK) && !problem.detail.contains(MARK), "{problem:?}");
    }
}

fn mutate(seed: &[u8], edits: &[(usize, u8, u8)]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for (at, kind, value) in edits {
        let at = at % (bytes.len() + 1);
        match kind % 5 {
            0 if at < bytes.len() => bytes[at] = *value,
            1 => bytes.insert(at, *value),
            2 if at < bytes.len() => {
                bytes.remove(at);
            }
            3 => {
                let token = [MARK, "null", "{}", "[]", "\"\\u0000\"", "1e308", "\"", "\u{202E}"];
                let token = token[usize::from(*value) % token.len()].as_bytes();
                bytes.splice(at..at, token.iter().copied());
            }
            _ => {
                let end = (at + usize::from(*value)).min(bytes.len());
                let copy: Vec<u8> = bytes[at.min(end)..end].to_vec();
                bytes.splice(at..at, copy);
            }
        }
    }
    bytes
}

#[test]
fn the_request_decoder_survives_any_bytes_and_repeats_none() {
    let seconds = std::env::var("TIDINGS_FUZZ_SECS").ok().and_then(|s| s.parse().ok()).unwrap_or(5);
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut round = 0u64;
    while Instant::now() < until {
        let mut seed = [0u8; 32];
        seed[..8].copy_from_slice(&round.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut runner = TestRunner::new_with_rng(Config { cases: 256, ..Config::default() }, rng);
        let edits = proptest::collection::vec((any::<usize>(), any::<u8>(), any::<u8>()), 0..12);
        runner
            .run(&(0..SEEDS.len(), edits), |(seed, edits)| {
                judge(&mutate(SEEDS[seed].as_bytes(), &edits));
                Ok(())
            })
            .unwrap();
        round += 1;
    }
    assert!(round > 0);
}
