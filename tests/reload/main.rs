//! SIGHUP while work goes on: a real `tidings serve` with 200 channels in its file.
mod gateway;

use gateway::{Gateway, Settings, new_key, token};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const CHANNELS: usize = 200;

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_under_traffic_drops_no_request_and_takes_channels_and_keys_over() {
    let (steady, old, new) = (new_key(), new_key(), new_key());
    let mut settings = Settings::new(CHANNELS, &[&steady, &old]);
    let gateway = Arc::new(Gateway::start(&settings).await);
    let (stop, calls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let callers: Vec<_> = (0..4)
        .map(|caller| {
            let (gateway, key) = (gateway.clone(), steady.text.clone());
            let (stop, calls) = (stop.clone(), calls.clone());
            tokio::spawn(async move {
                let (mut sends, mut number) = (Vec::new(), caller);
                while !stop.load(Ordering::SeqCst) {
                    // The first hundred channels stay; each is changed once on the way.
                    let name = format!("bot{}", number % 100);
                    let person = 1000 + number;
                    let answer = gateway.notify(&key, &name, &person.to_string()).await;
                    assert_eq!(answer.status, 202, "{}", answer.json);
                    sends.push(answer.json["send"]["id"].as_str().unwrap().to_owned());
                    calls.fetch_add(1, Ordering::SeqCst);
                    number += 4;
                }
                sends
            })
        })
        .collect();
    for round in 0..5 {
        let before = calls.load(Ordering::SeqCst);
        // Twenty of those that stay change, twenty others go, one comes.
        for number in round * 20..round * 20 + 20 {
            settings.channels[number].text_parts = 3;
        }
        let gone = settings.channels.split_off(settings.channels.len() - 20);
        settings.add(&format!("fresh{round}"), CHANNELS + round);
        if round == 2 {
            settings.keys = vec![steady.clone(), new.clone()];
        }
        gateway.write(&settings);
        gateway.hang_up();
        let line = gateway.log_line("the configuration was reloaded").await;
        let changed = line["changed"].as_str().unwrap();
        assert_eq!(changed.split(", ").count(), 20, "{line}");
        let fresh = gateway.notify(&steady.text, &format!("fresh{round}"), "7").await;
        assert_eq!(fresh.status, 202, "{}", fresh.json);
        gateway.settled(&steady.text, fresh.json["send"]["id"].as_str().unwrap()).await;
        let missing = gateway.notify(&steady.text, &gone[0].name, "7").await;
        assert_eq!((missing.status, missing.code()), (404, "unknown_channel".to_owned()));
        let (removed, added) = (&old, &new);
        let expected = if round < 2 { (200, 401) } else { (401, 200) };
        let of = |answer: gateway::Answer| answer.status;
        let seen = (
            of(gateway.get(&removed.text, "/api/channels").await),
            of(gateway.get(&added.text, "/api/channels").await),
        );
        assert_eq!(seen, expected, "round {round}");
        let until = Instant::now() + Duration::from_secs(20);
        while calls.load(Ordering::SeqCst) < before + 20 {
            assert!(Instant::now() < until, "the traffic stands still");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    stop.store(true, Ordering::SeqCst);
    for caller in callers {
        for send in caller.await.unwrap() {
            assert_eq!(gateway.settled(&steady.text, &send).await, "sent");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_file_changes_nothing_and_what_needs_a_restart_is_named() {
    let (key, other) = (new_key(), new_key());
    let mut settings = Settings::new(2, &[&key]);
    let gateway = Gateway::start(&settings).await;
    // The file names one mistake, and much else besides that must not be taken.
    settings.keys = vec![other.clone()];
    settings.channels.pop();
    settings.extra = "[limits]\nkey_rat = 3\n".to_owned();
    gateway.write(&settings);
    gateway.hang_up();
    let line = gateway.log_line("the configuration has a problem").await;
    let problem = line["problem"].as_str().unwrap();
    assert!(problem.starts_with("limits.key_rat: "), "{line}");
    gateway.log_line("the configuration was not reloaded; everything stays as it was").await;
    assert_eq!(gateway.get(&other.text, "/api/channels").await.status, 401);
    let listed = gateway.get(&key.text, "/api/channels").await;
    assert_eq!(listed.json["channels"].as_array().unwrap().len(), 2);

    // A sound one with a change of a section that is read at start alone.
    settings.extra = "[delivery]\nlane_max = 500\n[inbox]\nring = 500\n".to_owned();
    gateway.write(&settings);
    gateway.hang_up();
    let line = gateway
        .log_line("these keys of the configuration changed and take effect at a restart")
        .await;
    assert_eq!(line["keys"], "inbox.ring, delivery.lane_max");
    gateway.log_line("the configuration was reloaded").await;
    assert_eq!(gateway.get(&key.text, "/api/channels").await.status, 401);
    let listed = gateway.get(&other.text, "/api/channels").await;
    assert_eq!(listed.json["channels"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_channel_keeps_what_its_probe_found_and_a_secret_behind_a_file_counts() {
    let key = new_key();
    let mut settings = Settings::new(2, &[&key]);
    let gateway = Gateway::start(&settings).await;
    // The second channel's token stands in a file: its reference stays, its content changes. The
    // first one is of a bot that the medium does not know.
    settings.channels[1].token_file = Some(gateway.secret("token", &token(999)));
    gateway.write(&settings);
    gateway.hang_up();
    gateway.log_line("the configuration was reloaded").await;
    let probed = async |name: &str| {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let listed = gateway.get(&key.text, "/api/channels").await.json;
            let all = listed["channels"].as_array().unwrap().clone();
            let channel = all.into_iter().find(|c| c["name"] == name).unwrap();
            if channel["health"]["checked_at"].is_string() {
                return channel["health"].clone();
            }
            assert!(Instant::now() < until, "{channel}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let (first, second) = (probed("bot0").await, probed("bot1").await);
    assert_eq!((&first["state"], &second["state"]), (&json!("ok"), &json!("failing")));
    gateway.secret("token", &token(5));
    gateway.hang_up();
    let line = gateway.log_line("the configuration was reloaded").await;
    assert_eq!(line["changed"], "bot1");
    assert_eq!(probed("bot0").await, first);
    assert_eq!(probed("bot1").await["state"], "ok");
    let answer = gateway.notify(&key.text, "bot1", "7").await;
    let send = answer.json["send"]["id"].as_str().unwrap();
    assert_eq!(gateway.settled(&key.text, send).await, "sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn d_39_a_revoked_token_costs_no_send_its_life_and_a_new_one_by_reload_lets_all_go() {
    let key = new_key();
    let mut settings = Settings::new(2, &[&key]);
    let gateway = Gateway::start(&settings).await;
    let revoked = gateway.secret("token", &token(0).replace("AAF-", "ZZZ-"));
    let bot = settings.channels.iter_mut().find(|channel| channel.name == "bot0").unwrap();
    bot.token_file = Some(revoked);
    gateway.write(&settings);
    gateway.hang_up();
    gateway.log_line("the configuration was reloaded").await;
    let mut sends = Vec::new();
    for person in 1..=20 {
        let answer = gateway.notify(&key.text, "bot0", &person.to_string()).await;
        assert_eq!(answer.status, 202, "{}", answer.json);
        sends.push(answer.json["send"]["id"].as_str().unwrap().to_owned());
    }
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let channels = gateway.get(&key.text, "/api/channels").await.json;
        let mut all = channels["channels"].as_array().unwrap().iter();
        let bot = all.find(|channel| channel["name"] == "bot0").unwrap();
        if !bot["lane"]["paused_until"].is_null() {
            assert_eq!(bot["health"]["state"], "failing");
            break;
        }
        assert!(Instant::now() < until, "never parked: {bot}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let other = gateway.notify(&key.text, "bot1", "7").await.json;
    assert_eq!(gateway.settled(&key.text, other["send"]["id"].as_str().unwrap()).await, "sent");
    for send in &sends {
        let record = gateway.get(&key.text, &format!("/api/sends/{send}")).await.json;
        assert_eq!(record["status"], "queued", "{record}");
    }
    gateway.secret("token", &token(0));
    gateway.hang_up();
    gateway.log_line("the configuration was reloaded").await;
    for send in &sends {
        assert_eq!(gateway.settled(&key.text, send).await, "sent");
    }
    let inbox = gateway.get(&key.text, "/api/notifications?origin=platform&limit=200").await.json;
    let told: Vec<_> = inbox["notifications"].as_array().unwrap().iter().collect();
    let about = |kind: &str| told.iter().filter(|entry| entry["metadata"]["kind"] == kind).count();
    assert_eq!(about("channel_parked"), 1, "announced once: {inbox}");
}
