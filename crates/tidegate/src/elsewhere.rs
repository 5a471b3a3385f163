//! Waking a thread on another processor than the waker's.
//!
//! A waker goes on computing. The kernel likes to put a woken thread where it ran last; if its waker runs there now, it waits
//! for the waker to be preempted, milliseconds. In that case the waker first takes its own processor out of the sleeper's
//! affinity, and the sleeper puts it back once it runs: from then on the kernel moves it as it thinks right. On which of the
//! other processors it runs is the kernel's choice at the wake-up, so programs that share the machine are neither driven
//! away nor waited for. What a user has set by affinity stays: one processor leaves the set and comes back. In all other cases
//! nothing is done, because a change of affinity costs some 20 us on either side.

use tidegate_sync::atomic::{AtomicUsize, Ordering};
use tidegate_sync::lock::Mutex;
use tidegate_sync::thread::{CpuSet, Tid, current_cpu};

/// Off which processor a thread is kept until it runs.
#[derive(Default)]
pub(crate) struct Elsewhere {
    /// One more than the processor on which the thread went to sleep; 0 if nobody knows.
    slept_on: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The thread, while it is a worker that may be moved.
    thread: Option<Tid>,
    off: Option<usize>,
}

impl Elsewhere {
    /// The calling thread may be moved from now on.
    pub(crate) fn arrive(&self) {
        *self.state.lock() = State {
            thread: Some(Tid::this()),
            off: None,
        };
    }

    /// The thread leaves; it is moved no more.
    pub(crate) fn depart(&self) {
        self.let_back();
        self.state.lock().thread = None;
    }

    /// The thread is about to sleep.
    pub(crate) fn sleep_here(&self) {
        let cpu = current_cpu().map_or(0, |cpu| cpu + 1);
        // Relaxed: a hint.
        self.slept_on.store(cpu, Ordering::Relaxed);
    }

    /// Keeps the sleeping thread off the caller's processor, if it fell asleep there.
    pub(crate) fn keep_off_here(&self) {
        let Some(cpu) = current_cpu() else {
            return;
        };
        let sleeps_here = || {
            // Relaxed: a hint, and ordered by the lock where it has to hold.
            self.slept_on.load(Ordering::Relaxed) == cpu + 1
        };
        if !sleeps_here() {
            return;
        }
        let mut state = self.state.lock();
        let (Some(thread), None, true) = (state.thread, state.off, sleeps_here()) else {
            return;
        };
        let others = CpuSet::of(thread).and_then(|set| set.without(cpu));
        if others.is_some_and(|others| others.bind(thread)) {
            state.off = Some(cpu);
        }
    }

    /// The thread runs: it may go where it likes again.
    pub(crate) fn let_back(&self) {
        let mut state = self.state.lock();
        // Relaxed: under the lock; who comes later finds nobody asleep.
        self.slept_on.store(0, Ordering::Relaxed);
        let (Some(thread), Some(cpu)) = (state.thread, state.off.take()) else {
            return;
        };
        if let Some(set) = CpuSet::of(thread) {
            set.with(cpu).bind(thread);
        }
    }
}
