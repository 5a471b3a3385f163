//! The items of a stream that were read and not yet returned, and the tasks that run them.

use super::runners::Runners;
use super::spawner::Spawner;
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use tidegate_core::Origin;
use tidegate_core::door::{
    Event, Payload, PoolInner, UnhandledPanic, WorkerThread, may_linger, unwind, wait,
};
use tidegate_policy::Priority;
use tidegate_policy::tunables::STREAM_TURN;
use tidegate_sync::clock;
use tidegate_sync::lock::Mutex;
use tidegate_sync::serial;
use tidegate_sync::simulation;

/// The function's result for an item, or its panic.
pub(super) type Outcome<T> = Result<T, Payload>;

pub(super) struct Window<'env, X, T> {
    f: Box<dyn Fn(X) -> T + Send + Sync + 'env>,
    /// The class of the runners. `None` stands for the class of their pool.
    class: Option<Priority>,
    /// Where the stream was created.
    origin: Origin,
    items: Mutex<Items<X, T>>,
}

struct Items<X, T> {
    /// The items that a thread has begun, oldest first.
    begun: VecDeque<Begun<T>>,
    /// Later items, which no thread has begun.
    unbegun: VecDeque<X>,
    /// The number of the oldest item in `begun` or `unbegun`: how many the consumer has taken.
    taken: usize,
    runners: Runners,
    /// The consumer, if it waits for the oldest item.
    waiter: Option<Arc<Event>>,
    /// Whether the consumer has dropped the iterator.
    is_closed: bool,
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

/// The result of [`Window::begin`].
struct Next<X> {
    number: usize,
    item: X,
    /// Whether the caller must queue another runner.
    needs_runner: bool,
}

/// The result of [`Window::push`].
pub(super) struct Pushed {
    /// Whether the caller must queue a runner.
    pub(super) needs_runner: bool,
    /// Whether the oldest item has finished, or waiting for it would never end.
    pub(super) front_is_over: bool,
    /// How many items no thread has begun, if the oldest is one of them; otherwise 0.
    pub(super) idle: usize,
}

/// The result of [`Window::take_front_or_register`].
pub(super) enum Registered<T> {
    Finished(Outcome<T>),
    Waiting { needs_runner: bool },
}

impl<X, T> Items<X, T> {
    /// Begins the next item on the calling thread, for a runner in this pool.
    fn begin(&mut self, pool: &PoolInner) -> Option<Next<X>> {
        let item = self.unbegun.pop_front()?;
        let by = serial::of_this_thread();
        self.begun.push_back(Begun::Running(by));
        Some(Next {
            number: self.taken + self.begun.len() - 1,
            item,
            needs_runner: self.needs_runner(pool),
        })
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

    /// Whether the caller must queue a runner in this pool, which counts as queued from then on.
    fn needs_runner(&mut self, pool: &PoolInner) -> bool {
        !self.unbegun.is_empty() && self.runners.needs_one(pool)
    }
}

impl<'env, X, T> Window<'env, X, T> {
    pub(super) fn new(
        class: Option<Priority>,
        origin: Origin,
        f: impl Fn(X) -> T + Send + Sync + 'env,
    ) -> Self {
        Self {
            f: Box::new(f),
            class,
            origin,
            items: Mutex::new(Items {
                begun: VecDeque::new(),
                unbegun: VecDeque::new(),
                taken: 0,
                runners: Runners::default(),
                waiter: None,
                is_closed: false,
            }),
        }
    }

    /// Adds an item, which a runner in this pool may run.
    pub(super) fn push(&self, item: X, pool: Option<&PoolInner>) -> Pushed {
        let mut items = self.items.lock();
        items.unbegun.push_back(item);
        let needs_runner = pool.is_some_and(|pool| items.needs_runner(pool));
        Pushed {
            needs_runner,
            front_is_over: match items.begun.front() {
                Some(Begun::Finished(_)) => true,
                Some(Begun::Running(by)) => *by == serial::of_this_thread(),
                None => false,
            },
            idle: if items.begun.is_empty() {
                items.unbegun.len()
            } else {
                0
            },
        }
    }

    pub(super) fn take_front(&self) -> Front<T> {
        self.items.lock().take_front()
    }

    /// Takes the outcome of the oldest item. If the item has not finished, registers the event,
    /// which its end opens.
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
        if matches!(front, Front::Running(by) if by == serial::of_this_thread()) {
            // The panic hook is user code, which must not run under the lock.
            drop(items);
            panic!("the next item of this stream runs in a frame below the one that waits for it");
        }
        items.waiter = Some(event.clone());
        // The iterator may have come from another pool, whose runners may be unable to begin.
        Registered::Waiting {
            needs_runner: pool.is_some_and(|pool| items.needs_runner(pool)),
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
    fn begin(&self, runner: WorkerThread<'_>) -> Option<Next<X>> {
        let pool = runner.pool();
        let mut begun = None;
        // Starting a runner, and perhaps waking a worker, takes longer than a short item.
        wait::be_patient(|| {
            let mut items = self.items.lock();
            begun = items.begin(pool);
            let is_over = begun.is_some() || items.is_closed;
            drop(items);
            is_over || !may_linger(runner)
        });
        if begun.is_some() {
            return begun;
        }
        let mut items = self.items.lock();
        let begun = items.begin(pool);
        if begun.is_none() {
            items.runners.end(pool);
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

    /// Reports a panic that no call of `next` resumes.
    pub(super) fn report(&self, payload: Payload, from: UnhandledPanic, pool: &PoolInner) {
        pool.panics.report_of(payload, from, Some(&self.origin));
    }

    /// Drops the items that no thread has begun, and all results. Returns the panics among these.
    pub(super) fn close(&self) -> Vec<Payload> {
        let (begun, unbegun) = {
            let mut items = self.items.lock();
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

impl<'env, X: Send + 'env, T: Send + 'env> Window<'env, X, T> {
    /// Queues a runner: a task that runs items for a turn, or until there are none.
    pub(super) fn start_runner<S: Spawner<'env>>(
        self: &Arc<Self>,
        spawner: &S,
        pool: &Arc<PoolInner>,
    ) {
        self.queue(spawner, pool, |window, spawner, current| {
            window.items.lock().runners.begin(current.pool());
            window.run(spawner, current);
        });
    }

    /// Queues a task, which does nothing if the stream has ended by then. So the function and what
    /// it has captured do not wait in a queue.
    fn queue<S: Spawner<'env>>(
        self: &Arc<Self>,
        spawner: &S,
        pool: &Arc<PoolInner>,
        task: fn(&Arc<Self>, &S, WorkerThread<'_>),
    ) {
        let stream = Arc::downgrade(self);
        let class = self.class.unwrap_or(pool.options.priority);
        spawner.queue(pool, class, move |spawner, current| {
            if let Some(window) = stream.upgrade() {
                task(&window, spawner, current);
            }
        });
    }

    fn run<S: Spawner<'env>>(self: &Arc<Self>, spawner: &S, current: WorkerThread<'_>) {
        let end = clock::now() + STREAM_TURN.default;
        while let Some(next) = self.begin(current) {
            if next.needs_runner {
                self.start_runner(spawner, &current.pool().as_arc());
            }
            let outcome = unwind::catch(|| (self.f)(next.item));
            // If `f` has called `fork`, the other items belong to the parent.
            current.pool().check_process();
            if let Err(outcome) = self.finish(next.number, outcome) {
                // Not resumed: this may be the last owner of `f`, whose destructor is user code.
                if let Err(payload) = outcome.and_then(|value| unwind::catch(|| drop(value))) {
                    self.report(payload, UnhandledPanic::Task, current.pool());
                }
                return;
            }
            simulation::switch("finishes an item");
            if current.must_stop() || clock::now() >= end {
                return self.queue(spawner, &current.pool().as_arc(), Self::run);
            }
        }
    }
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::*;
    use crate::Pool;
    use std::panic::Location;
    use tidegate_core::door::{self, origin};

    fn pool() -> Pool {
        Pool::builder().workers(1).build().expect("valid options")
    }

    /// A consumer that has moved to another pool must not depend on the runners of the first.
    #[test]
    fn each_pool_has_its_runners() {
        let (first, second) = (pool(), pool());
        let origin = origin::of(None, Location::caller());
        let window = Window::new(None, origin, |n: u32| n);
        assert!(window.push(0, Some(door::used(&first))).needs_runner);
        assert!(!window.push(1, Some(door::used(&first))).needs_runner);
        let event = Arc::new(Event::for_this_thread());
        let needs_runner = |pool: &Pool| {
            let registered = window.take_front_or_register(&event, Some(door::used(pool)));
            matches!(registered, Registered::Waiting { needs_runner: true })
        };
        assert!(!needs_runner(&first));
        assert!(needs_runner(&second));
        assert!(!needs_runner(&second));
        window.items.lock().runners.begin(door::used(&first));
        assert!(!needs_runner(&first));
        window.items.lock().runners.end(door::used(&first));
        assert!(needs_runner(&first));
    }
}
