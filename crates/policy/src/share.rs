//! Whether a job divides the machine with others, and what it does about its allotment.
//!
//! [`Share`] is the user's wish. From it and from what the table of jobs says follows how many slots a job may use
//! ([`slots`]). Reading the table and moving slots is the runtime's; who gets how many is [`allot`](crate::allot).

use crate::Nanos;
use crate::error::ParseError;
use crate::tunables::{ALONE_CYCLE, CALM_CYCLES, EST_CYCLE, NEIGHBOUR_LOAD, SHARE, STUCK_PATIENCE};
use core::fmt;
use core::str::FromStr;

/// Whether a job divides the processors with other jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Share {
    /// It takes no part.
    Off,
    /// It divides them while there are other jobs; alone it has all that it may use.
    Auto,
    /// It keeps to what it can put to good use also while it is alone, and leaves room for programs that take no part.
    On,
}

impl Share {
    pub(crate) const NAMES: &'static [&'static str] = &["off", "auto", "on"];

    /// Whether programs that take no part are to be left room, with `others` jobs in the table beside this one.
    #[must_use]
    pub const fn leaves_room(self, others: usize) -> bool {
        match self {
            Self::Off => false,
            Self::Auto => others > 0,
            Self::On => true,
        }
    }
}

impl Default for Share {
    /// [`SHARE`].
    fn default() -> Self {
        SHARE.default
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Auto => "auto",
            Self::On => "on",
        })
    }
}

impl FromStr for Share {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "off" => Ok(Self::Off),
            "auto" => Ok(Self::Auto),
            "on" => Ok(Self::On),
            _ => Err(crate::text::unknown("way to share", text, Self::NAMES)),
        }
    }
}

/// How many slots a job may use that could use `limit` by itself, has this `allotment`, and desires processors beside
/// `others` that do. One at least: a job with work may always use one processor.
///
/// ```
/// use tidegate_policy::share::{Share, slots};
///
/// assert_eq!(slots(Share::Auto, 8, 3, 1), 3);
/// assert_eq!(slots(Share::Auto, 8, 3, 0), 8); // alone
/// assert_eq!(slots(Share::On, 8, 3, 0), 3);
/// ```
#[must_use]
pub const fn slots(share: Share, limit: usize, allotment: usize, others: usize) -> usize {
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

/// How long the next cycle of a job is that desires processors beside `others`, after `calm` cycles in a row that have changed neither its
/// desire nor its slots: twice as long after [`CALM_CYCLES`] of them, and four times after twice as many.
///
/// ```
/// use tidegate_policy::share::{Share, cycle};
///
/// let cycles = [0, 4, 8, 1_000].map(|calm| cycle(Share::Auto, 1, calm));
/// assert_eq!(cycles, [5_000_000, 10_000_000, 20_000_000, 20_000_000]);
/// ```
#[must_use]
pub const fn cycle(share: Share, others: usize, calm: usize) -> Nanos {
    if !share.leaves_room(others) {
        ALONE_CYCLE.default
    } else if calm < CALM_CYCLES.default {
        EST_CYCLE.default
    } else if calm < 2 * CALM_CYCLES.default {
        2 * EST_CYCLE.default
    } else {
        4 * EST_CYCLE.default
    }
}

/// Slots lent to a job that stands still because it has fewer than it could use: those who run may wait for tasks that wait for a slot.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loans {
    /// Since when nothing has moved, or the last loan.
    since: Option<Nanos>,
    lent: usize,
}

impl Loans {
    /// How many slots to lend beyond `slots`, of which `held` are held and `wanted` could be used. `still`: tasks wait, and none of
    /// those who run has moved since this was last asked ([`STUCK_PATIENCE`]).
    ///
    /// ```
    /// use tidegate_policy::share::Loans;
    ///
    /// let (mut loans, ms) = (Loans::default(), 1_000_000);
    /// assert_eq!(loans.lend(true, 0, (1, 1, 4)), 0);
    /// assert_eq!(loans.lend(true, 100 * ms, (1, 1, 4)), 1);
    /// assert_eq!(loans.lend(false, 105 * ms, (1, 2, 4)), 0); // it moves
    /// ```
    pub fn lend(
        &mut self,
        still: bool,
        now: Nanos,
        (slots, held, wanted): (usize, usize, usize),
    ) -> usize {
        let room = wanted.saturating_sub(slots);
        if !still || room == 0 {
            *self = Self::default();
            return 0;
        }
        let since = *self.since.get_or_insert(now);
        if now.saturating_sub(since) >= STUCK_PATIENCE.default {
            self.since = Some(now);
            self.lent = self.lent.max(held.saturating_sub(slots)) + 1;
        }
        self.lent.min(room)
    }
}

/// How many whole processors to leave to programs that keep `load` thousandths of a processor busy ([`NEIGHBOUR_LOAD`]).
#[must_use]
pub fn neighbours(load: u64) -> usize {
    let taken = (NEIGHBOUR_LOAD.default * 1000.0) as u64;
    usize::try_from(load.saturating_add(1000 - taken) / 1000).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_has_at_least_one_slot_and_at_most_its_limit() {
        for share in [Share::Off, Share::Auto, Share::On] {
            for others in [0, 1] {
                assert_eq!(slots(share, 4, 9, others), 4);
                let obeys = share.leaves_room(others);
                assert_eq!(slots(share, 4, 0, others), if obeys { 1 } else { 4 });
            }
        }
    }

    #[test]
    fn loans_grow_while_nothing_moves_and_end_when_something_does() {
        let mut loans = Loans::default();
        let patience = STUCK_PATIENCE.default;
        let mut lend = |still, times, held| loans.lend(still, times * patience, (1, held, 4));
        assert_eq!(lend(true, 0, 1), 0);
        let loaned = [lend(true, 1, 1), lend(true, 2, 2), lend(true, 3, 3)];
        assert_eq!(loaned, [1, 2, 3]);
        assert_eq!(lend(true, 4, 4), 3, "no more than are wanted");
        assert_eq!(lend(false, 5, 3), 0);
        assert_eq!(
            [lend(true, 6, 3), lend(true, 7, 3)],
            [0, 3],
            "one more than are held"
        );
        assert_eq!(loans.lend(true, 8 * patience, (4, 4, 4)), 0);
    }

    #[test]
    fn a_processor_is_left_to_strangers_who_keep_most_of_it_busy() {
        let loads = [0, 749, 750, 1000, 1749, 1750, 8000, u64::MAX];
        assert_eq!(loads.map(neighbours)[..7], [0, 0, 1, 1, 1, 2, 8]);
    }
}
