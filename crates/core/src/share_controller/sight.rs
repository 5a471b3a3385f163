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

/// Counters, summed over all workers.
#[derive(Clone, Copy, Default)]
struct Totals {
    attempts: u64,
    failed_empty: u64,
    lengths_seen: u64,
    working: Nanos,
    searching: Nanos,
}

impl Totals {
    fn of(pool: &PoolInner) -> Self {
        let mut sum = Self::default();
        for worker in pool.workers() {
            let tally = &worker.tally;
            sum.attempts += tally.attempts.get();
            sum.failed_empty += tally.failed_empty.get();
            sum.lengths_seen += tally.lengths_seen.get();
            sum.working += tally.phases.nanos(Phase::Busy);
            sum.searching += tally.phases.nanos(Phase::Stealing);
        }
        sum
    }

    fn since(&self, before: &Self) -> Self {
        Self {
            attempts: self.attempts - before.attempts,
            failed_empty: self.failed_empty - before.failed_empty,
            lengths_seen: self.lengths_seen - before.lengths_seen,
            working: self.working - before.working,
            searching: self.searching - before.searching,
        }
    }
}

impl Sight {
    /// Takes the first look: reads the counters, but measures no cycle yet.
    pub(super) fn of(pool: &PoolInner) -> Self {
        Self {
            at: clock::now(),
            totals: Totals::of(pool),
            ..Self::default()
        }
    }

    /// Measures the cycle since the last look. `shares` says how the machine is divided now.
    pub(super) fn look(&mut self, pool: &PoolInner, shares: Shares) -> Seen<'_> {
        let (now, totals) = (clock::now(), Totals::of(pool));
        let (length, added) = (now.saturating_sub(self.at), totals.since(&self.totals));
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
        self.efficiency = efficiency(added.working, length.saturating_mul(allotment as u64));
        let home = shares.processors / (shares.others + 1);
        let free = shares.processors.saturating_sub(shares.usage);
        Seen {
            length,
            allotment,
            usage,
            attempts: added.attempts,
            failed_empty: added.failed_empty,
            lengths_seen: added.lengths_seen,
            working: added.working,
            searching: added.searching,
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
