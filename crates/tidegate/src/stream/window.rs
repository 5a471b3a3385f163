//! The items of a stream that were read and not yet returned, and the tasks that run them.

use crate::pool::PoolInner;
use crate::simulated;
use crate::sleep;
use crate::spawn;
use crate::unwind::{self, Payload};
use crate::worker::{Event, WorkerThread};
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use tidegate_policy::Priority;
use tidegate_policy::tunables::{STREAM_TURN, WAIT_SEARCH};
use tidegate_sync::clock;
use tidegate_sync::lock::Mutex;
use tidegate_sync::serial;
use tidegate_sync::thread::{self, Process};

/// The function's result for an item, or its panic.
pub(super) type Outcome<T> = Result<T, Payload>;

pub(super) struct Window<X, T> {
    f: Box<dyn Fn(X) -> T + Send + Sync>,
    /// The class of the runners. `None` stands for the class of their pool.
    class: Option<Priority>,
    /// The process whose threads run the runners.
    process: Process,
    items: Mutex<Items<X, T>>,
}

struct Items<X, T> {
    /// The items that a thread has begun, oldest first.
    begun: VecDeque<Begun<T>>,
    /// Later items, which no thread has begun.
    unbegun: VecDeque<X>,
    /// The number of the oldest item in `begun` or `unbegun`: how many the consumer has taken.
    taken: usize,
    /// The number of runners in each pool, queued or running. No number is 0.
    runners: Vec<(PoolId, usize)>,
    /// The consumer, if it waits for the oldest item.
    waiter: Option<Arc<Event>>,
    /// Whether the consumer has dropped the iterator.
    is_closed: bool,
}

/// The address of a pool. A runner holds its pool, so no other pool gets the address meanwhile.
#[derive(Clone, Copy, PartialEq)]
struct PoolId(usize);

impl PoolId {
    fn of(pool: &PoolInner) -> Self {
        Self(std::ptr::from_ref(pool).addr())
    }
}

enum Begun<T> {
    /// The thread with this serial number runs the item.
    Running(u64),
    Finished(Outcome<T>),
}

/// The state of the oldest item.
pub(super) enum Front<T> {
    Unbegun,
    /// The thread with this serial number runs the item.
    Running(u64),
    Finished(Outcome<T>),
}

/// The result of [`Window::push`].
pub(super) struct Pushed {
    pub(super) needs_runner: bool,
    pub(super) front_is_finished: bool,
    /// How many items no thread has begun, if the oldest is one of them; otherwise 0.
    pub(super) idle: usize,
}

/// The result of [`Window::take_front_or_register`].
pub(super) enum Registered<T> {
    Finished(Outcome<T>),
    Waiting { needs_runner: bool },
}

impl<X, T> Items<X, T> {
    /// Begins the next item on the thread with this serial number. Returns the item's number, too.
    fn begin(&mut self, by: u64) -> Option<(usize, X)> {
        let item = self.unbegun.pop_front()?;
        self.begun.push_back(Begun::Running(by));
        Some((self.taken + self.begun.len() - 1, item))
    }

    /// Stores the outcome of an item. Returns the consumer if it waits for this item.
    fn finish(&mut self, number: usize, outcome: Outcome<T>) -> Option<Arc<Event>> {
        let place = number - self.taken;
        self.begun[place] = Begun::Finished(outcome);
        if place == 0 { self.waiter.take() } else { None }
    }

    fn take_front(&mut self) -> Front<T> {
        match self.begun.pop_front() {
            None => Front::Unbegun,
            Some(Begun::Finished(outcome)) => {
                self.taken += 1;
                Front::Finished(outcome)
            }
            Some(Begun::Running(by)) => {
                self.begun.push_front(Begun::Running(by));
                Front::Running(by)
            }
        }
    }

    /// Counts one more runner in this pool if it has fewer than `limit`.
    fn count_runner(&mut self, pool: &PoolInner, limit: usize) -> bool {
        let id = PoolId::of(pool);
        let Some((_, count)) = self.runners.iter_mut().find(|(pool, _)| *pool == id) else {
            self.runners.push((id, 1));
            return true;
        };
        let has_room = *count < limit;
        *count += usize::from(has_room);
        has_room
    }

    fn uncount_runner(&mut self, pool: &PoolInner) {
        let id = PoolId::of(pool);
        let counted = self.runners.iter().position(|(pool, _)| *pool == id);
        let place = counted.expect("the runner was counted");
        self.runners[place].1 -= 1;
        if self.runners[place].1 == 0 {
            self.runners.swap_remove(place);
        }
    }
}

impl<X, T> Window<X, T> {
    pub(super) fn new(class: Option<Priority>, f: impl Fn(X) -> T + Send + Sync + 'static) -> Self {
        Self {
            f: Box::new(f),
            class,
            process: Process::this(),
            items: Mutex::new(Items {
                begun: VecDeque::new(),
                unbegun: VecDeque::new(),
                taken: 0,
                runners: Vec::new(),
                waiter: None,
                is_closed: false,
            }),
        }
    }

    /// Whether the runners belong to an ancestor of this process.
    pub(super) fn is_inherited(&self) -> bool {
        self.process != Process::this()
    }

    /// Adds an item. If the stream has fewer runners in this pool than the pool has workers, counts
    /// one more, which the caller must start.
    pub(super) fn push(&self, item: X, pool: Option<&PoolInner>) -> Pushed {
        let mut items = self.items.lock();
        items.unbegun.push_back(item);
        let pool = pool.filter(|_| !self.is_inherited());
        let needs_runner = pool.is_some_and(|pool| items.count_runner(pool, pool.wanted()));
        Pushed {
            needs_runner,
            front_is_finished: matches!(items.begun.front(), Some(Begun::Finished(_))),
            idle: match items.begun.is_empty() {
                true => items.unbegun.len(),
                false => 0,
            },
        }
    }

    pub(super) fn take_front(&self) -> Front<T> {
        self.items.lock().take_front()
    }

    /// Takes the outcome of the oldest item. If the item has not finished, registers the event,
    /// which its end opens. If no thread has begun it and the stream has no runner in the pool,
    /// counts one, which the caller must start.
    pub(super) fn take_front_or_register(
        &self,
        event: &Arc<Event>,
        pool: Option<&PoolInner>,
    ) -> Registered<T> {
        let mut items = self.items.lock();
        let front = items.take_front();
        if let Front::Finished(outcome) = front {
            return Registered::Finished(outcome);
        }
        let runs_below = matches!(front, Front::Running(by) if by == serial::of_this_thread());
        if self.is_inherited() || runs_below {
            // The panic hook is user code, which must not run under the lock.
            drop(items);
            assert!(
                !self.is_inherited(),
                "the next item of this stream runs in the process that this one was forked from"
            );
            panic!("the next item of this stream runs in a frame below the one that waits for it");
        }
        if let Front::Running(_) = front {
            items.waiter = Some(event.clone());
            return Registered::Waiting {
                needs_runner: false,
            };
        }
        items.waiter = Some(event.clone());
        Registered::Waiting {
            needs_runner: pool.is_some_and(|pool| items.count_runner(pool, 1)),
        }
    }

    /// Whether no thread has begun the oldest item.
    pub(super) fn front_is_unbegun(&self) -> bool {
        self.items.lock().begun.is_empty()
    }

    /// Runs the oldest item and takes its outcome. Returns `None` if a thread has begun the item.
    pub(super) fn run_front(&self) -> Option<Outcome<T>> {
        let item = {
            let mut items = self.items.lock();
            let is_unbegun = items.begun.is_empty();
            let item = is_unbegun.then(|| items.unbegun.pop_front()).flatten()?;
            items.taken += 1;
            // The consumer may have registered before.
            items.waiter = None;
            item
        };
        Some(unwind::catch(|| (self.f)(item)))
    }

    /// Begins an item for a runner. If none appears for a while, the runner must end, and is no
    /// longer counted.
    fn begin(&self, runner: WorkerThread<'_>) -> Option<(usize, X)> {
        let by = serial::of_this_thread();
        let mut begun = None;
        // Starting a runner, and perhaps waking a worker, takes longer than a short item.
        be_patient(|| {
            let mut items = self.items.lock();
            begun = items.begin(by);
            let is_over = begun.is_some() || items.is_closed;
            drop(items);
            is_over || runner.must_stop() || sleep::slot_is_wanted(runner)
        });
        if begun.is_some() {
            return begun;
        }
        let mut items = self.items.lock();
        let begun = items.begin(by);
        if begun.is_none() {
            items.uncount_runner(runner.shared());
        }
        begun
    }

    /// Stores an outcome, and wakes the consumer if it waits for this item. Returns the outcome if
    /// the stream is closed.
    fn finish(&self, number: usize, outcome: Outcome<T>) -> Result<(), Outcome<T>> {
        let waiter = {
            let mut items = self.items.lock();
            if items.is_closed {
                return Err(outcome);
            }
            items.finish(number, outcome)
        };
        // A waiter that is a worker may get the slot of this one.
        waiter.iter().for_each(Event::open_kept);
        Ok(())
    }

    /// Drops the items that no thread has begun, and all results. Returns the panics among these.
    pub(super) fn close(&self) -> Vec<Payload> {
        let (begun, unbegun) = {
            let Some(mut items) = self.items.lock_unless_lost() else {
                return Vec::new();
            };
            items.is_closed = true;
            (mem::take(&mut items.begun), mem::take(&mut items.unbegun))
        };
        // The destructors are user code, and the panic of one must not keep the others from
        // running.
        let dropped = unbegun.into_iter().map(|item| unwind::catch(|| drop(item)));
        let mut payloads: Vec<Payload> = dropped.filter_map(Result::err).collect();
        for begun in begun {
            let Begun::Finished(outcome) = begun else {
                continue;
            };
            let ended = outcome.and_then(|value| unwind::catch(|| drop(value)));
            payloads.extend(ended.err());
        }
        payloads
    }
}

/// Yields the processor until `is_over`, but only for a short time. In a simulation, does not
/// yield.
pub(super) fn be_patient(mut is_over: impl FnMut() -> bool) {
    let mut since = None;
    while !is_over() {
        if simulated::is_simulated() {
            return;
        }
        let now = clock::now();
        if now.saturating_sub(*since.get_or_insert(now)) >= WAIT_SEARCH.default {
            return;
        }
        thread::yield_now();
    }
}

/// Queues a task that runs items for a turn, or until there are none.
pub(super) fn start_runner<X, T>(pool: &Arc<PoolInner>, window: Arc<Window<X, T>>)
where
    X: Send + 'static,
    T: Send + 'static,
{
    spawn::queue_alone(pool, window.class, move |current| run(window, current));
}

fn run<X, T>(window: Arc<Window<X, T>>, current: WorkerThread<'_>)
where
    X: Send + 'static,
    T: Send + 'static,
{
    let end = clock::now() + STREAM_TURN.default;
    while let Some((number, item)) = window.begin(current) {
        let outcome = unwind::catch(|| (window.f)(item));
        // If `f` has called `fork`, the other items belong to the parent.
        current.shared().check_process();
        if let Err(outcome) = window.finish(number, outcome) {
            // A panic is reported as that of a detached task.
            return drop(outcome.unwrap_or_else(|payload| unwind::resume(payload)));
        }
        simulated::switch("finishes an item");
        if current.must_stop() || clock::now() >= end {
            return start_runner(&current.shared().as_arc(), window);
        }
    }
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::*;
    use crate::Pool;

    fn pool() -> Pool {
        Pool::builder().workers(1).build().expect("valid options")
    }

    /// A consumer that has moved to another pool must not depend on the runners of the first.
    #[test]
    fn each_pool_has_its_runners() {
        let (first, second) = (pool(), pool());
        let window = Window::new(None, |n: u32| n);
        assert!(window.push(0, Some(first.used())).needs_runner);
        assert!(!window.push(1, Some(first.used())).needs_runner);
        let event = Arc::new(Event::for_this_thread());
        let needs_runner = |pool: &Pool| {
            let registered = window.take_front_or_register(&event, Some(pool.used()));
            matches!(registered, Registered::Waiting { needs_runner: true })
        };
        assert!(!needs_runner(&first));
        assert!(needs_runner(&second));
        assert!(!needs_runner(&second));
        window.items.lock().uncount_runner(first.used());
        assert!(needs_runner(&first));
    }
}
