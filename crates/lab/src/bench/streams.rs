//! `bench streams`: compares ordered streams with `pariter`, which starts its own threads for each
//! iterator.
//!
//! All runtimes do the same work for an item: a fixed number of steps, chosen so that an item takes
//! the time in its row on a quiet machine. The consumer is a thread outside all pools, and only
//! checks the order of the results.

use std::hint::black_box;
use std::time::{Duration, Instant};

use pariter::IteratorExt;
use tidegate::Pool;
use tidegate_policy::tunables::STREAM_WINDOW;

use super::programs::pool;
use crate::bench::ProgramsArguments;
use crate::engine::sheet::{Column, Field, Sheet};
use crate::engine::{Cell, Sample, Session};
use tidegate_cli_support::arguments::Size;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::Value;
use tidegate_cli_support::{columns, options};

const ITEMS: [Duration; 2] = [Duration::from_micros(1), Duration::from_millis(1)];

/// How long a run lasts if its workers are always busy.
const LENGTH: Duration = Duration::from_millis(100);
/// Like `LENGTH`, but with `--size tiny`.
const TINY_LENGTH: Duration = Duration::from_millis(1);

/// The windows, in items for each worker: pariter's default, and Tidegate's.
const WINDOWS: [usize; 2] = [2, STREAM_WINDOW.default];

const SERIAL: &str = "serial";
const TIDEGATE: &str = "tidegate";
const PARITER: &str = "pariter";

/// The runtimes. The others are compared with the first.
const RUNTIMES: [&str; 3] = [PARITER, TIDEGATE, SERIAL];

pub const COLUMNS: &[Column] = columns! {
    item_seconds "item" Value::Seconds, "";
    window "window" Value::Number, "maximum number of items read and not yet returned";
    runtime "runtime" Value::Number, "pariter, tidegate or serial";
    workers "workers" Value::Number, "";
    seconds_per_item "each" Value::Seconds, "";
    throughput_ratio "of pariter" Value::Ratio,
        "of this runtime to pariter with the same item and window; above 1, this runtime is faster";
};

pub fn bench(arguments: &ProgramsArguments) -> Result<(), Failure> {
    let session = Session::whole("bench-streams", arguments.size, &arguments.keep);
    let (workers, _) = options::number_of_workers(None)?;
    let pool = pool(Pool::builder().workers(workers))?;
    let steps = steps_per_microsecond();
    let length = match arguments.size {
        Size::Tiny => TINY_LENGTH,
        Size::Small | Size::Paper => LENGTH,
    };
    let case = |item: Duration, window: usize| Case {
        pool: &pool,
        item,
        items: (length.as_micros() / item.as_micros()).max(1) as usize * workers,
        steps: (item.as_micros() as f64 * steps) as u64,
        window: window * workers,
    };
    let cases = ITEMS
        .into_iter()
        .flat_map(|item| WINDOWS.map(|window| case(item, window)));
    let cases: Vec<Case<'_>> = cases.collect();

    let cells: Vec<_> = cases.iter().flat_map(Case::cells).collect();
    let runs = arguments.repeat.into();
    session.expect(&cells, runs);
    session.begin()?;
    let times = session.in_turns(&cells, runs)?;
    let mut sheet = Sheet::new(COLUMNS);
    for (case, times) in cases.iter().zip(times.chunks(RUNTIMES.len())) {
        let samples: Vec<Sample> = times.iter().cloned().map(Sample::new).collect();
        for (runtime, sample) in RUNTIMES.into_iter().zip(&samples) {
            sheet.row([
                Field::number(case.item.as_secs_f64()),
                Field::count(case.window),
                Field::text(runtime),
                Field::count(if runtime == SERIAL { 1 } else { workers }),
                Field::Measured(sample.interval()),
                Field::Measured(samples[0].over(sample)),
            ]);
        }
    }
    sheet.print(arguments.format, &session.notes())
}

/// An item and a window. Gives one row for each runtime.
struct Case<'a> {
    pool: &'a Pool,
    item: Duration,
    items: usize,
    steps: u64,
    window: usize,
}

impl Case<'_> {
    fn cells(&self) -> impl Iterator<Item = Cell<'_, f64>> {
        RUNTIMES.into_iter().map(move |runtime| {
            let name = format!("{:?}/window {}/{runtime}", self.item, self.window);
            Cell::new(name, move |_| self.run(runtime))
        })
    }

    fn run(&self, runtime: &str) -> Result<f64, Failure> {
        let steps = self.steps;
        let f = move |n| {
            work(steps);
            n
        };
        let workers = self.pool.workers();
        let source = 0..self.items;
        let start = Instant::now();
        let in_order = match runtime {
            PARITER => source
                .parallel_map_custom(|o| o.threads(workers).buffer_size(self.window), f)
                .eq(0..self.items),
            TIDEGATE => (self.pool.stream(source).window(self.window))
                .map(f)
                .ordered()
                .eq(0..self.items),
            _ => source.map(f).eq(0..self.items),
        };
        let took = start.elapsed();
        if !in_order {
            return Err(Failure::Wrong(format!("{runtime}: results out of order")));
        }
        Ok(took.as_secs_f64() / self.items as f64)
    }
}

fn work(steps: u64) {
    let mut value = steps;
    for _ in 0..steps {
        value = black_box(
            value
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1),
        );
    }
}

/// Returns how many steps take a microsecond when no other program disturbs them.
fn steps_per_microsecond() -> f64 {
    const STEPS: u64 = 100_000;
    const TRIES: usize = 50;
    let time = |_| {
        let start = Instant::now();
        work(STEPS);
        start.elapsed()
    };
    let least = (0..TRIES).map(time).min().unwrap_or_default();
    STEPS as f64 / (least.as_secs_f64() * 1e6)
}
