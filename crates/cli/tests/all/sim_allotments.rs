//! Tests `tidegate sim --allotments`, which limits the processors of each job over time.

use crate::support::{json, tidegate};
use serde_json::Value;

/// Simulates 16 ms of work in 64 equal tasks on eight processors.
fn loopy(arguments: &str) -> Value {
    let line = "sim loopy 64 --steps 150000 --processors 8 --json";
    json(&mut tidegate(&format!("{line} {arguments}")))
}

fn number(found: &Value, name: &str) -> f64 {
    found[name].as_f64().unwrap()
}

#[test]
fn run_time_follows_its_allotments() {
    let all = loopy("");
    let given = loopy("--allotments 0ms:2,1ms:1,5ms:8");
    assert_eq!(all["options"]["allotments"], Value::Null);
    assert_eq!(given["options"]["allotments"], "0ns:2,1ms:1,5ms:8");
    // In the first 5 ms, the job does 2 ms of work on two processors and 4 ms on one. It does the
    // other 10 ms of work on eight processors.
    let ideal = 0.005 + 0.010 / 8.0;
    let time = number(&given, "t");
    assert!(time > ideal && time < ideal * 1.2, "{time} {ideal}");
    assert!(number(&all, "t") < 0.5 * time);
    assert!(number(&given, "p_trimmed") < number(&given, "p_mean"));
    assert_eq!(given["bounds"]["stealing-time"]["holds"], true);
}

#[test]
fn random_allotments_follow_the_seed() {
    let of = |seed: u64| {
        let found = loopy(&format!("--allotments random:200us --sim-seed {seed}"));
        number(&found, "p_mean")
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
    assert!(of(1) < 8.0);
}
