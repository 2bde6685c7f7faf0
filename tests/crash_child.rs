//! A gateway that ends like a killed one at a named point: what `tests/faults` starts and starts
//! again. It is the very gateway of `serve`, built by the same builder, with a fail point in it.
//!
//! `TIDINGS_CRASH_CONFIG` names its configuration file; `TIDINGS_CRASH_AT` the point and the visit
//! of it that is the last, such as `begun 40`. Without the first it has nothing to do.
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tidings::boot::{self, Overrides};
use tidings::config::load::{Sources, load};
use tidings::outbox::{Faults, NoFaults, Point};
use tidings::registry::MEDIA;

struct EndsAt {
    point: Point,
    left: AtomicU32,
}

impl Faults for EndsAt {
    fn at(&self, point: Point) {
        if point == self.point && self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            // Nothing is flushed, closed or said: as by kill -9.
            std::process::abort();
        }
    }
}

fn faults(plan: Option<String>) -> Arc<dyn Faults> {
    let Some(plan) = plan else { return Arc::new(NoFaults) };
    let (point, left) = plan.split_once(' ').expect("a point and a number");
    let point = match point {
        "opening" => Point::Opening,
        "opened" => Point::Opened,
        "claimed" => Point::Claimed,
        "begun" => Point::Begun,
        "answered" => Point::Answered,
        "noted" => Point::Noted,
        "deciding" => Point::Deciding,
        other => panic!("no point is called {other}"),
    };
    Arc::new(EndsAt { point, left: AtomicU32::new(left.parse().expect("a number")) })
}

fn main() {
    let Some(file) = std::env::var_os("TIDINGS_CRASH_CONFIG") else {
        println!("a program of tests/faults");
        return;
    };
    let sources = Sources { file: Some(PathBuf::from(file)), ..Sources::default() };
    let (config, _) = load(&sources, MEDIA).unwrap_or_else(|problems| panic!("{problems:?}"));
    let faults = faults(std::env::var("TIDINGS_CRASH_AT").ok());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let overrides = Overrides { faults, ..Overrides::default() };
        let gateway = boot::start(&config, overrides).await.unwrap_or_else(|why| panic!("{why}"));
        println!("READY http://{}", gateway.address);
        std::future::pending::<()>().await;
    });
}
