//! Identifies this process, and checks whether another process is still alive.

use std::fs;
use std::path::Path;

/// Identifies a process, and distinguishes it from most later processes with the same pid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    pub(crate) pid: u32,
    /// The start time in clock ticks of the kernel; 0 if unknown.
    pub(crate) started: u64,
    /// The pid namespace in which `pid` is valid; 0 if unknown.
    pub(crate) namespace: u64,
}

impl Identity {
    pub(crate) fn of_this_process() -> Self {
        // Read the thread's link, because the process's own link is empty once its first thread has
        // ended.
        let namespace = fs::read_link("/proc/thread-self/ns/pid").unwrap_or_default();
        let namespace = number_in(&namespace.to_string_lossy());
        let pid = std::process::id();
        Self {
            pid,
            started: started(pid).unwrap_or(0),
            namespace,
        }
    }

    /// Returns whether `observer` can be sure that this process is gone.
    pub(crate) fn is_gone(self, observer: Self) -> bool {
        let known =
            self.namespace != 0 && self.namespace == observer.namespace && self.started != 0;
        known && fs::metadata("/proc/self").is_ok() && started(self.pid) != Some(self.started)
    }
}

/// Returns the number in a text like `pid:[4026531836]`.
fn number_in(text: &str) -> u64 {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// Returns the start time of process `pid`, or `None` if there is no such process or it is a
/// zombie.
fn started(pid: u32) -> Option<u64> {
    start_of(&Path::new("/proc").join(pid.to_string()))
}

/// Returns the start time of the process or thread that `folder` of `/proc` describes, or `None` as
/// for a process.
pub(crate) fn start_of(folder: &Path) -> Option<u64> {
    let stat = fs::read(folder.join("stat")).ok()?;
    start_in(&String::from_utf8_lossy(&stat))
}

/// Returns the number of the parent of the process that `folder` of `/proc` describes.
#[cfg(target_os = "linux")]
pub(crate) fn parent_of(folder: &Path) -> Option<u32> {
    let stat = fs::read(folder.join("stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let (_, rest) = stat.rsplit_once(')')?;
    // The 4th field follows the state.
    rest.split(' ').nth(2)?.parse().ok()
}

/// Returns the start time, the 22nd field of a `stat` file, unless the process is a zombie. The 2nd
/// field is the process's name, in parentheses; it may contain any character. The 3rd field is the
/// state. It already shows a zombie when only the first thread has ended, so the 20th field, the
/// number of threads, decides.
fn start_in(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split(' ');
    let state = fields.nth(1)?;
    let threads: u64 = fields.nth(16)?.parse().ok()?;
    let start = fields.nth(1)?.parse().ok()?;
    (threads > 1 || !matches!(state, "Z" | "X")).then_some(start)
}

/// Returns a hash of the kernel's id of the current boot, or 0 if the kernel has no such id.
pub(crate) fn boot() -> u64 {
    let name = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    if name.is_empty() {
        0
    } else {
        crate::layout::hash(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The process name in `/proc/PID/stat` may contain spaces and parentheses.
    #[test]
    fn start_time_follows_any_process_name() {
        let rest = "S 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 20 0 1 0 4711 99 1";
        let of_two = "Z 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 20 0 2 0 4711 99 1";
        for name in ["sh", "a b", "x) S 1 (y", ")", "9 9 9"] {
            assert_eq!(
                start_in(&format!("42 ({name}) {rest}")),
                Some(4711),
                "{name}"
            );
        }
        assert_eq!(start_in(&format!("42 (sh) Z{}", &rest[1..])), None, "dead");
        assert_eq!(start_in(&format!("42 (sh) {of_two}")), Some(4711));
        for bad in [
            "",
            "42",
            "42 (sh)",
            "42 (sh) S 1 2",
            "42 (sh) S 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 20 0 1 0 x",
        ] {
            assert_eq!(start_in(bad), None, "{bad}");
        }
    }

    /// A process with this process's pid but another start time is gone.
    #[test]
    #[cfg(target_os = "linux")]
    fn reused_process_id_counts_as_gone() {
        let here = Identity::of_this_process();
        assert!(here.started > 0 && here.namespace > 0);
        assert!(!here.is_gone(here));
        assert!(
            Identity {
                started: here.started + 1,
                ..here
            }
            .is_gone(here)
        );
        let elsewhere = Identity {
            namespace: here.namespace + 1,
            started: 1,
            ..here
        };
        assert!(!elsewhere.is_gone(here), "nobody can tell from here");
    }
}
