//! `compare wake`: the time from a fork until the forked task starts on a parked worker, while the
//! forking thread keeps computing.
//!
//! | case | the clock starts | and stops when |
//! |---|---|---|
//! | `wake inside` | before a join on a worker | both halves have begun |
//! | `wake outside, join` | before a join on a thread outside the pool | both halves have begun |
//! | `wake outside, install` | before a task is handed to the pool | the task begins |
//! | `wake of a bare futex` | before the wake-up call | the woken thread runs |
//!
//! Before each measurement, the forking thread computes for [`PAUSE`], so that all other threads
//! have parked. A half that has begun spins until the other half has begun, too. If a runtime runs
//! the halves one after the other, the first half gives up after [`PATIENCE`], so the sample is at
//! least that long.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tidegate_workloads::{Chili, Runtime, Threads, Tidegate};

mod futex;

use crate::engine::Session;
use tidegate_cli_support::compare::lane::{Lane, Measurement};
use tidegate_cli_support::compare::race::{self, Race};
use tidegate_cli_support::compare::row::{Outcome, Row};
use tidegate_cli_support::compare::time::{compute, nanos_between};
use tidegate_cli_support::compare::{Rival, Setting};
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::show_ratio;

/// The default number of samples per row.
const SAMPLES: u32 = 300;

/// How long the forking thread computes before each measurement.
const PAUSE: Duration = Duration::from_millis(5);

/// How long a half waits for the other half of its join to begin.
const PATIENCE: Duration = Duration::from_millis(20);

pub fn compare(setting: &Setting, session: &Session) -> Result<Outcome, Failure> {
    let workers = setting.at_least_two_workers("wake")?;
    let rivals = setting.rivals(&[Rival::Rayon, Rival::Chili])?;
    let mut lanes = vec![futex::lane()?];
    for place in [Place::Inside, Place::Join, Place::Install] {
        lanes.extend(race::lanes(&place, &rivals, &workers)?);
    }
    let rows = super::rows(session, lanes, setting.repeat(SAMPLES))?;
    let notes = beside_the_first(&rows);
    Ok(Outcome::new(rows, "from the fork to its start", notes))
}

/// Compares the median and p99 of each row with those of the bare futex, which is the first row.
fn beside_the_first(rows: &[Row]) -> Vec<String> {
    let Some((Row { nanos: bare, .. }, others)) = rows.split_first() else {
        return Vec::new();
    };
    if bare.is_empty() {
        return vec!["no bare futex here to compare with".into()];
    }
    let related = |row: &Row| {
        let median = show_ratio(row.median()? / bare.median());
        let p99 = show_ratio(row.nanos.p99() / bare.p99());
        Some(format!(
            "{} on {} {}: {median} the median and {p99} the p99 of the bare futex",
            row.case, row.runtime, row.workers
        ))
    };
    others.iter().filter_map(related).collect()
}

#[derive(Clone, Copy)]
enum Place {
    Inside,
    Join,
    Install,
}

impl<'a> Race<'a> for Place {
    fn name(&self) -> String {
        match self {
            Self::Inside => "wake inside",
            Self::Join => "wake outside, join",
            Self::Install => "wake outside, install",
        }
        .into()
    }

    fn on<R: Runtime + 'a>(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        let caller_takes_part = [Chili::NAME, Threads::NAME].contains(&R::NAME);
        if matches!(self, Self::Install) && caller_takes_part {
            return Ok(Lane::not_applicable(&self.name(), R::NAME, workers));
        }
        let runtime = race::start::<R>(workers)?;
        let place = *self;
        let take = move || {
            let sample = || match place {
                Self::Inside => runtime.install(|fork| {
                    compute(PAUSE);
                    from_fork::<R>(Instant::now(), fork)
                }),
                Self::Join => {
                    compute(PAUSE);
                    let forked = Instant::now();
                    runtime.install(|fork| from_fork::<R>(forked, fork))
                }
                Self::Install => {
                    compute(PAUSE);
                    let forked = Instant::now();
                    nanos_between(forked, runtime.install(|_| Instant::now()))
                }
            };
            Ok(Measurement::of(sample))
        };
        Ok(Lane::new(&self.name(), R::NAME, workers, take))
    }

    /// Tidegate's `join` lets a thread outside the pool run a half itself, so the thread need not
    /// first hand the join to a worker.
    fn on_tidegate(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        if !matches!(self, Self::Join) {
            return self.on::<Tidegate>(workers);
        }
        let runtime = race::start::<Tidegate>(workers)?;
        let take = move || {
            Ok(Measurement::of(|| {
                compute(PAUSE);
                let meeting = Meeting::default();
                let forked = Instant::now();
                let (a, b) = runtime.pool().join(|| meeting.begin(), || meeting.begin());
                nanos_between(forked, a.max(b))
            }))
        };
        Ok(Lane::new(&self.name(), Tidegate::NAME, workers, take))
    }

    fn on_chili(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        if !matches!(self, Self::Join) {
            return self.on::<Chili>(workers);
        }
        let pool = race::start_chili(workers);
        let take = move || {
            Ok(Measurement::of(|| {
                compute(PAUSE);
                from_fork::<Chili>(Instant::now(), &mut pool.scope())
            }))
        };
        Ok(Lane::new(&self.name(), Chili::NAME, workers, take))
    }
}

/// Returns the time from `forked` until both halves of a join have begun.
fn from_fork<R: Runtime>(forked: Instant, fork: &mut R::Fork<'_>) -> f64 {
    let meeting = Meeting::default();
    let (a, b) = R::join(fork, |_| meeting.begin(), |_| meeting.begin());
    nanos_between(forked, a.max(b))
}

/// Lets the two halves of a join wait for each other. Counts the halves that have begun.
#[derive(Default)]
struct Meeting(AtomicUsize);

impl Meeting {
    /// Waits for at most [`PATIENCE`] until the other half has begun. Returns when this half began.
    fn begin(&self) -> Instant {
        let begun = Instant::now();
        // Relaxed: the counter publishes no other data.
        self.0.fetch_add(1, Ordering::Relaxed);
        while self.0.load(Ordering::Relaxed) < 2 && begun.elapsed() < PATIENCE {
            std::hint::spin_loop();
        }
        begun
    }
}
