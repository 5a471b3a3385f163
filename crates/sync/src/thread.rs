//! Threads: start, yield, number, place on processors, notice a fork.

mod fork;
mod number;

use std::io;

pub use fork::{PerProcess, Process, watch_forks};
pub use number::with_number;

#[cfg(loom)]
pub use loom::thread::JoinHandle;
#[cfg(not(loom))]
pub use std::thread::JoinHandle;

/// Starts a named thread with `stack` bytes of stack. Under loom name and stack are loom's.
///
/// # Errors
/// Whatever the system answers, for instance that no more threads are allowed.
pub fn start(
    name: String,
    stack: usize,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    #[cfg(loom)]
    return {
        let _ = (name, stack);
        Ok(loom::thread::spawn(body))
    };
    #[cfg(not(loom))]
    std::thread::Builder::new()
        .name(name)
        .stack_size(stack)
        .spawn(body)
}

/// Offers the processor to another thread.
pub fn yield_now() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    std::thread::yield_now();
}

/// Sleeps for `nanos` nanoseconds.
pub fn sleep(nanos: u64) {
    std::thread::sleep(std::time::Duration::from_nanos(nanos));
}

/// A set of processors, for binding a thread while it is parked.
#[derive(Clone, Copy)]
pub struct CpuSet(imp::Set);

impl CpuSet {
    /// The processors that the calling thread may run on; `None` where the system does not tell.
    #[must_use]
    pub fn of_this_thread() -> Option<Self> {
        imp::get().map(Self)
    }

    /// The set without `cpu`.
    #[must_use]
    pub fn without(mut self, cpu: usize) -> Self {
        imp::remove(&mut self.0, cpu);
        self
    }

    /// How many processors are in the set.
    #[must_use]
    pub fn count(&self) -> usize {
        imp::count(&self.0)
    }

    /// Lets the calling thread run on these processors only; whether the system agreed.
    pub fn bind_this_thread(&self) -> bool {
        imp::set(&self.0)
    }
}

/// The processor that the calling thread runs on at this moment; `None` where the system does not tell.
#[must_use]
pub fn current_cpu() -> Option<usize> {
    imp::current_cpu()
}

#[cfg(all(target_os = "linux", not(any(loom, miri))))]
mod imp {
    pub(super) type Set = libc::cpu_set_t;
    const SIZE: usize = std::mem::size_of::<Set>();

    pub(super) fn get() -> Option<Set> {
        // SAFETY: cpu_set_t is an array of integers, for which all zeroes is a value.
        let mut set: Set = unsafe { std::mem::zeroed() };
        // SAFETY: `set` is a live, writable cpu_set_t of SIZE bytes; 0 names the calling thread.
        let failed = unsafe { libc::sched_getaffinity(0, SIZE, &mut set) } != 0;
        (!failed).then_some(set)
    }

    pub(super) fn set(set: &Set) -> bool {
        // SAFETY: `set` is a live cpu_set_t of SIZE bytes that the kernel reads; 0 names the calling thread.
        unsafe { libc::sched_setaffinity(0, SIZE, set) == 0 }
    }

    pub(super) fn remove(set: &mut Set, cpu: usize) {
        if cpu < SIZE * 8 {
            // SAFETY: `cpu` is within the set, as just checked.
            unsafe { libc::CPU_CLR(cpu, set) }
        }
    }

    pub(super) fn count(set: &Set) -> usize {
        // SAFETY: CPU_COUNT reads the set it is given.
        usize::try_from(unsafe { libc::CPU_COUNT(set) }).unwrap_or(0)
    }

    pub(super) fn current_cpu() -> Option<usize> {
        // SAFETY: sched_getcpu has no preconditions.
        usize::try_from(unsafe { libc::sched_getcpu() }).ok()
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, miri)))))]
mod imp {
    pub(super) type Set = ();

    pub(super) fn get() -> Option<Set> {
        None
    }

    pub(super) fn set(_: &Set) -> bool {
        false
    }

    pub(super) fn remove(_: &mut Set, _: usize) {}

    pub(super) fn count(_: &Set) -> usize {
        0
    }

    pub(super) fn current_cpu() -> Option<usize> {
        None
    }
}
