//! Cgroups of the system's own, for tests that limit their child processes.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

/// A new cgroup, which can have a quota. Dropping it ends its processes and removes it.
pub struct Cgroup {
    folder: PathBuf,
    quota: &'static str,
}

/// The file of a quota, and where cgroups that have it may be.
const OLD: (&str, &[&str]) = ("cpu.cfs_quota_us", &["cpu", "cpu,cpuacct"]);
const NEW: (&str, &[&str]) = ("cpu.max", &["", "unified"]);

impl Cgroup {
    /// Returns `None`, with a message, if the system does not permit a cgroup with a quota.
    pub fn new(name: &str) -> Option<Self> {
        Self::among(name, &[OLD, NEW])
    }

    /// Like `new`, but of version 2.
    pub fn of_version_2(name: &str) -> Option<Self> {
        Self::among(name, &[NEW])
    }

    fn among(name: &str, kinds: &[(&'static str, &[&str])]) -> Option<Self> {
        let name = format!("tidegate-test-{name}-{}", std::process::id());
        for (quota, places) in kinds {
            for place in *places {
                let folder = Path::new("/sys/fs/cgroup").join(place).join(&name);
                if fs::create_dir(&folder).is_ok() {
                    // Dropping it removes it if it is of another kind.
                    let group = Self { folder, quota };
                    if group.folder.join(quota).exists() {
                        return Some(group);
                    }
                }
            }
        }
        let quotas: Vec<_> = kinds.iter().map(|kind| kind.0).collect();
        println!("skipped: cannot make a cgroup with {}", quotas.join(" or "));
        None
    }

    /// Returns its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Limits the processes to the time of this many processors, or lifts the limit.
    pub fn allow(&self, processors: Option<u32>) {
        let lifted = if self.quota == NEW.0 { "max" } else { "-1" };
        let quota = processors.map_or(lifted.to_owned(), |number| (number * 100_000).to_string());
        fs::write(self.folder.join(self.quota), quota).expect("a quota");
    }

    /// Returns a command whose process is in the cgroup from its start.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "echo 0 >\"$0/cgroup.procs\" && exec \"$@\""]);
        command.arg(&self.folder).arg(program);
        command
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // A process of another pid namespace has the number 0, which means the shell's group.
        let kill = "exec 2>/dev/null; \
            kill -KILL $(grep -hv '^0$' \"$0\"/cgroup.procs \"$0\"/*/cgroup.procs)";
        let mut shell = Command::new("sh");
        let _ = shell.args(["-c", kill]).arg(&self.folder).status();
        for _ in 0..1000 {
            let children = fs::read_dir(&self.folder).into_iter().flatten().flatten();
            children.for_each(|child| drop(fs::remove_dir(child.path())));
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}
