//! The CPUs that the calling thread, and so the workers it starts, may run on.
//!
//! The CPUs are read from the line `Cpus_allowed_list` of `/proc/thread-self/status`, or of
//! `/proc/self/status` if the kernel has no `thread-self`. That mask already respects the cgroup's
//! cpuset. It can name CPUs that are offline, so [`Machine`](crate::Machine) intersects it with the
//! set of online CPUs.
//!
//! This module binds no thread and changes no mask.

use crate::cpus::{CpuList, some_cpus};
use crate::files::{Files, of_this_thread};

const LINE: &str = "Cpus_allowed_list:";

/// Reads the calling thread's CPUs.
///
/// # Errors
/// Returns a sentence that names what could not be read or understood.
pub(crate) fn allowed(files: &dyn Files) -> Result<CpuList, String> {
    let (path, content) = of_this_thread(files, "status")?;
    let status = String::from_utf8_lossy(&content);
    let list = status.lines().find_map(|line| line.strip_prefix(LINE));
    let list = list.unwrap_or("").trim();
    some_cpus(&path, list, "a list of CPUs after Cpus_allowed_list")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::MadeUp;

    fn allowed_by(status: &str) -> Result<CpuList, String> {
        allowed(&MadeUp::new().with("/proc/self/status", status))
    }

    #[test]
    fn finds_the_line_among_others() {
        let status = "Name:\tx\nCpus_allowed:\tffff\nCpus_allowed_list:\t0-3,8,10-11\nMems_allowed_list:\t0\n";
        assert_eq!(
            allowed_by(status).unwrap().as_slice(),
            [0, 1, 2, 3, 8, 10, 11]
        );
    }

    #[test]
    fn prefers_the_threads_own_mask() {
        let files = MadeUp::new()
            .with("/proc/self/status", "Cpus_allowed_list:\t0-7\n")
            .with("/proc/thread-self/status", "Cpus_allowed_list:\t3\n");
        assert_eq!(allowed(&files).unwrap().as_slice(), [3]);
    }

    #[test]
    fn reports_an_unreadable_mask() {
        let files = MadeUp::new()
            .with("/proc/self/status", "Cpus_allowed_list:\t0-7\n")
            .denying("/proc");
        let message = "cannot read /proc/self/status: permission denied";
        assert_eq!(allowed(&files).unwrap_err(), message);
    }

    #[test]
    fn reports_a_malformed_mask() {
        for list in [
            "",
            "0,7-5",
            "0-99999999999",
            "0,,1",
            "0-",
            "x\x1b[31m",
            "-1",
            "0:1",
        ] {
            let status = format!("Cpus_allowed_list:\t{list}\n");
            let message = allowed_by(&status).unwrap_err();
            let start = "/proc/self/status holds \"";
            assert!(message.starts_with(start), "{message}");
            assert!(!message.contains('\x1b'), "{message:?}");
        }
        assert!(allowed_by("Name:\tx\n").is_err(), "no such line");
        assert!(allowed_by("").is_err(), "an empty file");
    }
}
