//! Finds the processes and threads of the program.
//!
//! The program's processes are the descendants of the command: a process whose parent has died
//! becomes a child of the command, because the command is a subreaper. The kernel lists the
//! children of each thread in `/proc/PID/task/TID/children`; on a kernel without these files,
//! all processes of the machine are searched for their parents.
//!
//! A walk is no snapshot. It reads a parent before its children, and the list of a process's
//! children before the time of those that the process has waited for. So a process that ends
//! meanwhile may be missing, but its processor time never counts twice.

use crate::watcher::Identity;
use procfs::process::{Process, Stat};
use procfs::{ProcError, ProcResult};
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use tidegate_policy::Nanos;

/// A process of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) pid: i32,
    pub(super) parent: i32,
    /// Threads that have ended are left out, so a zombie has none.
    pub(super) threads: Vec<Thread>,
    /// The processor time of the children that have ended and for which the process has waited.
    pub(super) reaped: Nanos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Thread {
    pub(super) tid: i32,
    /// In ticks of the kernel since the start of the machine.
    pub(super) started: u64,
    /// Whether the thread runs or waits for a processor.
    pub(super) is_runnable: bool,
    /// How long the thread has waited for a processor; 0 if the kernel does not count it.
    pub(super) run_delay: Nanos,
}

/// The descendants of a process.
#[derive(Debug)]
pub(super) struct Tree {
    proc: PathBuf,
    command: i32,
    /// Descendants of the command that do not belong to the program.
    left_out: Vec<Identity>,
    tick: Nanos,
}

impl Tree {
    /// Creates the tree of the descendants of `command`, as the folder `proc` shows them.
    pub(super) fn new(proc: PathBuf, command: i32, left_out: Vec<Identity>) -> Self {
        let tick = 1_000_000_000 / procfs::ticks_per_second().max(1);
        Self {
            proc,
            command,
            left_out,
            tick,
        }
    }

    /// Leaves out one more child of the command.
    pub(super) fn leave_out(&mut self, child: Identity) {
        self.left_out.push(child);
    }

    /// Leaves out all descendants that the command has now.
    pub(super) fn leave_out_all(&mut self) {
        let members = self.walk().unwrap_or_default();
        let identity = |member: Member| self.identity(member.pid);
        let present: Vec<Identity> = members.into_iter().filter_map(identity).collect();
        self.left_out.extend(present);
    }

    /// Returns all processes of the program, parents before their children.
    ///
    /// # Errors
    /// Returns an error if the command's own folder cannot be read.
    pub(super) fn walk(&self) -> ProcResult<Vec<Member>> {
        let list = self
            .proc
            .join(format!("{0}/task/{0}/children", self.command));
        let scanned = if list.exists() {
            None
        } else {
            Some(self.scan()?)
        };
        let mut known = HashSet::from([self.command]);
        let (_, children) = self.read(self.command, scanned.as_ref())?;
        let mut queue = VecDeque::from(children);
        let mut members = Vec::new();
        while let Some(pid) = queue.pop_front() {
            if !known.insert(pid) || self.is_left_out(pid) {
                continue;
            }
            // A process that cannot be read has ended.
            if let Ok((member, children)) = self.read(pid, scanned.as_ref()) {
                members.push(member);
                queue.extend(children);
            }
        }
        Ok(members)
    }

    fn is_left_out(&self, pid: i32) -> bool {
        let is_it =
            |left_out: &Identity| left_out.pid == pid && self.identity(pid) == Some(*left_out);
        self.left_out.iter().any(is_it)
    }

    fn identity(&self, pid: i32) -> Option<Identity> {
        let process = self.process(pid).ok()?;
        Identity::of(&process).ok()
    }

    /// Reads a thread's count of voluntary and involuntary switches.
    pub(super) fn switches(&self, pid: i32, tid: i32) -> ProcResult<(u64, u64)> {
        let status = self.process(pid)?.task_from_tid(tid)?.status()?;
        let count = |count: Option<u64>| count.unwrap_or(0);
        Ok((
            count(status.voluntary_ctxt_switches),
            count(status.nonvoluntary_ctxt_switches),
        ))
    }

    fn process(&self, pid: i32) -> ProcResult<Process> {
        Process::new_with_root(self.proc.join(pid.to_string()))
    }

    /// Reads a process and the numbers of its children.
    fn read(
        &self,
        pid: i32,
        scanned: Option<&HashMap<i32, Vec<i32>>>,
    ) -> ProcResult<(Member, Vec<i32>)> {
        let mut member = Member {
            pid,
            ..Member::default()
        };
        let mut children = scanned
            .and_then(|all| all.get(&pid))
            .cloned()
            .unwrap_or_default();
        for task in self.process(pid)?.tasks()? {
            let Ok(task) = task else { continue };
            if scanned.is_none() {
                let list = task.children().unwrap_or_default();
                children.extend(list.into_iter().filter_map(|pid| i32::try_from(pid).ok()));
            }
            if let Ok(stat) = task.stat() {
                let run_delay = task.schedstat().map_or(0, |schedstat| schedstat.run_delay);
                self.add(&mut member, &stat, run_delay);
            }
        }
        Ok((member, children))
    }

    /// Adds a thread. What the whole process shows is taken from the last one.
    fn add(&self, member: &mut Member, stat: &Stat, run_delay: Nanos) {
        member.parent = stat.ppid;
        let ticks = u64::try_from(stat.cutime.saturating_add(stat.cstime)).unwrap_or(0);
        member.reaped = ticks.saturating_mul(self.tick);
        if !['Z', 'X'].contains(&stat.state) {
            member.threads.push(Thread {
                tid: stat.pid,
                started: stat.starttime,
                is_runnable: stat.state == 'R',
                run_delay,
            });
        }
    }

    /// Returns the children of each process of the machine.
    fn scan(&self) -> ProcResult<HashMap<i32, Vec<i32>>> {
        let entries = std::fs::read_dir(&self.proc)
            .map_err(|error| ProcError::Io(error, Some(self.proc.clone())))?;
        let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
        for entry in entries.flatten() {
            let Some(pid) = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
            else {
                continue;
            };
            if let Ok(stat) = self.process(pid).and_then(|process| process.stat()) {
                children.entry(stat.ppid).or_default().push(pid);
            }
        }
        Ok(children)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::follow::recorded::{Recorded, member, thread};

    fn pids(tree: &Tree) -> Vec<i32> {
        let members = tree.walk().unwrap();
        members.iter().map(|member| member.pid).collect()
    }

    /// 10 is the command, 11 the program, 13 a child of 11's second thread, 14 its grandchild, and
    /// 15 an orphan that the command has inherited. 20 belongs to another user.
    fn family() -> Recorded {
        let recorded = Recorded::new();
        recorded.process(10, 1, &[10]).process(11, 10, &[11, 12]);
        recorded.process(13, 11, &[13]).process(14, 13, &[14]);
        recorded.process(15, 10, &[15]).process(16, 10, &[16]);
        recorded.process(20, 1, &[20]);
        recorded
    }

    const WATCHER: Identity = Identity {
        pid: 16,
        started: 7,
    };

    fn with_lists(recorded: &Recorded) {
        recorded.children(10, 10, "11 15 16 ");
        recorded.children(11, 11, "").children(11, 12, "13 ");
        recorded.children(13, 13, "14 99 ").children(14, 14, "");
        recorded.children(15, 15, "").children(16, 16, "");
    }

    #[test]
    fn descendants_are_found_by_lists() {
        let recorded = family();
        with_lists(&recorded);
        let tree = Tree::new(recorded.path(), 10, vec![WATCHER]);
        assert_eq!(pids(&tree), [11, 15, 13, 14]);
    }

    #[test]
    fn descendants_are_found_by_parents() {
        let recorded = family();
        let tree = Tree::new(recorded.path(), 10, vec![WATCHER]);
        let mut found = pids(&tree);
        found.sort_unstable();
        assert_eq!(found, [11, 13, 14, 15]);
    }

    /// The watcher has died, and a process of the program has got its number.
    #[test]
    fn number_of_the_watcher_may_be_used_again() {
        let recorded = family();
        with_lists(&recorded);
        let started = WATCHER.started - 1;
        let dead = Identity { started, ..WATCHER };
        let tree = Tree::new(recorded.path(), 10, vec![dead]);
        assert_eq!(pids(&tree), [11, 15, 16, 13, 14]);
    }

    /// A shell has started processes, and has then become the command.
    #[test]
    fn older_descendants_are_left_out() {
        let recorded = family();
        with_lists(&recorded);
        let mut tree = Tree::new(recorded.path(), 10, vec![]);
        tree.leave_out_all();
        // The older 14 has lost its parent, and the command has started 17.
        recorded.process(17, 10, &[17]).children(17, 17, "");
        recorded.remove(13).children(10, 10, "11 14 15 16 17 ");
        assert_eq!(pids(&tree), [17]);
    }

    #[test]
    fn threads_have_their_states() {
        let recorded = family();
        recorded.stat(11, 11, "R", 10, (30, 10), 4711);
        recorded.stat(11, 12, "S", 10, (30, 20), 4712);
        recorded.stat(13, 13, "Z", 11, (0, 0), 4713);
        let tree = Tree::new(recorded.path(), 10, vec![]);
        let members = tree.walk().unwrap();
        let of = |pid| members.iter().find(|member| member.pid == pid).unwrap();
        let threads = [thread(11, 4711, true), thread(12, 4712, false)];
        assert_eq!(of(11).threads, threads);
        assert_eq!(of(11).reaped, 500_000_000);
        assert_eq!(*of(13), member(13, 11, &[]));
    }

    #[test]
    fn missing_folder_is_an_error() {
        let recorded = Recorded::new();
        assert!(Tree::new(recorded.path(), 10, vec![]).walk().is_err());
    }
}
