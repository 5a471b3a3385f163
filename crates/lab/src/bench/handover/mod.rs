//! `bench handover`: how fast processors move from one job to another.
//!
//! A pool runs small tasks continuously. A *guest* has a seat in the pool's table but runs no
//! tasks. It alternately requests all processors and none. After each change, the bench observes
//! when each worker begins and ends its tasks. All of this runs in a child process with a private
//! table.

mod watched;

use std::cell::Cell;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use serde_json::{Map, json};
use tidegate::machine::Machine;
use tidegate::{Pool, policy::SharePolicy};
use tidegate_policy::tunables;
use tidegate_share::{CpuMask, Location, Name, Refusal, Report, Seat, VARIABLE};
use tidegate_sync::futex::SharedWord;
use tidegate_workloads::{Runtime, Tidegate};

use super::crew::{Job, Spec};
use crate::bench::HandoverArguments;
use crate::engine::{Interval, Sample, Session};
use tidegate_cli_support::arguments::Size;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::{Table, Value, print_json, to_stdout};
use watched::{TASK, Watched};

/// Set in the environment of the child process, which does the measuring.
const INSIDE: &str = "BENCH_HANDOVER";

/// How long the bench waits before and after each change for the pool to reach a steady state.
const SETTLE: Duration = Duration::from_millis(60);

/// Measures in a child process with a private table.
pub fn bench(arguments: &HandoverArguments) -> Result<(), Failure> {
    if env::var_os(INSIDE).is_some() {
        return measure(arguments);
    }
    let impossible =
        |error: std::io::Error| Failure::Impossible(format!("bench handover: {error}"));
    let folder = tempfile::tempdir().map_err(impossible)?;
    let status = Command::new(env::current_exe().map_err(impossible)?)
        .args(env::args_os().skip(1))
        .env(INSIDE, "1")
        .env(VARIABLE, folder.path().join("table.v1"))
        .env_remove(tunables::SHARE.variable.unwrap_or_default())
        .status()
        .map_err(impossible)?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::Impossible(format!(
            "bench handover: the measuring process ended with {status}"
        )))
    }
}

fn refused(refusal: Refusal) -> Failure {
    Failure::Impossible(refusal.to_string())
}

fn measure(arguments: &HandoverArguments) -> Result<(), Failure> {
    let processors = Machine::read().usable().len();
    if processors < 2 {
        let why =
            "bench handover: one processor cannot pass from job to job; give this process two";
        return Err(Failure::Impossible(why.into()));
    }
    let bench = Bench::new(processors)?;
    let session = Session::whole("bench-handover", Size::Small, &arguments.keep);
    let rounds = session.share_turns(&["round"], arguments.repeat.into(), |_, _| bench.round())?;
    print(&rounds[0], arguments.format.json, &session.notes())
}

/// The figures of one round in nanoseconds, in the order of [`FIGURES`]. Some may be missing on a busy
/// machine.
type Round = [Option<f64>; FIGURES.len()];

/// The name of each figure, its unit in nanoseconds, and what the help says about it.
#[rustfmt::skip]
pub const FIGURES: &[(&str, f64, &str)] = &[
    ("handover_us", 1e3, "from a leaving job's last publication until the first task runs on the processor that the job gives up"),
    ("futex_us", 1e3, "a bare wake-up of a thread through a futex that processes share, for comparison"),
    ("release_us", 1e3, "from the newcomer's first request until the old job's last task on the handed-over processor ends, minus the length of one task"),
    ("recover_ms", 1e6, "from kill -9 of a job until the first task runs on its processor"),
    ("all_procs_ms", 1e6, "loopy with 64 subtasks, from its start until every worker has had work"),
];

fn print(rounds: &[Round], as_json: bool, notes: &[String]) -> Result<(), Failure> {
    let sample = |place: usize| Sample::new(rounds.iter().filter_map(|round| round[place]));
    if as_json {
        let mut all = Map::new();
        for (place, (name, unit, _)) in FIGURES.iter().enumerate() {
            let nanos = sample(place);
            let Interval { value, low, high } = nanos.interval().times(1.0 / unit);
            let figures = [
                ("", value),
                ("_low", low),
                ("_high", high),
                ("_p99", nanos.p99() / unit),
            ];
            all.extend(figures.map(|(end, figure)| (format!("{name}{end}"), json!(figure))));
        }
        return print_json(&all.into());
    }
    #[rustfmt::skip]
    let mut table = Table::new([
        "figure", "median", "p99", "samples", "median, low", "median, high",
    ]);
    for (place, (name, ..)) in FIGURES.iter().enumerate() {
        let nanos = sample(place);
        let plain = name.rsplit_once('_').map_or(*name, |(plain, _)| plain);
        let Interval { value, low, high } = nanos.interval();
        let time = |nanos: f64| Value::known(Some(nanos / 1e9), Value::Seconds);
        table.row([
            plain.replace('_', " ").into(),
            time(value),
            time(nanos.p99()),
            nanos.count().into(),
            time(low),
            time(high),
        ]);
    }
    to_stdout(|out| {
        writeln!(out, "{table}")?;
        notes.iter().try_for_each(|note| writeln!(out, "{note}"))
    })
}

struct Bench {
    processors: usize,
    location: Location,
    word: Arc<SharedWord>,
    /// The current value of `word`, which is the number of wake-ups so far.
    wakes: Cell<u32>,
}

impl Bench {
    fn new(processors: usize) -> Result<Self, Failure> {
        let location = Location::find().map_err(refused)?;
        let file = tempfile::tempfile().and_then(|file| {
            file.set_len(4096)?;
            SharedWord::of(&file, 4096, 0)
        });
        let word = file.map_err(|error| Failure::Impossible(format!("bench handover: {error}")))?;
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

    fn round(&self) -> Result<Round, Failure> {
        let all_procs = self.all_procs()?;
        let watched = Watched::start(self.pool(SharePolicy::Auto)?);
        let mut guest = Seat::take(&self.location, &Name::new("guest")).map_err(refused)?;
        let mut say = |desire| guest.publish(&self.report(desire)).map_err(refused);
        say(0)?;
        thread::sleep(SETTLE);
        let asked = watched.mark();
        say(self.processors)?;
        self.keep(&mut say)?;
        let stop = watched.first_stop(asked);
        let futex = self.bare_wake();
        let left = watched.mark();
        say(0)?;
        thread::sleep(SETTLE);
        let handover = watched.second_start(left);
        drop(guest);
        let release = stop.map(|end| end.saturating_sub(TASK));
        let recover = self.recover(&watched)?;
        let figures = [handover, futex, release, recover, all_procs];
        Ok(figures.map(|took| Some(took?.as_nanos() as f64)))
    }

    /// Requests all processors for the guest again and again, until the pool has settled. Each
    /// request also advances the guest's heartbeat.
    fn keep(&self, say: &mut impl FnMut(usize) -> Result<(), Failure>) -> Result<(), Failure> {
        let until = Instant::now() + SETTLE;
        while Instant::now() < until {
            thread::sleep(Duration::from_nanos(tunables::EST_CYCLE.default));
            say(self.processors)?;
        }
        Ok(())
    }

    fn pool(&self, share: SharePolicy) -> Result<Pool, Failure> {
        let pool = Pool::builder()
            .workers(self.processors)
            .share(share)
            .build();
        pool.map_err(|error| Failure::Impossible(error.to_string()))
    }

    /// Returns the time from a futex wake-up, without a pool, until the woken thread runs.
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

    /// Returns the time from the death of a job until the pool uses that job's processor.
    fn recover(&self, watched: &Watched) -> Result<Option<Duration>, Failure> {
        let table: &Path = self.location.path();
        let parameters = vec![("n".into(), "60".into())];
        let spec = Spec {
            share: SharePolicy::Auto,
            ..Spec::new("fib", parameters, Tidegate::NAME, self.processors)
        };
        let mut job = Job::start(&spec, table)?;
        job.go();
        thread::sleep(SETTLE * 2);
        let killed = watched.mark();
        job.kill();
        thread::sleep(SETTLE * 4);
        Ok(watched.second_start(killed))
    }

    /// Returns the time from the start of 64 equal tasks until every worker of a new pool has begun
    /// one of them.
    fn all_procs(&self) -> Result<Option<Duration>, Failure> {
        const SUBTASKS: usize = 64;
        let pool = self.pool(SharePolicy::On)?;
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
