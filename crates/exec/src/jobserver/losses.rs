//! Decides which tokens are lost: more are missing than the living processes could hold.

use std::collections::HashMap;

use procfs::process::all_processes;

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

/// A process with the number of its threads.
#[derive(Clone, Copy)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) threads: usize,
}

/// Returns how many tokens the descendants of this process could hold at most.
pub(super) fn most_held() -> usize {
    let Ok(all) = all_processes() else {
        return usize::MAX;
    };
    let all = all.filter_map(|process| process.ok()?.stat().ok());
    let all: Vec<Process> = all
        .map(|stat| Process {
            pid: stat.pid,
            parent: stat.ppid,
            threads: usize::try_from(stat.num_threads).unwrap_or(0),
        })
        .collect();
    std::process::id()
        .try_into()
        .map_or(usize::MAX, |root| most_held_below(root, &all))
}

/// A process may always run one thing, a child or a thread of its own, and needs a token for each
/// further one.
pub(super) fn most_held_below(root: i32, all: &[Process]) -> usize {
    let mut children: HashMap<i32, Vec<&Process>> = HashMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(process);
    }
    let mut most = 0;
    let mut open: Vec<&Process> = children.remove(&root).unwrap_or_default();
    while let Some(process) = open.pop() {
        let own = children.remove(&process.pid).unwrap_or_default();
        most += process.threads.max(own.len()).saturating_sub(1);
        open.extend(own);
    }
    most
}
