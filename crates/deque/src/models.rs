//! Loom models of the queues: every interleaving within the preemption bound. The split deque has
//! its own models.
//!
//! Each model can tell its tasks apart. It checks that the thread that gets a task sees what was
//! written before the put, and that no task is lost. If the queue promises *exactly once*, the
//! model also checks that no task comes out twice.

use crate::{
    Blocks, ChaseLev, Cursor, Duplicating, Dynamic, IdempotentDeque, IdempotentFifo,
    IdempotentLifo, Lazy, Multiplicity, Queue, Shared, claim,
};
use std::ptr::NonNull;
use tidegate_sync::Arc;
use tidegate_sync::atomic::{AtomicUsize, Ordering};

struct Task {
    /// Written Relaxed before the put. A thread that reads 0 has not acquired the put.
    payload: AtomicUsize,
    out: AtomicUsize,
}

struct Tasks(Vec<Task>);

impl Tasks {
    fn new(count: usize) -> Arc<Self> {
        let task = |_| Task {
            payload: AtomicUsize::new(0),
            out: AtomicUsize::new(0),
        };
        Arc::new(Self((0..count).map(task).collect()))
    }

    fn fill(&self, index: usize) -> NonNull<Task> {
        self.0[index].payload.store(index + 1, Ordering::Relaxed);
        NonNull::from(&self.0[index])
    }

    fn out(&self, task: NonNull<Task>) {
        let mut all = self.0.iter();
        let task = all.find(|own| NonNull::from(*own) == task);
        let task = task.expect("a task of this model");
        let payload = task.payload.load(Ordering::Relaxed);
        assert_ne!(payload, 0, "it came out before it was put in");
        task.out.fetch_add(1, Ordering::Relaxed);
    }

    fn check(&self, exact: bool) {
        for (index, task) in self.0.iter().enumerate() {
            let out = task.out.load(Ordering::Relaxed);
            assert!(out > 0, "task {index} was lost");
            assert!(!exact || out == 1, "task {index} came out {out} times");
        }
    }
}

fn put<Q: Queue<Task>>(queue: &Q, task: NonNull<Task>) -> bool {
    queue.put(task).is_ok()
}

fn take<Q: Queue<Task>>(queue: &Q) -> Option<NonNull<Task>> {
    queue.take()
}

/// Starts a thief that makes `attempts` attempts to steal.
fn thief<Q: Queue<Task> + 'static>(
    queue: &Arc<Q>,
    tasks: &Arc<Tasks>,
    attempts: usize,
) -> loom::thread::JoinHandle<()> {
    let (queue, tasks) = (queue.clone(), tasks.clone());
    loom::thread::spawn(move || {
        let mut cursor = Cursor::default();
        for _ in 0..attempts {
            if let Ok(task) = queue.steal(&mut cursor) {
                tasks.out(task);
            }
        }
    })
}

/// Runs the owner's `steps` while thieves steal. The owner then takes the remaining tasks.
fn model<Q: Queue<Task> + Default + 'static>(
    exact: bool,
    count: usize,
    thieves: &'static [usize],
    steps: fn(&Q, &Tasks),
) {
    loom::model(move || {
        let (queue, tasks) = (Arc::new(Q::default()), Tasks::new(count));
        let thieves: Vec<_> = thieves
            .iter()
            .map(|attempts| thief(&queue, &tasks, *attempts))
            .collect();
        steps(&queue, &tasks);
        empty(&*queue, &tasks);
        thieves
            .into_iter()
            .for_each(|thief| thief.join().expect("it ends"));
        steal_the_rest(&*queue, &tasks, exact);
        tasks.check(exact);
    });
}

fn empty<Q: Queue<Task>>(queue: &Q, tasks: &Tasks) {
    while let Some(task) = take(queue) {
        tasks.out(task);
    }
}

/// Steals the tasks that were granted to thieves but not stolen.
fn steal_the_rest<Q: Queue<Task>>(queue: &Q, tasks: &Tasks, exact: bool) {
    while let Ok(task) = queue.steal(&mut Cursor::default()) {
        tasks.out(task);
        if !exact {
            break;
        }
    }
}

/// While a thief steals the only task, the owner takes it and puts another task into its slot. The
/// owner then waits for the thief, so that few preemptions are enough.
fn only_task_is_replaced<Q: Queue<Task> + Default + 'static>(exact: bool) {
    loom::model(move || {
        let (queue, tasks) = (Arc::new(Q::default()), Tasks::new(2));
        assert!(put(&*queue, tasks.fill(0)));
        let thief = thief(&queue, &tasks, 1);
        if let Some(task) = take(&*queue) {
            tasks.out(task);
        }
        assert!(put(&*queue, tasks.fill(1)));
        thief.join().expect("it ends");
        empty(&*queue, &tasks);
        steal_the_rest(&*queue, &tasks, exact);
        tasks.check(exact);
    });
}

fn put_all<Q: Queue<Task>>(queue: &Q, tasks: &Tasks) {
    for index in 0..tasks.0.len() {
        while !put(queue, tasks.fill(index)) {
            if let Some(task) = take(queue) {
                tasks.out(task);
            }
        }
    }
}

fn put_range<Q: Queue<Task>>(queue: &Q, tasks: &Tasks, range: std::ops::Range<usize>) {
    range.for_each(|index| assert!(put(queue, tasks.fill(index))));
}

/// Puts two tasks, takes one, and puts a third into the slot of the taken one.
fn put_where_one_was_taken<Q: Queue<Task>>(queue: &Q, tasks: &Tasks) {
    for index in [0, 1] {
        assert!(put(queue, tasks.fill(index)));
    }
    if let Some(task) = take(queue) {
        tasks.out(task);
    }
    assert!(put(queue, tasks.fill(2)));
}

/// The owner grants a block, takes it over and grants it again, while a thief moves on to the next
/// block.
fn grant_a_block_again(queue: &Blocks<Task>, tasks: &Tasks) {
    let put = |index| assert!(put(queue, tasks.fill(index)));
    let take = || take(queue).into_iter().for_each(|task| tasks.out(task));
    (0..3).for_each(put);
    (0..2).for_each(|_| take());
    (3..5).for_each(put);
}

#[test]
fn loom_taken_over_block_is_granted_again() {
    model::<Blocks<Task>>(true, 5, &[2], grant_a_block_again);
}

/// A thief reads a slot of a full array while the owner tries to put its next task there. The owner
/// runs in the thread that is started later, because loom does not try the critical order if the
/// thief is started later.
#[test]
fn loom_slot_is_refilled_after_read() {
    loom::model(|| {
        let (queue, tasks) = (Arc::new(Duplicating::default()), Tasks::new(6));
        let put = |index| assert!(put(&*queue, tasks.fill(index)));
        let mut cursor = Cursor::default();
        let mut steal = || {
            if let Ok(task) = queue.steal(&mut cursor) {
                tasks.out(task);
            }
        };
        (0..3).for_each(put);
        // The thief gets a copy, so the next put raises the border.
        steal();
        put(3);
        steal();
        put(4);
        let owner = {
            let (queue, tasks) = (queue.clone(), tasks.clone());
            loom::thread::spawn(move || assert!(queue.put(tasks.fill(5)).is_ok()))
        };
        steal();
        owner.join().expect("it ends");
        empty(&*queue, &tasks);
        steal_the_rest(&*queue, &tasks, false);
        tasks.check(false);
    });
}

/// A thief reads the longer array while the owner takes the last task, gives the array back and
/// grows it again.
#[test]
fn loom_array_is_reused_under_theft() {
    loom::model(|| {
        let (queue, tasks) = (Arc::new(ChaseLev::default()), Tasks::new(6));
        put_range(&*queue, &tasks, 0..3);
        for _ in 0..2 {
            tasks.out(take(&*queue).expect("no thief has come"));
        }
        let thief = thief(&queue, &tasks, 2);
        empty(&*queue, &tasks);
        put_range(&*queue, &tasks, 3..6);
        empty(&*queue, &tasks);
        thief.join().expect("it ends");
        tasks.check(true);
    });
}

macro_rules! models {
    ($($name:ident: $queue:ident, $exact:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn loom_owner_races_thief_for_last_task() {
                model::<$queue<Task>>($exact, 1, &[2], put_all);
            }

            #[test]
            fn loom_two_thieves_and_the_owner() {
                model::<$queue<Task>>($exact, 2, &[1, 1], put_all);
            }

            #[test]
            fn loom_it_grows_under_theft() {
                model::<$queue<Task>>($exact, 4, &[2], put_all);
            }

            #[test]
            fn loom_position_is_refilled_under_theft() {
                model::<$queue<Task>>($exact, 3, &[2], put_where_one_was_taken);
            }

            #[test]
            fn loom_only_task_is_replaced_under_theft() {
                only_task_is_replaced::<$queue<Task>>($exact);
            }

            #[test]
            fn loom_a_claimed_value_comes_out_once() {
                claimed::<$queue<_>>();
            }
        }
    )*};
}

models! {
    lazy: Lazy, true;
    chase_lev: ChaseLev, true;
    dynamic: Dynamic, true;
    blocks: Blocks, true;
    shared: Shared, true;
    idempotent_deque: IdempotentDeque, false;
    idempotent_fifo: IdempotentFifo, false;
    idempotent_lifo: IdempotentLifo, false;
    duplicating: Duplicating, false;
    multiplicity: Multiplicity, false;
}

fn claimed<Q: Queue<claim::Cell<usize>> + Default + 'static>() {
    loom::model(|| {
        let (mut owner, thieves) = claim::queue::<Q, usize>();
        let thief = loom::thread::spawn(move || {
            let mut cursor = Cursor::default();
            [(); 2].map(|()| thieves.steal(&mut cursor).ok())
        });
        let mut got = Vec::new();
        for value in [1, 2] {
            owner.put(value).expect("there is room");
        }
        got.extend(std::iter::from_fn(|| owner.take()));
        got.extend(thief.join().expect("it ends").into_iter().flatten());
        got.extend(std::iter::from_fn(|| owner.take()));
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
    });
}
