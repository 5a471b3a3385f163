//! Random fork-join programs with reservations. Under every policy, they end and stay within the
//! policy's bound.

use super::made::{Pause, Step, body, serial, span, with_unrelated};
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use tidegate::memory::{self, Reservation};
use tidegate::{Pool, Scope, policy::SharePolicy};
use tidegate_policy::Rng;

/// The number of random programs in each slice.
const PROGRAMS: usize = if cfg!(miri) { 1 } else { 7 };

/// Reservations that are kept until the program has ended.
type Kept = Mutex<Vec<Reservation>>;

/// Returns another pool, for which tasks of the programs wait.
fn elsewhere() -> &'static Pool {
    static POOL: std::sync::LazyLock<Pool> = std::sync::LazyLock::new(|| {
        let builder = Pool::builder().workers(1).share(SharePolicy::Off);
        builder.build().unwrap()
    });
    &POOL
}

/// Runs `steps` inside the scopes `around`, the last of which is the innermost. A spawned task can
/// spawn only into the scope that it belongs to, and into scopes that it opens itself.
fn run<'env>(steps: &'env [Step], kept: &'env Kept, around: &[&Scope<'env>]) {
    let mut reservations: Vec<Reservation> = vec![];
    tidegate::scope(|own| {
        let scopes: Vec<&Scope<'env>> = around.iter().copied().chain([own]).collect();
        for step in steps {
            match step {
                Step::Reservation(bytes) => {
                    reservations.push(memory::reserve(*bytes as usize).unwrap())
                }
                Step::Free => drop(reservations.pop()),
                Step::Keep => kept.lock().unwrap().extend(reservations.pop()),
                Step::Pause(Pause::Blocks) => tidegate::blocking(thread::yield_now),
                Step::Pause(Pause::Waits) => elsewhere().install(|| ()),
                Step::Join(one, other) => {
                    tidegate::join(|| run(one, kept, &scopes), || run(other, kept, &scopes));
                }
                Step::Spawn(outer, task) => {
                    let into = scopes.len() - 1 - outer.min(&(scopes.len() - 1));
                    scopes[into].spawn(move |scope| run(task, kept, &[scope]));
                }
                Step::Unrelated(outer, task) => {
                    let into = scopes[scopes.len() - 1 - outer.min(&(scopes.len() - 1))];
                    let spawn = || into.spawn(move |scope| run(task, kept, &[scope]));
                    thread::scope(|other| other.spawn(spawn).join().unwrap());
                }
            }
        }
    });
}

/// Returns a random program and its S1, the peak of its serial run. S1 is at least 1, because a
/// budget cannot be 0.
fn drawn(rng: &mut Rng) -> (Vec<Step>, u64) {
    let mut program = body(rng, 4);
    if rng.below(2) == 0 {
        program = with_unrelated(rng, program);
    }
    let s1 = serial(&program).max(1);
    (program, s1)
}

fn pool(policy: &str, workers: usize) -> Pool {
    let builder = Pool::builder().workers(workers).share(SharePolicy::Off);
    builder.memory(policy.parse().unwrap()).build().unwrap()
}

/// Returns the maximum amount of memory that is declared at any time during a run.
fn peak_of(pool: &Pool, program: &[Step]) -> u64 {
    let kept = Kept::default();
    pool.install(|| run(program, &kept, &[]));
    drop(kept);
    let memory = pool.stats().memory;
    assert_eq!(memory.declared, 0);
    memory.peak
}

/// Until the program has ended, changes the number of slots, and makes broadcasts and calls from
/// outside.
fn disturb(pool: &Pool, workers: usize, is_over: &AtomicBool) {
    for round in 0.. {
        if is_over.load(Ordering::Acquire) {
            return;
        }
        pool.set_workers(1 + round % workers).unwrap();
        pool.broadcast(|_| ());
        pool.install(|| tidegate::join(|| (), || ()));
        pool.scope(|scope| scope.spawn(|_| ()));
        thread::yield_now();
    }
}

/// Like `peak_of`, but another thread disturbs the run.
fn disturbed_peak_of(pool: &Pool, workers: usize, program: &[Step]) -> u64 {
    let is_over = AtomicBool::new(false);
    thread::scope(|outside| {
        outside.spawn(|| disturb(pool, workers, &is_over));
        let peak = std::panic::catch_unwind(AssertUnwindSafe(|| peak_of(pool, program)));
        is_over.store(true, Ordering::Release);
        peak.unwrap()
    })
}

#[test]
fn random_programs_stay_within_bounds() {
    let seeds = crate::support::soak(
        PROGRAMS,
        "random programs with reservations, each on 1, 2 and 4 workers under each policy",
    );
    for seed in 0..seeds {
        let mut rng = Rng::new(seed as u64);
        let (program, s1) = drawn(&mut rng);
        for workers in [1, 2, 4] {
            let k = [20, 60, 200][rng.below(3) as usize];
            let budget = s1 + [0, 1, s1 / 10, s1][rng.below(4) as usize];
            let bound = s1 + k * workers as u64 * span(&program, k);
            let within = |policy: &str, bound: u64| {
                let peak = peak_of(&pool(policy, workers), &program);
                assert!(
                    peak <= bound,
                    "seed {seed}, {policy} on {workers}: {peak} > {bound}"
                );
            };
            within("none", u64::MAX);
            within("hybrid:alpha=50,beta=10", u64::MAX);
            within(&format!("depth-first:k={k}"), bound);
            within(&format!("dfdeques:k={k}"), bound);
            within(&format!("budget:bytes={budget},serial={s1}"), budget);
        }
    }
}

#[test]
fn random_programs_share_pool_within_budget() {
    let seeds = crate::support::soak(
        PROGRAMS,
        "random programs under a budget, each on 1, 2 and 4 workers that others use as well",
    );
    for seed in 0..seeds {
        let (program, s1) = drawn(&mut Rng::new(seed as u64));
        for workers in [1, 2, 4] {
            let policy = format!("budget:bytes={s1},serial={s1}");
            let pool = pool(&policy, workers);
            let peak = disturbed_peak_of(&pool, workers, &program);
            assert!(
                peak <= s1,
                "seed {seed}, {policy} on {workers}: {peak} > {s1}"
            );
        }
    }
}
