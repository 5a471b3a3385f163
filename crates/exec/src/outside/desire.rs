//! How many processors a program could use, judged from outside.

use tidegate_policy::Nanos;
use tidegate_policy::desire::{DesirePolicy, DesireState, Seen, Steady};
use tidegate_policy::tunables::{EXEC_CYCLE, EXEC_PART, EXEC_UNBOOKED, EXEC_WAIT_FACTOR};

/// What a look at a program shows: the sums over all its threads. Times are totals since the start
/// and include those of threads that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The time of the look.
    pub at: Nanos,
    /// How long threads ran.
    pub ran: Nanos,
    /// How long threads were runnable and waited for a processor.
    pub delayed: Nanos,
    /// The number of threads that run or are runnable at the time of the look.
    pub runnable: usize,
}

/// A program's desire, estimated from outside by the rules of [`Steady`].
///
/// The program's *demand* in a cycle is the time that its threads ran or waited for a processor.
/// Divided by the length of the cycle, it is the mean number of runnable threads, and so of
/// processors that the program could use. Unlike the time that threads ran, it depends neither on
/// how far the program is confined, nor on other programs that take its processors away. Three
/// things stand between the kernel's counters and the demand:
///
/// * *Late counts.* The kernel counts a wait when it ends, and a running thread's time at the next
///   tick. A thread that is runnable at two looks in a row counts as runnable between them, and if
///   the counters show that time later, it is not counted again ([`EXEC_UNBOOKED`]).
/// * *Brief wake-ups.* On a busy machine, a timer that runs for some microseconds waits for some
///   milliseconds each time. A wait only counts up to [`EXEC_WAIT_FACTOR`] times the time that
///   threads ran.
/// * *Remainders.* A part of a processor counts as one more only if it is larger than
///   [`EXEC_PART`]. So a program that wakes up for a moment in each cycle desires none.
///
/// The first look should be at the start of the program, so that no wait from before it counts. The
/// caller limits the desire to the number of threads.
///
/// ```
/// use tidegate_exec::outside::{Desire, Look};
///
/// let (mut desire, ms) = (Desire::default(), 1_000_000);
/// let look = |at, ran, delayed| {
///     Look { at: at * ms, ran: ran * ms, delayed: delayed * ms, runnable: 2 }
/// };
/// assert_eq!(desire.next(&look(0, 0, 0), 1), 1);
/// assert_eq!(desire.next(&look(20, 20, 20), 1), 2); // two threads take turns
/// assert_eq!(desire.next(&look(40, 60, 20), 2), 2);
/// let asleep = Look { at: 60 * ms, runnable: 0, ..look(40, 60, 20) };
/// assert_eq!(desire.next(&asleep, 2), 0);
/// ```
#[derive(Clone, Debug)]
pub struct Desire {
    state: DesireState,
    last: Option<Look>,
    /// Demand that was counted before the kernel's counters showed it.
    unbooked: Nanos,
}

impl Default for Desire {
    fn default() -> Self {
        Self::new()
    }
}

impl Desire {
    /// Creates the state of a program that has just started, with a desire of 1.
    #[must_use]
    pub fn new() -> Self {
        let steady = DesirePolicy::Steady(Steady::default());
        Self {
            state: DesireState::new(&steady).expect("the defaults are allowed"),
            last: None,
            unbooked: 0,
        }
    }

    /// Returns the desire for the next cycle. In the last one, the program had `allotment`
    /// processors; more than it desired count as if it had not had them.
    ///
    /// The first look changes nothing. Neither does one that follows the last after less than half
    /// of [`EXEC_CYCLE`]: it belongs to the next cycle.
    pub fn next(&mut self, look: &Look, allotment: usize) -> usize {
        let Some(last) = self.last else {
            self.last = Some(*look);
            return self.state.desire();
        };
        let length = look.at.saturating_sub(last.at);
        if length < EXEC_CYCLE.default / 2 {
            return self.state.desire();
        }
        self.last = Some(*look);
        let demand = self.demand(&last, look, length);
        let wanted = whole(demand, length);
        let allotment = allotment.min(self.state.desire()).max(1);
        let busy = wanted.min(allotment);
        self.state.next(&Seen {
            length,
            allotment,
            usage: busy,
            working: demand.min(times(length, wanted)),
            busy,
            queued: wanted - busy,
            ..Seen::default()
        })
    }

    /// Returns the time in which threads ran or waited for a processor, over all threads.
    fn demand(&mut self, last: &Look, look: &Look, length: Nanos) -> Nanos {
        let ran = look.ran.saturating_sub(last.ran);
        let booked = ran.saturating_add(look.delayed.saturating_sub(last.delayed));
        let throughout = times(length, last.runnable.min(look.runnable));
        let most_unbooked = times(EXEC_UNBOOKED.default, look.runnable);
        if booked < throughout {
            let room = most_unbooked.saturating_sub(self.unbooked);
            let ahead = (throughout - booked).min(room);
            self.unbooked = most_unbooked.min(self.unbooked + ahead);
            return booked + ahead;
        }
        let excess = booked - throughout;
        let fresh = excess.saturating_sub(self.unbooked);
        self.unbooked = (self.unbooked - (excess - fresh)).min(most_unbooked);
        let most_fresh = times(ran, EXEC_WAIT_FACTOR.default.saturating_add(1));
        throughout.saturating_add(fresh.min(most_fresh))
    }
}

/// Returns the demand in whole processors.
fn whole(demand: Nanos, length: Nanos) -> usize {
    let ignored = (length as f64 * EXEC_PART.default) as Nanos;
    let processors = demand.saturating_sub(ignored).div_ceil(length);
    usize::try_from(processors).unwrap_or(usize::MAX)
}

fn times(time: Nanos, count: usize) -> Nanos {
    time.saturating_mul(count as u64)
}
