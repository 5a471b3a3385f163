//! Runs a test on simulated pools until it fails.

use super::failure::{Failure, Kind};
use super::{Schedule, hook, shrink};
use crate::{BuildError, Builder, Pool};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use tidegate_core::door::simulated::{Simulated, outline, simulate, simulation};
use tidegate_policy::schedule::Deviation;
use tidegate_sync::simulation::{Event, Observer, Report};

/// Runs `test` on simulated pools with the seeds from 0 to `runs` - 1, and panics if a run fails.
///
/// Each run has a pool of 4 workers of its own; [`search`] takes other options. `test` runs inside
/// the pool, so the free functions of this crate use it. A run fails if `test` or a task panics, if
/// every thread waits for another one, or if the run does not end; see [`testing`](crate::testing)
/// for what is not covered. Then this looks for a shorter failing run for a while, and panics with
/// the text of a [`Failure`].
///
/// A run costs about 0.1 ms plus a few microseconds per step, on top of what `test` does itself.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// tidegate::testing::check(100, |_| {
///     let count = AtomicU32::new(0);
///     let add_one = || drop(count.fetch_add(1, Ordering::Relaxed));
///     tidegate::join(add_one, add_one);
///     assert_eq!(count.into_inner(), 2);
/// });
/// ```
///
/// # Panics
/// If a run fails.
#[track_caller]
pub fn check(runs: u64, test: impl Fn(&Pool) + Send + Sync + 'static) {
    if let Some(failure) = search(runs, Pool::builder, test) {
        panic!("{failure}");
    }
}

/// Like [`check`], with the pools of `builder`, and returns the failure.
///
/// If the variable `TIDEGATE_SCHEDULE` is set to the text of a [`Schedule`], `search` and `check`
/// run only that schedule. A failure prints the value to set.
///
/// ```
/// use tidegate::sync::Mutex;
/// use tidegate::{Pool, testing};
///
/// let failure = testing::search(1_000, || Pool::builder().workers(2), |_| {
///     let (a, b) = (Mutex::new(()), Mutex::new(()));
///     let lock_both = |first: &Mutex<()>, second: &Mutex<()>| {
///         let _first = first.lock().unwrap();
///         let _second = second.lock().unwrap();
///     };
///     tidegate::join(|| lock_both(&a, &b), || lock_both(&b, &a));
/// });
/// assert!(failure.unwrap().message().starts_with("deadlock"));
/// ```
///
/// # Panics
/// If `builder` returns options that are invalid.
#[track_caller]
pub fn search(
    runs: u64,
    builder: impl Fn() -> Builder + Send + Sync + 'static,
    test: impl Fn(&Pool) + Send + Sync + 'static,
) -> Option<Failure> {
    let subject = Subject {
        builder: Arc::new(builder),
        test: Arc::new(test),
    };
    if let Some(schedule) = requested() {
        let run = subject.run(&schedule);
        return run.failure.is_some().then(|| run.into_failure(schedule));
    }
    // Not an iterator: a panic inside its closure would not name the caller's line.
    for seed in 0..runs {
        let run = subject.run(&Schedule::Seed(seed));
        if run.failure.is_some() {
            let repeat = |deviations| subject.run(&Schedule::Deviations(deviations));
            let run = shrink::shrink(run, repeat);
            return Some(run.into_failure(Schedule::Seed(seed)));
        }
    }
    None
}

pub(super) use tidegate_policy::tunables::SCHEDULE_VARIABLE as SCHEDULE;

#[track_caller]
fn requested() -> Option<Schedule> {
    let text = std::env::var(SCHEDULE).ok()?;
    match text.parse() {
        Ok(schedule) => Some(schedule),
        Err(error) => panic!("{SCHEDULE}: {error}"),
    }
}

/// What a run was: its schedule, how it failed, and its steps.
pub(super) struct Run {
    pub(super) deviations: Vec<Deviation>,
    pub(super) failure: Option<(Kind, String)>,
    workers: usize,
    names: Vec<String>,
    events: Vec<Event>,
}

impl Run {
    /// Returns a failed run as a failure that was found with `schedule`.
    fn into_failure(self, found: Schedule) -> Failure {
        let (kind, message) = self.failure.expect("a failed run");
        Failure {
            found,
            schedule: Schedule::Deviations(self.deviations),
            workers: self.workers,
            kind,
            message,
            names: self.names,
            events: self.events,
        }
    }
}

struct Subject {
    builder: Arc<dyn Fn() -> Builder + Send + Sync>,
    test: Arc<dyn Fn(&Pool) + Send + Sync>,
}

/// What the threads of a run report to the search.
enum News {
    /// The run has begun, with this number of workers.
    Began(Observer, usize),
    Refused(BuildError),
    Stopped(Report),
    /// The run has ended, with the message of a panic that reached its first thread.
    Ended(Option<String>),
}

impl Subject {
    /// Runs the test once, on a thread of its own. If the run cannot go on, its threads remain,
    /// parked for good.
    #[track_caller]
    fn run(&self, schedule: &Schedule) -> Run {
        let (news, arrives) = channel();
        let stopped = Mutex::new(news.clone());
        let simulated = Simulated::new(schedule, move |report| {
            let news = stopped.lock().expect("locked once");
            // Fails only if the search has been abandoned.
            let _ = news.send(News::Stopped(report.clone()));
        });
        let turns = simulated.turns.clone();
        let (builder, test) = (self.builder.clone(), self.test.clone());
        let first = thread::Builder::new().name("test".to_owned());
        let first = first.spawn(move || {
            let run = || run_here(builder(), simulated, &*test, &news);
            let result = catch_unwind(AssertUnwindSafe(run));
            let panic = result.unwrap_or_else(|payload| Some(message_of(&*payload)));
            let _ = news.send(News::Ended(panic));
        });
        let first = first.expect("the system starts a thread");
        let mut began = None;
        let failure = loop {
            match arrives.recv().expect("the first thread reports its end") {
                News::Began(own, workers) => began = Some((own, workers)),
                News::Refused(error) => panic!("the builder of a simulated test: {error}"),
                News::Stopped(report) => {
                    break Some((Kind::Stopped(report.reason), outline(&report)));
                }
                News::Ended(panic) => {
                    let _ = first.join();
                    break panic.map(|message| (Kind::Panic, message));
                }
            }
        };
        let Some((observer, workers)) = began else {
            let panic = failure.map_or_else(String::new, |(_, message)| message);
            panic!("the builder of a simulated test panicked: {panic}");
        };
        let first_panic = hook::unwatch(&observer);
        let deviations = turns.lock().expect("never poisoned").deviations().to_vec();
        Run {
            deviations,
            failure: failure.map(|(kind, message)| (kind, with_cause(message, first_panic))),
            workers,
            names: observer.names(),
            events: observer.events(),
        }
    }
}

/// Adds the first panic of a run to the message of its failure. Other panics and deadlocks often
/// follow from the first panic.
fn with_cause(message: String, first_panic: Option<String>) -> String {
    match first_panic {
        Some(first) if first.ends_with(&message) => first,
        Some(first) => format!("{message}\n  first panic: {first}"),
        None => message,
    }
}

/// Runs the test in a simulated pool. Returns the message of a panic of the test, or else of a task
/// without a handle.
fn run_here(
    builder: Builder,
    simulated: Simulated,
    test: &(dyn Fn(&Pool) + Send + Sync),
    news: &Sender<News>,
) -> Option<String> {
    let stray = Arc::new(Mutex::new(None));
    let seen = stray.clone();
    let builder = simulate(builder, simulated, move |report| {
        let message = message_of(&*report.payload);
        seen.lock().expect("never poisoned").get_or_insert(message);
    });
    let run = || -> Result<(), BuildError> {
        let pool = builder.build()?;
        let observer = simulation(&pool).expect("it is simulated").observer();
        hook::watch(&observer);
        let _ = news.send(News::Began(observer, pool.workers()));
        pool.install(|| test(&pool));
        Ok(())
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => stray.lock().expect("never poisoned").take(),
        Ok(Err(error)) => {
            let _ = news.send(News::Refused(error));
            None
        }
        Err(payload) => Some(message_of(&*payload)),
    }
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").to_owned()
}
