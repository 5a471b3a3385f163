//! `compare spawn`: detached tasks that do next to nothing, and tasks that are joined.
//!
//! *Inside*, a task spawns them all; *outside*, a thread that belongs to no pool does. Nobody keeps
//! a handle. *Joined*, a task spawns a batch, then joins its handles. Rayon has no handles. The
//! reported time is that of one task, from the first spawn until the last task has run.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, Thread};
use std::time::Instant;

use tidegate_workloads::{Rayon, Runtime, Tidegate};

use crate::engine::Session;
use tidegate_cli_support::compare::lane::{Lane, Measurement};
use tidegate_cli_support::compare::race::{self, Race};
use tidegate_cli_support::compare::row::Outcome;
use tidegate_cli_support::compare::{Rival, Setting};
use tidegate_cli_support::failure::Failure;

/// The default number of samples per row.
const SAMPLES: u32 = 25;

const TASKS: u32 = 20_000;
/// How many tasks a sample spawns with `--size tiny`.
const TINY_TASKS: u32 = 200;

/// How many handles are joined at a time.
const BATCH: u32 = 100;

const TOKIO: &str = "tokio";

#[derive(Clone, Copy)]
enum Way {
    Inside,
    Outside,
    Joined,
}

impl Way {
    const ALL: [Self; 3] = [Self::Inside, Self::Outside, Self::Joined];

    fn name(self) -> &'static str {
        match self {
            Self::Inside => "spawn inside",
            Self::Outside => "spawn outside",
            Self::Joined => "spawn and join",
        }
    }
}

pub fn compare(setting: &Setting, session: &Session) -> Result<Outcome, Failure> {
    let tasks = setting.sized(TINY_TASKS, TASKS);
    let rivals = setting.rivals(&[Rival::Rayon])?;
    let workers = setting.workers()?;
    let mut lanes = Vec::new();
    for way in Way::ALL {
        let spawns = Spawns { way, tasks };
        lanes.extend(race::lanes(&spawns, &rivals, &workers)?);
        let tokio = workers.iter().map(|workers| spawns.on_tokio(*workers));
        lanes.extend(tokio.collect::<Result<Vec<_>, _>>()?);
    }
    let rows = super::rows(session, lanes, setting.repeat(SAMPLES))?;
    Ok(Outcome::new(rows, "one task", Vec::new()))
}

struct Spawns {
    way: Way,
    tasks: u32,
}

impl Spawns {
    /// Creates a lane that calls `all`, which spawns the tasks and returns after they have run.
    fn lane<'a>(&self, runtime: &'static str, workers: usize, all: impl Fn(u32) + 'a) -> Lane<'a> {
        let tasks = self.tasks;
        let take = move || {
            Ok(Measurement::of(|| {
                let start = Instant::now();
                all(tasks);
                start.elapsed().as_nanos() as f64 / f64::from(tasks)
            }))
        };
        Lane::new(self.way.name(), runtime, workers, take)
    }

    fn on_rayon<'a>(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(workers);
        let pool = pool.build().map_err(|error| refused("rayon", error))?;
        Ok(match self.way {
            Way::Inside => self.lane(Rayon::NAME, workers, move |tasks| {
                count_down(tasks, || {
                    pool.install(|| (0..tasks).for_each(|_| rayon::spawn(task)));
                });
            }),
            Way::Outside => self.lane(Rayon::NAME, workers, move |tasks| {
                count_down(tasks, || (0..tasks).for_each(|_| pool.spawn(task)));
            }),
            Way::Joined => Lane::not_applicable(self.way.name(), Rayon::NAME, workers),
        })
    }

    fn on_tokio<'a>(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(workers)
            .build()
            .map_err(|error| refused(TOKIO, error))?;
        Ok(match self.way {
            Way::Inside => self.lane(TOKIO, workers, move |tasks| {
                count_down(tasks, || {
                    drop(runtime.spawn(async move {
                        (0..tasks).for_each(|_| drop(tokio::spawn(async { task() })));
                    }));
                });
            }),
            Way::Outside => self.lane(TOKIO, workers, move |tasks| {
                count_down(tasks, || {
                    (0..tasks).for_each(|_| drop(runtime.spawn(async { task() })));
                });
            }),
            Way::Joined => self.lane(TOKIO, workers, move |tasks| {
                let all = runtime.spawn(async move {
                    for _ in 0..tasks / BATCH {
                        let handles: Vec<_> =
                            (0..BATCH).map(|n| tokio::spawn(async move { n })).collect();
                        for handle in handles {
                            handle.await.expect("it does not panic");
                        }
                    }
                });
                runtime.block_on(all).expect("it does not panic");
            }),
        })
    }
}

impl<'a> Race<'a> for Spawns {
    fn name(&self) -> String {
        self.way.name().into()
    }

    fn on<R: Runtime + 'a>(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        if R::NAME == Rayon::NAME {
            self.on_rayon(workers)
        } else {
            Ok(Lane::not_applicable(self.way.name(), R::NAME, workers))
        }
    }

    fn on_tidegate(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        let pool = tidegate::Pool::builder().workers(workers).build();
        let pool = pool.map_err(|error| refused(Tidegate::NAME, error))?;
        Ok(match self.way {
            Way::Inside => self.lane(Tidegate::NAME, workers, move |tasks| {
                count_down(tasks, || {
                    pool.install(|| (0..tasks).for_each(|_| drop(tidegate::spawn(task))));
                });
            }),
            Way::Outside => self.lane(Tidegate::NAME, workers, move |tasks| {
                count_down(tasks, || (0..tasks).for_each(|_| drop(pool.spawn(task))));
            }),
            Way::Joined => self.lane(Tidegate::NAME, workers, move |tasks| {
                pool.install(|| {
                    for _ in 0..tasks / BATCH {
                        let handles: Vec<_> =
                            (0..BATCH).map(|n| tidegate::spawn(move || n)).collect();
                        handles.into_iter().for_each(|handle| _ = handle.join());
                    }
                });
            }),
        })
    }
}

/// How many tasks of the current sample have not run, and the thread that waits for them. Samples
/// are taken one after another.
static LEFT: AtomicU32 = AtomicU32::new(0);
static WAITER: Mutex<Option<Thread>> = Mutex::new(None);

fn task() {
    // AcqRel: a tasks's effects come before the end of the sample.
    if LEFT.fetch_sub(1, Ordering::AcqRel) == 1 {
        let waiter = WAITER.lock().expect("not poisoned").take();
        waiter.iter().for_each(Thread::unpark);
    }
}

/// Calls `spawn`, which spawns so many [`task`]s, and returns after they have run.
fn count_down(tasks: u32, spawn: impl FnOnce()) {
    *WAITER.lock().expect("not poisoned") = Some(thread::current());
    // Relaxed: the spawns come after it.
    LEFT.store(tasks, Ordering::Relaxed);
    spawn();
    // Acquire pairs with the tasks' AcqRel.
    while LEFT.load(Ordering::Acquire) > 0 {
        thread::park();
    }
}

fn refused(runtime: &str, error: impl fmt::Display) -> Failure {
    Failure::Impossible(format!("cannot start {runtime}: {error}"))
}
