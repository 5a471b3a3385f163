//! Programs whose instructions `xtask ci costs` counts. Without arguments, prints each program's name
//! and how many calls it makes. `costs NAME with` makes the calls, and `costs NAME without` does
//! the same work without them, so the difference is what the calls cost. One worker runs all of
//! them, so nothing is stolen, and the instructions hardly vary. An `install` from outside is left
//! out: it takes 1,350 or 3,800 to 5,700, whether the worker is awake or asleep.

use std::hint::black_box;
use std::{env, process};

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use tidegate::interval::{IntervalBuilder, Scope};
use tidegate::policy::SharePolicy;
use tidegate::{Pool, blocking, for_each, join, map_reduce, memory, scope, spawn};

const FIB: u64 = 20;
/// How many calls of a recursive `fib(FIB)` fork.
const FORKS: u64 = 10_945;
const TASKS: u64 = 10_000;
const LOOPS: u64 = 1_000;

const PROGRAMS: [(&str, u64); 13] = [
    ("join by move", FORKS),
    ("join by reference", FORKS),
    ("task of a scope", TASKS),
    ("spawn inside", TASKS),
    ("spawn outside", TASKS),
    ("spawn and join of its handle", TASKS),
    ("for_each of 1,000 items", LOOPS),
    ("map_reduce of 1,000 items", LOOPS),
    ("blocking call", LOOPS),
    ("reservation", TASKS),
    ("interval", TASKS),
    ("edge between two intervals", TASKS),
    ("par_iter of 1,000 items", LOOPS),
];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [] => PROGRAMS
            .iter()
            .for_each(|(name, calls)| println!("{calls} {name}")),
        [name, "with"] => run(name, true),
        [name, "without"] => run(name, false),
        _ => usage(),
    }
}

fn usage() -> ! {
    eprintln!("usage: costs [NAME with|without]");
    process::exit(2)
}

fn run(name: &str, calls: bool) {
    let builder = Pool::builder().workers(1).share(SharePolicy::Off);
    let pool = builder.build().expect("a pool");
    match name {
        "join by move" if calls => in_pool(&pool, || by_move(black_box(FIB))),
        "join by reference" if calls => in_pool(&pool, || by_reference(&black_box(FIB))),
        "join by move" | "join by reference" => in_pool(&pool, || fib(black_box(FIB))),
        "task of a scope" => pool.install(|| {
            scope(|s| (0..of(TASKS, calls)).for_each(|i| s.spawn(move |_| _ = black_box(i))));
        }),
        "spawn inside" => pool.install(|| {
            (0..of(TASKS, calls)).for_each(|i| drop(spawn(move || black_box(i))));
        }),
        "spawn outside" => {
            (0..of(TASKS, calls)).for_each(|i| drop(pool.spawn(move || black_box(i))))
        }
        "spawn and join of its handle" => pool.install(|| {
            let spawned = |i| spawn(move || black_box(i));
            let handles: Vec<_> = (0..of(TASKS, calls)).map(spawned).collect();
            handles
                .into_iter()
                .for_each(|handle| _ = black_box(handle.join()));
        }),
        "for_each of 1,000 items" => pool.install(|| (0..LOOPS).for_each(|_| visit(calls))),
        "map_reduce of 1,000 items" => in_pool(&pool, || (0..LOOPS).map(|_| sum(calls)).sum()),
        "blocking call" => pool.install(|| {
            (0..of(LOOPS, calls)).for_each(|i| _ = black_box(blocking(|| i)));
        }),
        "reservation" => pool.install(|| {
            (0..of(TASKS, calls)).for_each(|_| drop(memory::reserve(64)));
        }),
        "interval" => intervals(&pool, of(TASKS, calls), false),
        "edge between two intervals" => intervals(&pool, TASKS + 1, calls),
        "par_iter of 1,000 items" => par_iter(calls),
        _ => usage(),
    }
}

fn of(calls: u64, wanted: bool) -> u64 {
    if wanted { calls } else { 0 }
}

fn in_pool(pool: &Pool, f: impl FnOnce() -> u64 + Send) {
    black_box(pool.install(f));
}

fn fib(n: u64) -> u64 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

fn by_move(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join(move || by_move(n - 1), move || by_move(n - 2));
    a + b
}

fn by_reference(n: &u64) -> u64 {
    if *n < 2 {
        return *n;
    }
    let (a, b) = join(|| by_reference(&(n - 1)), || by_reference(&(n - 2)));
    a + b
}

fn visit(in_parallel: bool) {
    if in_parallel {
        for_each(0..1_000_u64, |i| _ = black_box(i));
    } else {
        (0..1_000_u64).for_each(|i| _ = black_box(i));
    }
}

fn sum(in_parallel: bool) -> u64 {
    if in_parallel {
        map_reduce(0..1_000_u64, black_box, |a, b| a + b).unwrap_or(0)
    } else {
        (0..1_000_u64).map(black_box).sum()
    }
}

/// Runs intervals, each of which waits for the one before it if `in_order`.
fn intervals(pool: &Pool, count: u64, in_order: bool) {
    let make = |s: &Scope<'_, '_>| {
        let mut last = None::<IntervalBuilder<'_>>;
        for i in 0..count {
            let next = s.interval(move |_| _ = black_box(i));
            if let Some(last) = last {
                if in_order {
                    last.end().before(next.start()).expect("an order");
                }
                last.schedule();
            }
            last = Some(next);
        }
        drop(last.map(IntervalBuilder::schedule));
    };
    pool.run_intervals(make).expect("they end");
}

fn par_iter(in_parallel: bool) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.expect("a pool").install(|| {
        for _ in 0..LOOPS {
            black_box(if in_parallel {
                (0..1_000_u64).into_par_iter().map(black_box).sum::<u64>()
            } else {
                (0..1_000_u64).map(black_box).sum()
            });
        }
    });
}
