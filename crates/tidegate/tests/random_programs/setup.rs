//! Pools with random options.

use crate::handles::is_lost;
use crate::oracle::Ledger;
use fastrand::Rng;
use std::sync::Arc;
use tidegate::{
    Pool,
    policy::{Choose, QueueKind, SharePolicy, StealAmount, VictimPolicy, WaitPolicy},
};

/// `none` is three times as likely as each other policy.
#[rustfmt::skip]
const MEMORY_POLICIES: [&str; 8] = [
    "none", "none", "none", "hybrid:alpha=20,beta=20", "depth-first:k=50", "dfdeques:k=50",
    "budget:bytes=400,serial=300", "budget:bytes=2000,serial=300",
];
const PLACES: [&str; 3] = ["each:1", "each:2", "cache"];
const IDLE: [&str; 6] = ["elastic", "none", "yield", "abp-yield", "linear", "quanta"];
const AMOUNTS: [StealAmount; 4] = [
    StealAmount::One,
    StealAmount::Half,
    StealAmount::HalfAbove(2),
    StealAmount::Fixed(3),
];
const VICTIMS: [VictimPolicy; 4] = [
    VictimPolicy::Random,
    VictimPolicy::RoundRobin,
    VictimPolicy::LastVictim,
    VictimPolicy::Hierarchical,
];

/// The randomly chosen options of a pool.
#[derive(Debug)]
pub struct Setup {
    workers: usize,
    spare_threads: Option<usize>,
    memory: &'static str,
    queue: QueueKind,
    wait: WaitPolicy,
    steal: StealAmount,
    victim: VictimPolicy,
    idle: &'static str,
    places: &'static str,
    bind: bool,
}

fn one_of<T: Copy>(rng: &mut Rng, values: &[T]) -> T {
    values[rng.usize(..values.len())]
}

impl Setup {
    pub fn random_space(rng: &mut Rng) -> &'static str {
        one_of(rng, &MEMORY_POLICIES)
    }

    pub fn random(rng: &mut Rng, memory: &'static str) -> Self {
        // Other memory policies determine the order of tasks themselves.
        let free = memory == "none";
        let queue = if free && rng.u32(..3) > 0 {
            one_of(rng, QueueKind::ALL)
        } else {
            QueueKind::Split
        };
        // Thieves can take several tasks at once only from the split deque, and only if no policy
        // orders the tasks.
        let gives_several = queue == QueueKind::Split && (free || memory.starts_with("hybrid"));
        let idle = if rng.bool() { &IDLE[..1] } else { &IDLE };
        Self {
            workers: rng.usize(1..5),
            spare_threads: (rng.u32(..3) == 0).then(|| rng.usize(..3)),
            memory,
            queue,
            wait: if free && rng.u32(..3) == 0 {
                WaitPolicy::HelpAny
            } else {
                WaitPolicy::Descendants
            },
            steal: if gives_several {
                one_of(rng, &AMOUNTS)
            } else {
                StealAmount::One
            },
            victim: one_of(rng, &VICTIMS),
            idle: one_of(rng, idle),
            places: one_of(rng, &PLACES),
            bind: rng.u32(..6) == 0,
        }
    }

    /// Whether the tasks of a worker that joins a future run meanwhile. A worker of a pool without
    /// spare threads runs such tasks itself only from the split deque.
    pub fn runs_tasks_of_joiners(&self) -> bool {
        self.queue == QueueKind::Split || self.spare_threads != Some(0)
    }

    pub fn build(&self, ledger: &Arc<Ledger>) -> Pool {
        let ledger = Arc::clone(ledger);
        let mut builder = Pool::builder()
            .workers(self.workers)
            .memory(self.memory.parse().unwrap())
            .queue(self.queue)
            .wait(self.wait)
            .steal(self.steal)
            .victim(self.victim)
            .idle(self.idle.parse().unwrap())
            .places(self.places.parse().unwrap())
            .bind(self.bind)
            .share(SharePolicy::Off)
            // The handler panics if dropping the payload panics.
            .on_panic(move |report| {
                if !is_lost(&*report.payload) {
                    ledger.unclaimed(report.payload);
                }
            });
        if let Some(threads) = self.spare_threads {
            builder = builder.max_threads(self.workers + threads);
        }
        builder
            .build()
            .unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
