//! Keeping a thread on the CPU of its CPU slot.
//!
//! Only threads that the pool has started are bound, and only while they have a CPU slot; without one they may run wherever the pool may.

use tidegate_machine::CpuList;
use tidegate_sync::lock::Mutex;
use tidegate_sync::thread::{CpuSet, Tid};

/// Where one thread is bound; none that must not be.
#[derive(Default)]
pub(crate) struct Binding(Mutex<Option<State>>);

struct State {
    thread: Tid,
    /// Where the pool may run.
    all: CpuSet,
    at: Option<usize>,
}

impl Binding {
    /// The calling thread may be bound from now on, to any of `usable`.
    pub(super) fn arrive(&self, usable: &CpuList) {
        let all = CpuSet::from_iter(usable.as_slice().iter().copied());
        // Whoever has started it may itself have been bound.
        all.bind(Tid::this());
        *self.0.lock() = Some(State {
            thread: Tid::this(),
            all,
            at: None,
        });
    }

    /// Binds the thread to this CPU, or lets it run wherever the pool may. Where the system refuses it stays where it is.
    pub(super) fn to(&self, cpu: Option<usize>) {
        let mut state = self.0.lock();
        let Some(state) = state.as_mut().filter(|state| state.at != cpu) else {
            return;
        };
        let set = cpu.map_or(state.all, |cpu| CpuSet::from_iter([cpu]));
        if set.bind(state.thread) {
            state.at = cpu;
        }
    }

    /// The thread leaves the pool.
    pub(super) fn depart(&self) {
        self.to(None);
        *self.0.lock() = None;
    }
}
