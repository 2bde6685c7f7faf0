//! Sentences and scopes.
use super::*;
use std::collections::BTreeSet;

fn channel() -> ChannelName {
    ChannelName::parse("support").unwrap()
}

/// One of each, by kind; the unreadable event shares its kind with the held message.
fn every() -> Vec<Notice> {
    let (channel, inbound) = (channel(), InboundId::from_bits(7));
    let word = || "code".to_owned();
    vec![
        Notice::ChannelParked { channel: channel.clone(), fault: word() },
        Notice::ChannelRecovered { channel: channel.clone() },
        Notice::SendsFailing { channel: channel.clone(), count: 10, fault: word() },
        Notice::OutcomeUnknown { channel: channel.clone(), send: SendId::from_bits(3) },
        Notice::Poison { channel: channel.clone(), queue: "out", item: word(), reason: word() },
        Notice::ReceiptsUnmatched { channel: channel.clone(), unmatched: 6, receipts: 100 },
        Notice::QueueStuck { channel: channel.clone(), seconds: 61 },
        Notice::StoreFilling { percent: 81 },
        Notice::StoreNotDurable,
        Notice::ConfigDiffers { nodes: [word(), word()] },
        Notice::ChannelUnknown { channel: channel.clone(), waiting: 4 },
        Notice::TemplateRefused {
            channel: channel.clone(),
            template: "welcome".into(),
            language: "de".into(),
            reason: word(),
        },
        Notice::FlowRefused { channel: channel.clone(), flow: "form".into(), reason: word() },
        Notice::WebhookVerificationFailing { channel: channel.clone() },
        Notice::WebhookTooLarge { channel: channel.clone(), bound: 1024 },
        Notice::ClockSkew { channel: channel.clone(), seconds: 400 },
        Notice::Spooling { channel: channel.clone(), over: false },
        Notice::InboundHeld {
            channel: channel.clone(),
            route: "r".into(),
            inbound: inbound.clone(),
            code: "timeout".into(),
            held: 3,
        },
        Notice::InboundDiscarded {
            channel: channel.clone(),
            inbound: inbound.clone(),
            count: 2,
            by: "ops".into(),
        },
        Notice::RouteOff { channel: channel.clone(), code: word() },
        Notice::ReplyRefused { channel: channel.clone(), inbound: inbound.clone(), code: word() },
        Notice::ThreadFlood { channel: channel.clone(), thread: "thr_1".into() },
        Notice::ForeignAccount { channel: channel.clone() },
        Notice::EventHeld { channel, inbound, held: 1 },
    ]
}

#[test]
fn d_70_every_kind_has_a_sentence_of_its_own_that_names_its_scope() {
    let all = every();
    let kinds: Vec<Kind> = all.iter().map(Notice::kind).collect();
    assert_eq!(&kinds[..Kind::ALL.len()], Kind::ALL);
    let sentences: BTreeSet<String> = all.iter().map(|notice| notice.told(1).0).collect();
    assert_eq!(sentences.len(), all.len());
    for notice in all {
        let (sentence, facts) = notice.told(1);
        assert!(sentence.ends_with('.') && !sentence.contains("since the last"), "{sentence}");
        assert_eq!(facts[0], ("kind".into(), notice.kind().as_str().into()));
        assert!(facts.len() <= 16);
        if let Some(channel) = notice.channel() {
            assert!(sentence.contains(channel.as_str()), "{sentence}");
            assert_eq!(facts[1], ("channel".into(), "support".into()));
        }
    }
}

#[test]
fn a_held_message_is_told_in_the_agreed_words() {
    let held = every().into_iter().find(|n| matches!(n, Notice::InboundHeld { .. })).unwrap();
    let id = InboundId::from_bits(7);
    let first = format!(
        "Delivery of inbound message {id} to the route of channel support failed; it is held until \
         it is retried or discarded. Last error: timeout."
    );
    assert_eq!(held.told(1).0, first);
    assert_eq!(held.told(5).0, format!("{first} 3 are held now."));
}
