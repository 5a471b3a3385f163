use super::*;
use crate::Pool;
use crate::policy::Choose;
use crate::pool::{enter, members};
use crate::worker::{Admission, Membership};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tidegate_policy::Priority::{Background, Normal, Urgent};
use tidegate_policy::idle::{BackoffFactory, CustomBackoff};
use tidegate_policy::tunables::REVERSE_SEARCH;
use tidegate_policy::{QueueKind, SharePolicy};
use tidegate_sync::atomic::Ordering;

/// Calls `f` with the search of a new thread, in a pool of two workers of which the other one is
/// idle. Returns the status of the idle thread afterwards.
fn status_of_idle_after(f: impl FnOnce(&mut Search<'_>)) -> Status {
    let builder = Pool::builder()
        .queue(QueueKind::ChaseLev)
        .share(SharePolicy::Off);
    let pool = PoolInner::bare(builder.workers(2).options().unwrap());
    let admitted = members::admit_all(&pool, 2);
    let (own, idle) = (admitted[0], admitted[1]);
    let served = pool.change().stop(idle, Status::Idle);
    assert_eq!(served, None);
    let membership = Membership::enter(pool.clone(), Admission::granted(own));
    let worker = membership.current();
    f(&mut Search::new(worker));
    let status = pool.ledger().status(idle);
    drop(membership);
    std::mem::forget(pool);
    status
}

/// Returns the status of an idle thread after a new thread has begun the first of these tasks.
fn status_of_idle_beside(tasks: usize, keep: impl Fn(WorkerThread<'_>, Task)) -> Status {
    status_of_idle_after(|search| {
        let worker = search.worker;
        for _ in 0..tasks {
            keep(worker, Task::alone(worker.pool(), |_| ()));
        }
        let task = search.task_at_hand().unwrap();
        search.run_at_base(task);
    })
}

#[test]
fn last_task_at_hand_wakes_no_thread() {
    let batch = |worker: WorkerThread<'_>, task| worker.keep_in_batch(task);
    assert_eq!(status_of_idle_beside(1, batch), Status::Idle);
    let class = |worker: WorkerThread<'_>, task| worker.pool().sources.classes.push(Urgent, task);
    assert_eq!(status_of_idle_beside(1, class), Status::Idle);
    let outside = |worker: WorkerThread<'_>, task| worker.pool().sources.injector.push(task);
    assert_eq!(status_of_idle_beside(1, outside), Status::Idle);
}

#[test]
fn remaining_tasks_wake_a_thread() {
    let batch = |worker: WorkerThread<'_>, task| worker.keep_in_batch(task);
    assert_eq!(status_of_idle_beside(2, batch), Status::Running);
    let class = |worker: WorkerThread<'_>, task| worker.pool().sources.classes.push(Urgent, task);
    assert_eq!(status_of_idle_beside(2, class), Status::Running);
    let outside = |worker: WorkerThread<'_>, task| worker.pool().sources.injector.push(task);
    assert_eq!(status_of_idle_beside(2, outside), Status::Running);
}

/// A worker that has given its slot away in a look does not take a task afterwards.
#[test]
fn worker_without_slot_takes_no_task() {
    let builder = Pool::builder().workers(2).share(SharePolicy::Off);
    let pool = PoolInner::bare(builder.options().unwrap());
    let [own, owed] = members::admit_all(&pool, 2)[..] else {
        unreachable!("two slots")
    };
    let membership = Membership::enter(pool.clone(), Admission::granted(own));
    let worker = membership.current();
    let victim = pool.worker(owed);
    victim.sleeper.is_preempted.set(true);
    victim.membership.is_gone.set(false);
    let _ = pool.change().set_slots(1);
    assert_eq!(pool.change().stop(owed, Status::Owed), None);
    // The next look is in reverse.
    (1..REVERSE_SEARCH.default).for_each(|_| _ = worker.searches_in_reverse());
    pool.sources.injector.push(Task::alone(&pool, |_| ()));
    let mut search = Search::new(worker);
    assert!(search.task_at_hand().is_none());
    assert!(worker.must_stop(), "the slot goes to the preempted worker");
    assert!(search.search().is_none());
    drop(membership);
    std::mem::forget(pool);
}

/// A worker that must stop passes the turn of the pool's own class on.
#[test]
fn interrupted_turn_is_given_back() {
    status_of_idle_after(|search| {
        let worker = search.worker;
        let pool = worker.pool();
        let push = |class| {
            let task = Task::alone(pool, |_| ());
            match class {
                Some(class) => pool.sources.classes.push(class, task),
                None => pool.sources.injector.push(task),
            }
        };
        push(Some(Urgent));
        while let Some(task) = search.task_at_hand() {
            search.run_at_base(task);
            push(Some(Urgent));
        }
        worker.set_must_stop(true);
        assert!(search.find_once().is_none());
        worker.set_must_stop(false);
        push(None);
        assert!(search.task_at_hand().is_none(), "the turn was given back");
        let task = search.find_once().unwrap();
        assert_eq!(
            pool.sources.injector.len(),
            0,
            "the task is of the pool's own class"
        );
        search.run_at_base(task);
        assert!(search.task_at_hand().is_some(), "the turn is used up");
    });
}

/// A look that found nothing does not let a later task pass a more urgent one.
#[test]
fn turn_ends_with_its_look() {
    status_of_idle_after(|search| {
        let pool = search.worker.pool();
        let push = |class| pool.sources.classes.push(class, Task::alone(pool, |_| ()));
        push(Background);
        assert!(search.task_at_hand().is_none());
        let task = search.find_once().unwrap();
        search.run_at_base(task);
        push(Urgent);
        pool.sources.injector.push(Task::alone(pool, |_| ()));
        let task = search.find_once().unwrap();
        assert_eq!(pool.sources.injector.len(), 1);
        search.run_at_base(task);
    });
}

/// Each part of a broadcast is followed by another one, until a background task begins.
#[test]
fn endless_broadcasts_let_tasks_begin() {
    fn push_part(pool: &Arc<PoolInner>, index: usize, begun: Arc<AtomicBool>) {
        let next = pool.clone();
        let part = Task::alone(pool, move |_| {
            // Relaxed: everything runs on this thread.
            if !begun.load(Ordering::Relaxed) {
                push_part(&next, index, begun);
            }
        });
        pool.worker(index).inbox.push(part);
    }

    status_of_idle_after(|search| {
        let (worker, begun) = (search.worker, Arc::new(AtomicBool::new(false)));
        let pool = worker.pool();
        let began = begun.clone();
        let task = Task::alone(pool, move |_| began.store(true, Ordering::Relaxed));
        pool.sources.classes.push(Background, task);
        push_part(&pool.as_arc(), worker.index, begun.clone());
        while !begun.load(Ordering::Relaxed) {
            assert!(search.run_next());
        }
        assert!(search.run_next(), "runs the last part");
        assert_eq!(worker.inbox.len(), 0);
    });
}

/// A waiter that finds no task of its pool's own class has not looked into all deques.
#[test]
fn waiter_in_vain_gives_the_turn_back() {
    status_of_idle_after(|search| {
        let pool = search.worker.pool();
        let push = |class| pool.sources.classes.push(class, Task::alone(pool, |_| ()));
        let mut begin = |own: &dyn Fn() -> Option<Task>| {
            let task = pool.sources.classes.next(own);
            search.run_at_base(task.unwrap());
            pool.sources.classes.len()
        };
        let mut queued = 1;
        push(Urgent);
        let looked = std::cell::Cell::new(false);
        // Dispatches that serve the urgent class, until the pool's own has the turn.
        while !looked.get() {
            push(Urgent);
            queued = begin(&|| {
                looked.set(true);
                None
            });
        }
        let own = || Some(Task::alone(pool, |_| ()));
        assert_eq!(begin(&own), queued, "the turn was given back");
        assert_eq!(begin(&own), queued - 1, "the turn is used up");
    });
}

/// Before the waiter found nothing, its pool's own class had no turn: it was the most urgent one.
#[test]
fn waiter_in_vain_gives_no_turn() {
    status_of_idle_after(|search| {
        let pool = search.worker.pool();
        let push = |class| pool.sources.classes.push(class, Task::alone(pool, |_| ()));
        push(Background);
        let task = pool.sources.classes.next(|| None).unwrap();
        search.run_at_base(task);
        push(Background);
        push(Urgent);
        let task = search.task_at_hand().expect("the urgent task is next");
        search.run_at_base(task);
    });
}

#[test]
fn guest_of_threadless_pool_has_no_backoff() {
    struct Parks;
    impl CustomBackoff for Parks {
        fn backoff(&mut self, _: u64) -> Rest {
            Rest::Park
        }

        fn reset(&mut self) {}
    }
    let [made, ran] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    // Relaxed, here and below: everything runs on this thread.
    let set = |flag: &Arc<AtomicBool>| {
        let flag = flag.clone();
        move || flag.store(true, Ordering::Relaxed)
    };
    let makes = set(&made);
    let backoff = BackoffFactory::new(move |_| {
        makes();
        Parks
    });
    let builder = Pool::builder().workers(1).share(SharePolicy::Off);
    let pool = PoolInner::bare(builder.backoff(backoff).options().unwrap());
    let refused = members::admit_all(&pool, 1)[0];
    members::refuse(&pool, refused);
    let runs = set(&ran);
    let task = Task::alone(&pool, move |_| runs());
    pool.sources.injector.push(task);
    enter::work_off_alone(&pool);
    let [made, ran] = [made, ran].map(|flag| flag.load(Ordering::Relaxed));
    assert_eq!([made, ran], [false, true]);
    std::mem::forget(pool);
}

/// A guest of a pool without threads runs the tasks of all classes in turn.
#[test]
fn guest_of_threadless_pool_serves_every_class() {
    let builder = Pool::builder().workers(1).share(SharePolicy::Off);
    let pool = PoolInner::bare(builder.priority_aging(3).options().unwrap());
    let refused = members::admit_all(&pool, 1)[0];
    members::refuse(&pool, refused);
    let begun = Arc::new(std::sync::Mutex::new(Vec::new()));
    let task = |class| {
        let begun = begun.clone();
        Task::alone(&pool, move |_| begun.lock().unwrap().push(class))
    };
    for _ in 0..4 {
        pool.sources.classes.push(Urgent, task(Urgent));
        pool.sources.injector.push(task(Normal));
    }
    enter::work_off_alone(&pool);
    let begun = begun.lock().unwrap();
    assert_eq!(begun[..6], [Urgent, Normal, Urgent, Normal, Urgent, Normal]);
    std::mem::forget(pool);
}
