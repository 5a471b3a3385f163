//! Limits the service to the time of some CPUs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, process};

/// A cgroup with a quota; if the system permits none, the service gets an affinity instead.
pub struct Quota {
    cgroup: Option<PathBuf>,
    cpus: u32,
}

impl Quota {
    pub fn new(cpus: u32) -> Self {
        let time = cpus * 100_000;
        let old = ("cpu", "cpu.cfs_quota_us", time.to_string());
        let new = ("", "cpu.max", format!("{time} 100000"));
        let cgroup = [old, new].into_iter().find_map(|(place, file, value)| {
            let name = format!("tidegate-service-{}", process::id());
            let folder = Path::new("/sys/fs/cgroup").join(place).join(name);
            fs::create_dir(&folder).ok()?;
            let done = fs::write(folder.join(file), value);
            done.inspect_err(|_| _ = fs::remove_dir(&folder)).ok()?;
            Some(folder)
        });
        if cgroup.is_none() {
            eprintln!("no cgroup can be made: the service gets an affinity of {cpus} CPUs");
        }
        Self { cgroup, cpus }
    }

    /// Returns a command whose process is limited from its start.
    pub fn command(&self, program: &Path) -> Command {
        let mut command;
        if let Some(folder) = &self.cgroup {
            command = Command::new("sh");
            let enter = "echo 0 >\"$0/cgroup.procs\" && exec \"$@\"";
            command.args(["-c", enter]).arg(folder);
        } else {
            command = Command::new("taskset");
            command.args(["-c", &format!("0-{}", self.cpus - 1)]);
        }
        command.arg(program);
        command
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        self.cgroup
            .iter()
            .for_each(|folder| _ = fs::remove_dir(folder));
    }
}
