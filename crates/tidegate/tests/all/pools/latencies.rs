//! The histograms in the statistics: which tasks and steals they count.

use crate::support::pool;
use std::sync::Barrier;
use std::sync::mpsc::channel;
use tidegate::Pool;

/// Runs `spawns` tasks from outside the pool, each after the one before.
fn spawn_from_outside(pool: &Pool, spawns: usize) {
    let (ran, has_run) = channel();
    for _ in 0..spawns {
        let ran = ran.clone();
        drop(pool.spawn(move || ran.send(()).unwrap()));
        has_run.recv().unwrap();
    }
}

#[test]
fn sample_spawns_from_outside() {
    let pool = pool(1);
    assert_eq!(pool.stats().queue_wait.count(), 0);
    let every = tidegate_policy::tunables::QUEUE_WAIT_SAMPLE.default;
    spawn_from_outside(&pool, every);
    assert_eq!(pool.stats().queue_wait.count(), 1);
    spawn_from_outside(&pool, 2 * every);
    let stats = pool.stats();
    assert_eq!(stats.queue_wait.count(), 3);
    let of_workers = stats.per_worker.iter();
    assert_eq!(
        of_workers
            .map(|worker| worker.queue_wait.count())
            .sum::<u64>(),
        3
    );
}

#[test]
fn ignore_spawns_from_inside() {
    let pool = pool(1);
    pool.install(|| tidegate::spawn(|| ()).join());
    assert_eq!(pool.stats().queue_wait.count(), 0);
}

#[test]
fn count_steals_of_idle_workers() {
    let pool = pool(2);
    assert_eq!(pool.stats().steal_latency.count(), 0);
    let both = Barrier::new(2);
    // The halves meet, so the idle worker must steal the second one.
    pool.install(|| tidegate::join(|| _ = both.wait(), || _ = both.wait()));
    let stats = pool.stats();
    let latency = stats.steal_latency;
    assert!((1..=stats.counters.steals).contains(&latency.count()));
}
