//! A common interface to the queues of Tidegate and crossbeam.

use std::ptr::NonNull;
use std::sync::Arc;

use crossbeam_deque::{Steal, Stealer, Worker};
use tidegate_deque::{
    Blocks, ChaseLev, Cursor, Duplicating, Dynamic, IdempotentDeque, IdempotentFifo,
    IdempotentLifo, Lazy, Miss, Multiplicity, Queue, Shared, Split,
};

/// A task that is queued but never run.
pub type Task = u64;

pub trait Owner: Send {
    type Thief: Thief;

    fn make() -> (Self, Self::Thief)
    where
        Self: Sized;

    /// Returns whether the queue had room for the task.
    fn put(&mut self, task: NonNull<Task>) -> bool;

    fn take(&mut self) -> Option<NonNull<Task>>;
}

/// The thieves' end of a queue. Each thief has a clone of it.
pub trait Thief: Clone + Send {
    fn steal(&mut self) -> Result<NonNull<Task>, Miss>;
}

/// The owner's end of one of Tidegate's queues. It cannot be cloned, so a queue has only one owner.
pub struct Ours<Q>(Arc<Q>);

pub struct OursThief<Q> {
    queue: Arc<Q>,
    cursor: Cursor,
}

impl<Q> Clone for OursThief<Q> {
    fn clone(&self) -> Self {
        Self {
            queue: self.queue.clone(),
            cursor: self.cursor,
        }
    }
}

impl<Q: Queue<Task> + Default> Owner for Ours<Q> {
    type Thief = OursThief<Q>;

    fn make() -> (Self, Self::Thief) {
        let queue = Arc::new(Q::default());
        let thief = OursThief {
            queue: queue.clone(),
            cursor: Cursor::default(),
        };
        (Self(queue), thief)
    }

    fn put(&mut self, task: NonNull<Task>) -> bool {
        self.0.put(task).is_ok()
    }

    fn take(&mut self) -> Option<NonNull<Task>> {
        self.0.take()
    }
}

impl<Q: Queue<Task>> Thief for OursThief<Q> {
    fn steal(&mut self) -> Result<NonNull<Task>, Miss> {
        self.queue.steal(&mut self.cursor)
    }
}

/// crossbeam's deque of tasks' addresses, which can be sent to other threads, unlike pointers. Its
/// owner takes the youngest task.
pub struct Crossbeam(Worker<usize>);

fn task(address: usize) -> Option<NonNull<Task>> {
    NonNull::new(std::ptr::with_exposed_provenance_mut(address))
}

impl Owner for Crossbeam {
    type Thief = CrossbeamThief;

    fn make() -> (Self, Self::Thief) {
        let worker = Worker::new_lifo();
        let thief = CrossbeamThief(worker.stealer());
        (Self(worker), thief)
    }

    fn put(&mut self, task: NonNull<Task>) -> bool {
        self.0.push(task.as_ptr().expose_provenance());
        true
    }

    fn take(&mut self) -> Option<NonNull<Task>> {
        self.0.pop().and_then(task)
    }
}

#[derive(Clone)]
pub struct CrossbeamThief(Stealer<usize>);

impl Thief for CrossbeamThief {
    fn steal(&mut self) -> Result<NonNull<Task>, Miss> {
        match self.0.steal() {
            Steal::Success(address) => task(address).ok_or(Miss::Empty),
            Steal::Retry => Err(Miss::Lost),
            Steal::Empty => Err(Miss::Empty),
        }
    }
}

pub trait Visitor {
    fn visit<O: Owner>(&mut self, name: &'static str);
}

pub fn each(visitor: &mut impl Visitor) {
    use tidegate_policy::QueueKind as Named;
    for queue in Named::ALL {
        let name = queue.name();
        match queue {
            Named::Split => visitor.visit::<Ours<Split<Task>>>(name),
            Named::Lazy => visitor.visit::<Ours<Lazy<Task>>>(name),
            Named::ChaseLev => visitor.visit::<Ours<ChaseLev<Task>>>(name),
            Named::Dynamic => visitor.visit::<Ours<Dynamic<Task>>>(name),
            Named::Blocks => visitor.visit::<Ours<Blocks<Task>>>(name),
            Named::Shared => visitor.visit::<Ours<Shared<Task>>>(name),
            Named::IdempotentDeque => visitor.visit::<Ours<IdempotentDeque<Task>>>(name),
            Named::IdempotentFifo => visitor.visit::<Ours<IdempotentFifo<Task>>>(name),
            Named::IdempotentLifo => visitor.visit::<Ours<IdempotentLifo<Task>>>(name),
            Named::Duplicating => visitor.visit::<Ours<Duplicating<Task>>>(name),
            Named::Multiplicity => visitor.visit::<Ours<Multiplicity<Task>>>(name),
        }
    }
    visitor.visit::<Crossbeam>("crossbeam");
}
