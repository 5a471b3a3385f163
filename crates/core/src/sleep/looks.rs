//! The last looks of a sleeper before it parks.

use super::blocking;
use crate::pool::PoolInner;
use std::mem;
use std::time::Duration;
use tidegate_policy::Nanos;
use tidegate_policy::slots::Wake;
use tidegate_policy::tunables::PARK_LOOK;
use tidegate_sync::barrier;
use tidegate_sync::park::Parker;

/// The workers at which the hungry signal was raised.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// At most the caller itself.
    NoOther,
    Others,
}

impl Asked {
    /// Orders the signal before the caller's next look. Running owners store tasks without a fence,
    /// so this requires the process-wide barrier. If no other owner runs, no task is in a store
    /// buffer, and a full fence is enough. Returns `false` if the system lacks the barrier that is
    /// needed.
    #[must_use]
    pub(crate) fn order(self) -> bool {
        match self {
            Self::NoOther => {
                barrier::full();
                true
            }
            Self::Others => barrier::heavy(),
        }
    }
}

/// The number of looks that a sleeper still takes before it parks until it is woken.
pub(crate) struct Looks {
    left: u32,
    /// Whether tasks wait because all threads are in blocking calls. The sleeper itself may still
    /// find these tasks.
    exhausted: bool,
}

impl Looks {
    pub(super) fn none() -> Self {
        Self {
            left: 0,
            exhausted: false,
        }
    }

    /// Returns the looks that remain after the hungry signal was raised. `ordered` says whether a
    /// barrier orders the signal before them. If none does, the sleeper looks twice: tasks that an
    /// owner pushed before it could see the signal are visible after a short sleep.
    pub(super) fn begin(ordered: bool) -> Self {
        Self {
            left: if ordered { 1 } else { 2 },
            exhausted: false,
        }
    }

    /// Returns the remaining looks of a sleeper that has roused other threads with the result
    /// `wake`.
    pub(super) fn after(wake: Wake, ordered: bool) -> Self {
        Self {
            exhausted: wake == Wake::Exhausted,
            ..Self::begin(ordered)
        }
    }

    pub(super) fn remain(&self) -> bool {
        self.left > 0
    }

    pub(super) fn is_last(&self) -> bool {
        self.left <= 1
    }

    /// Called after a look that has found nothing. Reports tasks that wait because all threads are
    /// in blocking calls.
    pub(super) fn report(&mut self, pool: &PoolInner) {
        if mem::take(&mut self.exhausted) {
            blocking::report_exhausted(pool);
        }
    }

    /// Parks after a look that has found nothing; `most` is the time limit of the last park. Returns
    /// whether another thread has unparked the sleeper.
    pub(super) fn park(&mut self, pool: &PoolInner, parker: &Parker, most: Option<Nanos>) -> bool {
        self.report(pool);
        self.left = self.left.saturating_sub(1);
        let most = if self.remain() {
            Some(PARK_LOOK.default)
        } else {
            most
        };
        match most {
            Some(nanos) => parker.park_timeout(Duration::from_nanos(nanos)),
            None => {
                parker.park();
                true
            }
        }
    }
}
