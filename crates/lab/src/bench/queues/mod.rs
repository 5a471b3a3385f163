//! `bench queues`: what each queue costs its owner and its thieves.
//!
//! The queues are measured bare, without a runtime and without the claims that those need which give a task more than once; and in
//! pools, whose workers run the programs of intervals from them ([`programs`]).

pub mod programs;
mod rivals;

use std::collections::BTreeMap;
use std::hint::{black_box, spin_loop};
use std::panic::resume_unwind;
use std::ptr::NonNull;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Instant;

use serde_json::{Map, Value, json};
use tidegate::machine::Machine;
use tidegate_deque::Miss;
use tidegate_sync::barrier;
use tidegate_workloads::Size;

use crate::arguments::QueuesArguments;
use rivals::{Owner, Task, Thief, Visitor};
use tidegate_command::arguments::TableFormat;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Progress, Table, Value as Cell, print_json, to_stdout};
use tidegate_command::statistics::Summary;

/// Tasks of a filled queue. As many as every one of them has room for.
const FILL: usize = 4_000;
/// Fillings of a queue for one sample.
const FILLINGS: usize = 25;
/// Trees that an owner unfolds while it is robbed.
const TREES: usize = 256;
/// A task for each depth of such a tree, told apart by their addresses.
static TASKS: [Task; 11] = [0; 11];

/// Measures them all.
pub fn bench(arguments: &QueuesArguments) -> Result<(), Failure> {
    // As in a process that has a pool: thieves of a split deque need it.
    barrier::prepare();
    while barrier::available().is_none() {
        thread::yield_now();
    }
    let processors = Machine::read().usable().len();
    let mut names = Names(Vec::new());
    rivals::each(&mut names);
    let rounds = arguments.repeat as usize;
    let samples = names.0.len() + super::programs::all().count();
    let progress = Progress::start((rounds * samples) as u64);
    let mut measured = Measure {
        thieves: processors.max(2),
        rows: BTreeMap::new(),
        progress: &progress,
    };
    // Each in its turn, so that what disturbs the machine disturbs all.
    for _ in 0..rounds {
        rivals::each(&mut measured);
    }
    let rows = measured.rows;
    let programs = programs::measure(Size::Tiny, arguments.repeat, &progress)?;
    drop(progress);
    print(&names.0, &rows, &programs, arguments.format)
}

struct Names(Vec<&'static str>);

impl Visitor for Names {
    fn visit<O: Owner>(&mut self, name: &'static str) {
        self.0.push(name);
    }
}

/// The figures of a queue in the order in which they are shown.
const FIGURES: &[&str] = &[
    "put_take_ns",
    "steal_ns",
    "steal_contended_ns",
    "take_attempts",
    "take_failures",
    "steal_attempts",
    "steal_failures",
];

type Row = BTreeMap<&'static str, Summary>;

fn print(
    names: &[&'static str],
    rows: &BTreeMap<&'static str, Row>,
    programs: &[programs::Row],
    format: TableFormat,
) -> Result<(), Failure> {
    let figure = |name, figure: &str| rows.get(name)?.get(figure).map(Summary::median);
    if format.json {
        let row = |name: &&'static str| {
            let figures = FIGURES
                .iter()
                .map(|of| ((*of).into(), json!(figure(*name, of))));
            let named = std::iter::once(("queue".into(), json!(name)));
            let mut row = named.chain(figures).collect::<Map<_, _>>();
            programs::complete(&mut row);
            Value::Object(row)
        };
        let programs = programs.iter().map(|row| row.to_json(FIGURES));
        return print_json(&names.iter().map(row).chain(programs).collect());
    }
    let mut bare = Table::new([
        "queue",
        "put + take",
        "steal",
        "contended",
        "takes",
        "takes in vain",
        "steals",
        "steals in vain",
    ]);
    for name in names {
        let cells = FIGURES.iter().map(|of| match figure(*name, of) {
            Some(nanos) if of.ends_with("_ns") => Cell::Seconds(nanos / 1e9),
            number => Cell::known(number, Cell::Number),
        });
        bare.row(std::iter::once((*name).into()).chain(cells));
    }
    let programs = programs::table(programs);
    if format.csv {
        return bare.and(programs).print(format);
    }
    let [bare, programs] = [bare, programs].map(|table| table.text(format.wide));
    to_stdout(|out| writeln!(out, "{bare}\n\n{programs}"))
}

struct Measure<'a> {
    thieves: usize,
    rows: BTreeMap<&'static str, Row>,
    progress: &'a Progress,
}

impl Visitor for Measure<'_> {
    fn visit<O: Owner>(&mut self, name: &'static str) {
        self.progress.say(name);
        let row = self.rows.entry(name).or_default();
        let mut add = |figure, value: Option<f64>| {
            let Some(value) = value else { return };
            let summary = row.entry(figure).and_modify(|summary| summary.add(value));
            summary.or_insert_with(|| Summary::new(value));
        };
        add("put_take_ns", Some(put_and_take::<O>()));
        add("steal_ns", steals::<O>(1));
        add("steal_contended_ns", steals::<O>(self.thieves));
        let (takes, stolen) = unfold::<O>(self.thieves - 1);
        add("take_attempts", Some(takes.attempts as f64));
        add("take_failures", Some(takes.failures as f64));
        add("steal_attempts", Some(stolen.attempts as f64));
        add("steal_failures", Some(stolen.failures as f64));
        self.progress.step();
    }
}

/// Nanoseconds of a put and a take by an owner alone, never deep, as in a fork-join program.
fn put_and_take<O: Owner>() -> f64 {
    const PAIRS: usize = 200_000;
    const DEEP: usize = 8;
    let (mut owner, _thief) = O::make();
    let task = NonNull::from(&TASKS[0]);
    let start = Instant::now();
    for _ in 0..PAIRS / DEEP {
        for _ in 0..DEEP {
            black_box(owner.put(task));
        }
        for _ in 0..DEEP {
            black_box(owner.take());
        }
    }
    start.elapsed().as_nanos() as f64 / PAIRS as f64
}

/// Nanoseconds of a thief for each task that it gets out of a full queue, whose owner does nothing meanwhile, beside so many in all. Nothing if
/// they get none.
fn steals<O: Owner>(thieves: usize) -> Option<f64> {
    let (mut stolen, mut nanos) = (0, 0);
    for _ in 0..FILLINGS {
        let (mut owner, thief) = O::make();
        let task = NonNull::from(&TASKS[0]);
        let filled = (0..FILL).take_while(|_| owner.put(task)).count();
        let begin = Barrier::new(thieves);
        let all = thread::scope(|scope| {
            let rob = |_| {
                let (mut thief, begin) = (thief.clone(), &begin);
                scope.spawn(move || {
                    begin.wait();
                    empty(&mut thief, filled)
                })
            };
            let robbers: Vec<_> = (0..thieves).map(rob).collect();
            robbers.into_iter().map(join).collect::<Vec<_>>()
        });
        stolen += all.iter().map(|(tasks, _)| tasks).sum::<usize>();
        nanos += all.iter().map(|(_, nanos)| nanos).sum::<u128>();
    }
    (stolen > 0).then(|| nanos as f64 / stolen as f64)
}

/// Steals until nothing is left, or `most` times: a queue that gives copies gives them for ever. How many tasks, and the time.
fn empty(thief: &mut impl Thief, most: usize) -> (usize, u128) {
    let (start, mut got) = (Instant::now(), 0);
    while got < most {
        match thief.steal() {
            Ok(task) => {
                black_box(task);
                got += 1;
            }
            Err(Miss::Lost) => spin_loop(),
            Err(Miss::Empty) => break,
        }
    }
    (got, start.elapsed().as_nanos())
}

fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// How often was tried, and how often in vain.
#[derive(Default)]
struct Counts {
    attempts: u64,
    failures: u64,
}

impl Counts {
    fn add(&mut self, succeeded: bool) {
        self.attempts += 1;
        self.failures += u64::from(!succeeded);
    }
}

/// What the owner and `thieves` try while the owner unfolds trees: each task that it takes puts two, and computes a little. What a thief gets is
/// gone.
fn unfold<O: Owner>(thieves: usize) -> (Counts, Counts) {
    let (mut owner, thief) = O::make();
    let stop = AtomicBool::new(false);
    let begin = Barrier::new(thieves + 1);
    let mut takes = Counts::default();
    let mut all = Counts::default();
    thread::scope(|scope| {
        let rob = |_| {
            let (mut thief, stop, begin) = (thief.clone(), &stop, &begin);
            scope.spawn(move || {
                let mut steals = Counts::default();
                begin.wait();
                while !stop.load(Ordering::Relaxed) {
                    steals.add(thief.steal().is_ok());
                }
                steals
            })
        };
        let robbers: Vec<_> = (0..thieves).map(rob).collect();
        begin.wait();
        for _ in 0..TREES {
            owner.put(NonNull::from(&TASKS[0]));
            loop {
                let task = owner.take();
                takes.add(task.is_some());
                let Some(task) = task else { break };
                (0..20).for_each(|number| _ = black_box(number));
                let depth = (task.addr().get() - TASKS.as_ptr().addr()) / size_of::<Task>();
                let children = TASKS.get(depth + 1).into_iter();
                children
                    .cycle()
                    .take(2)
                    .for_each(|child| _ = owner.put(NonNull::from(child)));
            }
        }
        stop.store(true, Ordering::Relaxed);
        for steals in robbers.into_iter().map(join) {
            all.attempts += steals.attempts;
            all.failures += steals.failures;
        }
    });
    (takes, all)
}
