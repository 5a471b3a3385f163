//! Measures the pool in each cycle: its counters, and their growth.

use crate::pool::PoolInner;
use crate::stats::Phase;
use tidegate_policy::Nanos;
use tidegate_policy::desire::Seen;
use tidegate_share::Shares;
use tidegate_sync::clock;

/// The counters at the last look, and the cycle that ended with that look.
#[derive(Default)]
pub(super) struct Sight {
    at: Nanos,
    totals: Totals,
    cycle: Cycle,
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

/// The growth of the counters in a cycle, and the state at its end.
#[derive(Default)]
pub(super) struct Cycle {
    length: Nanos,
    allotment: usize,
    usage: usize,
    added: Totals,
    deques: Vec<usize>,
    queued: usize,
    busy: usize,
    free: usize,
    lent: usize,
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
            cycle: Cycle::default(),
        }
    }

    /// Measures the cycle since the last look. `shares` says how the machine is divided now.
    pub(super) fn look(&mut self, pool: &PoolInner, shares: Shares) -> &Cycle {
        let (now, totals) = (clock::now(), Totals::of(pool));
        let cycle = &mut self.cycle;
        cycle.length = now.saturating_sub(self.at);
        cycle.allotment = pool.sleep.slots();
        let ready = {
            let ledger = pool.ledger();
            cycle.usage = ledger.held();
            ledger.ready_without_slot()
        };
        cycle.added = totals.since(&self.totals);
        cycle.deques.clear();
        cycle.deques.extend(
            pool.workers().map(|w| {
                w.deque.waiting() as usize + w.stolen_batch.len() + usize::from(w.offers())
            }),
        );
        cycle.queued = pool.queued() + ready;
        let searching = pool.sleep.searching();
        cycle.busy = cycle.usage.saturating_sub(searching);
        let home = shares.processors / (shares.others + 1);
        cycle.free = shares.processors.saturating_sub(shares.usage);
        cycle.lent = home.saturating_sub(cycle.usage).saturating_sub(cycle.free);
        (self.at, self.totals) = (now, totals);
        cycle
    }

    /// Returns the fraction of the pool's processor time that went into work in the last cycle, per
    /// mille; 0 before the first cycle, and otherwise at least 1.
    pub(super) fn efficiency(&self) -> u32 {
        let cycle = &self.cycle;
        let all = cycle.length.saturating_mul(cycle.allotment as u64);
        let share = u128::from(cycle.added.working) * 1000;
        share
            .checked_div(all.into())
            .map_or(0, |share| share.clamp(1, 1000) as u32)
    }
}

impl Cycle {
    pub(super) fn seen(&self) -> Seen<'_> {
        Seen {
            length: self.length,
            allotment: self.allotment,
            usage: self.usage,
            attempts: self.added.attempts,
            failed_empty: self.added.failed_empty,
            lengths_seen: self.added.lengths_seen,
            working: self.added.working,
            searching: self.added.searching,
            deques: &self.deques,
            queued: self.queued,
            busy: self.busy,
            free: self.free,
            lent: self.lent,
        }
    }
}
