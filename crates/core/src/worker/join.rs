//! The fork-join fast path, and its cold exits.
//!
//! A join in steps:
//! 1. The second closure and room for its result, a [`Half`], are in the caller's frame (`join`,
//!    inlined into the user's function).
//! 2. The worker pushes a pointer to the half (`push_half`). If a signal is pending or the deque is
//!    full, the push goes through `push_cold`, which answers the signal.
//! 3. The worker runs the first closure. If that panics, [`Abandon`] drops the second closure or
//!    waits for its thief.
//! 4. The worker pops the half (`end`). Usually no thief has taken it, so the worker runs the
//!    second closure and returns.
//! 5. If the half was moved to a queue, the worker takes it out there. If a thief has it, the
//!    worker waits ([`crate::worker::wait`]) and takes the result out of the half (`end_cold`).
//!
//! Steps 2 to 5 are a separate function, `join_half`, which is never inlined. If it were inlined,
//! its values would live in registers that the user's function has to save on entry in every call,
//! even in a call that turns out not to fork; half of all calls in a binary recursion are such
//! leaves. docs/performance.md has the figures. The half stays in the caller's frame because large
//! closures would otherwise be copied once more.
//!
//! **Safety argument of the join.** The half is in the joiner's frame. Its pointer is in the deque
//! from the push until it is popped or stolen. `join` leaves the frame, by return or by panic, only
//! after one of three events: it has popped the pointer itself, it has taken the pointer back out
//! of a queue that the half was moved to ([`crate::sources::alt_queue`]; a task comes out of such a
//! queue once), or it has seen the latch open. Each of them ends every use of the pointer by other
//! threads. docs/waiting.md describes the waiting.

use super::alt;
use super::half::Half;
use super::run;
use super::{WorkerThread, give, wait};
use crate::job::{HalfHeader, Task};
use crate::pool::signal;
use crate::simulated;
use crate::sleep;
use crate::sleep::wake;
use crate::unwind::{self, Payload, UnhandledPanic};
use tidegate_deque::split::Cold;
use tidegate_sync::{barrier, clock};

/// The signals that are answered by making work public.
const FOR_WORK: u32 = signal::FLAG | signal::HUNGRY;

impl WorkerThread<'_> {
    /// Takes a task from the worker's own deque, at or above `base`.
    #[inline]
    pub(crate) fn pop(self, base: u64) -> Option<Task> {
        // SAFETY: every entry of a deque is a live task (pushed by `push_task` or `join`), and a
        // pop hands it to exactly one taker.
        self.deque()
            .pop(base)
            .map(|header| unsafe { Task::from_raw(header) })
    }

    /// Pushes a task. Returns the task as an error if the deque is full.
    #[inline]
    pub(crate) fn push_task(self, task: Task) -> Result<(), Task> {
        match self.deque().push(task.as_raw()) {
            Ok(_) => Ok(()),
            Err(Cold(position)) => self.push_task_cold(task, position),
        }
    }

    #[cold]
    fn push_task_cold(self, task: Task, position: u64) -> Result<(), Task> {
        if alt::is_full(self) && self.deque().pop_at(position) {
            self.poll();
            return Err(task);
        }
        match self.push_cold(position) {
            FULL => Err(task),
            _ => Ok(()),
        }
    }

    /// Runs `a`, and runs `b` here or on a thief; see [`crate::join`].
    #[inline(always)]
    pub(crate) fn join<A, B, RA, RB>(self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA,
        B: FnOnce() -> RB + Send,
        RB: Send,
    {
        self.join_running(a, move |_| b())
    }

    /// Like `join`, but `b` receives the worker that runs it.
    #[inline(always)]
    pub fn join_running<A, B, RA, RB>(self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA,
        B: FnOnce(WorkerThread<'_>) -> RB + Send,
        RB: Send,
    {
        let half = Half::new(move |current: WorkerThread<'_>, _| b(current));
        self.join_half(a, &half)
    }

    #[inline(never)]
    fn join_half<A, B, RA, RB>(self, a: A, half: &Half<B, RB>) -> (RA, RB)
    where
        A: FnOnce() -> RA,
        B: FnOnce(WorkerThread<'_>, bool) -> RB + Send,
        RB: Send,
    {
        let position = self.push_half(half);
        let abandon = Abandon {
            current: self,
            half,
            position,
        };
        let ra = a();
        std::mem::forget(abandon);
        self.end(ra, half, position)
    }

    /// Runs the second half, or waits for its thief.
    #[inline(always)]
    fn end<RA, B, RB>(self, ra: RA, half: &Half<B, RB>, position: u64) -> (RA, RB)
    where
        B: FnOnce(WorkerThread<'_>, bool) -> RB + Send,
        RB: Send,
    {
        let deque = self.deque();
        if deque.bottom() == position.wrapping_add(1) && deque.pop_private(position) {
            // SAFETY: 1. the half was taken back just now; 2. the thief's side does not run.
            let b = unsafe { half.take_closure() };
            return (ra, b(self, false));
        }
        self.end_cold(ra, half, position)
    }

    /// Ends a join whose half is public, moved, stolen, below other tasks, or did not fit. Gets the
    /// first result, because a register that kept it across this call would cost every join one or
    /// two instructions.
    #[cold]
    #[inline(never)]
    fn end_cold<RA, B, RB>(self, ra: RA, half: &Half<B, RB>, position: u64) -> (RA, RB)
    where
        B: FnOnce(WorkerThread<'_>, bool) -> RB + Send,
        RB: Send,
    {
        if self.take_back(half.header(), position) {
            // SAFETY: 1. the half was taken back just now; 2. the thief's side does not run.
            let b = unsafe { half.take_closure() };
            return (ra, b(self, false));
        }
        wait::for_half(self, half.header());
        self.deque().settle(position);
        // SAFETY: 1. the wait saw the latch open; 2. the join ends here.
        match unsafe { half.take_result() } {
            Ok(result) => (ra, result),
            Err(payload) => unwind::resume(payload),
        }
    }

    /// Like [`join`](Self::join), but `b` runs even if `a` panics. The argument of `b` says whether
    /// `b` was stolen.
    #[inline(always)]
    pub(crate) fn join_both<A, B, RA, RB>(self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA,
        B: FnOnce(bool) -> RB + Send,
        RB: Send,
    {
        let half = Half::new(move |_: WorkerThread<'_>, stolen| b(stolen));
        self.join_both_half(a, &half)
    }

    #[inline(never)]
    fn join_both_half<A, B, RA, RB>(self, a: A, half: &Half<B, RB>) -> (RA, RB)
    where
        A: FnOnce() -> RA,
        B: FnOnce(WorkerThread<'_>, bool) -> RB + Send,
        RB: Send,
    {
        let position = self.push_half(half);
        let ra = match unwind::catch(a) {
            Ok(ra) => ra,
            Err(payload) => self.end_both(half, position, payload),
        };
        self.end(ra, half, position)
    }

    #[inline(always)]
    fn push_half<B, RB>(self, half: &Half<B, RB>) -> u64
    where
        B: FnOnce(WorkerThread<'_>, bool) -> RB + Send,
        RB: Send,
    {
        match self.deque().push(half.as_raw()) {
            Ok(position) => position,
            Err(Cold(position)) => self.push_cold(position),
        }
    }

    /// Resumes the panic of the first half, after the second half has run here or on a thief.
    #[cold]
    #[inline(never)]
    fn end_both<B, RB>(self, half: &Half<B, RB>, position: u64, payload: Payload) -> !
    where
        B: FnOnce(WorkerThread<'_>, bool) -> RB + Send,
        RB: Send,
    {
        let ended = if self.take_back(half.header(), position) {
            // SAFETY: 1. the half was taken back just now; 2. the join ends here.
            let b = unsafe { half.take_closure() };
            unwind::catch(|| b(self, false))
        } else {
            wait::for_half(self, half.header());
            self.deque().settle(position);
            // SAFETY: 1. the wait saw the latch open; 2. the join ends here.
            unsafe { half.take_result() }
        };
        if let Err(second) = unwind::catch(|| ended.map(drop)).and_then(|ended| ended) {
            self.pool().panics.report(second, UnhandledPanic::Second);
        }
        unwind::resume(payload)
    }

    /// Takes the half pushed at `position` back from the deque, or from where it was moved. Returns
    /// whether it was still there.
    fn take_back(self, half: &HalfHeader, position: u64) -> bool {
        let deque = self.deque();
        let is_in_deque = match deque.bottom().wrapping_sub(position) {
            // `pop_private` has failed.
            0 => deque.pop_cold(position),
            1 => deque.pop_at(position),
            _ => self.take_back_uneven(position),
        };
        is_in_deque || self.take_back_moved(half, position)
    }

    /// Takes the half back from the queue that it was moved to. Returns whether it was still there.
    fn take_back_moved(self, half: &HalfHeader, position: u64) -> bool {
        let taken = alt::take_back(self, half);
        if taken {
            self.deque().settle(position);
        }
        taken
    }

    /// Handles a half that was never pushed, or that is below tasks spawned inside the first half.
    #[cold]
    fn take_back_uneven(self, position: u64) -> bool {
        position == FULL || {
            // The half may be on a thief, so its frame must stay.
            unwind::no_unwind(|| run::clear_above(self, position + 1));
            self.deque().pop_at(position)
        }
    }

    /// The cold exit of a push: answers the signals. Returns the position, or [`FULL`].
    ///
    /// Does not unwind: the pushed half is in the deque already, and its frame has no [`Abandon`]
    /// yet.
    #[cold]
    #[inline(never)]
    fn push_cold(self, position: u64) -> u64 {
        unwind::no_unwind(|| {
            let deque = self.deque();
            let signals = deque.answer();
            let position = deque.confirm(position).unwrap_or(FULL);
            self.act_on(signals);
            simulated::switch("pushes a task");
            position
        })
    }

    /// Answers signals outside a push.
    #[inline]
    pub fn poll(self) {
        if self.is_called() {
            let signals = self.deque().answer();
            self.act_on(signals);
        }
    }

    /// Whether there is a signal to answer now. Flags and the hungry signal can only be answered
    /// with work: without work, they wait for the next push.
    #[inline]
    pub fn is_called(self) -> bool {
        self.deque().is_signalled()
            && (self.worker().deque.raised() & !FOR_WORK != 0 || !self.deque().is_empty())
    }

    /// Does what other threads have requested by signals.
    pub(crate) fn act_on(self, signals: u32) {
        let deque = self.deque();
        if !alt::move_out(self) && signals & FOR_WORK != 0 {
            if deque.expose_half() == 0 {
                // Raised again: flags and the hungry signal stay pending until there is work.
                self.worker().deque.raise(signals & FOR_WORK);
            } else {
                self.set_exposed_at(clock::now());
                if signals & signal::HUNGRY != 0 {
                    wake::work_visible(self.pool(), Some(self.worker()));
                }
            }
        }
        if signals & signal::LEAVE != 0 && !self.is_blocking() {
            sleep::give_up(self, signals & signal::TURN != 0);
        }
        if self.is_blocking() {
            give::expose(self);
            deque.shut();
            wake::work_visible(self.pool(), Some(self.worker()));
        } else if barrier::available() != Some(true) || simulated::is_simulated() {
            // No thief can expose our tasks by force, so all of them are public.
            deque.expose_all();
            deque.shut();
        }
    }
}

/// Stands for the position of a task that did not fit. `u64::MAX` is not suitable: because of
/// wrap-around, a bottom of 0 would be just above it.
pub(crate) const FULL: u64 = u64::MAX - 1;

/// Ends a join whose first half panicked: drops the second half without running it, or waits for it
/// if a thief has it.
struct Abandon<'a, B, RB>
where
    B: FnOnce(WorkerThread<'_>, bool) -> RB + Send,
    RB: Send,
{
    current: WorkerThread<'a>,
    half: &'a Half<B, RB>,
    position: u64,
}

impl<B, RB> Drop for Abandon<'_, B, RB>
where
    B: FnOnce(WorkerThread<'_>, bool) -> RB + Send,
    RB: Send,
{
    // Inlined, so that the fields stay in registers if nothing panics.
    #[inline(always)]
    fn drop(&mut self) {
        self.current.abandon(self.half, self.position);
    }
}

impl WorkerThread<'_> {
    #[cold]
    #[inline(never)]
    fn abandon<B, RB>(self, half: &Half<B, RB>, position: u64)
    where
        B: FnOnce(WorkerThread<'_>, bool) -> RB + Send,
        RB: Send,
    {
        let mut unstarted = self.take_back(half.header(), position);
        if !unstarted {
            unstarted = wait::for_half_unwinding(self, half.header());
            self.deque().settle(position);
        }
        if unstarted {
            // SAFETY: 1. the half was taken back just now; 2. the join ends here.
            return drop(unsafe { half.take_closure() });
        }
        // SAFETY: 1. the wait saw the latch open; 2. the join ends here.
        if let Err(payload) = unsafe { half.take_result() } {
            self.pool().panics.report(payload, UnhandledPanic::Second);
        }
    }
}
