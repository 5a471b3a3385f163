//! `tidegate-lab bench`: the contents of its rows, and the arguments that it rejects.
#![cfg(target_os = "linux")]

use crate::support::{assert_contains, complaint, json, lab, printed};
use serde_json::Value;
use tidegate_policy::QueueKind;
use tidegate_workloads::registry::ENTRIES;

/// Whether this process may use two processors, as some benches must. If not, prints that the test
/// is skipped.
fn has_two_processors() -> bool {
    let has = std::thread::available_parallelism().is_ok_and(|processors| processors.get() > 1);
    if !has {
        println!("skipped: the bench needs two processors");
    }
    has
}

#[test]
fn handover_prints_five_figures() {
    if !has_two_processors() {
        return;
    }
    let found = json(&mut lab("bench handover --repeat 1 --json"));
    for figure in [
        "handover_us",
        "futex_us",
        "release_us",
        "recover_ms",
        "all_procs_ms",
    ] {
        for name in [figure.to_owned(), format!("{figure}_p99")] {
            // On a loaded machine, a sample may be missing, but the field still exists.
            let is_figure = |value: &Value| value.is_number() || value.is_null();
            assert!(found.get(&name).is_some_and(is_figure), "{name}: {found}");
        }
    }
}

#[test]
fn calibrate_measures_every_simulator_cost() {
    if !has_two_processors() {
        return;
    }
    let rows = json(&mut lab("bench calibrate --size tiny --repeat 1 --json"));
    let names = rows.as_array().unwrap().iter().map(|row| &row["name"]);
    let table = tidegate_policy::tunables::rows();
    let costs = table.iter().map(|row| row.name);
    // The bench does not measure costs that this runtime does not have.
    let others = "processors cache unwind forfeit call wake-series scheduler";
    let is_other = |name| others.split(' ').any(|other| other == name);
    let costs = costs.filter(|name| {
        name.strip_prefix("sim.")
            .is_some_and(|name| !is_other(name))
    });
    assert_eq!(names.collect::<Vec<_>>(), costs.collect::<Vec<_>>());
    for row in rows.as_array().unwrap() {
        // All processors of the machine may be equally distant, and a thread may never be seen to
        // lose its processor, so these two costs may be missing.
        let may_lack = row["name"] == "sim.distance" || row["name"] == "sim.slice";
        assert!(row["nanos"].is_u64() || may_lack, "{row}");
        assert!(
            row["default_nanos"].is_u64() && row["how"].is_string(),
            "{row}"
        );
    }
    let text = printed(&mut lab("bench calibrate --size tiny --repeat 1 --csv"));
    let first: Vec<_> = text.lines().map(|line| line.split(',').next()).collect();
    assert_eq!(first[0], Some("cost"));
    let is_cost = |name: &Option<&str>| name.is_some_and(|name| name.starts_with("sim."));
    assert!(first.len() > 1 && first[1..].iter().all(is_cost), "{text}");
}

#[test]
fn bench_job_rejects_unknown_instructions() {
    for (line, why) in [
        ("{}", "`bench job` does not understand {}"),
        (
            r#"{"program": "sor", "runtime": "rayon", "parameters": {}, "workers": 1, "share": "off"}"#,
            "sor needs intervals, and rayon has none",
        ),
    ] {
        let told = complaint(lab("bench job").write_stdin(format!("{line}\n")), 2);
        assert!(told.contains(why), "{told}");
    }
}

/// There must also be a row for each pair of a queue and an interval program.
#[test]
fn queue_bench_has_rows_per_queue() {
    let found = json(&mut lab("bench queues --repeat 1 --json"));
    let rows = |kind: &str| found[kind].as_array().expect("a list of rows");
    let (rows, of_programs) = (rows("queues"), rows("programs"));
    for program in programs() {
        let rows = of_programs.iter().filter(|row| row["program"] == program);
        let names = rows.clone().filter_map(|row| row["queue"].as_str());
        assert!(names.eq(QueueKind::ALL.iter().map(|queue| queue.name())));
        for row in rows {
            for figure in ["seconds", "ratio_to_default"] {
                assert!(row[figure].as_f64().unwrap() > 0.0, "{row}");
            }
            assert_eq!(row["workers"], 2, "{row}");
        }
    }
    let names = rows.iter().filter_map(|row| row["queue"].as_str());
    let queues = QueueKind::ALL.iter().map(|queue| queue.name());
    assert!(names.eq(queues.chain(["crossbeam"])));
    for row in rows {
        for figure in ["put_take_ns", "steal_ns", "steal_contended_ns"] {
            let nanos = row[figure].as_f64();
            // Without membarrier, thieves get nothing from a split deque whose owner is idle.
            let may_miss = row["queue"] == "split" && figure != "put_take_ns";
            let fits = nanos.map_or(may_miss, |nanos| nanos > 0.0);
            assert!(fits, "{figure}: {row}");
        }
        for tried in ["take", "steal"] {
            let count = |what| row[format!("{tried}_{what}")].as_f64().expect("a number");
            assert!(count("failures") <= count("attempts"), "{row}");
            assert!(count("attempts") > 0.0, "{row}");
        }
    }
}

#[test]
fn place_bench_covers_every_locality() {
    let mut bench = lab("bench places --size tiny --repeat 2 --json");
    let found = json(bench.env("TIDEGATE_WORKERS", "2"));
    let rows = found.as_array().expect("a list of rows");
    for row in rows {
        assert_eq!((&row["workers"], &row["median_of"]), (&2.into(), &2.into()));
        let positive = |field: &str| row[field].as_f64().is_some_and(|value| value > 0.0);
        assert!(positive("seconds") && positive("ratio"), "{row}");
        assert!(row["steals"].is_number(), "{row}");
        for count in ["cache_references", "last_level_misses"] {
            // Many machines deny access to the performance counters.
            assert!(row[count].is_number() || row[count].is_null(), "{row}");
        }
    }
    let of = |program: &str, locality: Value, places: &str| {
        let fits = |row: &&Value| {
            row["program"] == program && row["locality"] == locality && row["places"] == places
        };
        rows.iter().filter(fits).collect::<Vec<_>>()
    };
    let mut expected = 0;
    let mut has_both = |rows: Vec<&Value>, is_base: bool| {
        let bound: Vec<_> = rows.iter().map(|row| row["bound"] == true).collect();
        assert_eq!(bound, [false, true]);
        assert!(!is_base || rows.iter().all(|row| row["ratio"] == 1.0));
        expected += rows.len();
    };
    for program in ["cachestress", "mergesort", "blockmatmul"] {
        for locality in ["best", "ignorant", "in-turn", "random", "worst"] {
            let rows = of(program, locality.into(), "each:1");
            has_both(rows, locality == "ignorant");
        }
    }
    for program in ["fib", "quicksort"] {
        has_both(of(program, Value::Null, "machine"), true);
        has_both(of(program, Value::Null, "each:1"), false);
    }
    assert_eq!(rows.len(), expected);
}

#[test]
fn missing_cache_counters_are_explained_once() {
    let mut bench = lab("bench places --size tiny --repeat 1 --wide");
    let text = printed(bench.env("TIDEGATE_WORKERS", "2"));
    let missing = text.contains(" - |");
    let reasons = text.matches("cache counters are not available: ").count();
    assert_eq!(reasons, usize::from(missing), "{text}");
}

#[test]
fn place_bench_needs_two_workers() {
    let text = complaint(lab("bench places").env("TIDEGATE_WORKERS", "1"), 3);
    let why = "requires two workers, but there is one (set by TIDEGATE_WORKERS)";
    assert_contains(&text, &[why]);
}

/// Returns the names of the programs made of intervals.
fn programs() -> impl Iterator<Item = &'static str> {
    let programs = ENTRIES.iter().filter(|entry| entry.intervals);
    programs.map(|entry| entry.name)
}

#[test]
#[cfg(not(feature = "dagrs"))]
fn interval_bench_names_its_feature() {
    let text = complaint(&mut lab("bench intervals"), 3);
    assert!(text.contains("build it with `--features dagrs`"), "{text}");
}

#[test]
#[cfg(feature = "dagrs")]
fn interval_bench_compares_with_spawns() {
    let found = json(&mut lab("bench intervals --size tiny --repeat 1 --json"));
    let rows = found.as_array().expect("a list of rows");
    let of = |case: &str, runtime: &str, figure: &str| -> Vec<Option<f64>> {
        let rows = rows.iter();
        let rows = rows.filter(|row| row["case"] == case && row["runtime"] == runtime);
        rows.map(|row| row[figure].as_f64()).collect()
    };
    let spawns = ["rayon", "tidegate"].map(|runtime| ("spawns", runtime, 0.0));
    let ordered = ["tidegate", "dagrs"].into_iter().flat_map(|runtime| {
        [
            ("no edges", runtime, 0.0),
            ("1 edge each", runtime, 0.99),
            ("2 edges each", runtime, 1.97),
            ("5 edges each", runtime, 4.85),
            ("chain", runtime, 0.99),
        ]
    });
    for (case, runtime, edges) in spawns.into_iter().chain(ordered) {
        assert_eq!(of(case, runtime, "workers"), [Some(1.0), Some(2.0)]);
        assert_eq!(of(case, runtime, "edges"), [Some(edges); 2]);
        let nanos = of(case, runtime, "ns_per_interval");
        assert!(nanos.iter().all(|nanos| nanos.unwrap() > 0.0));
        // On a busy machine, the measured cost of an edge may be zero or negative.
        let edge = of(case, runtime, "ns_per_edge");
        assert!(edge.iter().all(|nanos| nanos.is_some() == (edges > 0.0)));
    }
    for program in programs() {
        assert_eq!(of(program, "tidegate", "workers"), [Some(1.0), Some(2.0)]);
        let ratios = of(program, "tidegate", "ratio_to_serial");
        assert!(ratios.iter().all(|ratio| ratio.unwrap() > 0.0));
    }
}

#[test]
fn memory_bench_covers_all_policies() {
    let found = json(&mut lab("bench memory --size tiny --repeat 1 --json"));
    let rows = found.as_array().expect("a list");
    assert_eq!(rows.len(), 6 * 6 * 4);
    for row in rows {
        let number = |field: &str| row[field].as_f64();
        let policy = row["policy"].as_str().unwrap();
        assert_eq!(row["verified"], true, "{row}");
        let fields = "workers peak_declared_bytes seconds s1_bytes tinf_seconds tinf_actions \
            peak_ratio time_ratio peak_rss_bytes";
        for field in fields.split(' ') {
            assert!(number(field) > Some(0.0), "{field}: {row}");
        }
        let is_ours = policy != "rayon";
        for field in ["steals", "sleeps", "undeclared_peak_bytes"] {
            assert_eq!(number(field).is_some(), is_ours, "{field}: {row}");
        }
        assert_eq!(number("bound_bytes").is_some(), policy != "hybrid");
        assert_eq!(number("budget_bytes").is_some(), policy == "budget");
        let has_k = ["depth-first", "dfdeques"].contains(&policy);
        assert_eq!(number("k_bytes").is_some(), has_k);
    }
}

mod streams {
    use super::*;

    #[test]
    fn every_runtime_has_a_row_in_each_case() {
        let mut bench = lab("bench streams --size tiny --repeat 1 --json");
        let found = json(bench.env("TIDEGATE_WORKERS", "2"));
        let rows = found.as_array().expect("a list of rows");
        let mut expected = Vec::new();
        for item in [1e-6, 1e-3] {
            for window in [4.0, 64.0] {
                expected.extend(["pariter", "tidegate", "serial"].map(|name| (item, window, name)));
            }
        }
        let mut cases = Vec::new();
        for row in rows {
            let number = |field: &str| row[field].as_f64().expect("a number");
            let is_positive = |field| number(field) > 0.0;
            let figures = ["seconds_per_item", "throughput_ratio"];
            assert!(figures.into_iter().all(is_positive), "{row}");
            let runtime = row["runtime"].as_str().expect("a name");
            assert_eq!(row["workers"], if runtime == "serial" { 1 } else { 2 });
            cases.push((number("item_seconds"), number("window"), runtime));
        }
        assert_eq!(cases, expected);
    }
}
