//! `compare hidden`: how long a task is hidden by an owner that computes without polling.
//!
//! In `join(|| join(|| serial, c), b)`, a second worker takes `b`, which is short, and is then
//! free. The only work left is `c`, whose owner computes for a long time without polling. The
//! reported time is the time from the end of `b` to the start of `c`, or from the fork of `c` to
//! its start if `c` starts before `b` ends.
//!
//! The owner forks `c` only after `b` has begun, or after [`PATIENCE`], so that the time does not
//! include waking the second worker.
//!
//! chili has no lane: it runs the second half of a join first, so `c` begins before its owner can
//! hide it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tidegate_workloads::{Chili, Runtime};

use crate::engine::Session;
use tidegate_cli_support::compare::lane::{Lane, Measurement};
use tidegate_cli_support::compare::race::{self, Race};
use tidegate_cli_support::compare::row::Outcome;
use tidegate_cli_support::compare::time::{compute, nanos_between};
use tidegate_cli_support::compare::{Rival, Setting};
use tidegate_cli_support::failure::Failure;

/// The default number of samples per row.
const SAMPLES: u32 = 20;

const SERIAL: Duration = Duration::from_millis(200);
/// How long the owner computes with `--size tiny`.
const TINY_SERIAL: Duration = Duration::from_millis(5);

/// How long the owner waits for `b` to begin before it forks `c` anyway.
const PATIENCE: Duration = Duration::from_millis(50);

/// How long `b` computes, which is long enough for the owner to fork `c` before `b` ends.
const SHORT: Duration = Duration::from_millis(1);

pub fn compare(setting: &Setting, session: &Session) -> Result<Outcome, Failure> {
    let hidden = Hidden(setting.sized(TINY_SERIAL, SERIAL));
    let workers = setting.at_least_two_workers("hidden")?;
    let rivals = setting.rivals(&[Rival::Rayon, Rival::Chili])?;
    let lanes = race::lanes(&hidden, &rivals, &workers)?;
    let rows = super::rows(session, lanes, setting.repeat(SAMPLES))?;
    let measure = "from a worker becoming free to the start of the hidden work";
    Ok(Outcome::new(rows, measure, Vec::new()))
}

/// The case `hidden`. The field is how long the owner computes.
struct Hidden(Duration);

impl<'a> Race<'a> for Hidden {
    fn name(&self) -> String {
        "hidden".into()
    }

    fn on<R: Runtime + 'a>(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        if R::NAME == Chili::NAME {
            return Ok(Lane::not_applicable(&self.name(), R::NAME, workers));
        }
        let runtime = race::start::<R>(workers)?;
        let length = self.0;
        let take = move || {
            let delay = || runtime.install(|fork| delay::<R>(fork, length));
            Ok(Measurement::of(delay))
        };
        Ok(Lane::new(&self.name(), R::NAME, workers, take))
    }
}

/// Returns the nanoseconds for which `c` was hidden by an owner that computes for `length`.
fn delay<R: Runtime>(fork: &mut R::Fork<'_>, length: Duration) -> f64 {
    let b_has_begun = AtomicBool::new(false);
    let ((forked, begin_of_c), end_of_b) = R::join(
        fork,
        |fork| {
            let begin = Instant::now();
            // Relaxed: the flag publishes no other data.
            while !b_has_begun.load(Ordering::Relaxed) && begin.elapsed() < PATIENCE {
                std::hint::spin_loop();
            }
            let forked = Instant::now();
            let ((), begin_of_c) = R::join(fork, |_| compute(length), |_| Instant::now());
            (forked, begin_of_c)
        },
        |_| {
            b_has_begun.store(true, Ordering::Relaxed);
            compute(SHORT);
            Instant::now()
        },
    );
    let free = if end_of_b < begin_of_c {
        end_of_b
    } else {
        forked
    };
    nanos_between(free.max(forked), begin_of_c)
}
