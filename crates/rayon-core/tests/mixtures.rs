//! Random programs: joins, scopes, spawns, yields, broadcasts and panics in each other, over three pools. Each counts what it has
//! started and what has run.

mod support;

use fastrand::Rng;
use rayon_core::{Scope, ScopeFifo, ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::watched;

/// How many programs a run tries.
const PROGRAMS: u64 = 1_500;

/// How deeply things stand in each other.
const DEPTH: u32 = 6;

/// The pools, and the detached tasks that were spawned and that have run.
static POOLS: OnceLock<Vec<ThreadPool>> = OnceLock::new();
static SPAWNED: AtomicUsize = AtomicUsize::new(0);
static RUN: AtomicUsize = AtomicUsize::new(0);

fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Counts when it is dropped, after a panic, too.
struct AtEnd<'a>(&'a AtomicUsize);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        count(self.0);
    }
}

/// Panics in silence.
fn panic_now() -> ! {
    resume_unwind(Box::new(()))
}

fn some_pool(random: &mut Rng) -> &'static ThreadPool {
    let pools = POOLS.get().expect("made before anything runs");
    &pools[random.usize(..pools.len())]
}

fn detached(mut random: Rng, depth: u32) {
    count(&SPAWNED);
    let fifo = random.bool();
    let task = move || {
        let _end = AtEnd(&RUN);
        work(random, depth);
    };
    if fifo {
        rayon_core::spawn_fifo(task);
    } else {
        rayon_core::spawn(task);
    }
}

/// One random thing, with others in it.
fn work(mut random: Rng, depth: u32) {
    let Some(below) = depth.checked_sub(1) else {
        if random.u8(..4) == 0 {
            rayon_core::yield_local();
        }
        return;
    };
    match random.u8(..12) {
        0..4 => join(random, below),
        4 => waits_for_all(|book| rayon_core::scope(|s| tasks(s, random, below, book))),
        5 => waits_for_all(|book| rayon_core::scope_fifo(|s| tasks_fifo(s, random, below, book))),
        6 => {
            let pool = some_pool(&mut random);
            waits_for_all(|book| pool.in_place_scope(|s| tasks(s, random, below, book)));
        }
        7 => {
            let pool = some_pool(&mut random);
            waits_for_all(|book: &Book| {
                pool.in_place_scope_fifo(|s| tasks_fifo(s, random, below, book));
            });
        }
        8 => some_pool(&mut random).install(|| work(random, below)),
        9 => {
            detached(random.fork(), below);
            work(random, below);
        }
        10 if random.u8(..8) == 0 => {
            let parts = AtomicUsize::new(0);
            rayon_core::broadcast(|_| count(&parts));
            assert_eq!(parts.into_inner(), rayon_core::current_num_threads());
        }
        _ => {
            rayon_core::yield_now();
            work(random, below);
        }
    }
}

fn join(mut random: Rng, depth: u32) {
    let run = AtomicUsize::new(0);
    let mut half = || {
        let (mut own, panics) = (random.fork(), random.u8(..30) == 0);
        let run = &run;
        let body = move || {
            if own.u8(..3) == 0 {
                detached(own.fork(), depth);
            }
            work(own, depth);
            count(run);
            if panics {
                panic_now();
            }
        };
        (body, panics)
    };
    let ((a, a_panics), (b, b_panics)) = (half(), half());
    let ended = catch_unwind(AssertUnwindSafe(|| rayon_core::join(a, b)));
    assert_eq!(run.load(Ordering::Relaxed), 2, "both halves run");
    assert_eq!(ended.is_err(), a_panics || b_panics);
}

/// What a scope has spawned and what of it has run.
#[derive(Default)]
struct Book {
    spawned: AtomicUsize,
    run: AtomicUsize,
}

/// Calls a scope, which may panic.
fn waits_for_all(scope: impl FnOnce(&Book)) {
    let book = Book::default();
    let _ = catch_unwind(AssertUnwindSafe(|| scope(&book)));
    let Book { spawned, run } = book;
    assert_eq!(run.into_inner(), spawned.into_inner(), "all tasks have run");
}

/// Spawns tasks by `spawn`, which is handed what each does after it has spawned others, and does other things in between.
fn spawn_some(random: &mut Rng, depth: u32, book: &Book, mut spawn: impl FnMut(Rng, bool)) {
    for _ in 0..random.u8(..6) {
        match (random.u8(..6), depth.checked_sub(1)) {
            (0..4, _) => {
                count(&book.spawned);
                spawn(random.fork(), random.u8(..25) == 0);
            }
            (4, Some(below)) => detached(random.fork(), below),
            (_, Some(below)) => work(random.fork(), below),
            (_, None) => {}
        }
    }
    if random.u8(..25) == 0 {
        panic_now();
    }
}

fn tasks<'s>(scope: &Scope<'s>, mut random: Rng, depth: u32, book: &'s Book) {
    spawn_some(&mut random, depth, book, |mut own, panics| {
        scope.spawn(move |scope| {
            let _end = AtEnd(&book.run);
            if let Some(below) = depth.checked_sub(1) {
                tasks(scope, own.fork(), below, book);
                work(own, below);
            }
            if panics {
                panic_now();
            }
        });
    });
}

fn tasks_fifo<'s>(scope: &ScopeFifo<'s>, mut random: Rng, depth: u32, book: &'s Book) {
    spawn_some(&mut random, depth, book, |mut own, panics| {
        scope.spawn_fifo(move |scope| {
            let _end = AtEnd(&book.run);
            if let Some(below) = depth.checked_sub(1) {
                tasks_fifo(scope, own.fork(), below, book);
                work(own, below);
            }
            if panics {
                panic_now();
            }
        });
    });
}

#[test]
fn whatever_stands_in_whatever_all_of_it_runs_before_what_waits_goes_on() {
    watched(|| {
        let pool = |threads| {
            let builder = ThreadPoolBuilder::new().num_threads(threads);
            // Detached tasks may wait for other pools on top of each other.
            let builder = builder.stack_size(1 << 28).panic_handler(|_| {
                eprintln!("a detached task has panicked");
                std::process::abort();
            });
            builder.build().expect("so many threads can be had")
        };
        assert!(POOLS.set((1..4).map(pool).collect()).is_ok());
        for seed in 0..PROGRAMS {
            let mut random = Rng::with_seed(seed);
            let pool = some_pool(&mut random);
            let ended = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(random, DEPTH))));
            assert!(ended.is_ok(), "program {seed}");
            while SPAWNED.load(Ordering::Relaxed) > RUN.load(Ordering::Relaxed) + 1_000 {
                std::thread::yield_now();
            }
        }
        println!("{PROGRAMS} programs");
        while SPAWNED.load(Ordering::Relaxed) > RUN.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
    });
}
