//! A folder like `/proc` with the files of made-up processes.

use super::tree::{Member, Thread};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

pub(super) struct Recorded(TempDir);

impl Recorded {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for files"))
    }

    pub(super) fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    /// Adds a process whose threads sleep.
    pub(super) fn process(&self, pid: i32, parent: i32, tids: &[i32]) -> &Self {
        for tid in tids {
            self.stat(pid, *tid, "S", parent, (0, 0), 7);
        }
        let first = self.task(pid, pid).join("stat");
        fs::copy(first, self.path().join(format!("{pid}/stat"))).unwrap();
        self
    }

    /// Writes a thread's state, the ticks of the children for which the process has waited, and the
    /// tick of the thread's start.
    pub(super) fn stat(
        &self,
        pid: i32,
        tid: i32,
        state: &str,
        parent: i32,
        (user, system): (u64, u64),
        started: u64,
    ) -> &Self {
        let text = format!(
            "{tid} (a b) {state} {parent} 1 1 0 -1 0 0 0 0 0 5 5 {user} {system} 20 0 1 0 \
             {started} 1 1 1 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
        );
        self.write(pid, tid, "stat", &text)
    }

    pub(super) fn children(&self, pid: i32, tid: i32, list: &str) -> &Self {
        self.write(pid, tid, "children", list)
    }

    pub(super) fn run_delay(&self, pid: i32, tid: i32, delay: u64) -> &Self {
        self.write(pid, tid, "schedstat", &format!("5 {delay} 5\n"))
    }

    pub(super) fn switches(&self, pid: i32, tid: i32, voluntary: u64, involuntary: u64) -> &Self {
        let text = format!(
            "Name:\ta\nState:\tR (running)\nTgid:\t{pid}\nPid:\t{tid}\nPPid:\t1\n\
             TracerPid:\t0\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nFDSize:\t64\nGroups:\t\n\
             Threads:\t2\nSigQ:\t0/9\nSigPnd:\t0\nShdPnd:\t0\nSigBlk:\t0\nSigIgn:\t0\n\
             SigCgt:\t0\nCapInh:\t0\nCapPrm:\t0\nCapEff:\t0\n\
             voluntary_ctxt_switches:\t{voluntary}\n\
             nonvoluntary_ctxt_switches:\t{involuntary}\n"
        );
        self.write(pid, tid, "status", &text)
    }

    pub(super) fn remove(&self, pid: i32) -> &Self {
        fs::remove_dir_all(self.path().join(pid.to_string())).unwrap();
        self
    }

    fn write(&self, pid: i32, tid: i32, name: &str, text: &str) -> &Self {
        fs::create_dir_all(self.task(pid, tid)).unwrap();
        fs::write(self.task(pid, tid).join(name), text).unwrap();
        self
    }

    fn task(&self, pid: i32, tid: i32) -> PathBuf {
        self.path().join(format!("{pid}/task/{tid}"))
    }
}

pub(super) fn thread(tid: i32, started: u64, is_runnable: bool) -> Thread {
    Thread {
        tid,
        started,
        is_runnable,
        run_delay: 0,
    }
}

pub(super) fn member(pid: i32, parent: i32, threads: &[Thread]) -> Member {
    Member {
        pid,
        parent,
        threads: threads.to_vec(),
        reaped: 0,
    }
}
