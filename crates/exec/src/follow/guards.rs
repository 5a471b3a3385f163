//! Watches whether a process of the program collapses because it is confined.

use super::tree::{Member, Tree};
use std::collections::HashMap;
use tidegate_policy::Nanos;
use tidegate_policy::outside::{Guard, Turns};

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
        let has_collapsed = |member: &&Member| {
            let guard = self.0.entry(member.pid).or_default();
            guard.next(&turns(tree, member, at, processors))
        };
        several().find(has_collapsed).map(|member| member.pid)
    }
}

/// Returns what the guard must know of a process. Threads that end meanwhile count as unswitched.
fn turns(tree: &Tree, member: &Member, at: Nanos, processors: Option<usize>) -> Turns {
    let threads = member.threads.len();
    let mut turns = Turns {
        at,
        threads,
        runnable: member
            .threads
            .iter()
            .filter(|thread| thread.is_runnable)
            .count(),
        confined: processors.is_some_and(|processors| processors < threads),
        ..Turns::default()
    };
    // Reading the switches costs as much as the rest of a look, and the guard needs them only if
    // all threads are runnable.
    if turns.confined && turns.runnable == threads {
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

    /// Returns when the guards report the process 11, if its threads are in these states and switch
    /// like a program that has collapsed.
    fn reported(states: [&str; 2], processors: Option<usize>) -> Option<Nanos> {
        let recorded = Recorded::new();
        recorded.process(10, 1, &[10]).children(10, 10, "11 12 ");
        recorded.process(12, 10, &[12]).children(12, 12, "");
        for (tid, state) in [11, 12].into_iter().zip(states) {
            recorded
                .stat(11, tid, state, 10, (0, 0), 7)
                .children(11, tid, "");
        }
        let tree = Tree::new(recorded.path(), 10, vec![]);
        let mut guards = Guards::default();
        (0..100).map(|look| look * 20).find(|ms| {
            for tid in [11, 12] {
                recorded.switches(11, tid, 1_000 + 3 * ms / 1000, 2_000 + 130 * ms / 1000);
            }
            let found = guards.next(&tree, &tree.walk().unwrap(), ms * MS, processors);
            assert!(found.is_none_or(|pid| pid == 11));
            found.is_some()
        })
    }

    #[test]
    fn collapse_is_reported_within_two_seconds() {
        assert_eq!(reported(["R", "R"], Some(1)), Some(1_000));
    }

    #[test]
    fn other_programs_are_not_reported() {
        assert_eq!(reported(["R", "S"], Some(1)), None);
        assert_eq!(reported(["R", "R"], Some(2)), None);
        assert_eq!(reported(["R", "R"], None), None);
    }
}
