//! Measures the pool in each cycle: its counters, and their growth.

use crate::pool::PoolInner;
use crate::stats::Phase;
use tidegate_policy::Nanos;
use tidegate_policy::desire::Seen;
use tidegate_share::Shares;
use tidegate_sync::clock;

/// The counters at the last look, and what was seen of the cycle that ended with that look.
#[derive(Default)]
pub(super) struct Sight {
    at: Nanos,
    totals: Totals,
    /// The tasks in each worker's deque. Kept only for its memory.
    deques: Vec<usize>,
    /// The fraction of the pool's processor time that went into work in the last cycle, per mille;
    /// 0 before the first cycle, and otherwise at least 1.
    pub(super) efficiency: u32,
}

/// Counters, summed over all workers, in the order in which [`totals`] lists them.
type Totals = [u64; 5];

fn totals(pool: &PoolInner) -> Totals {
    let mut sums = Totals::default();
    for worker in pool.workers() {
        let tally = &worker.tally;
        let counts = [
            tally.attempts.get(),
            tally.failed_empty.get(),
            tally.lengths_seen.get(),
            tally.phases.nanos(Phase::Busy),
            tally.phases.nanos(Phase::Stealing),
        ];
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    sums
}

impl Sight {
    /// Takes the first look: reads the counters, but measures no cycle yet.
    pub(super) fn of(pool: &PoolInner) -> Self {
        Self {
            at: clock::now(),
            totals: totals(pool),
            ..Self::default()
        }
    }

    /// Measures the cycle since the last look. `shares` says how the machine is divided now.
    pub(super) fn look(&mut self, pool: &PoolInner, shares: Shares) -> Seen<'_> {
        let (now, totals) = (clock::now(), totals(pool));
        let length = now.saturating_sub(self.at);
        let [attempts, failed_empty, lengths_seen, working, searching] =
            std::array::from_fn(|at| totals[at] - self.totals[at]);
        (self.at, self.totals) = (now, totals);
        let allotment = pool.sleep.slots();
        let (usage, ready) = {
            let ledger = pool.ledger();
            (ledger.held(), ledger.ready_without_slot())
        };
        self.deques.clear();
        self.deques.extend(
            pool.workers().map(|w| {
                w.deque.waiting() as usize + w.stolen_batch.len() + usize::from(w.offers())
            }),
        );
        self.efficiency = efficiency(working, length.saturating_mul(allotment as u64));
        let home = shares.processors / (shares.others + 1);
        let free = shares.processors.saturating_sub(shares.usage);
        Seen {
            length,
            allotment,
            usage,
            attempts,
            failed_empty,
            lengths_seen,
            working,
            searching,
            deques: &self.deques,
            queued: pool.queued() + ready,
            busy: usage.saturating_sub(pool.sleep.searching()),
            free,
            lent: home.saturating_sub(usage).saturating_sub(free),
        }
    }
}

/// Returns the fraction of the time of `all` processors in which they worked, per mille.
fn efficiency(working: Nanos, all: Nanos) -> u32 {
    let share = u128::from(working) * 1000;
    let share = share.checked_div(all.into());
    share.map_or(0, |share| share.clamp(1, 1000) as u32)
}
