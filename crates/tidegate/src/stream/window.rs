//! The items of a stream that were read and not yet returned, and the tasks that run them.

use crate::pool::PoolInner;
use crate::sleep;
use crate::spawn;
use crate::unwind::{self, Payload};
use crate::worker::{Event, WorkerThread};
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use tidegate_policy::tunables::{STREAM_TURN, WAIT_SEARCH};
use tidegate_sync::clock;
use tidegate_sync::lock::Mutex;
use tidegate_sync::thread::{self, Process};

/// The function's result for an item, or its panic.
pub(super) type Outcome<T> = Result<T, Payload>;

pub(super) struct Window<X, T> {
    f: Box<dyn Fn(X) -> T + Send + Sync>,
    /// The process whose threads run the runners.
    process: Process,
    items: Mutex<Items<X, T>>,
}

struct Items<X, T> {
    /// The outcomes of the items that a thread has begun, oldest first. `None` while an item runs.
    begun: VecDeque<Option<Outcome<T>>>,
    /// Later items, which no thread has begun.
    unbegun: VecDeque<X>,
    /// The number of the oldest item in `begun` or `unbegun`: how many the consumer has taken.
    taken: usize,
    /// The number of runners, queued or running.
    runners: usize,
    /// The consumer, if it waits for the oldest item.
    waiter: Option<Arc<Event>>,
    /// Whether the consumer has dropped the iterator.
    is_closed: bool,
}

/// The state of the oldest item.
pub(super) enum Front<T> {
    Unbegun,
    Running,
    Finished(Outcome<T>),
}

/// The result of [`Window::push`].
pub(super) struct Pushed {
    pub(super) needs_runner: bool,
    pub(super) front_is_finished: bool,
}

impl<X, T> Items<X, T> {
    /// Begins the next item. Returns it with its number.
    fn begin(&mut self) -> Option<(usize, X)> {
        let item = self.unbegun.pop_front()?;
        self.begun.push_back(None);
        Some((self.taken + self.begun.len() - 1, item))
    }

    /// Stores the outcome of an item. Returns the consumer if it waits for this item.
    fn finish(&mut self, number: usize, outcome: Outcome<T>) -> Option<Arc<Event>> {
        let place = number - self.taken;
        self.begun[place] = Some(outcome);
        if place == 0 { self.waiter.take() } else { None }
    }

    fn take_front(&mut self) -> Front<T> {
        let Some(front) = self.begun.front_mut() else {
            return Front::Unbegun;
        };
        let Some(outcome) = front.take() else {
            return Front::Running;
        };
        self.begun.pop_front();
        self.taken += 1;
        Front::Finished(outcome)
    }
}

impl<X, T> Window<X, T> {
    pub(super) fn new(f: impl Fn(X) -> T + Send + Sync + 'static) -> Self {
        Self {
            f: Box::new(f),
            process: Process::this(),
            items: Mutex::new(Items {
                begun: VecDeque::new(),
                unbegun: VecDeque::new(),
                taken: 0,
                runners: 0,
                waiter: None,
                is_closed: false,
            }),
        }
    }

    /// Whether the runners belong to an ancestor of this process.
    pub(super) fn is_inherited(&self) -> bool {
        self.process != Process::this()
    }

    /// Adds an item. If the stream has fewer than `workers` runners, counts one more, which the
    /// caller must start.
    pub(super) fn push(&self, item: X, workers: usize) -> Pushed {
        let mut items = self.items.lock();
        items.unbegun.push_back(item);
        // In a child made by `fork`, only the consumer runs items: it could not tell an item of a
        // runner of its own from one that runs in the parent.
        let needs_runner = items.runners < workers && !self.is_inherited();
        items.runners += usize::from(needs_runner);
        Pushed {
            needs_runner,
            front_is_finished: matches!(items.begun.front(), Some(Some(_))),
        }
    }

    pub(super) fn take_front(&self) -> Front<T> {
        self.items.lock().take_front()
    }

    /// Takes the outcome of the oldest item. If the item has not finished, registers the event,
    /// which its end opens, and returns `None`.
    pub(super) fn take_front_or_register(&self, event: &Arc<Event>) -> Option<Outcome<T>> {
        let mut items = self.items.lock();
        if let Front::Finished(outcome) = items.take_front() {
            return Some(outcome);
        }
        assert!(
            !self.is_inherited(),
            "the next item of this stream runs in the process that this one was forked from"
        );
        items.waiter = Some(event.clone());
        None
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
        let mut begun = None;
        // Starting a runner, and perhaps waking a worker, takes longer than a short item.
        be_patient(|| {
            begun = self.items.lock().begin();
            begun.is_some() || runner.must_stop() || sleep::slot_is_wanted(runner)
        });
        if begun.is_some() {
            return begun;
        }
        let mut items = self.items.lock();
        let begun = items.begin();
        items.runners -= usize::from(begun.is_none());
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
        drop(unbegun);
        begun
            .into_iter()
            .flatten()
            .filter_map(Result::err)
            .collect()
    }
}

/// Yields the processor until `is_over`, but only for a short time.
pub(super) fn be_patient(mut is_over: impl FnMut() -> bool) {
    let mut since = None;
    while !is_over() {
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
    spawn::queue_alone(pool, move |current| run(window, current));
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
        if current.must_stop() || clock::now() >= end {
            return start_runner(&current.shared().as_arc(), window);
        }
    }
}
