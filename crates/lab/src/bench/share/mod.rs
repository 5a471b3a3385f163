//! `bench share`: how fast processors pass from one job to another.
//!
//! A pool computes small tasks without end while a *guest*, a bare seat in the same table, wants all processors or none; each time it
//! is seen when which worker began and ended its tasks. The whole runs in a process of its own, which finds a table of its own in
//! its environment.

mod watched;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::env;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, json};
use tidegate::machine::Machine;
use tidegate::{Pool, Share};
use tidegate_policy::tunables;
use tidegate_share::{CpuMask, Location, Name, Refusal, Report, Seat, VARIABLE};
use tidegate_sync::futex::SharedWord;
use tidegate_workloads::{Runtime, Tidegate};

use super::crew::{Job, Spec};
use crate::arguments::ShareArguments;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Progress, Table, Value, print_json, to_stdout};
use tidegate_command::statistics::Summary;
use watched::{TASK, Watched};

/// Set in the process that measures.
const INSIDE: &str = "TIDEGATE_BENCH_SHARE";

/// How long everything is left to settle before and after a change.
const SETTLE: Duration = Duration::from_millis(60);

/// Measures, in a process that has a table of its own.
pub fn bench(arguments: &ShareArguments) -> Result<(), Failure> {
    if env::var_os(INSIDE).is_some() {
        return measure(arguments);
    }
    let impossible = |error: std::io::Error| Failure::Impossible(format!("bench share: {error}"));
    let folder = tempfile::tempdir().map_err(impossible)?;
    let status = Command::new(env::current_exe().map_err(impossible)?)
        .args(env::args_os().skip(1))
        .env(INSIDE, "1")
        .env(VARIABLE, folder.path().join("table.v1"))
        .env_remove(tunables::SHARE.variable.unwrap_or_default())
        .status()
        .map_err(impossible)?;
    match status.success() {
        true => Ok(()),
        false => Err(Failure::Impossible(format!(
            "bench share: the measuring process ended with {status}"
        ))),
    }
}

fn refused(refusal: Refusal) -> Failure {
    Failure::Impossible(refusal.to_string())
}

fn measure(arguments: &ShareArguments) -> Result<(), Failure> {
    let processors = Machine::read().usable().len();
    if processors < 2 {
        let why = "bench share: one processor cannot pass from job to job; give this process two";
        return Err(Failure::Impossible(why.into()));
    }
    let bench = Bench::new(processors)?;
    let progress = Progress::start(u64::from(arguments.repeat));
    let mut figures = Figures::default();
    for round in 1..=arguments.repeat {
        progress.say(&format!("round {round} of {}", arguments.repeat));
        bench.round(&mut figures)?;
        progress.step();
    }
    drop(progress);
    figures.print(arguments.format.json)
}

/// What was measured, each in nanoseconds.
#[derive(Default)]
struct Figures(BTreeMap<&'static str, Summary>);

/// The figures in the order in which they are shown, with the unit of each in nanoseconds.
const FIGURES: &[(&str, f64)] = &[
    ("handover_us", 1e3),
    ("futex_us", 1e3),
    ("release_us", 1e3),
    ("recover_ms", 1e6),
    ("all_procs_ms", 1e6),
];

impl Figures {
    fn add(&mut self, name: &'static str, took: Option<Duration>) {
        let Some(nanos) = took.map(|took| took.as_nanos() as f64) else {
            return;
        };
        let figure = self.0.entry(name).and_modify(|figure| figure.add(nanos));
        figure.or_insert_with(|| Summary::new(nanos));
    }

    fn print(&self, as_json: bool) -> Result<(), Failure> {
        if as_json {
            let mut all = Map::new();
            for (name, unit) in FIGURES {
                let figure = self.0.get(name);
                all.insert(
                    (*name).into(),
                    json!(figure.map(|figure| figure.median() / unit)),
                );
                all.insert(
                    format!("{name}_p99"),
                    json!(figure.map(|figure| figure.p99() / unit)),
                );
            }
            return print_json(&all.into());
        }
        let mut table = Table::new(["figure", "median", "p99", "samples"]);
        for (name, _) in FIGURES {
            let Some(figure) = self.0.get(name) else {
                continue;
            };
            let plain = name
                .rsplit_once('_')
                .map_or(*name, |(plain, _)| plain)
                .replace('_', " ");
            table.row([
                plain.into(),
                Value::Seconds(figure.median() / 1e9),
                Value::Seconds(figure.p99() / 1e9),
                figure.count().into(),
            ]);
        }
        to_stdout(|out| writeln!(out, "{table}"))
    }
}

struct Bench {
    processors: usize,
    location: Location,
    word: Arc<SharedWord>,
    /// How often it was added to.
    wakes: Cell<u32>,
}

impl Bench {
    fn new(processors: usize) -> Result<Self, Failure> {
        let location = Location::find().map_err(refused)?;
        let file = tempfile::tempfile().and_then(|file| {
            file.set_len(4096)?;
            SharedWord::of(&file, 4096, 0)
        });
        let word = file.map_err(|error| Failure::Impossible(format!("bench share: {error}")))?;
        Ok(Self {
            processors,
            location,
            word: Arc::new(word),
            wakes: Cell::new(0),
        })
    }

    fn report(&self, desire: usize) -> Report {
        Report {
            desire,
            ..Report::new(CpuMask::from_cpus(0..self.processors))
        }
    }

    fn round(&self, figures: &mut Figures) -> Result<(), Failure> {
        figures.add("all_procs_ms", self.all_procs()?);
        let watched = Watched::start(self.pool(Share::Auto)?);
        let mut guest = Seat::take(&self.location, &Name::new("guest")).map_err(refused)?;
        let mut say = |desire| guest.publish(&self.report(desire)).map_err(refused);
        say(0)?;
        thread::sleep(SETTLE);
        let asked = watched.mark();
        say(self.processors)?;
        self.keep(&mut say)?;
        figures.add(
            "release_us",
            watched
                .first_stop(asked)
                .map(|end| end.saturating_sub(TASK)),
        );
        figures.add("futex_us", self.bare_wake());
        let left = watched.mark();
        say(0)?;
        thread::sleep(SETTLE);
        figures.add("handover_us", watched.second_start(left));
        drop(guest);
        figures.add("recover_ms", self.recover(&watched)?);
        Ok(())
    }

    /// The guest goes on wanting what it wants: it beats.
    fn keep(&self, say: &mut impl FnMut(usize) -> Result<(), Failure>) -> Result<(), Failure> {
        let until = Instant::now() + SETTLE;
        while Instant::now() < until {
            thread::sleep(Duration::from_nanos(tunables::EST_CYCLE.default));
            say(self.processors)?;
        }
        Ok(())
    }

    fn pool(&self, share: Share) -> Result<Pool, Failure> {
        let pool = Pool::builder()
            .workers(self.processors)
            .share(share)
            .build();
        pool.map_err(|error| Failure::Impossible(error.to_string()))
    }

    /// From waking a thread until it runs, by one that sleeps afterwards.
    fn bare_wake(&self) -> Option<Duration> {
        let (word, expected) = (self.word.clone(), self.wakes.get());
        let base = Instant::now();
        let woken = Arc::new(AtomicU64::new(0));
        let seen = woken.clone();
        let sleeper = thread::spawn(move || {
            let _ = word.wait(expected, SETTLE * 10);
            seen.store(base.elapsed().as_nanos() as u64, Ordering::Release);
        });
        thread::sleep(SETTLE / 4);
        let rung = base.elapsed();
        self.word.add_and_wake().ok()?;
        self.wakes.set(expected + 1);
        thread::sleep(SETTLE / 4);
        sleeper.join().ok()?;
        let at = Duration::from_nanos(woken.load(Ordering::Acquire));
        at.checked_sub(rung)
    }

    /// From the death of a job until the pool has its processor.
    fn recover(&self, watched: &Watched) -> Result<Option<Duration>, Failure> {
        let table: &Path = self.location.path();
        let spec = Spec {
            program: "fib".into(),
            parameters: vec![("n".into(), "60".into())],
            runtime: Tidegate::NAME.into(),
            workers: self.processors,
            share: Share::Auto,
            idle: None,
            steal: None,
            space: None,
            processors: None,
            estimates: None,
        };
        let mut job = Job::start(&spec, table)?;
        job.go();
        thread::sleep(SETTLE * 2);
        let killed = watched.mark();
        job.kill();
        thread::sleep(SETTLE * 4);
        Ok(watched.second_start(killed))
    }

    /// From the start of a loop of equal tasks until every worker of a fresh pool has had one.
    fn all_procs(&self) -> Result<Option<Duration>, Failure> {
        const SUBTASKS: usize = 64;
        let pool = self.pool(Share::On)?;
        let (start, firsts) = (Instant::now(), watched::Firsts::default());
        pool.scope(|scope| {
            for _ in 0..SUBTASKS {
                scope.spawn(|_| {
                    firsts.note(start.elapsed());
                    watched::compute(Duration::from_millis(1));
                });
            }
        });
        Ok(firsts.last(self.processors))
    }
}
