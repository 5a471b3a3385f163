//! The CPU affinity of threads.

#[cfg(target_os = "linux")]
pub use linux::{allowed, bind, bind_to, first};

#[cfg(target_os = "linux")]
mod linux {
    use std::io;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    use crate::failure::Failure;

    /// Returns the processors that this thread may use.
    pub fn allowed() -> Result<CpuSet, Failure> {
        sched_getaffinity(None).map_err(|error| cannot("read", error))
    }

    /// Returns the first `count` processors that this thread may use.
    pub fn first(count: usize) -> Result<CpuSet, Failure> {
        let all = allowed()?;
        let mut first = CpuSet::new();
        let cpus = (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu));
        cpus.take(count).for_each(|cpu| first.set(cpu));
        Ok(first)
    }

    /// Restricts this thread, and all threads that it starts later, to `cpus`.
    pub fn bind(cpus: &CpuSet) -> Result<(), Failure> {
        sched_setaffinity(None, cpus).map_err(|error| cannot("set", error))
    }

    /// Restricts this thread, and all threads that it starts later, to one processor.
    pub fn bind_to(cpu: usize) -> Result<(), Failure> {
        let mut cpus = CpuSet::new();
        cpus.set(cpu);
        bind(&cpus)
    }

    fn cannot(what: &str, error: rustix::io::Errno) -> Failure {
        let error = io::Error::from(error);
        Failure::Impossible(format!(
            "the CPU affinity of a thread cannot be {what}: {error}"
        ))
    }
}

/// Returns an error, because this system cannot bind threads.
#[cfg(not(target_os = "linux"))]
pub fn bind_to(_cpu: usize) -> Result<(), crate::failure::Failure> {
    Err(crate::failure::Failure::Impossible(
        "this system cannot bind a thread to a processor".into(),
    ))
}
