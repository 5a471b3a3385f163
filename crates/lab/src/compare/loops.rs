//! `compare loop`: a short loop over trivial items, run many times, inside and outside the pool.
//!
//! The inside case is the program `loops`. In the outside case, a thread outside the pool starts
//! every loop separately. On Tidegate, this thread calls the free function, so the loop runs on the
//! global pool with that pool's number of workers. On the other runtimes, the thread hands the loop
//! to the pool. The reported time is the time of one loop.

use std::hint::black_box;
use std::time::Instant;

use tidegate_workloads::loops::Loops;
use tidegate_workloads::{Chili, Runtime, Tidegate, TrialOf};

use crate::engine::Session;
use tidegate_cli_support::compare::lane::{Lane, Measurement};
use tidegate_cli_support::compare::program::PreparedTrial;
use tidegate_cli_support::compare::race::{self, Race, SERIAL};
use tidegate_cli_support::compare::row::Outcome;
use tidegate_cli_support::compare::{Rival, Setting};
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::options;
use tidegate_cli_support::output::show_count;
use tidegate_cli_support::usage::Usage;

/// The default number of samples per row.
const SAMPLES: u32 = 25;

const ITEMS: usize = 1000;

const TIMES: u32 = 10_000;
/// How many loops a sample runs with `--size tiny`.
const TINY_TIMES: u32 = 100;

const INSIDE: &str = "loop inside";
const OUTSIDE: &str = "loop outside";

pub fn compare(setting: &Setting, session: &Session) -> Result<Outcome, Failure> {
    let times = setting.sized(TINY_TIMES, TIMES);
    let loops = Loops {
        items: ITEMS,
        times,
    };
    let inside = PreparedTrial::new(Box::new(TrialOf::new(loops)), INSIDE.into())?.per(times);
    let (global_workers, _) = options::number_of_workers(None)?;
    let outside = Outside {
        times,
        global_workers,
    };
    let rivals = setting.rivals(&[Rival::Serial, Rival::Rayon, Rival::Chili])?;
    let workers = setting.workers()?;
    let mut lanes = inside.lanes(&rivals, &workers)?;
    lanes.extend(race::lanes(&outside, &rivals, &workers)?);
    let rows = super::rows(session, lanes, setting.repeat(SAMPLES))?;
    let note = format!(
        "outside, tidegate runs on its global pool, here of {} (TIDEGATE_WORKERS sets it)",
        show_count(global_workers, "worker")
    );
    let measure = format!("one loop over {ITEMS} items");
    Ok(Outcome::new(rows, measure, vec![note]))
}

/// The case in which a thread outside the pool starts the loops.
struct Outside {
    times: u32,
    global_workers: usize,
}

impl Outside {
    /// Creates a lane that calls `each` once for each loop of a sample.
    fn lane<'a>(
        &self,
        runtime: &'static str,
        workers: usize,
        each: impl Fn(&mut [u32]) + 'a,
    ) -> Lane<'a> {
        let times = self.times;
        let take = move || {
            let mut items = vec![0_u32; ITEMS];
            let (used, took) = Usage::of(|| {
                let start = Instant::now();
                for _ in 0..times {
                    each(black_box(&mut items));
                }
                start.elapsed()
            });
            if items.iter().any(|item| *item != times) {
                return Err(Failure::Wrong(format!(
                    "{OUTSIDE} on {runtime}: an item was not visited {times} times"
                )));
            }
            let nanos = took.as_nanos() as f64 / f64::from(times);
            Ok(Measurement { nanos, used })
        };
        Lane::new(OUTSIDE, runtime, workers, take)
    }
}

fn touch(item: &mut u32) {
    *item += 1;
}

impl<'a> Race<'a> for Outside {
    fn name(&self) -> String {
        OUTSIDE.into()
    }

    fn on<R: Runtime + 'a>(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        let runtime = race::start::<R>(workers)?;
        let each = move |items: &mut [u32]| runtime.install(|fork| R::for_each(fork, items, touch));
        Ok(self.lane(R::NAME, workers, each))
    }

    fn on_tidegate(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        if workers != self.global_workers {
            return Ok(Lane::not_applicable(OUTSIDE, Tidegate::NAME, workers));
        }
        let each = |items: &mut [u32]| tidegate::for_each(items, touch);
        Ok(self.lane(Tidegate::NAME, workers, each))
    }

    fn on_chili(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        let pool = race::start_chili(workers);
        let each = move |items: &mut [u32]| Chili::for_each(&mut pool.scope(), items, touch);
        Ok(self.lane(Chili::NAME, workers, each))
    }

    fn serial(&self) -> Result<Lane<'a>, Failure> {
        Ok(self.lane(SERIAL, 1, |items| items.iter_mut().for_each(touch)))
    }
}
