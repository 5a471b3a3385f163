//! Tests `tidegate sim`.

use crate::support::{assert_contains, complaint, json, text, tidegate, with_topology};
use serde_json::{Value, json};
use tidegate_workloads::registry::ENTRIES;

/// Each program must also do all its work.
#[test]
fn simulated_programs_stay_within_bounds() {
    for entry in ENTRIES.iter().filter(|entry| entry.simulated) {
        let found = json(&mut tidegate(&format!(
            "sim {} --size tiny --processors 4 --json",
            entry.name
        )));
        let number = |name: &str| found[name].as_f64().unwrap();
        assert!(number("t") >= number("tinf") && number("t") >= number("t1") / 4.0);
        assert_eq!(number("p_mean"), 4.0);
        let failed = number("failed_busy") + number("failed_empty");
        assert_eq!(number("attempts"), number("steals") + failed);
        assert!(number("events") > 0.0 && number("tasks") > 0.0);
        let bounds = found["bounds"].as_object().unwrap();
        for (name, bound) in bounds {
            assert_eq!(bound["holds"], true, "{}: {name}: {bound}", entry.name);
        }
        let declares = number("peak_bytes") > 0.0;
        assert_eq!(bounds.contains_key("memory"), declares, "{}", entry.name);
    }
}

/// Only the program's own seed must change its input. The machine's seed must not.
#[test]
fn simulation_is_deterministic() {
    let printed = |line: &str| text(&mut tidegate(line));
    let line = "sim uts --tree tiny --processors 8 --json";
    assert_eq!(printed(line), printed(line));
    let tree = |line: &str| {
        let found = json(&mut tidegate(line));
        let fields = ["t", "t1", "sim_seed"].map(|name| found[name].clone());
        (fields, found["parameters"]["seed"].clone())
    };
    let ([t, t1, _], seed) = tree(line);
    let ([other_t, other_t1, sim_seed], same) = tree(&format!("{line} --sim-seed 7"));
    assert_eq!((t1.clone(), seed, sim_seed), (other_t1, same, 7.into()));
    assert_ne!(t, other_t);
    let ([.., sim_seed], seed) = tree(&format!("{line} --seed 7"));
    assert_eq!((sim_seed, seed), (1.into(), 7.into()));
}

/// The file must set the number of processors and the distances between them.
#[test]
fn topology_file_sets_simulated_machine() {
    for (file, processors, distance) in [
        ("flat", 6, "6 processors up to 1 step apart"),
        ("two_packages", 8, "8 processors up to 3 steps apart"),
        ("chiplets", 12, "12 processors up to 2 steps apart"),
        ("sub_numa", 16, "16 processors up to 4 steps apart"),
    ] {
        let found = json(&mut with_topology("sim fib 15 --json", file));
        assert_eq!(found["processors"], processors, "{file}");
        let named = found["topology"].as_str().unwrap();
        assert!(named.ends_with(&format!("{file}.txt")), "{named}");
        let text = text(&mut with_topology("sim fib 15", file));
        assert!(text.contains(distance), "{text}");
        let mut without = json(&mut tidegate(&format!(
            "sim fib 15 --processors {processors} --json"
        )));
        assert_eq!(without["topology"], Value::Null);
        without["topology"] = found["topology"].clone();
        assert_eq!(found == without, file == "flat", "distances count");
    }
}

#[test]
fn processors_flag_may_match_topology() {
    let line = "sim fib 15 --json --processors 8";
    assert_eq!(
        json(&mut with_topology(line, "two_packages"))["processors"],
        8
    );
}

#[test]
fn simulated_jobs_share_file_processors() {
    let mut command = with_topology("sim jobs - --json", "chiplets");
    command.write_stdin(r#"[["arrive", 1, 99]]"#);
    let found = json(&mut command);
    assert_eq!(found["events"][0]["allotments"], json!({"1": 12}));
}

/// Runs `sim fib 15` on one processor, with a cost file that has this content.
fn with_costs<T>(costs: &str, then: impl FnOnce(&mut assert_cmd::Command) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("costs.json");
    std::fs::write(&file, costs).unwrap();
    let mut command = tidegate("sim fib 15 --json --processors 1 --costs");
    then(command.arg(file))
}

#[test]
fn cost_file_sets_fork_costs() {
    let nanos = |found: &Value| (found["t"].as_f64().unwrap() * 1e9).round() as u64;
    let none = with_costs("[]", json);
    let mut without = json(&mut tidegate("sim fib 15 --json --processors 1"));
    assert_eq!(without["costs"], Value::Null);
    without["costs"] = none["costs"].clone();
    assert_eq!(without, none);
    let dearer = |name: &str| {
        let costs = format!(
            r#"[{{"name": "sim.{name}", "nanos": 1001, "how": ""}}, {{"name": "sim.wake", "nanos": null}}]"#
        );
        nanos(&with_costs(&costs, json)) - nanos(&none)
    };
    let forks = 986;
    assert_eq!(dearer("fork"), 1_000 * forks);
    // No work follows the last joins, so their higher cost does not delay anything.
    assert!((1_000 * (forks - 15)..=1_000 * forks).contains(&dearer("join")));
}

#[test]
fn malformed_cost_file_is_rejected() {
    for (costs, expected) in [
        (
            "fork = 1",
            "expected a list of costs as printed by `tidegate-lab bench calibrate --json`",
        ),
        (
            "[{\"name\": \"sim.fork\", \"nanos\": -1}]",
            "expected a list of costs",
        ),
        (
            "[{\"name\": \"sim.forks\", \"nanos\": 1}]",
            "unknown cost \"sim.forks\"; did you mean \"sim.fork\"?",
        ),
        (
            "[{\"name\": \"sim.slice\", \"nanos\": 1}]",
            "invalid value 1ns for slice: expected a time such as 5ms (ns, us, ms, s) from 10us to 1s",
        ),
    ] {
        let text = with_costs(costs, |command| complaint(command, 2));
        assert_contains(&text, &["costs.json: ", expected]);
    }
    let text = complaint(&mut tidegate("sim fib 15 --costs /no/such/file"), 3);
    assert!(text.contains("/no/such/file cannot be read: "), "{text}");
}

#[test]
fn job_with_desire_starts_small() {
    let loopy = |rule: &str| {
        let line = format!("sim loopy 64 --steps 100000000 --processors 16 --json {rule}");
        let found = json(&mut tidegate(&line));
        found["all_procs_seconds"].as_f64().unwrap()
    };
    let [all, wsap, default, counting] = [
        "",
        "--desire wsap:eta=0.5",
        "--desire steady",
        "--desire instantaneous",
    ]
    .map(loopy);
    assert!(all < 0.001, "{all}");
    assert!(wsap > 0.01 && default > 0.01);
    assert!(counting > 2.5 * wsap && counting > 2.5 * default);
}

/// Each row must equal the output of a run with that seed alone.
#[test]
fn several_seeds_print_rows_and_summary() {
    let line = "sim uts --tree tiny --processors 8 --json";
    let found = json(&mut tidegate(&format!("{line} --seeds 5 --sim-seed 3")));
    let runs = found["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 5);
    for (seed, row) in (3..).zip(runs) {
        let alone = json(&mut tidegate(&format!("{line} --sim-seed {seed}")));
        for name in [
            "sim_seed",
            "t",
            "p_mean",
            "steals",
            "attempts",
            "peak_bytes",
        ] {
            assert_eq!(row[name], alone[name], "{seed}: {name}");
        }
        assert_eq!(row["mean_response"], row["t"]);
        assert_eq!(row["worst_response"], row["t"]);
    }
    let mut times: Vec<_> = runs.iter().map(|row| row["t"].as_f64().unwrap()).collect();
    times.sort_by(f64::total_cmp);
    let expected = json!({"median": times[2], "min": times[0], "max": times[4]});
    assert_eq!(found["summary"]["t"], expected);
    assert!(times[0] < times[4]);
}

#[test]
fn seed_output_ignores_worker_count() {
    for form in ["", "--json", "--csv"] {
        let printed = ["1", "3"].map(|workers| {
            let line =
                format!("sim uts --tree tiny --processors 8 --seeds 20 --desire wsap {form}");
            text(tidegate(&line).env("TIDEGATE_WORKERS", workers))
        });
        assert_eq!(printed[0], printed[1], "{form}");
    }
}

#[test]
fn instances_arrive_at_given_times() {
    let line = "sim fib 15 --processors 4 --desire wsap --json";
    let found = json(&mut tidegate(&format!("{line} --arrivals at:2ms,0ms,1ms")));
    assert_eq!(found["instances"], 3);
    assert_eq!(found["sim_seed"], 1);
    assert_eq!(found["arrivals"], "at:2ms,0ns,1ms");
    let arrived = |found: &Value| -> Vec<_> {
        let jobs = found["jobs"].as_array().unwrap();
        jobs.iter()
            .map(|job| job["arrived"].as_f64().unwrap())
            .collect()
    };
    assert_eq!(arrived(&found), [0.002, 0.0, 0.001]);
    for job in found["jobs"].as_array().unwrap() {
        assert_eq!(job["tasks"], 1973);
        assert_eq!(job["bounds_broken"], 0);
    }
    let together = json(&mut tidegate(&format!("{line} --instances 3")));
    assert_eq!(arrived(&together), [0.0; 3]);
    assert_eq!(together["arrivals"], Value::Null);
    let random = |seed| {
        arrived(&json(&mut tidegate(&format!(
            "{line} --instances 3 --arrivals poisson:1ms --sim-seed {seed}"
        ))))
    };
    assert_eq!(random(1), random(1));
    assert_ne!(random(1), random(2));
    assert!(random(1).is_sorted() && random(1)[0] > 0.0);
}

/// If every job has all processors, the jobs take turns on them, so each job takes longer.
#[test]
fn unlimited_jobs_share_in_time_slices() {
    let line = "sim loopy 64 --steps 30000 --processors 4 --json --instances";
    let mean = |instances| {
        let found = json(&mut tidegate(&format!("{line} {instances} --seeds 2")));
        found["summary"]["mean_response"]["median"]
            .as_f64()
            .unwrap()
    };
    assert!(mean(4) > 2.0 * mean(1));
}

/// A thief in line for its processor must not keep new work from parked workers.
#[test]
fn pinned_thieves_do_not_hold_up_shared_processors() {
    let line = "sim sparselu --instances 4 --pinned --processors 16 --json --idle";
    let [yields, parks] = ["elastic", "elastic:search=0ns"].map(|idle| {
        let found = json(&mut tidegate(&format!("{line} {idle}")));
        let jobs = found["jobs"].as_array().unwrap().iter();
        jobs.map(|job| job["t"].as_f64().unwrap()).sum::<f64>()
    });
    assert!(yields < 1.2 * parks, "{yields} s, {parks} s");
}

fn jobs(arguments: &str, events: &str) -> assert_cmd::Command {
    let mut command = tidegate(&format!("sim jobs - {arguments}"));
    command.write_stdin(events);
    command
}

#[test]
fn job_events_follow_published_trace() {
    let events = json!([
        ["arrive", 1, 4],
        ["arrive", 2, 16],
        ["arrive", 3, 2],
        ["desire", 3, 16],
        ["arrive", 4, 8],
        ["leave", 2],
    ]);
    let line = "--processors 16 --allot dp --json";
    let found = json(&mut jobs(line, &events.to_string()));
    let steps = found["events"].as_array().unwrap();
    let told: Vec<_> = steps.iter().map(|step| step["event"].clone()).collect();
    assert_eq!(Value::Array(told), events);
    let allotments: Vec<_> = steps
        .iter()
        .map(|step| step["allotments"].clone())
        .collect();
    let expected = [
        json!({"1": 4}),
        json!({"1": 4, "2": 12}),
        json!({"1": 4, "2": 10, "3": 2}),
        json!({"1": 4, "2": 6, "3": 6}),
        json!({"1": 4, "2": 4, "3": 4, "4": 4}),
        json!({"1": 4, "3": 6, "4": 6}),
    ];
    assert_eq!(allotments, expected);
}

/// The events must be accepted in a file and on standard input.
#[test]
fn allotment_rules_divide_differently() {
    let events = r#"[["arrive", 1, 2], ["arrive", 2, 16]]"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    std::fs::write(&path, events).unwrap();
    for (rule, expected) in [("dp", [2, 14]), ("deq", [2, 14]), ("equi", [8, 8])] {
        let line = format!("--processors 16 --allot {rule} --json");
        let found = json(&mut jobs(&line, events));
        let last = &found["events"][1]["allotments"];
        assert_eq!(*last, json!({"1": expected[0], "2": expected[1]}), "{rule}");
        let mut command = tidegate(&format!("sim jobs {line}"));
        assert_eq!(json(command.arg(&path)), found);
    }
    let text = text(&mut jobs("", events));
    assert!(text.contains("1: 2, 2: 14"), "{text}");
}

/// The command must print nothing except the error.
#[test]
fn bad_event_is_reported_by_position() {
    #[rustfmt::skip]
    let rows = [
        ("", "EOF"),
        ("[[\"arrive\", 1, 4]", "EOF"),
        ("{}", "not a list"),
        ("[7]", "event 0: 7 is not an event"),
        ("[[]]", "event 0: [] is not an event"),
        ("[[\"arrive\", 1]]", "event 0: [\"arrive\",1] is not an event"),
        ("[[\"sleep\", 1]]", "event 0: [\"sleep\",1] is not an event: expected"),
        ("[[\"arrive\", 1, 4], [\"arrive\", 1, 4]]", "event 1: job 1 has already arrived"),
        ("[[\"arrive\", 1, 4], [\"leave\", 1], [\"leave\", 1]]", "event 2: unknown job 1"),
        ("[[\"desire\", 9, 4]]", "event 0: unknown job 9"),
        ("[[\"arrive\", -1, 4]]", "event 0: invalid job -1: expected an integer"),
        ("[[\"arrive\", 1, -4]]", "event 0: invalid desire -4: expected an integer from 0 to 65536"),
        ("[[\"arrive\", 1, 65537]]", "invalid desire 65537"),
        ("[[\"arrive\", 1, 99999999999999999999999]]", "invalid desire 1e+23"),
        ("[[\"arrive\", 1.5, 4]]", "invalid job 1.5"),
    ];
    for (events, words) in rows {
        for arguments in ["", "--json"] {
            let text = complaint(&mut jobs(arguments, events), 2);
            assert!(text.contains(words), "{events}: {text}");
            assert!(text.starts_with("tidegate: standard input: "), "{text}");
            assert_eq!(text.lines().count(), 1, "{text}");
        }
    }
    let text = complaint(&mut tidegate("sim jobs no/such/file"), 3);
    assert!(
        text.starts_with("tidegate: no/such/file cannot be read"),
        "{text}"
    );
}

#[test]
fn tasks_near_data_miss_less() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.txt");
    std::fs::write(&file, "cpus 0-3\nL3 0-1 2-3\n").unwrap();
    let missed = |locality: &str| {
        let line = format!(
            "sim cachestress --size tiny --locality {locality} --cache 20KiB --topology {} --json",
            file.display()
        );
        let found = json(&mut tidegate(&line));
        assert_eq!(found["cache_bytes"], 20 << 10);
        // Each of the 16 tasks reads an array of 5,000 integers three times.
        assert_eq!(found["touched_bytes"], 16 * 3 * 20_000);
        found["missed_bytes"].as_u64().unwrap()
    };
    assert_eq!(missed("best"), 2 * 20_000);
    assert!(missed("worst") > 10 * 20_000);
}
