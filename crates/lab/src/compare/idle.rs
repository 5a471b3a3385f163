//! `compare idle`: what idle workers cost.
//!
//! - `idle pool`: the CPU time of the whole process while its pool, which has worked before, is
//!   idle.
//! - `serial phases inside`: a task computes serially between short parallel bursts. The reported
//!   time is the CPU time that all other threads use per serial phase.
//! - `serial phases outside`: like `serial phases inside`, but for a thread outside the pool.
//!
//! Each sample starts its own pool, and only one pool exists at a time. An idle pool settles for
//! [`REST`] before it is measured. A serial phase begins right after a burst, so its CPU time
//! includes the thieves' search for work until they give up.

use std::hint::black_box;
use std::thread;
use std::time::Duration;

use tidegate_workloads::{Chili, Runtime, Tidegate, fib};

use crate::engine::Session;
use tidegate_cli_support::compare::lane::{Lane, Measurement};
use tidegate_cli_support::compare::race::{self, Race, SERIAL};
use tidegate_cli_support::compare::row::{Outcome, Row};
use tidegate_cli_support::compare::time::compute;
use tidegate_cli_support::compare::{Rival, Setting};
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::usage::{self, Usage};

/// The default number of samples per row of serial phases. An idle pool is measured once.
const SAMPLES: u32 = 5;

/// How long an idle pool settles before it is measured.
pub const REST: Duration = Duration::from_millis(200);
pub const IDLE: Duration = Duration::from_secs(10);
/// How long an idle pool is measured with `--size tiny`.
pub const TINY_IDLE: Duration = Duration::from_millis(50);

const PHASE: Duration = Duration::from_millis(100);
/// The length of a serial phase with `--size tiny`.
const TINY_PHASE: Duration = Duration::from_millis(5);
const PHASES: u32 = 10;

/// A burst computes this Fibonacci number, which takes about ten microseconds.
const BURST: u32 = 18;

pub fn compare(setting: &Setting, session: &Session) -> Result<Outcome, Failure> {
    let rivals = setting.rivals(&[Rival::Serial, Rival::Rayon, Rival::Chili])?;
    let workers = match &setting.workers[..] {
        [] => vec![2],
        workers => workers.to_vec(),
    };
    let idle = IdlePool(setting.sized(TINY_IDLE, IDLE));
    let lanes = race::lanes(&idle, &rivals, &workers)?;
    let mut rows = super::rows(session, lanes, setting.repeat.unwrap_or(1))?;
    let phase = setting.sized(TINY_PHASE, PHASE);
    let mut lanes = Vec::new();
    for inside in [true, false] {
        lanes.extend(race::lanes(&Phases { phase, inside }, &rivals, &workers)?);
    }
    rows.extend(super::rows(session, lanes, setting.repeat(SAMPLES))?);
    let share = |row: &Row| {
        let of = if row.case == idle.name() {
            idle.0
        } else {
            phase
        };
        let percent = 100.0 * row.median()? / of.as_nanos() as f64;
        Some(format!(
            "{} on {} {}: {percent:.3} % of one processor",
            row.case, row.runtime, row.workers
        ))
    };
    let notes = rows.iter().filter_map(share).collect();
    let [idle, phase] = [idle.0, phase].map(|time| time.as_secs_f64());
    let measure = format!("CPU time in {idle} s, or beyond the computing thread's in {phase} s");
    Ok(Outcome::new(rows, measure, notes))
}

/// The case of an idle pool. The field is how long the pool is measured.
struct IdlePool(Duration);

impl<'a> Race<'a> for IdlePool {
    fn name(&self) -> String {
        "idle pool".into()
    }

    fn on<R: Runtime + 'a>(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        let length = self.0;
        let take = move || {
            let runtime = race::start::<R>(workers)?;
            burst(&runtime);
            thread::sleep(REST);
            asleep(length)
        };
        Ok(Lane::new(&self.name(), R::NAME, workers, take))
    }

    fn serial(&self) -> Result<Lane<'a>, Failure> {
        let length = self.0;
        Ok(Lane::new(&self.name(), SERIAL, 1, move || asleep(length)))
    }
}

/// Returns the CPU time and wake-ups of the process while this thread sleeps.
fn asleep(length: Duration) -> Result<Measurement, Failure> {
    let (used, ()) = Usage::of(|| thread::sleep(length));
    let nanos = used.cpu.ok_or_else(unknown)?.as_nanos() as f64;
    Ok(Measurement { nanos, used })
}

/// The case of serial phases between bursts, inside or outside the pool.
struct Phases {
    phase: Duration,
    inside: bool,
}

impl<'a> Race<'a> for Phases {
    fn name(&self) -> String {
        let place = if self.inside { "inside" } else { "outside" };
        format!("serial phases {place}")
    }

    fn on<R: Runtime + 'a>(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        let Self { phase, inside } = *self;
        let take = move || {
            let runtime = race::start::<R>(workers)?;
            if inside {
                runtime.install(|fork| phases(phase, || fib::parallel::<R>(fork, BURST)))
            } else {
                phases(phase, || burst(&runtime))
            }
        };
        Ok(Lane::new(&self.name(), R::NAME, workers, take))
    }

    /// Tidegate's `join` lets a thread outside the pool run a part itself, so the thread need not
    /// first hand the join to a worker.
    fn on_tidegate(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        let Self { phase, inside } = *self;
        if inside {
            return self.on::<Tidegate>(workers);
        }
        let take = move || {
            let runtime = race::start::<Tidegate>(workers)?;
            let half = |n| fib::parallel::<Tidegate>(&mut (), n);
            phases(phase, || {
                let (a, b) = runtime.pool().join(|| half(BURST - 1), || half(BURST - 2));
                a + b
            })
        };
        Ok(Lane::new(&self.name(), Tidegate::NAME, workers, take))
    }

    fn on_chili(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        let Self { phase, inside } = *self;
        if inside {
            return self.on::<Chili>(workers);
        }
        let take = move || {
            let pool = race::start_chili(workers);
            phases(phase, || fib::parallel::<Chili>(&mut pool.scope(), BURST))
        };
        Ok(Lane::new(&self.name(), Chili::NAME, workers, take))
    }

    fn serial(&self) -> Result<Lane<'a>, Failure> {
        let phase = self.phase;
        let take = move || phases(phase, || fib::serial(black_box(BURST)));
        Ok(Lane::new(&self.name(), SERIAL, 1, take))
    }
}

/// Returns the CPU time per serial phase that threads other than this one use.
fn phases(phase: Duration, mut burst: impl FnMut() -> u64) -> Result<Measurement, Failure> {
    let mut extra = Usage::none();
    for _ in 0..PHASES {
        black_box(burst());
        let (mut used, own) = Usage::of(|| {
            let before = usage::thread_cpu()?;
            compute(phase);
            Some(usage::thread_cpu()? - before)
        });
        used.cpu = Some(
            used.cpu
                .ok_or_else(unknown)?
                .saturating_sub(own.ok_or_else(unknown)?),
        );
        extra = extra.and(used);
    }
    let nanos = extra.cpu.ok_or_else(unknown)?.as_nanos() as f64 / f64::from(PHASES);
    Ok(Measurement { nanos, used: extra })
}

fn burst<R: Runtime>(runtime: &R) -> u64 {
    runtime.install(|fork| fib::parallel::<R>(fork, BURST))
}

/// Returns the failure on a system that does not report CPU time.
pub fn unknown() -> Failure {
    Failure::Impossible(
        "this system does not report the CPU time of a process and its threads".into(),
    )
}
