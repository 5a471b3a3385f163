//! Tests `tidegate sim --est-cycle`, which sets the time between two estimates of a job's desire.

use crate::support::{json, tidegate};

#[test]
fn shorter_cycle_gives_processors_sooner() {
    let found = |cycle: &str| {
        let line = format!("sim loopy 64 --processors 16 --desire wsap --est-cycle {cycle} --json");
        let found = json(&mut tidegate(&line));
        assert_eq!(found["options"]["est_cycle"], cycle);
        found["all_procs_seconds"].as_f64().unwrap()
    };
    assert!(found("1ms") < found("5ms"));
}
