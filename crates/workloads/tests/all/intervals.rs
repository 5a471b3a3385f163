//! Checks that the programs with intervals give correct answers on several kinds of queues and with
//! any division into pieces, and that their memory is bounded.

use std::sync::atomic::{AtomicUsize, Ordering};

use tidegate::Pool;
use tidegate::policy::{Choose, QueueKind};
use tidegate_workloads::intervals::pipeline::Pipeline;
use tidegate_workloads::intervals::rows::unfold;
use tidegate_workloads::registry::ENTRIES;
use tidegate_workloads::{On, Program, Runtime, Tidegate};

use crate::policies::slice;
use crate::support::{given, is_right, trial};

/// The default queue, two queues that may return a task twice, and a queue with a lock.
const QUEUES: [QueueKind; 4] = [
    QueueKind::Split,
    QueueKind::IdempotentFifo,
    QueueKind::Multiplicity,
    QueueKind::Shared,
];

fn pool(workers: usize, queue: QueueKind) -> Tidegate {
    let builder = Pool::builder().workers(workers).queue(queue);
    Tidegate::new(builder.build().unwrap())
}

/// Runs a program on a pool and checks its answer.
fn right_on(pool: &Tidegate, name: &str, named: &[(&str, &str)]) {
    is_right(&mut *trial(name, &given(named)), On::Tidegate(pool));
}

/// The programs run on pools with one, two and three workers. A slice is a third of the pools for
/// each program.
#[test]
fn interval_programs_verify_on_every_queue() {
    let pools = (1..=3).flat_map(|workers| QUEUES.map(|queue| pool(workers, queue)));
    let owned: Vec<Tidegate> = pools.collect();
    let pools: Vec<&Tidegate> = owned.iter().collect();
    let mut runs = 0;
    for (offset, entry) in ENTRIES.iter().filter(|entry| entry.intervals).enumerate() {
        let mut trial = trial(entry.name, &given(&[]));
        for pool in slice(&pools, offset, tidegate_testkit::scale(), 3) {
            is_right(&mut *trial, On::Tidegate(pool));
            runs += 1;
        }
    }
    assert!(runs >= 44, "11 programs on 4 pools each");
    println!("soak: {runs} runs of programs on pools");
}

#[test]
fn kernels_verify_with_any_piece_count() {
    let pool = pool(2, QueueKind::Split);
    for name in "crypt lufact moldyn montecarlo raytracer series sor".split(' ') {
        for pieces in ["1", "2", "33"] {
            right_on(&pool, name, &[("pieces", pieces)]);
        }
    }
    // There are more pieces than columns, rows or text blocks, so each piece has only one of them.
    for name in ["crypt", "lufact", "sor"] {
        right_on(&pool, name, &[("pieces", "100000")]);
    }
}

/// Each graph is empty, or has a single row or column.
#[test]
fn degenerate_interval_programs_verify() {
    let pool = pool(2, QueueKind::Split);
    for named in [
        [("items", "0"), ("stages", "3")],
        [("items", "1"), ("stages", "1")],
        [("items", "40"), ("stages", "1")],
        [("items", "3"), ("stages", "40")],
        [("items", "41"), ("window", "2")],
        [("items", "41"), ("window", "3")],
    ] {
        right_on(&pool, "pipeline", &named);
    }
    for named in [
        [("steps", "0"), ("blocks", "3")],
        [("steps", "40"), ("blocks", "1")],
        [("cells", "1"), ("blocks", "1")],
        [("cells", "9"), ("blocks", "100")],
    ] {
        right_on(&pool, "stencil", &named);
    }
    for named in [
        [("n", "1"), ("block", "1")],
        [("n", "33"), ("block", "1")],
        [("n", "33"), ("block", "32")],
        [("n", "33"), ("block", "34")],
    ] {
        right_on(&pool, "wavefront", &named);
    }
}

/// The current and the peak number of unfinished intervals.
#[derive(Default)]
struct Live {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// Counts as an unfinished interval until it is dropped.
struct Ticket<'a>(&'a Live);

// Relaxed: the counts are read after everything has ended.
impl Live {
    fn ticket(&self) -> Ticket<'_> {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
        Ticket(self)
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn pipeline_intervals_stay_within_window() {
    for workers in 1..=3 {
        let pool = pool(workers, QueueKind::Split);
        for (items, window) in [(5_000, 2), (5_000, 16), (20_000, 16), (20_000, 64)] {
            let program = Pipeline {
                items,
                stages: 3,
                window,
                work: 0,
            };
            let live = Live::default();
            let checksum = pool.install(|fork| program.run::<Tidegate, _>(fork, &|| live.ticket()));
            assert_eq!(checksum, program.serial(&mut ()));
            assert_eq!(live.now.into_inner(), 0);
            let most = live.most.into_inner();
            assert!(most <= 3 * window as usize, "{most} {window} {workers}");
        }
    }
}

#[test]
fn rows_are_created_once_in_order() {
    for workers in [1, 3] {
        let pool = pool(workers, QueueKind::Split);
        for rows in [0, 1, 2, 3, 7, 8, 9, 100] {
            for batch in [1, 2, 3, 200] {
                let next = AtomicUsize::new(0);
                let next_seen = &next;
                pool.install(|_| {
                    Tidegate::intervals(&mut (), |body| {
                        unfold::<Tidegate, _>(body, rows, batch, |body, number, row| {
                            assert_eq!(row.is_empty(), number == 0);
                            let one = body.interval(move |_| {
                                let seen = next_seen.fetch_add(1, Ordering::Relaxed);
                                assert_eq!(seen as u64, number);
                            });
                            if let Some(before) = row.pop() {
                                before.end().before(one.start()).unwrap();
                            }
                            row.push(one.schedule());
                        });
                    });
                });
                assert_eq!(next.into_inner() as u64, rows);
            }
        }
    }
}
