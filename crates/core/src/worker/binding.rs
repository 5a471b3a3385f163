//! Binds threads to the CPUs of their CPU slots.
//!
//! Only threads that the pool has started are bound, and only while they have a CPU slot. A thread
//! without a CPU slot may run on all of the pool's CPUs.

use tidegate_machine::CpuList;
use tidegate_sync::lock::Mutex;
use tidegate_sync::thread::{CpuSet, Tid};

/// The binding of a thread; `None` for a thread that must not be bound.
#[derive(Default)]
pub(crate) struct Binding(Mutex<Option<State>>);

struct State {
    thread: Tid,
    /// The CPUs that the pool may use.
    all: CpuSet,
    at: Option<usize>,
}

impl Binding {
    /// Allows the pool to bind the calling thread to any of the CPUs in `usable`.
    pub(super) fn arrive(&self, usable: &CpuList) {
        let all = CpuSet::from_iter(usable.as_slice().iter().copied());
        // The thread that started this thread may have been bound, and threads inherit the binding.
        all.bind(Tid::this());
        *self.0.lock() = Some(State {
            thread: Tid::this(),
            all,
            at: None,
        });
    }

    /// Binds the thread to `cpu`, or to all of the pool's CPUs if `cpu` is `None`. If the system
    /// rejects the call, the old binding remains.
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

    /// Removes the binding. Called when the thread leaves the pool.
    pub(super) fn depart(&self) {
        self.to(None);
        *self.0.lock() = None;
    }
}
