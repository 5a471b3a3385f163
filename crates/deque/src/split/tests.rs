//! Tests of the split deque: single steps, random steps compared with a model, many thieves, and
//! the ring's limits.

use super::{Cold, Owner, Split, Steal, capacity};
use crate::Full;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use tidegate_sync::barrier;
use tidegate_testkit::soak;

type Counts = Vec<AtomicU32>;

fn counts(n: usize) -> Counts {
    (0..n).map(|_| AtomicU32::new(0)).collect()
}

fn task(counts: &Counts, index: usize) -> NonNull<AtomicU32> {
    NonNull::from(&counts[index])
}

fn owner<T>(deque: &Split<T>) -> Owner<'_, T> {
    // SAFETY: each test calls this on its main thread only.
    unsafe { deque.owner() }
}

fn push(owner: Owner<'_, AtomicU32>, task: NonNull<AtomicU32>) -> Result<u64, Full> {
    owner.push(task).or_else(|Cold(position)| {
        let _ = owner.answer();
        owner.confirm(position)
    })
}

#[test]
fn owner_pops_youngest_thief_steals_oldest() {
    let counts = counts(3);
    let deque = Split::new();
    let me = owner(&deque);
    for i in 0..3 {
        push(me, task(&counts, i)).unwrap();
    }
    assert_eq!(
        deque.steal(|_| 1, None, |_| unreachable!()),
        Steal::Empty,
        "all is private"
    );
    assert!(deque.has_private());
    assert_eq!(me.expose_half(), 2);
    let mut got = Vec::new();
    assert_eq!(
        deque.steal(|_| 1, None, |t| got.push(index_of(&counts, t))),
        Steal::Success(1)
    );
    assert_eq!(me.pop(0).map(|t| index_of(&counts, t)), Some(2));
    assert_eq!(me.pop(0).map(|t| index_of(&counts, t)), Some(1));
    assert_eq!(me.pop(0), None);
    assert_eq!(got, [0]);
    me.lower(0);
    assert_eq!(me.bottom(), 0);
}

/// The thief learns how many tasks are waiting, but gets at most the public tasks.
#[test]
fn thief_gets_only_public_tasks() {
    let counts = counts(10);
    let deque = Split::new();
    let me = owner(&deque);
    for i in 0..10 {
        push(me, task(&counts, i)).unwrap();
    }
    me.expose_half();
    let mut got = Vec::new();
    let half = |waiting: u64| {
        assert_eq!(waiting, 10);
        waiting.div_ceil(2)
    };
    assert_eq!(
        deque.steal(half, None, |t| got.push(index_of(&counts, t))),
        Steal::Success(5)
    );
    assert_eq!(got, [0, 1, 2, 3, 4], "oldest first");
    assert_eq!(deque.steal(|_| 0, None, |_| unreachable!()), Steal::Empty);
}

/// Whether the kernel supports the process-wide barrier. Waits for the kernel's answer.
fn has_barrier() -> bool {
    barrier::prepare();
    loop {
        match barrier::available() {
            Some(available) => return available,
            None => std::thread::yield_now(),
        }
    }
}

#[test]
fn silent_owner_is_exposed_by_force() {
    assert!(
        has_barrier(),
        "this kernel has no membarrier: the fall-back is tested elsewhere"
    );
    let counts = counts(4);
    let deque = Split::new();
    let me = owner(&deque);
    for i in 0..4 {
        push(me, task(&counts, i)).unwrap();
    }
    assert!(deque.force_expose());
    assert_eq!(deque.public_len(), 2);
    assert!(!deque.force_expose(), "something is public already");
    assert!(me.pop_at(3) && me.pop_at(2));
    assert!(me.pop_at(1), "takes the public task back");
    assert_eq!(deque.public_len(), 0, "half of what was left, rounded down");
    assert!(me.pop_at(0));
}

/// A push into a full ring fails until a thief has stolen a task and read its slot.
#[test]
fn full_ring_accepts_pushes_after_steals() {
    let n = capacity() as usize;
    let counts = counts(1);
    let deque = Split::new();
    let me = owner(&deque);
    for _ in 0..n {
        push(me, task(&counts, 0)).unwrap();
    }
    assert_eq!(push(me, task(&counts, 0)), Err(Full));
    me.expose_all();
    assert_eq!(deque.steal(|_| 1, None, |_| ()), Steal::Success(1));
    assert!(push(me, task(&counts, 0)).is_ok());
    assert_eq!(push(me, task(&counts, 0)), Err(Full));
}

/// Steals all public tasks and returns their number.
fn steal_all(deque: &Split<AtomicU32>) -> u64 {
    let mut stolen = 0;
    while let Steal::Success(k) = deque.steal(|all| all, None, |_| ()) {
        stolen += k;
    }
    stolen
}

mod counting_thefts {
    use super::*;

    /// Thieves empty a full ring before the owner completes its last push.
    #[test]
    fn copes_with_emptying_full_ring() {
        let counts = counts(1);
        let deque = Split::new();
        let me = owner(&deque);
        for _ in 0..capacity() {
            me.push(task(&counts, 0)).unwrap();
        }
        assert_eq!(me.push(task(&counts, 0)), Err(Cold(capacity())));
        assert_eq!(me.answer(), 0);
        me.expose_all();
        assert_eq!(steal_all(&deque), capacity() + 1);
        assert_eq!(me.confirm(capacity()), Ok(capacity()));
        me.lower(0);
        assert_eq!(me.bottom(), 0);
    }

    /// The owner only pushes. Thieves move the border by force, so no signals send the owner
    /// through the cold exit.
    #[test]
    fn copes_with_silent_owner() {
        assert!(has_barrier(), "this kernel has no membarrier");
        let counts = counts(1);
        let deque = Split::new();
        let me = owner(&deque);
        let step = capacity() / 8;
        let mut stolen = 0;
        for pushed in 1..=4 * capacity() {
            push(me, task(&counts, 0)).expect("thieves make room");
            while pushed % step == 0 && deque.force_expose() {
                stolen += steal_all(&deque);
            }
        }
        assert!(stolen > 3 * capacity());
        while me.pop(0).is_some() {}
        me.lower(0);
    }
}

/// The base has drifted up by more than a ring's length when the owner lowers it.
#[test]
fn drifted_ring_does_not_lap_itself() {
    let counts = counts(1);
    let deque = Split::new();
    let me = owner(&deque);
    for _ in 0..capacity() + 5 {
        push(me, task(&counts, 0)).unwrap();
        me.expose_all();
        assert_eq!(deque.steal(|_| 1, None, |_| ()), Steal::Success(1));
    }
    me.lower(0);
    for _ in 0..capacity() {
        push(me, task(&counts, 0)).unwrap();
    }
    assert_eq!(push(me, task(&counts, 0)), Err(Full));
}

#[test]
fn signal_opens_the_cold_exit_once() {
    let counts = counts(1);
    let deque = Split::new();
    let me = owner(&deque);
    deque.raise(4);
    deque.raise(1);
    assert!(me.is_signalled());
    assert_eq!(me.push(task(&counts, 0)), Err(Cold(0)));
    assert_eq!(me.answer(), 5);
    assert_eq!(me.confirm(0), Ok(0));
    assert!(me.push(task(&counts, 0)).is_ok());
    me.shut();
    assert_eq!(me.push(task(&counts, 0)), Err(Cold(2)));
    assert_eq!(me.answer(), 0);
}

#[test]
fn random_owner_steps_match_vec_deque() {
    for seed in 1..=soak(1, "rounds of 20,000 steps") {
        random_steps(seed);
    }
}

fn random_steps(mut seed: u64) {
    let mut draw = move |n: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % n
    };
    let counts = counts(if cfg!(miri) { 200 } else { 20_000 });
    let deque = Split::new();
    let me = owner(&deque);
    let mut model = std::collections::VecDeque::new();
    for i in 0..counts.len() {
        match draw(8) {
            0..4 => {
                if push(me, task(&counts, i)).is_ok() {
                    model.push_back(i);
                }
            }
            4 => {
                me.expose_half();
            }
            5 => {
                let k = draw(3) + 1;
                let mut got = Vec::new();
                let _ = deque.steal(|_| k, None, |t| got.push(index_of(&counts, t)));
                let expected: Vec<_> = (0..got.len()).filter_map(|_| model.pop_front()).collect();
                assert_eq!(got, expected);
            }
            _ => assert_eq!(me.pop(0).map(|t| index_of(&counts, t)), model.pop_back()),
        }
    }
}

#[test]
fn stampeding_thieves_take_tasks_once() {
    has_barrier();
    for _ in 0..soak(1, "stampedes over 200,000 tasks") {
        stampede();
    }
}

fn stampede() {
    let n = if cfg!(miri) { 150 } else { 200_000 };
    let counts = counts(n);
    let deque = Split::new();
    let done = AtomicBool::new(false);
    let steals = |amount: u64| {
        while !done.load(Ordering::Acquire) {
            let take = |t: NonNull<AtomicU32>| {
                // SAFETY: the task points into `counts`, which outlives the scope below.
                let count = unsafe { t.as_ref() };
                count.fetch_add(1, Ordering::Relaxed);
            };
            if deque.steal(|_| amount, None, take) == Steal::Empty && !deque.force_expose() {
                deque.raise(1);
                std::thread::yield_now();
            }
        }
    };
    std::thread::scope(|s| {
        s.spawn(|| steals(1));
        s.spawn(|| steals(3));
        let me = owner(&deque);
        for i in 0..n {
            let run = |t: NonNull<AtomicU32>| {
                counts[index_of(&counts, t)].fetch_add(1, Ordering::Relaxed)
            };
            match me.push(task(&counts, i)) {
                Ok(_) => {}
                Err(Cold(position)) => {
                    if me.answer() != 0 {
                        me.expose_half();
                    }
                    if me.confirm(position).is_err() {
                        run(task(&counts, i));
                    }
                }
            }
            if i % 3 == 0 {
                me.pop(0).map(run);
            }
        }
        while let Some(t) = me.pop(0) {
            counts[index_of(&counts, t)].fetch_add(1, Ordering::Relaxed);
        }
        done.store(true, Ordering::Release);
    });
    assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
}

fn index_of(counts: &Counts, task: NonNull<AtomicU32>) -> usize {
    (task.as_ptr() as usize - counts.as_ptr() as usize) / size_of::<AtomicU32>()
}

#[cfg(all(unix, not(miri)))]
mod a_closed_deque {
    use super::*;

    /// Whether the owner's step aborts a child in which the deque is closed. The deque holds a task.
    fn aborts(step: impl FnOnce(Owner<'_, AtomicU32>, &Counts)) -> bool {
        let (counts, deque) = (counts(2), Split::new());
        let me = owner(&deque);
        push(me, task(&counts, 0)).unwrap();
        // SAFETY: the child takes no lock of the test harness before it ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            me.close();
            step(me, &counts);
            // SAFETY: ends the child without running any of the parent's code.
            unsafe { libc::_exit(0) }
        }
        let mut status = 0;
        // SAFETY: `status` is live and writable.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGABRT
    }

    #[test]
    fn aborts_pushes_and_pops() {
        assert!(aborts(|me, _| _ = me.pop(0)));
        assert!(aborts(|me, counts| _ = push(me, task(counts, 1))));
        assert!(!aborts(|me, _| assert!(me.pop(1).is_none())));
    }
}
