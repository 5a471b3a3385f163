//! Waking a thread on another processor than the waker's.
//!
//! A waker goes on computing. The kernel likes to put a woken thread where its waker runs; there it waits for the waker to be
//! preempted, milliseconds. So the waker first takes its own processor out of the sleeper's affinity, and the sleeper puts it
//! back once it runs: from then on the kernel moves it as it thinks right. On which of the other processors it runs is the
//! kernel's choice at the wake-up, so programs that share the machine are neither driven away nor waited for. What a user has
//! set by affinity stays: one processor leaves the set and comes back.

use tidegate_sync::lock::Mutex;
use tidegate_sync::thread::{CpuSet, Tid, current_cpu};

/// Off which processor a thread is kept until it runs.
#[derive(Default)]
pub(crate) struct WakeAffinity(Mutex<State>);

#[derive(Default)]
struct State {
    /// The thread, while it is a worker that may be moved.
    thread: Option<Tid>,
    asleep: bool,
    off: Option<usize>,
}

impl WakeAffinity {
    /// The calling thread may be moved from now on.
    pub(crate) fn arrive(&self) {
        *self.0.lock() = State {
            thread: Some(Tid::this()),
            ..State::default()
        };
    }

    /// The thread leaves; it is moved no more.
    pub(crate) fn depart(&self) {
        self.let_back();
        self.0.lock().thread = None;
    }

    /// The thread is about to sleep.
    pub(crate) fn fall_asleep(&self) {
        self.0.lock().asleep = true;
    }

    /// Keeps the thread off the caller's processor, if it sleeps.
    pub(crate) fn keep_off_here(&self) {
        let mut state = self.0.lock();
        let (Some(thread), true, None) = (state.thread, state.asleep, state.off) else {
            return;
        };
        let Some(cpu) = current_cpu() else {
            return;
        };
        let others = CpuSet::of(thread).and_then(|set| set.without(cpu));
        if others.is_some_and(|others| others.bind(thread)) {
            state.off = Some(cpu);
        }
    }

    /// The thread runs: it may go where it likes again.
    pub(crate) fn let_back(&self) {
        let mut state = self.0.lock();
        state.asleep = false;
        let (Some(thread), Some(cpu)) = (state.thread, state.off.take()) else {
            return;
        };
        if let Some(set) = CpuSet::of(thread) {
            set.with(cpu).bind(thread);
        }
    }
}
