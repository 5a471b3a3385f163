//! Wakes a thread on a CPU other than the waker's.
//!
//! A waker continues to compute, but the kernel tends to put the woken thread on the waker's CPU.
//! There the thread waits for milliseconds until the waker is preempted. So the waker first removes
//! its own CPU from the sleeper's affinity, and the sleeper puts that CPU back once it runs; from
//! then on, the kernel may move the thread freely. At the wake-up, the kernel chooses among the
//! other CPUs, so the thread neither displaces programs that share the machine nor waits for them.
//! An affinity that the user has set is preserved: one CPU is removed from the set and put back
//! later.

use tidegate_sync::lock::Mutex;
use tidegate_sync::thread::{CpuSet, Tid, current_cpu};

/// The CPU excluded from the thread's affinity until it next runs.
#[derive(Default)]
pub(crate) struct WakeAffinity(Mutex<State>);

#[derive(Default)]
struct State {
    /// The worker's thread, while wakers may change its affinity.
    thread: Option<Tid>,
    asleep: bool,
    off: Option<usize>,
}

impl WakeAffinity {
    /// Allows wakers to change the calling thread's affinity from now on.
    pub(crate) fn arrive(&self) {
        *self.0.lock() = State {
            thread: Some(Tid::this()),
            ..State::default()
        };
    }

    /// Called when the thread leaves. Wakers no longer change its affinity.
    pub(crate) fn depart(&self) {
        self.let_back();
        self.0.lock().thread = None;
    }

    pub(crate) fn fall_asleep(&self) {
        self.0.lock().asleep = true;
    }

    /// Keeps the thread off the caller's CPU, if it sleeps.
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

    /// Called once the thread runs again. Lets the kernel place it freely.
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
