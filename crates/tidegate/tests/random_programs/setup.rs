//! Random pools.

use crate::oracle::Ledger;
use fastrand::Rng;
use std::sync::Arc;
use tidegate::{Amount, Pool, Queue, Share, Victim, Wait};

/// `none` is drawn three times as often as each other policy.
const SPACES: [&str; 8] = [
    "none",
    "none",
    "none",
    "hybrid:alpha=20,beta=20",
    "depth-first:k=50",
    "dfdeques:k=50",
    "budget:bytes=400,serial=300",
    "budget:bytes=2000,serial=300",
];
const PLACES: [&str; 3] = ["each:1", "each:2", "cache"];
const IDLE: [&str; 6] = ["elastic", "none", "yield", "abp-yield", "linear", "quanta"];
const AMOUNTS: [Amount; 3] = [Amount::One, Amount::Half, Amount::Fixed(3)];
const VICTIMS: [Victim; 4] = [
    Victim::Random,
    Victim::RoundRobin,
    Victim::LastVictim,
    Victim::Hierarchical,
];

/// The options of a pool.
#[derive(Debug)]
pub struct Setup {
    workers: usize,
    spare_threads: Option<usize>,
    space: &'static str,
    queue: Queue,
    wait: Wait,
    steal: Amount,
    victim: Victim,
    idle: &'static str,
    places: &'static str,
    bind: bool,
}

fn one_of<T: Copy>(rng: &mut Rng, values: &[T]) -> T {
    values[rng.usize(..values.len())]
}

impl Setup {
    pub fn random_space(rng: &mut Rng) -> &'static str {
        one_of(rng, &SPACES)
    }

    pub fn random(rng: &mut Rng, space: &'static str) -> Self {
        // The other policies decide the order of tasks themselves.
        let free = space == "none";
        let queue = match free && rng.u32(..3) > 0 {
            true => one_of(rng, Queue::ALL),
            false => Queue::Split,
        };
        // Only the split deque gives several tasks at once, and not under an order of tasks.
        let gives_several = queue == Queue::Split && (free || space.starts_with("hybrid"));
        let idle = if rng.bool() { &IDLE[..1] } else { &IDLE };
        Self {
            workers: rng.usize(1..5),
            spare_threads: (rng.u32(..3) == 0).then(|| rng.usize(..3)),
            space,
            queue,
            wait: match free && rng.u32(..3) == 0 {
                true => Wait::HelpAny,
                false => Wait::Descendants,
            },
            steal: match gives_several {
                true => one_of(rng, &AMOUNTS),
                false => Amount::One,
            },
            victim: one_of(rng, &VICTIMS),
            idle: one_of(rng, idle),
            places: one_of(rng, &PLACES),
            bind: rng.u32(..6) == 0,
        }
    }

    pub fn build(&self, ledger: &Arc<Ledger>) -> Pool {
        let ledger = Arc::clone(ledger);
        let mut builder = Pool::builder()
            .workers(self.workers)
            .space(self.space.parse().unwrap())
            .queue(self.queue)
            .wait(self.wait)
            .steal(self.steal)
            .victim(self.victim)
            .idle(self.idle.parse().unwrap())
            .places(self.places.parse().unwrap())
            .bind(self.bind)
            .share(Share::Off)
            // Panics if the payload's drop does.
            .on_panic(move |payload, _| ledger.unclaimed(payload));
        if let Some(threads) = self.spare_threads {
            builder = builder.spare_threads(threads);
        }
        builder
            .build()
            .unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
