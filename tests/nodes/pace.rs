//! One pace for all gateways of an account.
use crate::fleet::Fleet;

/// Messages a second.
const RATE: usize = 40;
const SENDS: usize = 320;

#[tokio::test(flavor = "multi_thread")]
async fn d_34_three_nodes_keep_one_pace_together() {
    let pace = format!(
        "{{account_per_second={RATE},account_burst=1,recipient_per_second=0,recipient_burst=1}}"
    );
    let fleet = Fleet::paced(3, &pace).await;
    let mut sends = Vec::new();
    for number in 0..SENDS {
        let recipient = (1000 + number % 40).to_string();
        let answer = fleet.notify(number % 3, &number.to_string(), &recipient, "x").await.unwrap();
        sends.push(answer.json["send"]["id"].as_str().unwrap().to_owned());
    }
    for send in &sends {
        assert_eq!(fleet.settled(0, send).await, "sent");
    }
    let mut arrivals = fleet.arrivals().await;
    arrivals.sort_unstable();
    assert_eq!(arrivals.len(), SENDS);
    // The first messages may have waited for callers; the pace is that of the rest.
    let rest = &arrivals[SENDS / 4..];
    let took = rest[rest.len() - 1] - rest[0];
    let wanted = i64::try_from((rest.len() - 1) * 1000 / RATE).unwrap();
    println!("{} messages took {took} ms, at {RATE} a second {wanted} ms", rest.len());
    assert!(took * 100 >= wanted * 95, "faster than the pace: {took} ms instead of {wanted}");
    assert!(took * 100 <= wanted * 130, "slower than a busy machine explains: {took} ms");
}
