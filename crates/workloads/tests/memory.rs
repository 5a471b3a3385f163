//! Checks the programs that reserve memory: their answers under every policy, their peak under a
//! budget slightly larger than the serial run's peak, and the serial peak (S1) that their code
//! implies. These tests have their own process, because other programs would change its count of the
//! memory that is declared.

mod support;

use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tidegate::{
    Pool,
    policy::{MemoryPolicy, SharePolicy},
};
use tidegate_sim::WorkSpan;
use tidegate_workloads::parameter::Kind;
use tidegate_workloads::registry::ENTRIES;
use tidegate_workloads::{
    Answer, Counted, Given, Program, Runtime, Serial, Simulated, SimulatedVisitor, Size, Threads,
    Tidegate, Visitor, visit, visit_simulated,
};

use support::{Named, given, refusal};

const PROGRAMS: [&str; 6] = [
    "memfib",
    "nested",
    "matmul",
    "strassen",
    "sortmany",
    "decompress",
];

const POLICIES: [&str; 4] = [
    "none",
    "hybrid:alpha=64KiB,beta=16KiB",
    "depth-first:k=64KiB",
    "dfdeques:k=64KiB",
];

/// Takes a lock. Tests must hold the lock while they reserve memory on a runtime that counts,
/// because the whole process shares one counter.
fn counter() -> MutexGuard<'static, ()> {
    static COUNTER: Mutex<()> = Mutex::new(());
    COUNTER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pool(workers: usize, memory: &str) -> Tidegate {
    let memory: MemoryPolicy = memory.parse().unwrap();
    let builder = Pool::builder().workers(workers).share(SharePolicy::Off);
    Tidegate::new(builder.memory(memory).build().unwrap())
}

/// Returns the answer of a run, and the peak of the memory that the run declares.
fn counted<P: Program>(program: &P, run: impl FnOnce(&mut P::Input) -> P::Output) -> (Answer, u64) {
    let mut input = program.prepare().unwrap();
    let _alone = counter();
    let output = run(&mut input);
    let peak = Counted::take_peak();
    assert_eq!(Counted::take_peak(), 0, "{} gives all back", P::NAME);
    (program.answer(&input, &output), peak)
}

/// Runs a program on a runtime that only counts declared memory; returns the answer and the peak.
fn counted_on<R: Runtime>(program: &impl Program, workers: usize) -> (Answer, u64) {
    let runtime = R::with_workers(workers).unwrap();
    counted(program, |input| {
        runtime.install(|fork| program.parallel::<R>(input, fork))
    })
}

/// Runs a program on several runtimes and under every memory policy, and checks its answers.
struct RightEverywhere;

impl RightEverywhere {
    /// Runs a program twice on a pool, checks its answers, and returns the peak of its declared
    /// memory.
    fn peak_on<P: Program>(program: &P, pool: &Tidegate, expected: &Answer) -> u64 {
        let mut input = program.prepare().unwrap();
        for _ in 0..2 {
            program.reset(&mut input);
            let run = |fork: &mut ()| program.parallel::<Tidegate>(&mut input, fork);
            let output = pool.install(run);
            let answer = program.answer(&input, &output);
            assert_eq!(&answer, expected, "{} {:?}", P::NAME, program.parameters());
        }
        let memory = pool.pool().stats().memory;
        assert_eq!(memory.declared, 0, "{}", P::NAME);
        memory.peak
    }
}

impl Visitor for RightEverywhere {
    type Out = ();

    fn visit<P: Program>(self, program: P) {
        let (expected, serial) = counted(&program, |input| program.serial(input));
        if let Some(known) = program.published() {
            assert_eq!(expected, known.answer, "{} serially", P::NAME);
        }
        let same = (expected.clone(), serial);
        assert_eq!(counted_on::<Serial>(&program, 1), same, "{}", P::NAME);
        for workers in [1, 3] {
            let (answer, _) = counted_on::<Threads>(&program, workers);
            assert_eq!(answer, expected, "{} on threads", P::NAME);
        }
        let budget = serial + serial / 10;
        let bounded = format!("budget:bytes={budget},serial={serial}");
        for workers in [1, 2, 4] {
            for policy in POLICIES {
                let peak = Self::peak_on(&program, &pool(workers, policy), &expected);
                // All memory that the serial run holds at its peak is on one path, so every order
                // must hold all of it at once.
                assert!(peak >= serial, "{} {policy}: {peak}", P::NAME);
            }
            let peak = Self::peak_on(&program, &pool(workers, &bounded), &expected);
            assert!(peak <= budget, "{} {workers}: {peak} > {budget}", P::NAME);
        }
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
    for name in PROGRAMS {
        for form in forms(name) {
            visit(name, Size::Tiny, &form, RightEverywhere).unwrap();
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
    struct Peak;

    impl Visitor for Peak {
        type Out = u64;

        fn visit<P: Program>(self, program: P) -> u64 {
            counted(&program, |input| program.serial(input)).1
        }
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
        let peak = visit(name, Size::Tiny, &given(named), Peak).unwrap();
        assert_eq!(peak, expected, "{name}");
    }
}

#[test]
fn impossible_parameters_name_allowed_values() {
    for (name, wrong, told) in [
        (
            "nested",
            [("width", "12")],
            "invalid value 12 for width: expected a multiple of 8",
        ),
        (
            "matmul",
            [("n", "24")],
            "invalid value 24 for n: expected a power of two",
        ),
        (
            "strassen",
            [("n", "0")],
            "invalid value \"0\" for n: expected an integer from 1",
        ),
    ] {
        let refusal = refusal(name, &wrong).to_string();
        assert!(refusal.contains(told), "{refusal}");
    }
}

#[test]
fn dag_reserves_as_serial_run_does() {
    struct Both;

    impl SimulatedVisitor for Both {
        type Out = [u64; 2];

        fn visit<P: Simulated>(self, program: P) -> [u64; 2] {
            let serial = counted(&program, |input| program.serial(input)).1;
            [serial, WorkSpan::of(&program.dag()).peak_bytes]
        }
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
        let [serial, dag] = visit_simulated(name, Size::Tiny, &given(named), Both).unwrap();
        assert_eq!(serial, dag, "{name} {named:?}");
        assert!(serial > 0, "{name}");
    }
}
