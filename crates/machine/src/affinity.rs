//! The CPUs that the calling thread may run on, hence those of the workers it starts.
//!
//! Read as text from the line `Cpus_allowed_list` of `/proc/thread-self/status`, or of `/proc/self/status` where the
//! kernel has no `thread-self`. That mask already contains the cgroup's cpuset. It may name CPUs that are offline, so
//! [`Machine`](super::Machine) intersects it with those that are online.
//!
//! This module binds nothing and changes no mask.

use super::cpus::{CpuList, Files, garbled, of_this_thread};

/// The name of the line in `status`.
const LINE: &str = "Cpus_allowed_list:";

/// The calling thread's CPUs.
///
/// # Errors
/// A sentence that says what could not be read or understood.
pub(super) fn allowed(files: &dyn Files) -> Result<CpuList, String> {
    let (path, content) = of_this_thread(files, "status")?;
    let status = String::from_utf8_lossy(&content);
    let list = status.lines().find_map(|line| line.strip_prefix(LINE));
    let list = list.unwrap_or("").trim();
    match list.parse::<CpuList>() {
        Ok(cpus) if !cpus.is_empty() => Ok(cpus),
        _ => Err(garbled(
            &path,
            list,
            "a list of CPUs after Cpus_allowed_list",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up::MadeUp;
    use super::*;

    fn allowed_by(status: &str) -> Result<CpuList, String> {
        allowed(&MadeUp::new().with("/proc/self/status", status))
    }

    #[test]
    fn the_list_is_found_among_the_other_lines() {
        let status = "Name:\tx\nCpus_allowed:\tffff\nCpus_allowed_list:\t0-3,8,10-11\nMems_allowed_list:\t0\n";
        assert_eq!(
            allowed_by(status).unwrap().as_slice(),
            [0, 1, 2, 3, 8, 10, 11]
        );
    }

    #[test]
    fn the_threads_own_mask_comes_before_the_processes() {
        let files = MadeUp::new()
            .with("/proc/self/status", "Cpus_allowed_list:\t0-7\n")
            .with("/proc/thread-self/status", "Cpus_allowed_list:\t3\n");
        assert_eq!(allowed(&files).unwrap().as_slice(), [3]);
    }

    #[test]
    fn an_unreadable_mask_is_told_with_its_file_and_its_cause() {
        let files = MadeUp::new()
            .with("/proc/self/status", "Cpus_allowed_list:\t0-7\n")
            .denying("/proc");
        let told = "cannot read /proc/self/status: permission denied";
        assert_eq!(allowed(&files).unwrap_err(), told);
    }

    #[test]
    fn an_odd_mask_is_told_and_not_guessed_at() {
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
            let told = allowed_by(&status).unwrap_err();
            assert!(told.starts_with("/proc/self/status holds `"), "{told}");
            assert!(!told.contains('\x1b'), "{told:?}");
        }
        assert!(allowed_by("Name:\tx\n").is_err(), "no such line");
        assert!(allowed_by("").is_err(), "an empty file");
    }
}
