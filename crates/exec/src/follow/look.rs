//! What a look at the program's threads shows, in the form that `policy` judges.
//!
//! The kernel counts a process's time only while it exists. A parent that waits for it inherits its
//! processor time, but not the time for which it waited for a processor, and nothing of children
//! for which no process waits. The totals of this module never decrease.

use super::tree::{Member, Thread, Tree};
use crate::outside::Look;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_getcpuclockid};
use nix::unistd::Pid;
use procfs::ProcResult;
use std::collections::HashMap;
use tidegate_policy::Nanos;

/// Where the processor times come from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    /// The processor time of a process, unless it has ended.
    pub(super) process: fn(i32) -> Option<Nanos>,
    /// The processor time of the command's children that have ended.
    pub(super) reaped: fn() -> Nanos,
}

impl Clocks {
    pub(super) const KERNEL: Self = Self {
        process: |pid| {
            let clock = clock_getcpuclockid(Pid::from_raw(pid)).ok()?;
            Some(nanos(clock.now().ok()?.num_nanoseconds()))
        },
        reaped: || {
            getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0, |usage| {
                let time = usage.user_time() + usage.system_time();
                nanos(time.num_nanoseconds())
            })
        },
    };
}

/// Returns the processor time that the calling thread has used.
pub(super) fn thread_time() -> Nanos {
    let now = ClockId::CLOCK_THREAD_CPUTIME_ID.now();
    now.map_or(0, |now| nanos(now.num_nanoseconds()))
}

/// Returns the time of the clock that all looks share.
pub(super) fn now() -> Nanos {
    let now = ClockId::CLOCK_MONOTONIC.now();
    now.map_or(0, |now| nanos(now.num_nanoseconds()))
}

fn nanos(nanos: i64) -> Nanos {
    u64::try_from(nanos).unwrap_or(0)
}

/// Looks at the program again and again.
#[derive(Debug)]
pub(super) struct Observer {
    clocks: Clocks,
    ran: Total,
    delayed: Nanos,
    /// How long each thread has waited, and the number of the look that saw it last.
    delays: HashMap<(i32, u64), (Nanos, u64)>,
    looks: u64,
}

impl Observer {
    pub(super) fn new(clocks: Clocks) -> Self {
        Self {
            clocks,
            ran: Total::default(),
            delayed: 0,
            delays: HashMap::new(),
            looks: 0,
        }
    }

    /// Looks at all threads of the program, at time `at`.
    pub(super) fn look(&mut self, tree: &Tree, at: Nanos) -> ProcResult<(Look, Vec<Member>)> {
        // These are read before the walk, so that no child counts twice.
        let reaped = (self.clocks.reaped)();
        let members = tree.walk()?;
        let time = |member: &Member| {
            let own = (self.clocks.process)(member.pid).unwrap_or(0);
            own.saturating_add(member.reaped)
        };
        let ran = members.iter().map(time).fold(reaped, Nanos::saturating_add);
        self.add_delays(&members);
        let look = Look {
            at,
            ran: self.ran.next(ran),
            delayed: self.delayed,
            runnable: runnable(threads(&members)),
        };
        Ok((look, members))
    }

    fn add_delays(&mut self, members: &[Member]) {
        self.looks += 1;
        for thread in threads(members) {
            let key = (thread.tid, thread.started);
            let (before, _) = self.delays.get(&key).copied().unwrap_or_default();
            self.delayed += thread.run_delay.saturating_sub(before);
            let delay = thread.run_delay.max(before);
            self.delays.insert(key, (delay, self.looks));
        }
        // A walk may miss a process whose parent ends meanwhile, so a thread is forgotten only if
        // two looks in a row did not find it.
        self.delays.retain(|_, (_, seen)| *seen + 1 >= self.looks);
    }
}

/// A sum that may seem to decrease for a while, and then counts as unchanged.
///
/// The sum of the processes' times decreases for one look if a process ends during it, and for good
/// if a parent never waits for its child.
#[derive(Debug, Default)]
struct Total {
    total: Nanos,
    /// What was lost for good.
    lost: Nanos,
    was_below: bool,
}

impl Total {
    fn next(&mut self, sum: Nanos) -> Nanos {
        let sum = sum.saturating_add(self.lost);
        let is_below = sum < self.total;
        if is_below && self.was_below {
            self.lost += self.total - sum;
        }
        self.was_below = is_below && !self.was_below;
        self.total = self.total.max(sum);
        self.total
    }
}

/// Returns all threads of the program.
pub(super) fn threads(members: &[Member]) -> impl Iterator<Item = &Thread> {
    members.iter().flat_map(|member| &member.threads)
}

/// Counts the threads that run or wait for a processor.
pub(super) fn runnable<'a>(threads: impl Iterator<Item = &'a Thread>) -> usize {
    threads.filter(|thread| thread.is_runnable).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::follow::recorded::Recorded;

    /// The kernel gives no process a number above 2^22.
    const BEYOND_ALL: i32 = 5_000_000;

    const MADE_UP: Clocks = Clocks {
        process: |pid| Some(1_000_000 * u64::try_from(pid).unwrap()),
        reaped: || 500,
    };

    fn observer() -> Observer {
        Observer::new(MADE_UP)
    }

    #[test]
    fn look_adds_all_threads() {
        let recorded = Recorded::new();
        recorded.process(10, 1, &[10]).children(10, 10, "11 ");
        recorded
            .stat(11, 11, "R", 10, (3, 1), 7)
            .children(11, 11, "13 ");
        recorded.stat(11, 12, "R", 10, (3, 1), 7);
        recorded.stat(13, 13, "D", 11, (0, 0), 7);
        recorded
            .run_delay(11, 11, 30)
            .run_delay(11, 12, 40)
            .run_delay(13, 13, 50);
        let tree = Tree::new(recorded.path(), 10, vec![]);
        let (look, _) = observer().look(&tree, 99).unwrap();
        let expected = Look {
            at: 99,
            ran: 500 + 40_000_000 + 11_000_000 + 13_000_000,
            delayed: 120,
            runnable: 2,
        };
        assert_eq!(look, expected);
    }

    /// The total keeps the waits of threads that have ended, and counts a thread's wait once even
    /// if one look misses the thread.
    #[test]
    fn delays_never_decrease() {
        let recorded = Recorded::new();
        recorded.process(10, 1, &[10]).children(10, 10, "11 12 ");
        recorded.process(11, 10, &[11]).run_delay(11, 11, 70);
        recorded.process(12, 10, &[12]).run_delay(12, 12, 5);
        let tree = Tree::new(recorded.path(), 10, vec![]);
        let mut observer = observer();
        let mut delayed = || observer.look(&tree, 1).unwrap().0.delayed;
        assert_eq!(delayed(), 75);
        recorded.children(10, 10, "12 ").run_delay(12, 12, 6);
        assert_eq!(delayed(), 76);
        recorded.children(10, 10, "11 12 ");
        assert_eq!(delayed(), 76);
        recorded
            .remove(11)
            .process(11, 10, &[11])
            .stat(11, 11, "R", 10, (0, 0), 8);
        recorded.run_delay(11, 11, 1);
        assert_eq!(delayed(), 77, "another thread with the same number");
    }

    #[test]
    fn total_waits_for_missing_time() {
        let mut total = Total::default();
        let totals = [50, 40, 70, 65, 66, 67, 70].map(|sum| total.next(sum));
        assert_eq!(totals, [50, 50, 70, 70, 70, 71, 74]);
    }

    #[test]
    fn kernel_clocks_show_this_process() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!((Clocks::KERNEL.process)(own).unwrap() > 0);
        assert_eq!((Clocks::KERNEL.process)(BEYOND_ALL), None);
        let before = thread_time();
        while thread_time() == before {}
        assert!(now() > 0);
    }
}
