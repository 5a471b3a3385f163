//! Compares the figures on the slides with ours.

use super::tables::Results;
use super::{HYBRID, NARLIKAR, STEALING};
use crate::engine::Interval;
use crate::reproduce::page::{Chart, Line, Point};
use tidegate_command::output::{Table, Value};

/// The numbers of processors on the slide "Peak Memory Usage".
pub const PROCESSORS: [usize; 5] = [4, 8, 12, 16, 32];

/// The peaks of modified fib on the slide "Peak Memory Usage", in blocks of 40 MiB. Every printed
/// figure is a multiple of one block.
const BLOCKS: [(&str, [Option<f64>; 5]); 3] = [
    (
        STEALING,
        [Some(4.0), Some(8.0), Some(10.0), Some(12.0), Some(15.0)],
    ),
    (
        HYBRID,
        [Some(4.0), Some(8.0), Some(8.0), Some(9.0), Some(9.0)],
    ),
    (NARLIKAR, [Some(4.0), Some(4.0), Some(5.0), Some(5.0), None]),
];

/// Returns a scheduler's published peak in blocks, or `None` if the slide omits it.
pub fn blocks(scheduler: &str, processors: usize) -> Option<f64> {
    let (_, peaks) = BLOCKS.iter().find(|(name, _)| *name == scheduler)?;
    let load = PROCESSORS.iter().position(|known| *known == processors)?;
    peaks[load]
}

/// Compares the published peaks of modified fib with ours, in blocks, as a chart and as a table.
pub fn beside(fib: &Results) -> (Chart, Table) {
    let loads = 0..PROCESSORS.len();
    let ours = |scheduler, load| {
        let unit = fib.extent.peak_bytes as f64;
        fib.peak(scheduler, load).interval().times(1.0 / unit)
    };
    let line = |name: String, figure: &dyn Fn(usize) -> Interval| Line {
        name,
        points: loads
            .clone()
            .filter_map(|load| Point::new(load as f64, figure(load)))
            .collect(),
    };
    let mut lines = Vec::new();
    let mut columns = vec!["processors".to_owned()];
    for (scheduler, peaks) in BLOCKS {
        let published = |load: usize| Interval::exact(peaks[load].unwrap_or(f64::NAN));
        lines.push(line(format!("{scheduler}, published"), &published));
        lines.push(line(format!("{scheduler}, here"), &|load| {
            ours(scheduler, load)
        }));
        columns.extend(["published", "here"].map(|whose| format!("{scheduler}, {whose}")));
    }
    let title = format!("{}: blocks held at most", fib.name());
    let mut table = Table::new(columns).titled(title.clone());
    for (load, processors) in PROCESSORS.into_iter().enumerate() {
        let cells = BLOCKS.into_iter().flat_map(|(scheduler, peaks)| {
            let here = ours(scheduler, load).value;
            [peaks[load], Some(here)].map(|blocks| Value::known(blocks, Value::Number))
        });
        table.row(std::iter::once(Value::from(processors)).chain(cells));
    }
    let chart = Chart {
        title,
        x: "processors".to_owned(),
        y: "blocks".to_owned(),
        labels: PROCESSORS.map(|processors| processors.to_string()).into(),
        log: false,
        lines,
    };
    (chart, table)
}
