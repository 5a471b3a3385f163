//! Cells of the table. Each compares a call on a stock runtime with the same call on Tidegate.

use super::lanes::Call;
use crate::engine::{Interval, SLOWER, is_slower, speedup};
use tidegate_cli_support::compare::row::Row;
use tidegate_cli_support::json_fields;
use tidegate_cli_support::output::{JsonField, Table, Value};
use tidegate_cli_support::statistics::Sample;

pub struct Cell {
    chain: String,
    items: u64,
    place: String,
    workers: usize,
    stock: f64,
    tidegate: f64,
    /// Stock's time divided by Tidegate's, so Tidegate is faster if this is above 1.
    ratio: Interval,
}

impl Cell {
    /// Compares the samples of one call on both runtimes.
    pub fn new(call: &Call<'_>, tidegate: &Sample, stock: &Sample) -> Self {
        Self {
            chain: call.chain.clone(),
            items: call.items,
            place: call.place.clone(),
            workers: call.sides.workers,
            stock: stock.median(),
            tidegate: tidegate.median(),
            ratio: speedup(tidegate, stock),
        }
    }

    /// Creates a cell for each call from the call's two rows: Tidegate's and stock's.
    pub fn all(calls: &[Call<'_>], rows: &[Row]) -> Vec<Self> {
        let cell = |(call, rows): (&Call<'_>, &[Row])| {
            let [tidegate, stock] = rows else {
                unreachable!("both programs measure each call")
            };
            Self::new(call, &tidegate.nanos, &stock.nanos)
        };
        calls.iter().zip(rows.chunks(2)).map(cell).collect()
    }

    pub const FIELDS: &[JsonField<Self>] = json_fields! { cell:
        chain "" = cell.chain;
        items "" = cell.items;
        place "inside, outside or install" = cell.place;
        workers "" = cell.workers;
        stock_ns "" = cell.stock;
        tidegate_ns "" = cell.tidegate;
        ratio "" = cell.ratio.value;
        ratio_low "null for fewer than 6 samples" = cell.ratio.low;
        ratio_high "" = cell.ratio.high;
        slower "whether the row is marked `slow`" = is_slower(&cell.ratio);
    };

    fn row(&self) -> [Value; COLUMNS.len()] {
        let Interval { value, low, high } = self.ratio;
        let [low, high] = [low, high].map(|end| Value::known(Some(end), Value::Ratio));
        [
            self.chain.as_str().into(),
            self.items.into(),
            self.place.as_str().into(),
            self.workers.into(),
            Value::Ratio(value),
            low,
            high,
            if is_slower(&self.ratio) { "slow" } else { "" }.into(),
            Value::Seconds(self.stock / 1e9),
            Value::Seconds(self.tidegate / 1e9),
        ]
    }
}

const COLUMNS: [&str; 10] = [
    "chain", "items", "place", "workers", "ratio", "low", "high", "mark", "stock", "tidegate",
];

/// Returns the table. Its rows are grouped by place and number of workers.
pub fn table(cells: &[Cell]) -> Table {
    let mut seen = Vec::new();
    for Cell { place, workers, .. } in cells {
        if !seen.contains(&(place, workers)) {
            seen.push((place, workers));
        }
    }
    let mut table = Table::new(COLUMNS);
    for of in seen {
        let cells = cells
            .iter()
            .filter(|cell| (&cell.place, &cell.workers) == of);
        cells.for_each(|cell| table.row(cell.row()));
    }
    table
}

pub fn legend() -> String {
    format!(
        "\
place: inside, on a worker of the pool; outside, from the main thread, which is no worker of
  the pool; install, from the main thread, each call by `pool.install`
ratio: stock's median by tidegate's, above 1 tidegate is faster
orx_NAME: the work of rayon's chain NAME with the iterators of orx-parallel; stock is orx-parallel's
  own pool, which has at most as many threads as there are CPUs
low, high: the 95 % interval of the ratio, by bootstrap
slow: the whole interval lies below {SLOWER}

"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(place: &str, nanos: f64, [value, low, high]: [f64; 3]) -> Cell {
        Cell {
            chain: "filter_collect".into(),
            items: 1_000_000,
            place: place.into(),
            workers: 2,
            stock: nanos,
            tidegate: nanos,
            ratio: Interval { value, low, high },
        }
    }

    #[test]
    fn widest_table_fits_80_columns() {
        let cells = ["inside", "outside", "install"].map(|place| {
            let ratio = [0.904, 0.804, 0.956];
            cell(place, 123_456.7, ratio)
        });
        let text = table(&cells).to_string();
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        assert!(text.contains("| 0.90x | 0.80x | 0.96x | slow |"), "{text}");
    }
}
