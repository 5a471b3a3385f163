//! Whether a job divides the machine with others, and what it does about its allotment.
//!
//! [`Share`] is the user's wish. From it and from what the table of jobs says follows how many slots a job may use
//! ([`slots`]). Reading the table and moving slots is the runtime's; who gets how many is [`allot`](crate::allot).

use crate::Nanos;
use crate::error::ParseError;
use crate::tunables::{
    ALONE_CYCLE, CALM_CYCLES, EST_CYCLE, NEIGHBOUR_LOAD, SHARE, STARVED_PATIENCE, STUCK_PATIENCE,
};
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

/// What a job that has fewer slots than it could use does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// A slot is free, or no task waits for one.
    Free,
    /// Tasks wait, and some of those who run have moved since this was last asked.
    Moves,
    /// Tasks wait, and none of those who run has moved.
    Still,
}

/// Slots lent to a job that may have come to a stop because it has fewer than it could use: those who run wait for tasks that wait
/// for a slot.
///
/// Where nothing moves that is likely, and the loan lasts until something does ([`STUCK_PATIENCE`]). Where something moves it may be one who
/// looks again and again whether he may go on. So where tasks wait all the time, slots are lent for one cycle every now and then, one more each
/// time ([`STARVED_PATIENCE`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct Loans {
    /// Since when nothing has moved, or the last loan; and how many are lent for that.
    still: Option<Nanos>,
    lent: usize,
    /// Since when tasks have waited, or the last loan; and how many were lent for that.
    starved: Option<Nanos>,
    turns: usize,
}

impl Loans {
    /// How many slots to lend beyond `slots`, of which `held` are held, and of which there may be `most`.
    ///
    /// ```
    /// use tidegate_policy::share::{Loans, Motion};
    ///
    /// let (mut loans, ms) = (Loans::default(), 1_000_000);
    /// assert_eq!(loans.lend(Motion::Still, 0, (1, 1, 4)), 0);
    /// assert_eq!(loans.lend(Motion::Still, 100 * ms, (1, 1, 4)), 1);
    /// assert_eq!(loans.lend(Motion::Moves, 105 * ms, (1, 2, 4)), 0);
    /// ```
    pub fn lend(
        &mut self,
        motion: Motion,
        now: Nanos,
        (slots, held, most): (usize, usize, usize),
    ) -> usize {
        let room = most.saturating_sub(slots);
        if motion == Motion::Free || room == 0 {
            *self = Self::default();
            return 0;
        }
        let turn = is_over(&mut self.starved, now, STARVED_PATIENCE.default);
        self.turns = room.min(self.turns + usize::from(turn));
        if motion == Motion::Moves {
            (self.still, self.lent) = (None, 0);
            return if turn { self.turns } else { 0 };
        }
        if is_over(&mut self.still, now, STUCK_PATIENCE.default) {
            self.lent = self.lent.max(held.saturating_sub(slots)) + 1;
        }
        self.lent.min(room)
    }
}

/// Whether `patience` is over since the first time or the last time that it was.
fn is_over(since: &mut Option<Nanos>, now: Nanos, patience: Nanos) -> bool {
    let over = now.saturating_sub(*since.get_or_insert(now)) >= patience;
    if over {
        *since = Some(now);
    }
    over
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
        use Motion::{Free, Moves, Still};
        let mut loans = Loans::default();
        let patience = STUCK_PATIENCE.default;
        let mut lend = |motion, times, held| loans.lend(motion, times * patience, (1, held, 4));
        assert_eq!(lend(Still, 0, 1), 0);
        let loaned = [lend(Still, 1, 1), lend(Still, 2, 2), lend(Still, 3, 3)];
        assert_eq!(loaned, [1, 2, 3]);
        assert_eq!(lend(Still, 4, 4), 3, "no more than there may be");
        assert_eq!(lend(Moves, 5, 3), 0);
        let again = [lend(Still, 6, 3), lend(Still, 7, 3)];
        assert_eq!(again, [0, 3], "one more than are held");
        assert_eq!(lend(Free, 8, 3), 0);
        assert_eq!(loans.lend(Still, 9 * patience, (4, 4, 4)), 0);
    }

    #[test]
    fn where_tasks_wait_all_the_time_slots_are_lent_for_a_cycle_now_and_then() {
        let mut loans = Loans::default();
        let patience = STARVED_PATIENCE.default;
        let mut lend = |motion, now| loans.lend(motion, now, (1, 1, 3));
        assert_eq!(lend(Motion::Moves, 0), 0);
        assert_eq!(lend(Motion::Moves, patience), 1);
        assert_eq!(lend(Motion::Moves, patience + 1), 0, "one cycle");
        assert_eq!(lend(Motion::Moves, 2 * patience), 2);
        assert_eq!(
            lend(Motion::Moves, 3 * patience),
            2,
            "no more than there may be"
        );
        assert_eq!(lend(Motion::Free, 4 * patience), 0);
        assert_eq!(lend(Motion::Moves, 5 * patience), 0, "from the beginning");
    }

    #[test]
    fn a_processor_is_left_to_strangers_who_keep_most_of_it_busy() {
        let loads = [0, 749, 750, 1000, 1749, 1750, 8000, u64::MAX];
        assert_eq!(loads.map(neighbours)[..7], [0, 0, 1, 1, 1, 2, 8]);
    }
}
