//! The kernel is modelled, because a test cannot change its own cpuset.

use super::*;
use std::cell::Cell;

/// A thread on Linux 6.2 or later.
struct Modelled {
    cpuset: Cell<CpuSet>,
    requested: Cell<CpuSet>,
}

fn set(cpus: &[usize]) -> CpuSet {
    cpus.iter().copied().collect()
}

impl Modelled {
    fn granted(&self, requested: &CpuSet) -> CpuSet {
        let has = |set: &CpuSet, cpu: &usize| set.with(*cpu) == *set;
        let both = |cpu: &usize| has(requested, cpu) && has(&self.cpuset.get(), cpu);
        (0..8).filter(both).collect()
    }
}

impl Thread for Modelled {
    fn cpus(&self) -> Option<CpuSet> {
        let granted = self.granted(&self.requested.get());
        let is_empty = granted == CpuSet::default();
        Some(if is_empty { self.cpuset.get() } else { granted })
    }

    fn bind(&self, cpus: &CpuSet) -> bool {
        let is_valid = self.granted(cpus) != CpuSet::default();
        if is_valid {
            self.requested.set(*cpus);
        }
        is_valid
    }
}

/// Returns the state of a thread that has `cpus`, all that there are.
fn new(cpus: &[usize]) -> State<Modelled> {
    State::new(Modelled {
        cpuset: Cell::new(set(cpus)),
        requested: Cell::new(set(cpus)),
    })
}

impl State<Modelled> {
    fn has(&self, cpus: &[usize]) -> bool {
        self.thread.cpus() == Some(set(cpus))
    }

    fn set_cpuset(&self, cpus: &[usize]) {
        self.thread.cpuset.set(set(cpus));
    }

    /// What the user does with `taskset`.
    fn choose(&self, cpus: &[usize]) {
        assert!(self.thread.bind(&set(cpus)));
    }

    /// The thread sleeps, and a waker on `cpu` is about to wake it.
    fn keep_sleeper_off(&mut self, cpu: usize) {
        self.is_asleep = true;
        self.keep_off(|| Some(cpu));
    }

    fn be_woken_from(&mut self, cpu: usize) {
        self.keep_sleeper_off(cpu);
        self.let_back();
    }
}

#[test]
fn sleeper_leaves_cpu_and_returns() {
    let mut state = new(&[0, 1, 2, 3]);
    state.keep_off(|| Some(0));
    assert!(state.has(&[0, 1, 2, 3]), "it runs");
    state.keep_sleeper_off(0);
    assert!(state.has(&[1, 2, 3]));
    state.let_back();
    assert!(state.has(&[0, 1, 2, 3]));
}

#[test]
fn only_cpu_is_not_excluded() {
    let mut state = new(&[1]);
    state.keep_sleeper_off(1);
    assert!(state.has(&[1]) && state.off.is_none());
}

mod cpuset {
    use super::*;

    #[test]
    fn may_grow_again() {
        let mut state = new(&[0, 1, 2, 3]);
        state.be_woken_from(0);
        state.set_cpuset(&[0, 1]);
        state.be_woken_from(0);
        assert!(state.has(&[0, 1]));
        state.set_cpuset(&[0, 1, 2, 3]);
        assert!(state.has(&[0, 1, 2, 3]));
        state.be_woken_from(3);
        assert!(state.has(&[0, 1, 2, 3]));
    }

    #[test]
    fn may_change_during_a_wake_up() {
        let mut state = new(&[0, 1, 2, 3]);
        state.keep_sleeper_off(0);
        state.set_cpuset(&[0, 1]);
        state.let_back();
        assert!(state.has(&[0, 1]));
        state.keep_sleeper_off(0);
        state.set_cpuset(&[0, 2, 3]);
        state.let_back();
        assert!(state.has(&[0, 2, 3]));
    }

    #[test]
    fn may_lose_all_cpus_but_the_wakers() {
        let mut state = new(&[0, 1]);
        state.keep_sleeper_off(0);
        state.set_cpuset(&[0]);
        state.let_back();
        assert!(state.has(&[0]));
        state.set_cpuset(&[0, 1]);
        assert!(state.has(&[0, 1]));
    }

    #[test]
    fn limits_the_users_choice() {
        let mut state = new(&[0, 1, 2, 3]);
        state.choose(&[0, 1, 2]);
        state.be_woken_from(0);
        state.set_cpuset(&[0, 1]);
        state.be_woken_from(0);
        state.set_cpuset(&[0, 1, 2, 3]);
        assert!(state.has(&[0, 1, 2]));
    }
}

mod users_choice {
    use super::*;

    #[test]
    fn lasts() {
        let mut state = new(&[0, 1, 2, 3]);
        for cpus in [&[0, 1, 2][..], &[2, 3], &[0, 1, 3], &[0, 1, 2, 3]] {
            state.choose(cpus);
            for cpu in 0..4 {
                state.be_woken_from(cpu);
                assert!(state.has(cpus));
            }
        }
    }

    #[test]
    fn lasts_if_made_during_a_wake_up() {
        let mut state = new(&[0, 1, 2, 3]);
        for cpus in [&[2, 3][..], &[0, 2, 3], &[0, 1, 2, 3]] {
            state.keep_sleeper_off(0);
            state.choose(cpus);
            state.let_back();
            assert!(state.has(cpus));
        }
    }
}
