//! A folder like the root of a machine on which a process is in the cgroup `/user/scope`.

use std::fs;
use std::path::{Path, PathBuf};

pub(super) struct Cgroups {
    pub(super) root: PathBuf,
    pid: u32,
}

impl Cgroups {
    pub(super) fn new(root: &Path, pid: u32) -> Self {
        let root = root.to_owned();
        Self { root, pid }
    }

    /// Makes the files of the cgroup, which has these `controllers`, and of its children, to which
    /// the controllers in `given` are given. The kernel makes the files of a new cgroup itself.
    pub(super) fn make(&self, controllers: &str, given: &str) {
        let pid = self.pid;
        self.put(&format!("proc/{pid}/cgroup"), "1:cpu:/v1\n0::/user/scope\n");
        let mounts = "30 29 0:26 /v1 /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      31 29 0:27 /user /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        self.put(&format!("proc/{pid}/mountinfo"), mounts);
        self.put(&self.group("cgroup.controllers"), controllers);
        self.put(&self.group("cgroup.subtree_control"), given);
        self.put(&self.group("cgroup.procs"), "");
        for file in ["cgroup.procs", "cpu.max", "cpuset.cpus"] {
            self.put(&self.leaf(file), "");
        }
        self.put(&self.own("cgroup.procs"), "");
    }

    pub(super) fn group(&self, file: &str) -> String {
        format!("sys/fs/cgroup/unified/scope/{file}")
    }

    /// Returns a file of the program's cgroup.
    pub(super) fn leaf(&self, file: &str) -> String {
        self.group(&format!("tidegate-exec-{}/{file}", self.pid))
    }

    /// Returns a file of the cgroup into which the process moves itself.
    pub(super) fn own(&self, file: &str) -> String {
        self.group(&format!("tidegate-exec-{}-command/{file}", self.pid))
    }

    pub(super) fn put(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn remove(&self, path: &str) {
        fs::remove_file(self.root.join(path)).unwrap();
    }

    /// Returns the content of a file without its line break.
    pub(super) fn text(&self, path: &str) -> String {
        let text = fs::read_to_string(self.root.join(path)).unwrap();
        text.trim_end().to_owned()
    }
}
