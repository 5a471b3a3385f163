//! Declared memory after faults: reservations that are never released, and thread creation that
//! fails.
//!
//! Each case runs in a separate process. Some cases limit the process's address space; others read
//! its standard error while it runs.

use crate::support::jobs::{Job, plays};
use crate::support::{Gate, Opens, Tally, until, watched};
use std::io::Read;
use tidegate::memory;
use tidegate::{
    Pool,
    policy::{MemoryPolicy, SharePolicy},
};
use tidegate_testkit::{is_child, limited, succeeds};

const KIB: usize = 1 << 10;

/// The source line on which [`forget`] makes its reservation.
const FORGOTTEN_AT: u32 = line!() + 4;

/// Reserves `bytes` bytes and never releases them.
fn forget(bytes: usize) {
    std::mem::forget(memory::reserve(bytes).unwrap());
}

/// 8 KiB have been forgotten. So while the first half holds 4 KiB, there is no room for the second
/// half's 6 KiB. Without the forgotten reservation, both would fit. The first half continues when
/// the test closes the process's standard input.
fn asks_beside_a_forgotten_reservation() {
    let memory: MemoryPolicy = "budget:bytes=15KiB,serial=5KiB".parse().unwrap();
    let builder = Pool::builder().workers(2).name("harbour");
    let pool = builder
        .share(SharePolicy::Off)
        .memory(memory)
        .stall_report(1)
        .build()
        .unwrap();
    pool.install(|| forget(8 * KIB));
    let holds = Gate::new();
    let first = || {
        let _held = memory::reserve(4 * KIB).unwrap();
        holds.open();
        tidegate::blocking(|| std::io::stdin().read_to_end(&mut vec![]).unwrap())
    };
    let second = || {
        holds.wait();
        memory::reserve(6 * KIB).map(|reservation| reservation.bytes())
    };
    let (_, asked) = pool.install(|| tidegate::join(first, second));
    assert_eq!(asked, Ok(6 * KIB));
    let memory = pool.stats().memory;
    assert_eq!((memory.declared, memory.peak), (8 << 10, 14 << 10));
    eprintln!("ended");
}

/// A request that waits because of a forgotten reservation reports where that reservation was made.
/// The request is granted as soon as it fits.
#[test]
fn long_waiter_reports_and_resumes() {
    const NAME: &str = "memory::faults::long_waiter_reports_and_resumes";
    if plays(NAME) {
        return asks_beside_a_forgotten_reservation();
    }
    let folder = tempfile::tempdir().unwrap();
    let mut job = Job::start(NAME, &folder.path().join("table"), &[]);
    let report = job.says("waits for memory");
    let begins = format!(
        "tidegate: pool harbour: a task waits for memory: for 6KiB at {}:",
        file!()
    );
    assert!(report.starts_with(&begins), "{report}");
    let held = format!(
        "and 12KiB of 15KiB are declared; held: 8KiB by {}:{FORGOTTEN_AT}:",
        file!()
    );
    assert!(report.contains(&held), "{report}");
    assert!(report.contains(", 4KiB by "), "{report}");
    let all = job.end();
    let of = |text: &str| all.iter().filter(|line| line.contains(text)).count();
    assert_eq!((of("waits for memory"), of("ended")), (1, 1), "{all:?}");
}

/// Computes a Fibonacci number. Each call holds 1 KiB until it returns, so the serial run holds at
/// most `n` KiB at a time.
fn memfib(n: u64) -> u64 {
    let _reservation = memory::reserve(KIB).unwrap();
    if n < 2 {
        return n;
    }
    let (a, b) = tidegate::join(|| memfib(n - 1), || memfib(n - 2));
    a + b
}

/// Policies under which tasks sleep until memory is available. The budget is exactly what the
/// serial run needs.
const POLICIES: [&str; 3] = [
    "budget:bytes=12KiB,serial=12KiB",
    "dfdeques:k=512",
    "depth-first:k=512",
];

/// The size of each thread's stack: larger than everything else in the child's address space.
const STACK: usize = 1 << 30;

/// Creates a pool that takes its memory policy and its number of workers from the environment.
fn pool_with_large_stacks() -> Pool {
    let builder = Pool::builder().stack_size(STACK).share(SharePolicy::Off);
    builder.name("wreck").build().unwrap()
}

/// Runs the child `name` under each policy, with enough address space for `threads` of the pool's
/// threads.
fn with_threads(name: &str, threads: usize) {
    for policy in POLICIES {
        let variables = [
            ("TIDEGATE_MEMORY", policy),
            ("TIDEGATE_WORKERS", &threads.max(1).to_string()),
        ];
        let mebibytes = (threads * STACK + STACK * 9 / 10) >> 20;
        let errors = succeeds(&limited(name, mebibytes, &variables));
        let line = format!(
            "tidegate: pool wreck: the system refused thread {}: ",
            threads + 1
        );
        assert!(errors.contains(&line), "{policy}: {errors}");
        assert!(errors.contains("ended\n"), "{policy}: {errors}");
    }
}

/// Runs a join whose second half requests memory after the first half has spawned a task, which
/// precedes the second half in the plan's order. If the second half sleeps until memory is
/// available, it leaves a slot for which there is work. With two workers, there is no thread to use
/// that slot.
fn halves_and_a_task_before_them(pool: &Pool) {
    let (begun, spawned, ended) = (Gate::new(), Gate::new(), Gate::new());
    let before = pool.stats().memory.sleeps;
    let first = || {
        tidegate::scope(|scope| {
            begun.wait();
            scope.spawn(|_| assert_eq!(memfib(12), 144));
            spawned.open();
            let slept = || pool.stats().memory.sleeps > before;
            tidegate::blocking(|| until(|| ended.is_open() || slept()));
            memfib(12)
        })
    };
    let second = || {
        begun.open();
        spawned.wait();
        let _ends = Opens(&ended);
        memfib(11)
    };
    assert_eq!(pool.install(|| tidegate::join(first, second)), (144, 89));
}

#[test]
fn child_sleeps_when_threads_run_out() {
    if !is_child() {
        return;
    }
    watched(|| {
        let pool = pool_with_large_stacks();
        for _ in 0..20 {
            halves_and_a_task_before_them(&pool);
        }
        // On one processor, the memory may be there in time in all of these rounds.
        while pool.stats().memory.sleeps == 0 {
            halves_and_a_task_before_them(&pool);
        }
        assert_eq!(pool.stats().memory.declared, 0);
        eprintln!("ended");
    });
}

#[test]
fn sleeping_tasks_finish_on_existing_threads() {
    for workers in [2, 4] {
        with_threads("memory::faults::child_sleeps_when_threads_run_out", workers);
    }
}

#[test]
fn child_requests_memory_without_threads() {
    if !is_child() {
        return;
    }
    watched(|| {
        let pool = pool_with_large_stacks();
        assert_eq!(pool.install(|| memfib(12)), 144);
        assert_eq!(pool.join(|| memfib(12), || memfib(11)), (144, 89));
        let ran = Tally::new();
        pool.scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|_| {
                    assert_eq!(memfib(12), 144);
                    ran.come();
                });
            }
        });
        assert_eq!(ran.get(), 3);
        let values = pool.scope(|scope| {
            let results = tidegate::stream(0..3).in_scope(scope).map(|_| memfib(12));
            results.ordered().collect::<Vec<_>>()
        });
        assert_eq!(values, [144; 3]);
        assert_eq!(pool.spawn(|| memfib(12)).join(), 144);
        assert_eq!(pool.stats().memory.declared, 0);
        eprintln!("ended");
    });
}

#[test]
fn threadless_pool_lets_callers_reserve() {
    with_threads("memory::faults::child_requests_memory_without_threads", 0);
}
