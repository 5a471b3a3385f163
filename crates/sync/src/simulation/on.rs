//! How threads join a simulation, pass the turn on and wait for it.

use super::state::{
    Choice, Condition, Event, Kind, Member, Reason, Report, Settings, State, Status,
};
use crate::serial;
use crate::thread::Process;
use std::cell::RefCell;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The time that one reading of the clock takes, in nanoseconds of the simulation's clock. A loop
/// that reads the clock until a time has passed therefore ends.
const READING: u64 = 100;

/// The name of the thread that has begun a simulation. Its own name may differ between runs.
const FOUNDER: &str = "caller";

struct Inner {
    /// Distinguishes this simulation from all others in this program.
    serial: u64,
    /// The process whose threads belong to the simulation. In a child made by `fork`, none do.
    process: Process,
    /// Whether the founder leaves as soon as all other threads have ended, because the
    /// [`Simulation`] was dropped.
    is_released: AtomicBool,
    settings: Settings,
    state: Mutex<State>,
    on_stop: Box<dyn Fn(&Report) + Send + Sync>,
}

/// The calling thread's simulation and its number there.
struct Own {
    inner: Arc<Inner>,
    index: usize,
}

impl Drop for Own {
    fn drop(&mut self) {
        self.inner.leave(self.index);
    }
}

thread_local! {
    static OWN: RefCell<Option<Own>> = const { RefCell::new(None) };
}

/// A simulation. The thread that has begun it belongs to it until this is dropped and all other
/// threads have ended, or until the thread ends.
#[derive(Debug)]
pub struct Simulation {
    inner: Arc<Inner>,
}

impl Simulation {
    /// Begins a simulation whose only thread, at first, is the calling thread. Returns `None` if
    /// the calling thread already belongs to one.
    ///
    /// `choose` returns one of the threads that can run. If the simulation stops early, `on_stop`
    /// is called once, and no thread of the simulation continues after that.
    pub fn begin(
        settings: Settings,
        choose: impl FnMut(&Choice<'_>) -> usize + Send + 'static,
        on_stop: impl Fn(&Report) + Send + Sync + 'static,
    ) -> Option<Self> {
        if is_simulated() {
            return None;
        }
        let inner = Arc::new(Inner {
            serial: serial::next(),
            process: Process::this(),
            is_released: AtomicBool::new(false),
            settings,
            state: Mutex::new(State::new(FOUNDER.to_owned(), Box::new(choose))),
            on_stop: Box::new(on_stop),
        });
        let own = Own {
            inner: inner.clone(),
            index: 0,
        };
        OWN.with(|cell| cell.replace(Some(own)));
        Some(Self { inner })
    }

    /// Returns an observer, which may outlive the simulation.
    #[must_use]
    pub fn observer(&self) -> Observer {
        Observer(self.inner.clone())
    }
}

/// Shows the steps of a simulation, from any thread.
#[derive(Clone, Debug)]
pub struct Observer(Arc<Inner>);

impl Observer {
    /// Returns the steps so far.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.0.lock().events.clone()
    }

    /// Returns the names of the threads so far, in the order in which they were started.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.0.lock().names()
    }

    /// Gives the turn to a thread that can run, if no thread has it. Called by a thread outside the
    /// simulation that waits for threads inside.
    pub fn kick(&self) {
        self.0.lock().kick();
    }

    /// Returns the number of the simulation, which no other simulation of this program has.
    #[must_use]
    pub fn serial(&self) -> u64 {
        self.0.serial
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        // Relaxed: the founder need not notice it at once.
        self.inner.is_released.store(true, Ordering::Relaxed);
        leave_if_released();
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Passes the turn of thread `me` on, with status `status`, and waits until it comes back.
    fn hand_over(
        &self,
        me: usize,
        place: (&'static str, Option<&'static Location<'static>>),
        kind: Kind,
        status: Status,
    ) {
        let mut state = self.lock();
        if state.has_stopped {
            drop(state);
            freeze();
        }
        state.members[me].status = status;
        match state.pass(me, place, kind, self.settings.steps) {
            Ok(()) => self.wait_for_turn(state, me).members[me].status = Status::Ready,
            Err(reason) => {
                self.stop(state, reason);
                freeze();
            }
        }
    }

    fn wait_for_turn<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        me: usize,
    ) -> MutexGuard<'a, State> {
        let turn_comes = state.members[me].turn_comes.clone();
        loop {
            if state.has_stopped {
                drop(state);
                freeze();
            }
            if state.turn == me {
                return state;
            }
            let step = state.step;
            let (next, waited) = turn_comes
                .wait_timeout(state, self.settings.patience)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            state = next;
            let is_stuck = waited.timed_out() && state.is_waiting_since(step, me);
            if is_stuck && !state.has_stopped {
                self.stop(state, Reason::Stuck);
                freeze();
            }
        }
    }

    /// Stops the simulation early.
    fn stop(&self, mut state: MutexGuard<'_, State>, reason: Reason) {
        /// Aborts if `on_stop` panics: the caller must not unwind frames that another thread uses.
        struct AbortOnUnwind;
        impl Drop for AbortOnUnwind {
            fn drop(&mut self) {
                std::process::abort();
            }
        }
        state.has_stopped = true;
        let report = state.report(reason);
        drop(state);
        let guard = AbortOnUnwind;
        (self.on_stop)(&report);
        std::mem::forget(guard);
    }

    fn leave(&self, me: usize) {
        if self.process != Process::this() {
            return;
        }
        let mut state = self.lock();
        if state.has_stopped {
            return;
        }
        let member = &mut state.members[me];
        member.status = Status::Ended;
        // Release pairs with the Acquire in `End::wait`.
        member.ended.store(true, Ordering::Release);
        if let Err(reason) = state.pass(me, ("ends", None), Kind::GivesWay, self.settings.steps) {
            self.stop(state, reason);
        }
    }
}

/// Stops the calling thread permanently, because its simulation has stopped.
fn freeze() -> ! {
    loop {
        std::thread::park();
    }
}

/// Returns the calling thread's simulation and its number there.
fn own() -> Option<(Arc<Inner>, usize)> {
    let own = OWN.try_with(|cell| {
        let own = cell.try_borrow().ok()?;
        let own = own.as_ref()?;
        let is_inherited = own.inner.process != Process::this();
        (!is_inherited).then(|| (own.inner.clone(), own.index))
    });
    let (inner, index) = own.ok().flatten()?;
    // Relaxed: see `Simulation::drop`.
    if index == 0 && inner.is_released.load(Ordering::Relaxed) && leave_if_released() {
        return None;
    }
    Some((inner, index))
}

/// Makes the calling thread leave its simulation if it is the founder and may leave. Returns
/// whether it has left. While other threads live, the founder may be a guest of the pool.
fn leave_if_released() -> bool {
    let may_leave = |own: &mut Own| {
        // Relaxed: see `Simulation::drop`.
        let is_released = own.inner.is_released.load(Ordering::Relaxed);
        own.index == 0 && is_released && own.inner.lock().have_others_ended()
    };
    let own = OWN.try_with(|cell| cell.borrow_mut().take_if(may_leave));
    // Dropped here, outside the borrow.
    own.is_ok_and(|own| own.is_some())
}

/// Waits until the calling thread may leave its simulation, if it is a founder whose [`Simulation`]
/// was dropped.
pub fn settle() {
    let Some((inner, 0)) = own() else {
        return;
    };
    // Relaxed: see `Simulation::drop`.
    if inner.is_released.load(Ordering::Relaxed) {
        let others = inner.lock().ends();
        // Acquire pairs with the Release in `leave`.
        let have_ended = || others.iter().all(|ended| ended.load(Ordering::Acquire));
        let _ = block_for("waits for the threads of its last pool", None, &have_ended);
        leave_if_released();
    }
}

/// Returns the observer of the calling thread's simulation.
#[must_use]
pub fn here() -> Option<Observer> {
    own().map(|(inner, _)| Observer(inner))
}

/// Whether the calling thread belongs to a simulation.
#[must_use]
pub fn is_simulated() -> bool {
    serial_here().is_some()
}

/// Returns the number of the calling thread's simulation. No other simulation of this program has
/// it.
#[must_use]
pub fn serial_here() -> Option<u64> {
    own().map(|(inner, _)| inner.serial)
}

/// Lets other threads of the calling thread's simulation run, if it belongs to one. `what` says
/// what the thread does here, for example "pushes a task".
#[track_caller]
pub fn switch(what: &'static str) {
    if let Some((inner, me)) = own() {
        let place = (what, Some(Location::caller()));
        inner.hand_over(me, place, Kind::Other, Status::Ready);
    }
}

/// Like [`switch`], for a call to something that the program shares between threads, such as a
/// lock. Mistakes are more likely there.
#[track_caller]
pub fn access(what: &'static str) {
    if let Some((inner, me)) = own() {
        let place = (what, Some(Location::caller()));
        inner.hand_over(me, place, Kind::Access, Status::Ready);
    }
}

/// Records what the calling thread does, without passing the turn on. The event has the number of
/// the next step.
pub fn note(what: &'static str, at: Option<&'static Location<'static>>) {
    if let Some((inner, me)) = own() {
        let mut state = inner.lock();
        let step = state.step + 1;
        state.events.push(Event {
            step,
            thread: me,
            what,
            at,
            next: me,
        });
    }
}

/// Like [`switch`], but the calling thread has nothing to do until another thread has run. Returns
/// whether it belongs to a simulation.
pub fn give_way(what: &'static str) -> bool {
    let own = own();
    if let Some((inner, me)) = &own {
        inner.hand_over(*me, (what, None), Kind::GivesWay, Status::Ready);
    }
    own.is_some()
}

/// Waits until `is_ready` returns true or, by the simulation's clock, `limit` has passed. Returns
/// whether `is_ready` returned true, or `None` without waiting if the calling thread belongs to no
/// simulation.
///
/// Other threads of the simulation call `is_ready`, so it must not wait and must not call anything
/// in this module.
#[track_caller]
pub fn block(
    what: &'static str,
    limit: Option<Duration>,
    is_ready: &(dyn Fn() -> bool + Sync),
) -> Option<bool> {
    block_at((what, Some(Location::caller())), limit, None, is_ready)
}

/// Like [`block`], for the lock at this address, and without a limit. If the simulation stops
/// meanwhile, its report names the threads that hold the lock.
#[track_caller]
pub fn block_on_lock(
    what: &'static str,
    lock: usize,
    is_ready: &(dyn Fn() -> bool + Sync),
) -> Option<bool> {
    block_at((what, Some(Location::caller())), None, Some(lock), is_ready)
}

/// Records that the calling thread has taken the lock at this address, if it belongs to a
/// simulation. The user code takes the lock at `at`.
pub fn take_lock(lock: usize, at: &'static Location<'static>) {
    if let Some((inner, me)) = own() {
        inner.lock().take_lock(lock, me, at);
    }
}

/// Records that the calling thread has released the lock at this address.
pub fn release_lock(lock: usize) {
    if let Some((inner, me)) = own() {
        inner.lock().release_lock(lock, me);
    }
}

/// Like [`block`], for a wait that no user code has called directly.
pub(crate) fn block_for(
    what: &'static str,
    limit: Option<Duration>,
    is_ready: &(dyn Fn() -> bool + Sync),
) -> Option<bool> {
    block_at((what, None), limit, None, is_ready)
}

fn block_at(
    place: (&'static str, Option<&'static Location<'static>>),
    limit: Option<Duration>,
    lock: Option<usize>,
    is_ready: &(dyn Fn() -> bool + Sync),
) -> Option<bool> {
    let (inner, me) = own()?;
    // A limit of centuries stands for none.
    let nanos = limit.and_then(|limit| u64::try_from(limit.as_nanos()).ok());
    let nanos = nanos.filter(|nanos| *nanos < u64::MAX / 2);
    let until = nanos.map(|nanos| inner.lock().now.saturating_add(nanos));
    // SAFETY: 1. `hand_over` replaces the status that contains the condition before it returns.
    let condition = unsafe { Condition::new(is_ready) };
    let status = Status::Blocked {
        condition,
        until,
        lock,
    };
    inner.hand_over(me, place, Kind::Other, status);
    Some(is_ready())
}

/// Returns the time of the calling thread's simulation, in nanoseconds.
pub(crate) fn now() -> Option<u64> {
    let (inner, _) = own()?;
    let mut state = inner.lock();
    state.now = state.now.saturating_add(READING);
    Some(state.now)
}

/// The place of a thread that is about to start, in the simulation of the thread that starts it.
pub(crate) struct Seat {
    inner: Arc<Inner>,
    index: usize,
    ended: Arc<AtomicBool>,
    is_entered: bool,
}

/// Reserves a place for a new thread, if the calling thread belongs to a simulation.
pub(crate) fn admit(name: &str) -> Option<Seat> {
    let (inner, _) = own()?;
    let member = Member::new(name.to_owned());
    let ended = member.ended.clone();
    let index = {
        let mut state = inner.lock();
        state.members.push(member);
        state.members.len() - 1
    };
    Some(Seat {
        inner,
        index,
        ended,
        is_entered: false,
    })
}

impl Seat {
    /// Makes the calling thread the thread for which the seat was reserved, and waits for its first
    /// turn. The thread leaves the simulation when its thread-local values are destroyed, if
    /// possible after all others, because their destructors may run user code.
    pub(crate) fn enter(mut self) {
        self.is_entered = true;
        let (inner, index) = (self.inner.clone(), self.index);
        let own = Own {
            inner: inner.clone(),
            index,
        };
        OWN.with(|cell| cell.replace(Some(own)));
        drop(inner.wait_for_turn(inner.lock(), index));
    }

    /// Returns what a thread needs in order to wait for this one.
    pub(crate) fn end(&self) -> End {
        End {
            inner: self.inner.clone(),
            ended: self.ended.clone(),
        }
    }
}

/// The end of a thread's part in a simulation.
#[derive(Debug)]
pub(crate) struct End {
    inner: Arc<Inner>,
    /// Set when the thread has left the simulation.
    ended: Arc<AtomicBool>,
}

impl End {
    /// Waits until the thread has left the simulation. Returns immediately if the calling thread
    /// does not belong to it.
    pub(crate) fn wait(&self) {
        if serial_here() == Some(self.inner.serial) {
            // Acquire pairs with the Release in `leave`.
            let has_ended = || self.ended.load(Ordering::Acquire);
            let _ = block_for("joins a thread", None, &has_ended);
        } else {
            self.inner.lock().kick();
        }
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner").finish_non_exhaustive()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if !self.is_entered {
            // The system has refused the thread. It has never had the turn.
            self.inner.lock().members[self.index].status = Status::Ended;
        }
    }
}

#[cfg(test)]
mod tests;
