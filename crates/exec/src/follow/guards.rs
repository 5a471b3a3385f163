//! Watches whether a process of the program collapses because it is confined.

use super::look::{runnable, threads};
use super::tree::{Member, Tree};
use crate::outside::{Guard, Turns};
use std::collections::HashMap;
use tidegate_policy::Nanos;

/// One guard for each process with several threads.
#[derive(Debug, Default)]
pub(super) struct Guards(HashMap<i32, Guard>);

impl Guards {
    /// Returns a process that has collapsed, if there is one, according to what the last walk has
    /// found at time `at`. `processors` is the number to which the program is confined.
    pub(super) fn next(
        &mut self,
        tree: &Tree,
        members: &[Member],
        at: Nanos,
        processors: Option<usize>,
    ) -> Option<i32> {
        let several = || members.iter().filter(|member| member.threads.len() > 1);
        self.0
            .retain(|pid, _| several().any(|member| member.pid == *pid));
        let look = Turns {
            at,
            program_runnable: runnable(threads(members)),
            processors,
            ..Turns::default()
        };
        let has_collapsed = |member: &&Member| {
            let guard = self.0.entry(member.pid).or_default();
            guard.next(&turns(tree, member, look))
        };
        several().find(has_collapsed).map(|member| member.pid)
    }
}

/// Adds to a look at the program what the guard must know of a process. Threads that end meanwhile
/// count as unswitched.
fn turns(tree: &Tree, member: &Member, look: Turns) -> Turns {
    let mut turns = Turns {
        threads: member.threads.len(),
        runnable: runnable(member.threads.iter()),
        ..look
    };
    // Reading the switches costs as much as the rest of a look.
    if turns.compete() {
        for thread in &member.threads {
            let (voluntary, involuntary) = tree.switches(member.pid, thread.tid).unwrap_or((0, 0));
            turns.voluntary += voluntary;
            turns.involuntary += involuntary;
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::follow::recorded::Recorded;

    const MS: Nanos = 1_000_000;

    /// Returns when the guards first report a process. The processes 11 and 13 have two threads each
    /// in these states, which switch like a program that has collapsed; 15 sleeps.
    fn reported(states: [&str; 4], processors: Option<usize>) -> Option<Nanos> {
        let recorded = Recorded::new();
        recorded.process(10, 1, &[10]).children(10, 10, "11 13 15 ");
        recorded.process(15, 10, &[15]).children(15, 15, "");
        let threads = [(11, 11), (11, 12), (13, 13), (13, 14)];
        for ((pid, tid), state) in threads.into_iter().zip(states) {
            let children = recorded.stat(pid, tid, state, 10, (0, 0), 7);
            children.children(pid, tid, "");
        }
        let tree = Tree::new(recorded.path(), 10, vec![]);
        let mut guards = Guards::default();
        (0..100).map(|look| look * 20).find(|ms| {
            for (pid, tid) in threads {
                recorded.switches(pid, tid, 1_000 + 3 * ms / 1000, 2_000 + 130 * ms / 1000);
            }
            let found = guards.next(&tree, &tree.walk().unwrap(), ms * MS, processors);
            assert!(found.is_none_or(|pid| pid == 11));
            found.is_some()
        })
    }

    #[test]
    fn collapse_is_reported_within_two_seconds() {
        assert_eq!(reported(["R", "R", "S", "S"], Some(1)), Some(1_000));
    }

    /// No process has more threads than the program has processors.
    #[test]
    fn processes_that_collapse_together_are_reported() {
        assert_eq!(reported(["R", "R", "R", "R"], Some(2)), Some(1_000));
        assert_eq!(reported(["R", "R", "S", "R"], Some(2)), Some(1_000));
    }

    #[test]
    fn other_programs_are_not_reported() {
        assert_eq!(reported(["R", "S", "S", "R"], Some(1)), None);
        assert_eq!(reported(["R", "R", "S", "S"], Some(2)), None);
        assert_eq!(reported(["R", "R", "R", "R"], Some(4)), None);
        assert_eq!(reported(["R", "R", "R", "R"], None), None);
    }
}
