//! The programs of intervals on each queue.

use serde_json::{Map, Value, json};
use tidegate_policy::Queue;
use tidegate_workloads::Size;

use crate::bench::programs;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Progress, Table, Value as Cell};

/// With so many workers; one would have nobody to steal from.
pub const WORKERS: usize = 2;

/// A program on a queue.
pub struct Row {
    pub queue: &'static str,
    pub program: &'static str,
    pub seconds: f64,
    /// Of the time on the usual queue.
    pub ratio: f64,
}

/// Runs all programs, each on all queues in turns.
pub fn measure(size: Size, repeat: u32, progress: &Progress) -> Result<Vec<Row>, Failure> {
    let pools = Queue::ALL
        .iter()
        .map(|queue| programs::pool(WORKERS, *queue));
    let pools = pools.collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    for entry in programs::all() {
        let times = programs::time(entry.name, size, &pools, repeat, progress)?;
        let of = |queue: Queue| Queue::ALL.iter().position(|other| *other == queue);
        let usual = of(Queue::default()).map_or(f64::NAN, |at| times.pools[at].median());
        for (queue, seconds) in Queue::ALL.iter().zip(&times.pools) {
            rows.push(Row {
                queue: queue.name(),
                program: entry.name,
                seconds: seconds.median(),
                ratio: seconds.median() / usual,
            });
        }
    }
    Ok(rows)
}

/// The fields of a row that is not one of a bare queue.
const FIELDS: [&str; 4] = ["program", "workers", "seconds", "ratio_to_default"];

/// Adds what a bare queue's row has not.
pub fn complete(bare: &mut Map<String, Value>) {
    bare.extend(FIELDS.map(|field| (field.to_owned(), Value::Null)));
}

impl Row {
    /// The object that `--json` prints, with nothing for `figures`, those of a bare queue.
    pub fn to_json(&self, figures: &[&str]) -> Value {
        let mut row = Map::new();
        row.insert("queue".into(), json!(self.queue));
        row.extend(figures.iter().map(|of| ((*of).into(), Value::Null)));
        let values = [
            json!(self.program),
            json!(WORKERS),
            json!(self.seconds),
            json!(self.ratio),
        ];
        row.extend(FIELDS.map(str::to_owned).into_iter().zip(values));
        row.into()
    }
}

/// The rows as a table.
pub fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(["program", "queue", "time", "of the usual"]);
    for row in rows {
        table.row([
            row.program.into(),
            row.queue.into(),
            Cell::Seconds(row.seconds),
            Cell::Ratio(row.ratio),
        ]);
    }
    table
}
