//! Loom models of the shipped deque: every interleaving within the preemption bound.
//!
//! Each model can tell its tasks apart. It checks that each task is taken exactly once, by the
//! owner or a thief, and that the taker sees what was written before the push.

use super::{Cold, Owner, Split, Steal};
use std::ptr::NonNull;
use tidegate_sync::Arc;
use tidegate_sync::atomic::{AtomicUsize, Ordering};

struct Task {
    /// Written Relaxed before the push. A taker that reads 0 has not acquired the push.
    payload: AtomicUsize,
    taken: AtomicUsize,
}

struct Tasks(Vec<Task>);

impl Tasks {
    fn new(n: usize) -> Arc<Self> {
        let task = |_| Task {
            payload: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
        };
        Arc::new(Self((0..n).map(task).collect()))
    }

    /// Prepares a task for its push.
    fn fill(&self, index: usize) -> NonNull<Task> {
        self.0[index].payload.store(index + 1, Ordering::Relaxed);
        NonNull::from(&self.0[index])
    }

    fn take(&self, task: NonNull<Task>) {
        let task = self
            .0
            .iter()
            .find(|t| NonNull::from(*t) == task)
            .expect("a task of this model");
        assert_ne!(
            task.payload.load(Ordering::Relaxed),
            0,
            "taken before it was published"
        );
        assert_eq!(task.taken.fetch_add(1, Ordering::Release), 0, "taken twice");
    }

    /// Waits until the task is taken, like a joiner that waits for the latch of its half.
    fn wait_for(&self, index: usize) {
        while self.0[index].taken.load(Ordering::Acquire) == 0 {
            tidegate_sync::spin_loop();
        }
    }

    fn check(&self) {
        for (index, task) in self.0.iter().enumerate() {
            assert_eq!(
                task.taken.load(Ordering::Relaxed),
                1,
                "task {index} was lost"
            );
        }
    }
}

type Deque = Arc<Split<Task>>;

fn owner(deque: &Deque) -> Owner<'_, Task> {
    // SAFETY: in every model only the main thread calls this.
    unsafe { deque.owner() }
}

fn thief(
    deque: &Deque,
    tasks: &Arc<Tasks>,
    body: fn(&Split<Task>, &Tasks),
) -> loom::thread::JoinHandle<()> {
    let (deque, tasks) = (deque.clone(), tasks.clone());
    loom::thread::spawn(move || body(&deque, &tasks))
}

fn steal_one(deque: &Split<Task>, tasks: &Tasks) {
    let _ = deque.steal(|_| 1, None, |task| tasks.take(task));
}

fn steal_two(deque: &Split<Task>, tasks: &Tasks) {
    let _ = deque.steal(|_| 2, None, |task| tasks.take(task));
}

fn force_then_steal(deque: &Split<Task>, tasks: &Tasks) {
    if deque.force_expose() {
        steal_one(deque, tasks);
    }
}

fn push(owner: Owner<'_, Task>, task: NonNull<Task>) {
    if let Err(Cold(position)) = owner.push(task) {
        let _ = owner.answer();
        owner.confirm(position).expect("room in the ring");
    }
}

/// Pops tasks like nested joins: youngest first, settling the tasks that were stolen.
fn unwind(owner: Owner<'_, Task>, tasks: &Tasks, count: u64) {
    for position in (0..count).rev() {
        if owner.pop_at(position) {
            tasks.take(NonNull::from(&tasks.0[position as usize]));
        } else {
            owner.settle(position);
        }
    }
}

#[test]
fn loom_owner_pops_during_forced_exposure() {
    loom::model(|| {
        let (deque, tasks) = (Arc::new(Split::new()), Tasks::new(1));
        push(owner(&deque), tasks.fill(0));
        let t = thief(&deque, &tasks, force_then_steal);
        unwind(owner(&deque), &tasks, 1);
        t.join().unwrap();
        tasks.check();
    });
}

#[test]
fn loom_owner_pops_two_during_forced_exposure() {
    loom::model(|| {
        let (deque, tasks) = (Arc::new(Split::new()), Tasks::new(2));
        push(owner(&deque), tasks.fill(0));
        push(owner(&deque), tasks.fill(1));
        let t = thief(&deque, &tasks, force_then_steal);
        unwind(owner(&deque), &tasks, 2);
        t.join().unwrap();
        tasks.check();
    });
}

/// Both thieves expose by force while the owner pops its three tasks.
#[test]
fn loom_two_thieves_expose_and_steal() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = model.preemption_bound.or(Some(2));
    model.check(|| {
        let (deque, tasks) = (Arc::new(Split::new()), Tasks::new(3));
        for i in 0..3 {
            push(owner(&deque), tasks.fill(i));
        }
        let a = thief(&deque, &tasks, force_then_steal);
        let b = thief(&deque, &tasks, force_then_steal);
        unwind(owner(&deque), &tasks, 3);
        a.join().unwrap();
        b.join().unwrap();
        tasks.check();
    });
}

/// The owner exposes tasks and takes them back, while two thieves steal.
#[test]
fn loom_owner_retracts_against_two_thieves() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = model.preemption_bound.or(Some(2));
    model.check(|| {
        let (deque, tasks) = (Arc::new(Split::new()), Tasks::new(3));
        let me = owner(&deque);
        for i in 0..2 {
            push(me, tasks.fill(i));
        }
        me.expose_all();
        let a = thief(&deque, &tasks, steal_one);
        let b = thief(&deque, &tasks, steal_two);
        push(me, tasks.fill(2));
        unwind(me, &tasks, 3);
        a.join().unwrap();
        b.join().unwrap();
        tasks.check();
    });
}

/// A thief exposes a task by force after the owner has taken back all tasks.
#[test]
fn loom_exposure_after_retraction_keeps_guard() {
    loom::model(|| {
        let (deque, tasks) = (Arc::new(Split::new()), Tasks::new(2));
        let me = owner(&deque);
        push(me, tasks.fill(0));
        push(me, tasks.fill(1));
        me.expose_all();
        // The first pop takes both tasks back. If the thief then makes the older task public again,
        // the second pop must notice.
        let t = thief(&deque, &tasks, force_then_steal);
        unwind(me, &tasks, 2);
        t.join().unwrap();
        tasks.check();
    });
}

#[test]
fn loom_owner_cancels_exposure_in_flight() {
    loom::model(|| {
        let (deque, tasks) = (Arc::new(Split::new()), Tasks::new(2));
        let me = owner(&deque);
        push(me, tasks.fill(0));
        let t = thief(&deque, &tasks, force_then_steal);
        me.expose_half();
        let mine = me.pop_at(0);
        if mine {
            tasks.take(NonNull::from(&tasks.0[0]));
        } else {
            tasks.wait_for(0);
            me.settle(0);
        }
        push(me, tasks.fill(1));
        if me.pop_at(0) {
            tasks.take(NonNull::from(&tasks.0[1]));
        } else {
            me.settle(0);
        }
        t.join().unwrap();
        tasks.check();
    });
}

#[test]
fn loom_exposing_thief_publishes_for_another() {
    loom::model(|| {
        let (deque, tasks) = (Arc::new(Split::new()), Tasks::new(1));
        push(owner(&deque), tasks.fill(0));
        let a = thief(&deque, &tasks, |deque, _| {
            let _ = deque.force_expose();
        });
        let b = thief(&deque, &tasks, steal_one);
        a.join().unwrap();
        b.join().unwrap();
        unwind(owner(&deque), &tasks, 1);
        tasks.check();
    });
}

#[test]
fn loom_raised_flag_is_answered_or_pending() {
    loom::model(|| {
        let (deque, tasks) = (Arc::new(Split::new()), Tasks::new(2));
        let t = thief(&deque, &tasks, |deque, _| deque.raise(1));
        let mut seen = 0;
        let me = owner(&deque);
        for i in 0..2 {
            if let Err(Cold(position)) = me.push(tasks.fill(i)) {
                seen |= me.answer();
                me.confirm(position).unwrap();
            }
        }
        t.join().unwrap();
        assert!(
            seen == 1 || (me.is_signalled() && me.answer() == 1),
            "the flag was lost"
        );
        unwind(me, &tasks, 2);
        tasks.check();
    });
}

/// The owner reuses a slot only after the thief has read the task in it.
#[test]
fn loom_ring_position_waits_for_its_reader() {
    loom::model(|| {
        let (deque, tasks) = (Arc::new(Split::new()), Tasks::new(6));
        let me = owner(&deque);
        for i in 0..3 {
            push(me, tasks.fill(i));
        }
        me.expose_all();
        let t = thief(&deque, &tasks, steal_one);
        // No joiner waits for these tasks: the owner continues to push as soon as it finds room.
        let mut next = 3;
        while next < 5 {
            let pushed = me.push(tasks.fill(next)).or_else(|Cold(position)| {
                let _ = me.answer();
                me.confirm(position)
            });
            match pushed {
                Ok(_) => next += 1,
                Err(_) => match me.pop(0) {
                    Some(task) => tasks.take(task),
                    None => break,
                },
            }
        }
        while let Some(task) = me.pop(0) {
            tasks.take(task);
        }
        t.join().unwrap();
        for task in &tasks.0[..next] {
            assert_eq!(task.taken.load(Ordering::Relaxed), 1);
        }
    });
}

/// The ring is full when thieves empty it, and they even steal the task whose push has just reached
/// the limit. The next push must not fill the slot of the oldest position before the thief has read
/// it.
#[test]
fn loom_push_stolen_at_limit_waits() {
    loom::model(|| {
        let (deque, tasks) = (Arc::new(Split::new()), Tasks::new(5));
        let me = owner(&deque);
        for i in 0..3 {
            push(me, tasks.fill(i));
        }
        me.expose_all();
        let slow = thief(&deque, &tasks, steal_one);
        for i in 3..5 {
            let Err(Cold(position)) = me.push(tasks.fill(i)) else {
                continue;
            };
            let _ = me.answer();
            me.expose_all();
            // The owner's thread acts as a second thief: in the middle of the owner's push, it
            // takes all tasks.
            while let Steal::Success(_) = deque.steal(|all| all, None, |task| tasks.take(task)) {}
            if me.confirm(position).is_err() {
                tasks.take(NonNull::from(&tasks.0[i]));
            }
        }
        while let Some(task) = me.pop(0) {
            tasks.take(task);
        }
        slow.join().unwrap();
        tasks.check();
    });
}

#[test]
fn loom_stale_generation_steals_nothing() {
    loom::model(|| {
        let (deque, tasks) = (Arc::new(Split::new()), Tasks::new(1));
        let me = owner(&deque);
        let old = me.generation();
        let t = {
            let (deque, tasks) = (deque.clone(), tasks.clone());
            loom::thread::spawn(move || {
                let got = deque.steal(|_| 1, Some(old), |task| tasks.take(task));
                assert_ne!(got, Steal::Success(1), "robbed with an old generation");
            })
        };
        me.next_generation();
        push(me, tasks.fill(0));
        me.expose_all();
        unwind(me, &tasks, 1);
        t.join().unwrap();
        tasks.check();
    });
}

#[test]
fn loom_thief_sees_task_owner_published() {
    loom::model(|| {
        let (deque, tasks) = (Arc::new(Split::new()), Tasks::new(1));
        let t = thief(&deque, &tasks, steal_one);
        let me = owner(&deque);
        // Filled after the push, because loom's stand-in for the push's light barrier would release
        // what was written before, and the real barrier does not.
        push(me, NonNull::from(&tasks.0[0]));
        tasks.fill(0);
        me.expose_all();
        t.join().unwrap();
        unwind(me, &tasks, 1);
        tasks.check();
    });
}

/// Either the pushing owner sees the signal, or the thread that raised it sees the task.
#[test]
fn loom_push_and_signal_see_each_other() {
    loom::model(|| {
        let (deque, tasks) = (Arc::new(Split::new()), Tasks::new(1));
        let sleeper = {
            let deque: Deque = deque.clone();
            loom::thread::spawn(move || {
                deque.raise(1);
                assert!(tidegate_sync::barrier::heavy());
                deque.has_private()
            })
        };
        let me = owner(&deque);
        let cold = me.push(tasks.fill(0)).is_err();
        let seen = sleeper.join().unwrap();
        assert!(
            cold || seen,
            "a sleeper parks and the owner knows of no one"
        );
    });
}
