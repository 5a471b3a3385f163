//! `bench queues`: what each kind of queue costs its owner and its thieves.
//!
//! The queues are measured on their own, and in pools that run the programs made of intervals. Some
//! kinds of queue may return a task more than once. A pool then claims each task before it runs it;
//! the measurements without a pool do not include these claims.

mod rivals;

use std::hint::{black_box, spin_loop};
use std::panic::resume_unwind;
use std::ptr::NonNull;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tidegate::machine::Machine;
use tidegate::{Pool, policy::Choose};
use tidegate_deque::Miss;
use tidegate_policy::QueueKind;
use tidegate_sync::barrier;
use tidegate_workloads::Tidegate;

use super::programs;
use crate::bench::QueuesArguments;
use crate::engine::sheet::{Column, Field, Sheet, print_notes};
use crate::engine::{Cell, Sample, Session};
use rivals::{Owner, Task, Thief, Visitor};
use tidegate_cli_support::arguments::{Size, TableFormat};
use tidegate_cli_support::columns;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::{Value, print_json, to_stdout};

/// The number of tasks in a filled queue. Every kind of queue has room for this many.
const FILL: usize = 4_000;
/// How often a queue is filled for one sample.
const FILLINGS: usize = 25;
/// How many trees of tasks an owner unfolds while thieves steal from it.
const TREES: usize = 256;
/// One task for each depth of a tree. A task's address identifies its depth.
static TASKS: [Task; 11] = [0; 11];

/// The number of workers of each pool. With only one, there would be no thief.
const WORKERS: usize = 2;

pub fn bench(arguments: &QueuesArguments) -> Result<(), Failure> {
    // Prepare the barrier as a process with a pool does: thieves of a split deque need it.
    barrier::prepare();
    while barrier::available().is_none() {
        thread::yield_now();
    }
    let session = Session::whole("bench-queues", Size::Tiny, &arguments.keep);
    let bare = bare(&session, arguments.repeat)?;
    let in_pools = in_pools(&session, arguments.repeat)?;
    print(&bare, &in_pools, arguments.format, &session.notes())
}

fn print(
    bare: &Sheet,
    in_pools: &Sheet,
    format: TableFormat,
    notes: &[String],
) -> Result<(), Failure> {
    if format.json {
        let [queues, programs] = [bare, in_pools].map(Sheet::to_json);
        return print_json(&json!({ "queues": queues, "programs": programs }));
    }
    let [bare, in_pools] = [bare, in_pools].map(Sheet::to_table);
    if format.csv {
        return bare.and(in_pools).print(format);
    }
    let [bare, in_pools] = [bare, in_pools].map(|table| table.text(format.wide));
    to_stdout(|out| writeln!(out, "{bare}\n\n{in_pools}"))?;
    print_notes(format, notes)
}

/// The costs of a queue outside a pool: times in nanoseconds, and how often the owner and the
/// thieves tried and failed to get a task while they competed.
#[derive(Serialize, Deserialize)]
struct Costs {
    put_take: f64,
    steal: Option<f64>,
    contended: Option<f64>,
    takes: Counts,
    steals: Counts,
}

type Figure = fn(&Costs) -> Option<f64>;

const FIGURES: [Figure; 7] = [
    |costs| Some(costs.put_take),
    |costs| costs.steal,
    |costs| costs.contended,
    |costs| Some(costs.takes.attempts as f64),
    |costs| Some(costs.takes.failures as f64),
    |costs| Some(costs.steals.attempts as f64),
    |costs| Some(costs.steals.failures as f64),
];

const NANOS: fn(f64) -> Value = |nanos| Value::Seconds(nanos / 1e9);

pub const BARE: &[Column] = columns! {
    queue "queue" Value::Number, "";
    put_take_ns "put + take" NANOS, "of an owner alone";
    steal_ns "steal" NANOS,
        "a thief's time for a task from a full queue; null if it gets none, as from a split deque \
         on systems without membarrier";
    steal_contended_ns "contended" NANOS, "the same with one thief per processor";
    take_attempts "takes" Value::Number,
        "while an owner unfolds trees and thieves steal from it, as the next three";
    take_failures "takes in vain" Value::Number, "";
    steal_attempts "steals" Value::Number, "";
    steal_failures "steals in vain" Value::Number, "";
};

pub const IN_POOLS: &[Column] = columns! {
    program "program" Value::Number, "one made of intervals, on a pool with that queue";
    queue "queue" Value::Number, "";
    workers "" Value::Number, "";
    seconds "time" Value::Seconds, "";
    ratio_to_default "of the usual" Value::Ratio, "of the seconds to those with the default queue";
};

fn bare(session: &Session, repeat: u32) -> Result<Sheet, Failure> {
    let mut queues = Queues {
        thieves: Machine::read().usable().len().max(2),
        names: Vec::new(),
        cells: Vec::new(),
    };
    rivals::each(&mut queues);
    let Queues { names, cells, .. } = queues;
    session.expect(&cells, repeat.into());
    session.begin()?;
    let costs = session.in_turns(&cells, repeat.into())?;
    let mut sheet = Sheet::new(BARE);
    for (name, costs) in names.into_iter().zip(costs) {
        let figures =
            FIGURES.map(|of| Field::Measured(Sample::new(costs.iter().filter_map(of)).interval()));
        sheet.row([&[Field::text(name)], &figures[..]].concat());
    }
    Ok(sheet)
}

/// Runs all programs on a pool for each kind of queue, with interleaved runs.
fn in_pools(session: &Session, repeat: u32) -> Result<Sheet, Failure> {
    let pool = |queue: &QueueKind| {
        let pool = programs::pool(Pool::builder().workers(WORKERS).queue(*queue))?;
        Ok((queue.to_string(), Tidegate::new(pool)))
    };
    let pools = QueueKind::ALL
        .iter()
        .map(pool)
        .collect::<Result<Vec<_>, Failure>>()?;
    let size = tidegate_workloads::Size::Tiny;
    let usual = QueueKind::ALL
        .iter()
        .position(|queue| *queue == QueueKind::default());
    let usual = usual.expect("the default is one of all");
    let mut sheet = Sheet::new(IN_POOLS);
    for times in programs::time(session, size, &pools, repeat)? {
        for (queue, seconds) in QueueKind::ALL.iter().zip(&times.pools) {
            sheet.row([
                Field::text(times.program),
                Field::text(queue.name()),
                Field::count(WORKERS),
                Field::Measured(seconds.interval()),
                Field::Measured(seconds.over(&times.pools[usual])),
            ]);
        }
    }
    Ok(sheet)
}

struct Queues {
    thieves: usize,
    names: Vec<&'static str>,
    cells: Vec<Cell<'static, Costs>>,
}

impl Visitor for Queues {
    fn visit<O: Owner>(&mut self, name: &'static str) {
        let thieves = self.thieves;
        self.names.push(name);
        let costs = move |_| {
            let (takes, steals) = unfold::<O>(thieves - 1);
            Ok(Costs {
                put_take: put_and_take::<O>(),
                steal: self::steals::<O>(1),
                contended: self::steals::<O>(thieves),
                takes,
                steals,
            })
        };
        self.cells.push(Cell::new(format!("bare/{name}"), costs));
    }
}

/// Returns how many nanoseconds a put and a take together cost an owner without thieves. The queue
/// stays short, as in a fork-join program.
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

/// Returns how many nanoseconds a steal takes while `thieves` thieves empty a full queue whose
/// owner is idle. `None` if they get no task.
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

/// Steals until the queue is empty, but at most `most` times, because a queue that returns copies
/// never becomes empty. Returns the number of stolen tasks and the nanoseconds that this took.
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

/// The number of attempts, and how many of these failed.
#[derive(Serialize, Deserialize, Default)]
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

/// Counts the attempts of the owner and of `thieves` thieves while the owner unfolds trees: for
/// each task that the owner takes, it computes a little and puts two. Thieves discard the tasks
/// that they steal.
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
