//! Checks the programs that reserve memory: their answers under every policy, their peak under a
//! budget slightly larger than the serial run's peak, and the serial peak (S1) that their code
//! implies. Tests that count declared memory have their own process, because the programs of other
//! tests would change its count.

use std::fs;
use tidegate::{
    Pool,
    policy::{MemoryPolicy, SharePolicy},
};
use tidegate_sim::WorkSpan;
use tidegate_workloads::parameter::Kind;
use tidegate_workloads::registry::ENTRIES;
use tidegate_workloads::{
    Counted, Given, On, Runtime, Size, Threads, Tidegate, Trial, find_simulated,
};

use crate::support::{Named, assert_refused, given, is_right, trial};
use tidegate_testkit::is_alone;

#[rustfmt::skip]
const PROGRAMS: [&str; 6] = [
    "memfib", "nested", "matmul", "strassen", "sortmany", "decompress",
];

const POLICIES: [&str; 4] = [
    "none",
    "hybrid:alpha=64KiB,beta=16KiB",
    "depth-first:k=64KiB",
    "dfdeques:k=64KiB",
];

fn pool(workers: usize, memory: &str) -> Tidegate {
    let memory: MemoryPolicy = memory.parse().unwrap();
    let builder = Pool::builder().workers(workers).share(SharePolicy::Off);
    Tidegate::new(builder.memory(memory).build().unwrap())
}

/// Runs a program, checks its answer, and returns the peak of the memory that the run declares.
fn counted(trial: &mut dyn Trial, on: On<'_>) -> u64 {
    let _ = Counted::take_peak();
    is_right(trial, on);
    let peak = Counted::take_peak();
    assert_eq!(Counted::take_peak(), 0, "{} gives all back", trial.name());
    peak
}

/// Runs a program twice on a pool, checks its answers, and returns the peak of its declared memory.
fn peak_on(trial: &mut dyn Trial, pool: &Tidegate) -> u64 {
    (0..2).for_each(|_| is_right(trial, On::Tidegate(pool)));
    let memory = pool.pool().stats().memory;
    assert_eq!(memory.declared, 0, "{}", trial.name());
    memory.peak
}

/// Runs a program on threads and under every memory policy, and checks its answers and peaks.
fn is_right_everywhere(name: &str, given: &Given) {
    let trial = &mut *trial(name, given);
    let serial = counted(trial, On::Thread);
    let [one, three] = [1, 3].map(|workers| Threads::with_workers(workers).unwrap());
    assert_eq!(counted(trial, On::Threads(&one)), serial, "{name}");
    counted(trial, On::Threads(&three));
    let budget = serial + serial / 10;
    let bounded = format!("budget:bytes={budget},serial={serial}");
    for workers in [1, 2, 4] {
        for policy in POLICIES {
            let peak = peak_on(trial, &pool(workers, policy));
            // All memory that the serial run holds at its peak is on one path, so every order
            // must hold all of it at once.
            assert!(peak >= serial, "{name} {policy}: {peak}");
        }
        let peak = peak_on(trial, &pool(workers, &bounded));
        assert!(peak <= budget, "{name} {workers}: {peak} > {budget}");
    }
}

/// Returns the parameters that select each form of a program. A program with a single form needs
/// none.
fn forms(name: &str) -> Vec<Given> {
    let entry = ENTRIES.iter().find(|entry| entry.name == name).unwrap();
    let form = entry.parameters.iter().find(|p| p.name == "form");
    match form.map(|form| form.kind) {
        Some(Kind::Choice(forms)) => forms.iter().map(|form| given(&[("form", form)])).collect(),
        _ => vec![Given::default()],
    }
}

/// The test covers every memory policy.
#[test]
fn memory_programs_are_right_within_budget() {
    if !is_alone("memory::memory_programs_are_right_within_budget") {
        return;
    }
    for name in PROGRAMS {
        for form in forms(name) {
            is_right_everywhere(name, &form);
        }
    }
}

#[test]
fn test_covers_every_memory_program() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/memory");
    let names = fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        path.file_stem().unwrap().to_str().unwrap().to_owned()
    });
    let programs = names.filter(|name| ENTRIES.iter().any(|entry| entry.name == name));
    let mut programs: Vec<_> = programs.collect();
    programs.sort_unstable();
    let mut tried = PROGRAMS;
    tried.sort_unstable();
    assert_eq!(programs, tried);
}

#[test]
fn serial_peak_follows_from_parameters() {
    if !is_alone("memory::serial_peak_follows_from_parameters") {
        return;
    }
    // The matrices are divided down to quadrants of 4 rows, so there are temporaries of three
    // sizes.
    let elements = 32 * 32 + 16 * 16 + 8 * 8;
    let matrices = [("n", "32"), ("cutoff", "4")];
    let cases: [(_, &Named<'_>, _); 8] = [
        ("memfib", &[("n", "7"), ("bytes", "100")], 7 * 100),
        ("memfib", &[("bytes", "100"), ("hold", "itself")], 100),
        ("memfib", &[("mix", "0")], 0),
        // An array of n elements, and a sum for each of n tasks.
        ("nested", &[("n", "5"), ("width", "24")], 5 * (24 + 8)),
        ("matmul", &matrices, 8 * elements),
        // Seven quadrants for products and two for sums.
        ("strassen", &matrices, 8 * elements * 9 / 4),
        // One element and one buffer entry of 4 bytes each, and an 8-byte sum.
        ("sortmany", &[("pieces", "1"), ("length", "1")], 8 + 8),
        // The blocks are too short for any command, so only the sums use memory.
        ("decompress", &[("blocks", "3"), ("length", "5")], 3 * 8),
    ];
    for (name, named, expected) in cases {
        let peak = counted(&mut *trial(name, &given(named)), On::Thread);
        assert_eq!(peak, expected, "{name}");
    }
}

#[test]
fn impossible_parameters_name_allowed_values() {
    assert_refused(&[
        "nested width 12 invalid value 12 for width: expected a multiple of 8",
        "matmul n 24 invalid value 24 for n: expected a power of two",
        "strassen n 0 invalid value \"0\" for n: expected an integer from 1",
    ]);
}

#[test]
fn dag_reserves_as_serial_run_does() {
    if !is_alone("memory::dag_reserves_as_serial_run_does") {
        return;
    }
    let more: [(_, &Named<'_>); 10] = [
        ("memfib", &[("hold", "itself")]),
        ("memfib", &[("mix", "0.5")]),
        ("memfib", &[("mix", "0.5"), ("hold", "itself")]),
        ("nested", &[("n", "5"), ("form", "join")]),
        ("matmul", &[("n", "32"), ("cutoff", "4")]),
        ("matmul", &[("n", "32"), ("form", "spawn")]),
        ("strassen", &[("n", "32"), ("cutoff", "4")]),
        ("sortmany", &[("pieces", "3"), ("length", "1")]),
        ("decompress", &[("blocks", "3"), ("length", "5")]),
        ("decompress", &[("blocks", "40"), ("form", "join")]),
    ];
    let usual = PROGRAMS.map(|name| (name, &[] as &Named<'_>));
    for (name, named) in usual.into_iter().chain(more) {
        let given = given(named);
        let serial = counted(&mut *trial(name, &given), On::Thread);
        let dag = find_simulated(name, Size::Tiny, &given)
            .unwrap()
            .slowed(1.0);
        assert_eq!(serial, WorkSpan::of(&*dag).peak_bytes, "{name} {named:?}");
        assert!(serial > 0, "{name}");
    }
}
