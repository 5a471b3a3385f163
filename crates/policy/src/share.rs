//! Whether a job shares the machine with other jobs, and how it uses its allotment.
//!
//! [`SharePolicy`] is the user's choice. The policy and the table of jobs determine how many slots
//! a job may use ([`slots`]). The runtime reads the table and moves the slots;
//! [`allot`](crate::allot) computes the allotments.

pub(crate) mod tunables;

use crate::Nanos;
use crate::tunable::words;
use tunables::{
    ALONE_CYCLE, CALM_CYCLES, NEIGHBOUR_LOAD, SHARE, STARVED_PATIENCE, STUCK_PATIENCE, TURN,
};

/// Whether a job shares the processors with other jobs. Default: [`Auto`](Self::Auto).
///
/// ```
/// use tidegate_policy::SharePolicy;
///
/// assert_eq!(SharePolicy::default(), SharePolicy::Auto);
/// assert_eq!("off".parse(), Ok(SharePolicy::Off));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SharePolicy {
    /// The job doesn't share the machine: it always uses all processors that it may use.
    Off,
    /// The job shares the machine while there are other jobs in the table. While it is alone, it
    /// uses all processors that it may use (the default).
    Auto,
    /// The job uses only its allotment, even while it is alone. This leaves room for programs that
    /// don't use Tidegate.
    On,
}

impl SharePolicy {
    /// Returns whether to leave room for programs outside the table while `others` other jobs in
    /// the table desire processors.
    #[must_use]
    pub const fn leaves_room(self, others: usize) -> bool {
        match self {
            Self::Off => false,
            Self::Auto => others > 0,
            Self::On => true,
        }
    }
}

words!(
    SharePolicy,
    "share policy",
    Off = "off",
    Auto = "auto",
    On = "on"
);

impl Default for SharePolicy {
    fn default() -> Self {
        SHARE.default
    }
}

/// Returns how many slots a job may use. If it were alone, it could use `limit` slots; its
/// allotment is `allotment`, and `others` other jobs desire processors. The result is at least 1: a
/// job with work may always use one processor.
///
/// ```
/// use tidegate_policy::share::{SharePolicy, slots};
///
/// assert_eq!(slots(SharePolicy::Auto, 8, 3, 1), 3);
/// assert_eq!(slots(SharePolicy::Auto, 8, 3, 0), 8); // alone
/// assert_eq!(slots(SharePolicy::On, 8, 3, 0), 3);
/// ```
#[must_use]
pub const fn slots(share: SharePolicy, limit: usize, allotment: usize, others: usize) -> usize {
    let slots = if share.leaves_room(others) {
        allotment
    } else {
        limit
    };
    if slots < 1 {
        1
    } else if slots > limit {
        limit
    } else {
        slots
    }
}

/// Returns the length of a job's next cycle in nanoseconds, while `others` other jobs desire
/// processors. `calm` is the number of consecutive cycles that changed neither the job's desire nor
/// its slots. The length is `est_cycle`, doubled if `calm` is at least [`CALM_CYCLES`], and doubled
/// again at twice that number. A job that is alone uses [`ALONE_CYCLE`], or `est_cycle` if that is
/// longer.
///
/// ```
/// use tidegate_policy::share::{SharePolicy, cycle};
///
/// let cycles = [0, 4, 8, 1_000].map(|calm| cycle(SharePolicy::Auto, 1, calm, 5_000_000));
/// assert_eq!(cycles, [5_000_000, 10_000_000, 20_000_000, 20_000_000]);
/// ```
#[must_use]
pub fn cycle(share: SharePolicy, others: usize, calm: usize, est_cycle: Nanos) -> Nanos {
    if !share.leaves_room(others) {
        est_cycle.max(ALONE_CYCLE.default)
    } else if calm < CALM_CYCLES.default {
        est_cycle
    } else if calm < 2 * CALM_CYCLES.default {
        2 * est_cycle
    } else {
        4 * est_cycle
    }
}

/// Slots lent to a job that may be deadlocked because it has too few: its running threads may wait
/// for threads that wait for a slot.
///
/// A thread that has a slot, does not poll and uses almost no processor time is *stuck*: its slot
/// is lent to another thread while it is stuck. But a thread that polls or computes may also be
/// waiting, in a loop. So if there is always a thread that waits for a slot, slots are lent for one
/// cycle each, at growing intervals. The first loan is one slot, after [`STUCK_PATIENCE`] if a slot
/// holder does not poll, and otherwise after [`STARVED_PATIENCE`]. Each further loan is twice as
/// many slots after twice the wait, up to 128 times the first wait.
///
/// A pool that only follows its quotas ([`SharePolicy::Off`]) takes no slot back before a task has
/// ended. There a thread is *stuck* if it has been in the same task for [`STUCK_PATIENCE`], even if
/// it computes ([`beside_long_tasks`]). If there is always a thread that waits for a slot, one slot
/// is lent every [`STARVED_PATIENCE`].
#[derive(Clone, Copy, Debug)]
pub struct Loans {
    /// The length of a loan, in nanoseconds.
    cycle: Nanos,
    /// Whether the loans of one wait grow and become rarer.
    grows: bool,
    /// When the current wait for a slot began, or the last loan during that wait, if there was one.
    since: Option<Nanos>,
    /// The number of loans during the current wait.
    times: u32,
}

impl Loans {
    /// Creates a state without loans, for a job with this policy. Each loan will last for one
    /// `cycle`, in nanoseconds.
    #[must_use]
    pub const fn new(cycle: Nanos, share: SharePolicy) -> Self {
        Self {
            cycle,
            grows: !matches!(share, SharePolicy::Off),
            since: None,
            times: 0,
        }
    }

    /// Returns how many slots to lend in total, at most `room`. Of the threads that have slots,
    /// `stuck` are stuck and `silent` do not poll. `waits` means that a thread waits for a slot and
    /// none is free.
    ///
    /// ```
    /// use tidegate_policy::share::{Loans, SharePolicy};
    ///
    /// let ms = 1_000_000;
    /// let mut loans = Loans::new(5 * ms, SharePolicy::Auto);
    /// assert_eq!(loans.lend(true, (0, 1), 3, 0), 0);
    /// assert_eq!(loans.lend(true, (1, 1), 3, 0), 1);
    /// assert_eq!(loans.lend(true, (0, 1), 3, 100 * ms), 1);
    /// assert_eq!(loans.lend(true, (0, 1), 3, 200 * ms), 0);
    /// assert_eq!(loans.lend(true, (0, 1), 3, 300 * ms), 2);
    /// ```
    pub fn lend(
        &mut self,
        waits: bool,
        (stuck, silent): (usize, usize),
        room: usize,
        now: Nanos,
    ) -> usize {
        if !waits {
            (self.since, self.times) = (None, 0);
            return stuck.min(room);
        }
        let since = *self.since.get_or_insert(now);
        let patience = match silent {
            0 => STARVED_PATIENCE.default,
            _ => STUCK_PATIENCE.default,
        };
        let doublings = if self.grows { self.times.min(7) } else { 0 };
        if now.saturating_sub(since) >= patience << doublings {
            self.since = Some(now);
            self.times = if self.grows {
                (self.times + 1).min(usize::BITS - 1)
            } else {
                1
            };
        }
        let fresh = now.saturating_sub(self.since.unwrap_or(now)) < self.cycle;
        let turn: usize = match self.times {
            times @ 1.. if fresh => 1 << (times - 1),
            _ => 0,
        };
        turn.saturating_add(stuck).min(room)
    }
}

/// Returns whether a thread is stuck if it has not polled for `silent` nanoseconds and has
/// meanwhile used `computed` nanoseconds of processor time. Returns `None` before
/// [`STUCK_PATIENCE`] has passed. A thread that computes is not stuck even if it shares its
/// processor with many other threads and gets only a small part of the time.
#[must_use]
pub const fn is_stuck(silent: Nanos, computed: Nanos) -> Option<bool> {
    if silent < STUCK_PATIENCE.default {
        None
    } else {
        Some(computed < silent / 16)
    }
}

/// Returns how many slots to lend because `long` of `running` threads have been in the same task
/// for long, in a job whose threads give up their slots only between tasks. Each of them is lent
/// one slot, so the others share as many slots as the quotas allow. If a task `waits` and all
/// threads are in long tasks, twice as many slots are lent: the tasks may all be waiting for tasks
/// that have not begun, and each loan may start only one more of that kind.
#[must_use]
pub const fn beside_long_tasks(long: usize, running: usize, waits: bool) -> usize {
    if waits && long == running {
        2 * long
    } else {
        long
    }
}

/// Returns whether slot holders should now give their slots to threads that are owed one, if they
/// last did so at `last` ([`TURN`]).
#[must_use]
pub const fn is_next_turn(last: Nanos, now: Nanos) -> bool {
    now.saturating_sub(last) >= TURN.default
}

/// Returns how many whole processors to leave to other programs that keep `load` thousandths of a
/// processor busy ([`NEIGHBOUR_LOAD`]).
#[must_use]
pub fn neighbours(load: u64) -> usize {
    let taken = (NEIGHBOUR_LOAD.default * 1000.0) as u64;
    usize::try_from(load.saturating_add(1000 - taken) / 1000).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{MS, S};
    use crate::tunables::{Allowed, EST_CYCLE, TABLE_STALL};

    /// Other jobs treat a job as stalled if it publishes nothing for [`TABLE_STALL`].
    #[test]
    fn longest_cycle_keeps_a_job_alive() {
        let Allowed::Between(_, longest) = EST_CYCLE.allowed else {
            panic!("a time has a longest value");
        };
        let slowest = cycle(SharePolicy::Auto, 1, usize::MAX, longest);
        assert!(slowest < TABLE_STALL.default / 2, "{slowest}");
    }

    #[test]
    fn slots_stay_between_one_and_limit() {
        for share in [SharePolicy::Off, SharePolicy::Auto, SharePolicy::On] {
            for others in [0, 1] {
                assert_eq!(slots(share, 4, 9, others), 4);
                let obeys = share.leaves_room(others);
                assert_eq!(slots(share, 4, 0, others), if obeys { 1 } else { 4 });
            }
        }
    }

    #[test]
    fn lone_job_has_no_shorter_cycles() {
        let cycles =
            |est_cycle| [0, 1].map(|others| cycle(SharePolicy::Auto, others, 0, est_cycle));
        assert_eq!(cycles(MS), [ALONE_CYCLE.default, MS]);
        assert_eq!(cycles(S), [S, S]);
    }

    #[test]
    fn stuck_slots_are_always_lent() {
        let mut loans = Loans::new(MS, SharePolicy::Auto);
        for waits in [false, true] {
            assert_eq!(loans.lend(waits, (2, 2), 3, 0), 2);
            assert_eq!(
                loans.lend(waits, (4, 4), 3, 0),
                3,
                "no more than there may be"
            );
            assert_eq!(loans.lend(waits, (4, 4), 0, 0), 0);
        }
    }

    #[test]
    fn constant_waiting_gets_occasional_loans() {
        for (silent, patience) in [(0, STARVED_PATIENCE.default), (1, STUCK_PATIENCE.default)] {
            let mut loans = Loans::new(MS, SharePolicy::Auto);
            let mut lend = |waits, times: u64, more| {
                loans.lend(waits, (0, silent), 5, times * patience + more)
            };
            assert_eq!(lend(true, 0, 0), 0);
            for (times, lent) in [(1, 1), (3, 2), (7, 4), (15, 5), (31, 5)] {
                assert_eq!(lend(true, times, 0), lent);
                assert_eq!(lend(true, times, MS - 1), lent, "a cycle");
                assert_eq!(lend(true, times, MS), 0, "and no longer");
            }
            assert_eq!(lend(false, 40, 0), 0);
            assert_eq!(lend(true, 41, 0), 0, "from the beginning");
            assert_eq!(lend(true, 42, 0), 1);
        }
    }

    #[test]
    fn loans_beside_tasks_stay_frequent() {
        let mut loans = Loans::new(MS, SharePolicy::Off);
        let mut lend = |seconds, more| {
            let now = seconds * STARVED_PATIENCE.default + more;
            loans.lend(true, (1, 0), 3, now)
        };
        assert_eq!(lend(0, 0), 1, "stuck");
        for seconds in 1..200 {
            assert_eq!(lend(seconds, 0), 2);
            assert_eq!(lend(seconds, MS), 1);
        }
    }

    #[test]
    fn loans_double_if_all_tasks_are_long() {
        assert_eq!(beside_long_tasks(3, 3, true), 6);
        assert_eq!(beside_long_tasks(3, 3, false), 3, "no task waits");
        assert_eq!(beside_long_tasks(3, 4, true), 3);
    }

    #[test]
    fn loans_stay_within_their_limit() {
        let mut loans = Loans::new(MS, SharePolicy::Auto);
        let moments = (0..200).map(|times| times * 200 * STARVED_PATIENCE.default);
        assert!(
            moments
                .map(|now| loans.lend(true, (0, 1), 7, now))
                .all(|lent| lent <= 7)
        );
    }

    #[test]
    fn silent_thread_is_stuck_unless_computing() {
        let patience = STUCK_PATIENCE.default;
        assert_eq!(is_stuck(patience - 1, 0), None);
        assert_eq!(is_stuck(patience, patience / 20), Some(true));
        assert_eq!(is_stuck(patience, patience / 10), Some(false));
    }

    #[test]
    fn busy_neighbours_keep_their_processor() {
        let loads = [0, 749, 750, 1000, 1749, 1750, 8000, u64::MAX];
        assert_eq!(loads.map(neighbours)[..7], [0, 0, 1, 1, 1, 2, 8]);
    }
}
