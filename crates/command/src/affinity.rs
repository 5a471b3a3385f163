//! Which processors a thread may use.

#[cfg(target_os = "linux")]
pub use linux::{allowed, bind, bind_to};

#[cfg(target_os = "linux")]
mod linux {
    use std::io;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    use crate::failure::Failure;

    /// The processors that this thread may use.
    pub fn allowed() -> Result<CpuSet, Failure> {
        sched_getaffinity(None).map_err(|error| cannot("known", error))
    }

    /// Lets this thread, and those that it starts, run on these only.
    pub fn bind(cpus: &CpuSet) -> Result<(), Failure> {
        sched_setaffinity(None, cpus).map_err(|error| cannot("set", error))
    }

    /// Lets it run on this one only.
    pub fn bind_to(cpu: usize) -> Result<(), Failure> {
        let mut cpus = CpuSet::new();
        cpus.set(cpu);
        bind(&cpus)
    }

    fn cannot(what: &str, error: rustix::io::Errno) -> Failure {
        let error = io::Error::from(error);
        Failure::Impossible(format!(
            "the processors that a thread may use cannot be {what}: {error}"
        ))
    }
}

/// Lets this thread run on this processor only: here the system cannot.
#[cfg(not(target_os = "linux"))]
pub fn bind_to(_cpu: usize) -> Result<(), crate::failure::Failure> {
    Err(crate::failure::Failure::Impossible(
        "this system binds no thread to a processor".into(),
    ))
}
