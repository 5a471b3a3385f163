//! Calls that block, and polls in long leaves.

use crate::stats::Phase;
use crate::unwind;
use crate::worker::Current;
use tidegate_policy::search::Slotless;
use tidegate_policy::slots::Status;

/// Runs `f`, which may block, while another thread of the pool uses this worker's slot.
///
/// What this worker has forked becomes stealable meanwhile. Afterwards the caller goes on as soon as a slot is free, or
/// after a short grace without one (`tidegate tunables`, `owed-grace`). Outside a pool, inside another `blocking` and in a
/// pool without spare threads it is a plain call. A join, a scope or another wait inside of `f` takes a slot for its length.
///
/// ```
/// let line = tidegate::join(|| tidegate::blocking(|| "read from a slow disk"), || 1 + 1).0;
/// assert_eq!(line, "read from a slow disk");
/// ```
pub fn blocking<R>(f: impl FnOnce() -> R) -> R {
    let Some(current) = Current::get() else {
        return f();
    };
    if current.shared().has_no_spares() || current.is_blocking() {
        return f();
    }
    current.enter_blocking();
    let phase = current.enter_phase(Phase::Blocked);
    let result = unwind::catch(f);
    let _ = current.enter_phase(phase);
    current.leave_blocking();
    result.unwrap_or_else(|payload| unwind::resume(payload))
}

impl Current<'_> {
    /// Gives the slot away and goes on without one. What is forked from here on is public at once.
    pub(crate) fn enter_blocking(self) {
        self.set_blocking(true);
        self.plan_blocks(true);
        self.expose();
        self.deque().shut();
        self.stop_running(Status::Blocked);
        self.shared().rouse();
    }

    /// Takes a slot again. Whether this worker was inside of `blocking`. A child made by `fork` needs no slot.
    pub(crate) fn leave_blocking(self) -> bool {
        if !self.is_blocking() || self.shared().is_inherited() {
            return false;
        }
        self.set_blocking(false);
        self.plan_blocks(false);
        self.resume_running(Slotless::Owed);
        self.poll();
        true
    }
}

/// Answers what other workers have asked of this one, in a leaf that runs long without forking.
///
/// Costs one load when nobody has asked. Never needed for progress: thieves help themselves after a while.
///
/// ```
/// for chunk in 0..100 {
///     // … some microseconds of work on `chunk` …
///     # let _ = chunk;
///     tidegate::yield_point();
/// }
/// ```
#[inline]
pub fn yield_point() {
    if let Some(current) = Current::get() {
        current.poll();
    }
}
