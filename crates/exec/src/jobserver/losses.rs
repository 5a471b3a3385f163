//! Decides which tokens are lost: more are missing than the living processes could hold.

use std::collections::HashSet;

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use procfs::process::Process;

/// How many looks in a row must find a token lost. A client may hold a token for a moment before it
/// starts what the token is for.
const LOOKS: usize = 3;

/// The losses that have been seen since the last look that found none.
#[derive(Default)]
pub(super) struct Losses {
    looks: usize,
    /// The smallest number in these looks.
    lost: usize,
}

impl Losses {
    /// Takes note that a look has found `lost` tokens lost. Returns how many are lost for certain.
    pub(super) fn confirm(&mut self, lost: usize) -> usize {
        self.lost = match self.looks {
            0 => lost,
            _ => lost.min(self.lost),
        };
        self.looks = if self.lost == 0 { 0 } else { self.looks + 1 };
        if self.looks < LOOKS {
            return 0;
        }
        self.looks = 0;
        self.lost
    }
}

/// The threads and the children of a process.
pub(super) struct Family {
    pub(super) threads: usize,
    pub(super) children: Vec<i32>,
}

impl Family {
    /// A process that may hold any number of tokens.
    pub(super) fn unreadable() -> Self {
        Self {
            threads: usize::MAX,
            children: Vec::new(),
        }
    }
}

/// Returns how many tokens the descendants of this process could hold at most. On a kernel that
/// does not list children, no token is ever lost.
pub(super) fn most_held() -> usize {
    let Ok(own) = i32::try_from(std::process::id()) else {
        return usize::MAX;
    };
    let lists = format!("/proc/{own}/task/{own}/children");
    match std::fs::exists(lists) {
        Ok(true) => most_held_below(own, family),
        _ => usize::MAX,
    }
}

/// Returns `None` if the process has ended.
fn family(pid: i32) -> Option<Family> {
    let Ok(tasks) = Process::new(pid).and_then(|process| process.tasks()) else {
        // `/proc` may hide other users' processes.
        let has_ended = kill(Pid::from_raw(pid), None) == Err(Errno::ESRCH);
        return (!has_ended).then(Family::unreadable);
    };
    let mut family = Family {
        threads: 0,
        children: Vec::new(),
    };
    for task in tasks.flatten() {
        family.threads += 1;
        let children = task.children().unwrap_or_default();
        family
            .children
            .extend(children.into_iter().map(|pid| pid as i32));
    }
    Some(family)
}

/// A process may always run one thing, a child or a thread of its own, and needs a token for each
/// further one.
pub(super) fn most_held_below(root: i32, family: impl Fn(i32) -> Option<Family>) -> usize {
    let mut open = family(root).map_or(Vec::new(), |family| family.children);
    // A process whose parent ends meanwhile may be found twice.
    let mut known = HashSet::from([root]);
    let mut most: usize = 0;
    while let Some(pid) = open.pop() {
        if !known.insert(pid) {
            continue;
        }
        if let Some(Family { threads, children }) = family(pid) {
            let further = threads.max(children.len()).saturating_sub(1);
            most = most.saturating_add(further);
            open.extend(children);
        }
    }
    most
}
