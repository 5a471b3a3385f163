//! Confines the program by the quota of a cgroup of its own (version 2, delegated to this user).
//!
//! A cgroup with processes cannot give controllers to its children. So the command moves itself
//! into a child as well, unless the controllers are already given (then the cgroup is the root of a
//! container). If another process shares the command's cgroup, the kernel refuses, and there is no
//! quota.

use procfs::process::Process;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tidegate_share::confinement::widen_cpuset;

/// The time that the kernel gives to a processor at once from a quota, in microseconds
/// (`sched_cfs_bandwidth_slice_us`).
const SLICE: usize = 5_000;

/// The program's own cgroup, a child of the command's. Removed when dropped, if no process is left
/// in it.
#[derive(Debug)]
pub struct Leaf {
    parent: PathBuf,
    folder: PathBuf,
    /// The cgroup into which the command has moved itself.
    own: PathBuf,
    /// The controllers that the command has switched on for the children of `parent`.
    switched_on: Vec<&'static str>,
    has_cpuset: bool,
}

impl Leaf {
    /// Creates the program's cgroup below that of this process. `root` is the root folder of the
    /// machine.
    ///
    /// # Errors
    /// Returns the reason why there is no quota.
    pub fn create(root: &Path) -> Result<Self, String> {
        let pid = std::process::id();
        let parent = group(root, pid)?;
        let controllers = read(&parent, "cgroup.controllers")?;
        let has = |list: &str, name| list.split_whitespace().any(|listed| listed == name);
        if !has(&controllers, "cpu") {
            return Err(format!("{} has no cpu controller", parent.display()));
        }
        let given = read(&parent, "cgroup.subtree_control")?;
        let mut leaf = Self {
            folder: parent.join(format!("tidegate-exec-{pid}")),
            own: parent.join(format!("tidegate-exec-{pid}-command")),
            parent,
            switched_on: Vec::new(),
            has_cpuset: has(&given, "cpuset"),
        };
        // If a step fails, dropping the leaf undoes the steps before it.
        make(&leaf.folder)?;
        let left = read(&leaf.folder, "cgroup.procs").unwrap_or_default();
        if left.lines().any(|line| line.parse::<u32>().is_ok()) {
            let folder = leaf.folder.display();
            return Err(format!("{folder} has processes of an earlier program"));
        }
        if !has(&given, "cpu") {
            make(&leaf.own)?;
            write(&leaf.own, "cgroup.procs", "0")?;
            leaf.switch_on("cpu")?;
        }
        if has(&controllers, "cpuset") && !leaf.has_cpuset {
            leaf.has_cpuset = leaf.switch_on("cpuset").is_ok();
        }
        leaf.confine(None, 1)?;
        Ok(leaf)
    }

    /// Moves the command into the cgroup: a process that it creates now starts there.
    pub(super) fn enter(&self) -> Result<(), String> {
        write(&self.folder, "cgroup.procs", "0")
    }

    /// Moves the command back.
    pub(super) fn leave(&self) -> Result<(), String> {
        let is_moved = self.switched_on.contains(&"cpu");
        let folder = if is_moved { &self.own } else { &self.parent };
        write(folder, "cgroup.procs", "0")
    }

    /// Returns the folder of the program's cgroup.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns whether another command runs in a cgroup of its own beside the leaf. One that has
    /// ended may have left its folder behind.
    fn has_neighbour(&self) -> bool {
        let entries = fs::read_dir(&self.parent).into_iter().flatten().flatten();
        let mut others = entries.filter(|entry| entry.path() != self.own);
        others.any(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_own = name.starts_with("tidegate-exec-") && name.ends_with("-command");
            is_own
                && read(&entry.path(), "cgroup.procs").is_ok_and(|processes| !processes.is_empty())
        })
    }

    fn switch_on(&mut self, controller: &'static str) -> Result<(), String> {
        write(
            &self.parent,
            "cgroup.subtree_control",
            &format!("+{controller}"),
        )?;
        self.switched_on.push(controller);
        Ok(())
    }

    /// Confines the program to these of `most` processors, or frees it.
    pub(super) fn confine(&self, chosen: Option<&[usize]>, most: usize) -> Result<(), String> {
        let Some(chosen) = chosen else {
            write(&self.folder, "cpu.max", "max")?;
            if self.has_cpuset {
                let folder = self.folder.display();
                let refused = |error| format!("cannot write to {folder}/cpuset.cpus: {error}");
                widen_cpuset(&self.folder).map_err(refused)?;
            }
            return Ok(());
        };
        write(&self.folder, "cpu.max", &text(chosen.len(), most))?;
        if self.has_cpuset {
            let cpus: Vec<String> = chosen.iter().map(usize::to_string).collect();
            write(&self.folder, "cpuset.cpus", &cpus.join(","))?;
        }
        Ok(())
    }
}

impl Drop for Leaf {
    fn drop(&mut self) {
        let _ = self.confine(None, 1);
        // Without the controller, another command's leaf would lose its quota.
        if !self.has_neighbour() {
            for controller in &self.switched_on {
                let _ = write(
                    &self.parent,
                    "cgroup.subtree_control",
                    &format!("-{controller}"),
                );
            }
        }
        // The command may be in the leaf, if the kernel has refused to move it back.
        let _ = write(&self.parent, "cgroup.procs", "0");
        if self.own.exists() {
            // The watcher, unless that has ended.
            let processes = read(&self.own, "cgroup.procs").unwrap_or_default();
            for process in processes.lines() {
                let _ = write(&self.parent, "cgroup.procs", process);
            }
            let _ = fs::remove_dir(&self.own);
        }
        // This fails while processes of the program live on; they are not confined any more.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Returns the content of `cpu.max` for this many of `most` processors.
///
/// A processor takes the quota in slices. In a shorter period than this, some of the program's
/// threads could find no slice left, and in a longer one a thread that holds a lock could be
/// stopped for longer.
pub(super) fn text(processors: usize, most: usize) -> String {
    let processors = processors.max(1);
    let period = (SLICE * most / processors).clamp(20_000, 100_000);
    format!("{} {period}", processors * period)
}

/// Returns the folder of this process's cgroup of version 2.
fn group(root: &Path, pid: u32) -> Result<PathBuf, String> {
    let process = Process::new_with_root(root.join(format!("proc/{pid}")));
    let process = process.map_err(|error| error.to_string())?;
    let groups = process.cgroups().map_err(|error| error.to_string())?;
    let mounts = process.mountinfo().map_err(|error| error.to_string())?;
    let group = groups.into_iter().find(|group| group.hierarchy == 0);
    let group = group.ok_or("there is no cgroup of version 2")?.pathname;
    let folder = mounts
        .into_iter()
        .filter(|mount| mount.fs_type == "cgroup2")
        .find_map(|mount| {
            let below = Path::new(&group).strip_prefix(&mount.root).ok()?;
            let point = mount.mount_point.strip_prefix("/").ok()?;
            Some(root.join(point).join(below))
        });
    folder.ok_or_else(|| format!("no mount shows the cgroup {group}"))
}

fn make(folder: &Path) -> Result<(), String> {
    match fs::create_dir(folder) {
        // A process with our number has left it behind.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        done => done.map_err(|error| format!("cannot create {}: {error}", folder.display())),
    }
}

fn read(folder: &Path, name: &str) -> Result<String, String> {
    let path = folder.join(name);
    fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    let path = folder.join(name);
    let file = OpenOptions::new().write(true).truncate(true).open(&path);
    // The kernel wants the text in one call.
    file.and_then(|mut file| file.write(format!("{text}\n").as_bytes()))
        .map(drop)
        .map_err(|error| format!("cannot write {text:?} to {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::follow::cgroups::Cgroups;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    fn made(controllers: &str, given: &str) -> (TempDir, Cgroups) {
        let folder = tempfile::tempdir().unwrap();
        let cgroups = Cgroups::new(folder.path(), std::process::id());
        cgroups.make(controllers, given);
        (folder, cgroups)
    }

    fn create(cgroups: &Cgroups) -> Result<Leaf, String> {
        Leaf::create(&cgroups.root)
    }

    #[test]
    fn command_leaves_its_cgroup_and_returns() {
        let (_folder, made) = made("cpuset cpu io memory", "");
        let leaf = create(&made).unwrap();
        assert_eq!(made.text(&made.own("cgroup.procs")), "0");
        made.put(&made.own("cgroup.procs"), "");
        leaf.enter().unwrap();
        assert_eq!(made.text(&made.leaf("cgroup.procs")), "0");
        assert_eq!(made.text(&made.own("cgroup.procs")), "");
        leaf.leave().unwrap();
        assert_eq!(made.text(&made.own("cgroup.procs")), "0");
        // A file keeps only the last of several texts; the kernel adds them up.
        assert_eq!(made.text(&made.group("cgroup.subtree_control")), "+cpuset");
        assert_eq!(made.text(&made.group("cgroup.procs")), "");
        // The watcher is there as well, and may outlive the leaf.
        made.put(&made.own("cgroup.procs"), "8\n9\n");
        drop(leaf);
        assert_eq!(made.text(&made.group("cgroup.subtree_control")), "-cpuset");
        assert_eq!(made.text(&made.group("cgroup.procs")), "9");
    }

    #[test]
    fn refused_leave_is_made_up_for_at_the_end() {
        let (_folder, made) = made("cpu", "");
        let leaf = create(&made).unwrap();
        leaf.enter().unwrap();
        made.remove(&made.own("cgroup.procs"));
        leaf.leave().unwrap_err();
        drop(leaf);
        assert_eq!(made.text(&made.group("cgroup.procs")), "0");
    }

    #[test]
    fn controllers_of_another_command_stay() {
        let (_folder, made) = made("cpu", "");
        let leaf = create(&made).unwrap();
        let other = made.group("tidegate-exec-1-command");
        fs::create_dir(made.root.join(&other)).unwrap();
        made.put(&format!("{other}/cgroup.procs"), "1\n");
        drop(leaf);
        assert_eq!(made.text(&made.group("cgroup.subtree_control")), "+cpu");
        let leaf = create(&made).unwrap();
        made.put(&format!("{other}/cgroup.procs"), "");
        drop(leaf);
        assert_eq!(made.text(&made.group("cgroup.subtree_control")), "-cpu");
    }

    #[test]
    fn quota_and_cpuset_follow_processors() {
        let (_folder, made) = made("cpu cpuset", "cpu cpuset");
        let leaf = create(&made).unwrap();
        let now = || {
            (
                made.text(&made.leaf("cpu.max")),
                made.text(&made.leaf("cpuset.cpus")),
            )
        };
        let pair = |quota: &str, cpus: &str| (quota.to_string(), cpus.to_string());
        assert_eq!(now(), pair("max", ""));
        leaf.confine(Some(&[2, 3, 5]), 8).unwrap();
        assert_eq!(now(), pair("60000 20000", "2,3,5"));
        leaf.confine(None, 8).unwrap();
        assert_eq!(now(), pair("max", ""));
        leaf.confine(Some(&[1]), 8).unwrap();
        drop(leaf);
        assert_eq!(now(), pair("max", ""));
    }

    #[test]
    fn leaf_of_an_earlier_program_is_not_used() {
        let (_folder, made) = made("cpu", "cpu");
        made.put(&made.leaf("cgroup.procs"), "7\n");
        assert!(create(&made).unwrap_err().contains("an earlier program"));
    }

    #[test]
    fn cpuset_is_not_required() {
        let (_folder, made) = made("cpu", "cpu");
        made.remove(&made.leaf("cpuset.cpus"));
        let leaf = create(&made).unwrap();
        leaf.confine(Some(&[1]), 2).unwrap();
        assert_eq!(made.text(&made.leaf("cpu.max")), "20000 20000");
    }

    #[test]
    fn period_grows_with_spread_threads() {
        assert_eq!(text(1, 2), "20000 20000");
        assert_eq!(text(1, 8), "40000 40000");
        assert_eq!(text(2, 64), "200000 100000");
        assert_eq!(text(0, 1), "20000 20000");
    }

    #[test]
    fn reasons_against_a_quota() {
        let reason = |made: &Cgroups| create(made).unwrap_err();
        let (_folder, made) = made("io memory", "");
        assert!(reason(&made).ends_with("/scope has no cpu controller"));
        made.remove(&made.group("cgroup.controllers"));
        assert!(
            reason(&made).starts_with("cannot read "),
            "{}",
            reason(&made)
        );
        made.put(&made.group("cgroup.controllers"), "cpu");
        made.put(&made.group("cgroup.subtree_control"), "cpu");
        made.remove(&made.leaf("cpu.max"));
        assert!(reason(&made).contains("/cpu.max: "), "{}", reason(&made));
        let cgroups = format!("proc/{}/cgroup", std::process::id());
        made.put(&cgroups, "0::/elsewhere\n");
        assert_eq!(reason(&made), "no mount shows the cgroup /elsewhere");
        made.put(&cgroups, "1:cpu:/v1\n");
        assert_eq!(reason(&made), "there is no cgroup of version 2");
        assert!(Leaf::create(Path::new("/proc/self/fd")).is_err());
    }

    /// The kernel refuses the controllers if another process is in the cgroup.
    #[test]
    fn refused_command_comes_back() {
        let (_folder, made) = made("cpu", "");
        let file = made.root.join(made.group("cgroup.subtree_control"));
        fs::remove_file(&file).unwrap();
        symlink("/proc/version", &file).unwrap();
        assert!(create(&made).unwrap_err().contains("+cpu"));
        assert_eq!(made.text(&made.own("cgroup.procs")), "0");
        assert_eq!(made.text(&made.group("cgroup.procs")), "0");
    }
}
