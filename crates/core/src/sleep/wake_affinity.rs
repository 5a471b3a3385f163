//! Wakes a thread on a CPU other than the waker's.
//!
//! A waker continues to compute, but the kernel tends to put the woken thread on the waker's CPU.
//! There the thread waits for milliseconds until the waker is preempted. So the waker first removes
//! its own CPU from the sleeper's affinity, and the sleeper puts that CPU back once it runs; from
//! then on, the kernel may move the thread freely. At the wake-up, the kernel chooses among the
//! other CPUs, so the thread neither displaces programs that share the machine nor waits for them.
//!
//! # Affinities that others set
//!
//! A thread may run on the CPUs that its process has (its *cpuset*: a container's processors, which
//! may change) and that were last requested for the thread. Since Linux 6.2, such a request lasts:
//! a thread for which the CPUs of a shrunken cpuset were requested remains on them when the cpuset
//! grows. So this module requests all CPUs that exist, and the kernel leaves out those that the
//! cpuset does not contain.
//!
//! A user may also have chosen fewer CPUs (`taskset`), which must be preserved. The kernel reports
//! only the result, so this module notes which result it expects. If it finds another one, it
//! repeats its own request. If that leads to the result found, the cpuset has changed, and
//! otherwise the user has set the affinity. These attempts are made only after a change and at a
//! thread's first wake-up. A user's choice that is equal to the cpuset counts as none.

use tidegate_sync::lock::Mutex;
use tidegate_sync::thread::{CpuSet, Tid, current_cpu};

#[cfg(all(test, target_os = "linux", not(any(loom, miri))))]
mod tests;

/// The affinity of a worker's thread; `None` while wakers must not change it.
#[derive(Default)]
pub(crate) struct WakeAffinity(Mutex<Option<State<Tid>>>);

impl WakeAffinity {
    /// Allows wakers to change the calling thread's affinity from now on.
    pub(crate) fn arrive(&self) {
        *self.0.lock() = Some(State::new(Tid::this()));
    }

    /// Called when the thread leaves. Wakers no longer change its affinity.
    pub(crate) fn depart(&self) {
        if let Some(mut state) = self.0.lock().take() {
            state.let_back();
        }
    }

    pub(crate) fn fall_asleep(&self) {
        if let Some(state) = &mut *self.0.lock() {
            state.is_asleep = true;
        }
    }

    /// Keeps the thread off the caller's CPU, if it sleeps.
    pub(crate) fn keep_off_here(&self) {
        if let Some(state) = &mut *self.0.lock() {
            state.keep_off(current_cpu);
        }
    }

    /// Called once the thread runs again. Lets the kernel place it freely.
    pub(crate) fn let_back(&self) {
        if let Some(state) = &mut *self.0.lock() {
            state.let_back();
        }
    }
}

/// A thread whose CPUs can be read and set.
trait Thread {
    fn cpus(&self) -> Option<CpuSet>;

    fn bind(&self, cpus: &CpuSet) -> bool;
}

impl Thread for Tid {
    fn cpus(&self) -> Option<CpuSet> {
        CpuSet::of(*self)
    }

    fn bind(&self, cpus: &CpuSet) -> bool {
        cpus.bind(*self)
    }
}

struct State<T> {
    thread: T,
    is_asleep: bool,
    /// The CPUs to request for the thread: all of them, unless the user has chosen fewer.
    chosen: CpuSet,
    /// The CPU excluded from the request until the thread next runs.
    off: Option<usize>,
    /// The CPUs that the thread has if nothing else has changed them.
    expected: CpuSet,
}

impl<T: Thread> State<T> {
    fn new(thread: T) -> Self {
        Self {
            thread,
            is_asleep: false,
            chosen: CpuSet::all(),
            off: None,
            expected: CpuSet::default(),
        }
    }

    fn keep_off(&mut self, current_cpu: impl FnOnce() -> Option<usize>) {
        if !self.is_asleep || self.off.is_some() {
            return;
        }
        let Some(cpu) = current_cpu() else {
            return;
        };
        self.notice_changes();
        let others = self.expected.without(cpu);
        if let Some(others) = others.filter(|_| self.request(Some(cpu))) {
            (self.off, self.expected) = (Some(cpu), others);
        }
    }

    fn let_back(&mut self) {
        self.is_asleep = false;
        if self.off.is_some() {
            self.notice_changes();
        }
        if let Some(cpu) = self.off.take() {
            self.request(None);
            self.expected = self.expected.with(cpu);
        }
    }

    /// Requests the chosen CPUs, but not `off`.
    fn request(&self, off: Option<usize>) -> bool {
        let cpus = off.map_or(Some(self.chosen), |cpu| self.chosen.without(cpu));
        cpus.is_some_and(|cpus| self.thread.bind(&cpus))
    }

    /// Finds out whether the cpuset or the user has changed the thread's CPUs since the last call.
    fn notice_changes(&mut self) {
        let Some(found) = self.thread.cpus().filter(|cpus| *cpus != self.expected) else {
            return;
        };
        self.expected = found;
        let explains = |is_bound| is_bound && self.thread.cpus() == Some(found);
        if explains(self.request(self.off)) {
            return;
        }
        self.off = None;
        self.chosen = CpuSet::all();
        if !explains(self.request(None)) {
            self.chosen = found;
            self.request(None);
        }
    }
}
