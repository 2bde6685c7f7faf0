//! What readiness, the metrics and the overview show.
use crate::world::{Plan, World};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tidings::boot::Overrides;
use tidings::outbox::{Faults, Point};

/// A dispatcher that stands still while this is set.
struct Stuck(Arc<AtomicBool>);

impl Faults for Stuck {
    fn at(&self, point: Point) {
        while point == Point::Looking && self.0.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

async fn ready(world: &World) -> (u16, Value) {
    let answer = world.call("GET", "/readyz", None, &[], None).await;
    (answer.status, answer.json())
}

fn check<'r>(readiness: &'r Value, name: &str) -> &'r Value {
    let checks = readiness["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn d_69_readiness_turns_red_when_claims_stop_and_green_when_they_go_on() {
    let stuck = Arc::new(AtomicBool::new(false));
    let faults = Arc::new(Stuck(stuck.clone()));
    let overrides = Overrides { faults, ..Overrides::default() };
    let world = World::start(Plan { overrides, ..Plan::default() }.with_vendors()).await;
    let (status, now) = ready(&world).await;
    assert_eq!(status, 200, "{now}");
    for name in ["store", "claiming", "lanes", "hooks", "draining"] {
        assert_eq!(check(&now, name)["ok"], true, "{now}");
    }
    stuck.store(true, Ordering::SeqCst);
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let (status, now) = ready(&world).await;
        if status == 503 {
            assert_eq!(check(&now, "claiming")["ok"], false);
            let detail = check(&now, "claiming")["detail"].as_str().unwrap().to_owned();
            assert!(detail.contains("no queue was looked at"), "{detail}");
            assert_eq!(check(&now, "store")["ok"], true);
            break;
        }
        assert!(Instant::now() < deadline, "{now}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(world.call("GET", "/healthz", None, &[], None).await.status, 200);
    stuck.store(false, Ordering::SeqCst);
    while ready(&world).await.0 != 200 {
        assert!(Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    world.stop().await;
}

#[tokio::test]
async fn d_80_the_overview_counts_sends_by_hour() {
    let world = World::ordinary().await;
    let body = json!({ "message": "m", "channel": "telegram", "recipient": "42" });
    assert_eq!(world.deliver(&body).await.status, 200);
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let list = world.get("/api/overview").await.json();
        let all = list["hours"].as_array().unwrap().iter();
        let hours: Vec<&Value> = all.filter(|row| row["channel"] == "telegram").collect();
        assert_eq!(hours.len(), 25);
        // The hour may turn while this runs.
        let sum = |field: &str| hours.iter().map(|row| row[field].as_u64().unwrap()).sum::<u64>();
        if sum("accepted") == 1 {
            assert_eq!((sum("sent"), sum("failed"), sum("backlog")), (1, 0, 0));
            let counted = hours.iter().find(|row| row["accepted"] == 1).unwrap();
            assert!(counted["p50_ms"].as_u64().unwrap() > 0, "{counted}");
            break;
        }
        assert!(Instant::now() < deadline, "{list}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let owned = world.call("GET", "/api/overview", Some(&world.owned), &[], None).await;
    assert_eq!(owned.status, 403);
    world.stop().await;
}

#[tokio::test]
async fn d_68_twenty_channels_have_at_most_two_thousand_series() {
    let mut plan = Plan::default();
    for number in 0..20 {
        plan = plan.set(&format!("channels.web{number}.medium"), "'web'");
    }
    let world = World::start(plan).await;
    for number in 0..20 {
        let channel = format!("web{number}");
        let body = json!({ "message": "m", "channel": channel, "recipient": "somebody" });
        world.notify(&body).await;
        world.get(&format!("/api/sends?channel={channel}")).await;
        world.get(&format!("/api/nothing/{number}")).await;
        world.get(&format!("/api/sends/snd_{number}")).await;
    }
    let text = world.get("/metrics").await.text;
    let series: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(series.len() <= 2_000, "{} series", series.len());
    for forbidden in ["snd_", "ntf_", "somebody", "/api/nothing"] {
        assert!(!text.contains(forbidden), "{forbidden} is a label");
    }
    assert!(text.contains("tidings_dead_letters{channel=\"web7\"} 0"));
    world.stop().await;
}
