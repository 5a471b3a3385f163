//! Turns the samples of `bench rayon-programs` into rows.

use tidegate_cli_support::json_fields;
use tidegate_cli_support::output::{JsonField, Table, Value};

use super::measure::Usage;
use super::run::{Run, Runtime};
use crate::engine::{Interval, SLOWER, Sample, is_slower, speedup};

/// The samples of one program on one runtime, with a given number of copies.
pub struct Row {
    pub program: &'static str,
    /// The name and version of the program's package or, for a driver, of the package that it
    /// exercises.
    pub package: String,
    pub copies: usize,
    pub runtime: Runtime,
    pub threads: usize,
    pub runs: Vec<Run>,
    /// An answer that differs from the first answer on stock; `None` if all are equal.
    pub different: Option<String>,
    /// Stock's wall time and CPU time divided by this runtime's; NaN for stock.
    pub ratios: [Interval; 2],
}

const TIMES: [fn(&Usage) -> f64; 2] = [|usage| usage.wall_seconds, |usage| usage.cpu_seconds];

impl Row {
    fn sample(&self, of: fn(&Usage) -> f64) -> Sample {
        Sample::new(self.runs.iter().map(|run| of(&run.usage)))
    }

    fn peak(&self) -> f64 {
        self.sample(|usage| usage.peak_rss_bytes as f64).median()
    }

    fn is_slower(&self) -> bool {
        self.ratios.iter().any(is_slower)
    }

    /// Whether every copy's answer equals that of the first run on stock.
    fn is_equal(&self) -> bool {
        self.different.is_none()
    }

    fn time(&self, at: usize) -> f64 {
        self.sample(TIMES[at]).median()
    }

    pub const FIELDS: &[JsonField<Self>] = json_fields! { row:
        program "" = row.program;
        package "with its version" = row.package;
        copies "" = row.copies;
        runtime "" = row.runtime.name();
        threads "" = row.threads;
        median_of "samples" = row.runs.len();
        wall_seconds "until the last copy has ended" = row.time(0);
        cpu_seconds "of all copies" = row.time(1);
        peak_rss_bytes "the largest peak of a single process" = row.peak();
        wall_ratio "null for `stock`, like the ratio of CPU times and their intervals" = row.ratios[0].value;
        wall_low "null for fewer than 6 samples, like other ends of intervals" = row.ratios[0].low;
        wall_high "" = row.ratios[0].high;
        cpu_ratio "" = row.ratios[1].value;
        cpu_low "" = row.ratios[1].low;
        cpu_high "" = row.ratios[1].high;
        slower "whether the row is marked `slow`" = row.is_slower();
        equal "whether all copies printed the same as the first run on `stock`" = row.is_equal();
    };

    fn cells(&self) -> Vec<Value> {
        let times = [0, 1].map(|at| Value::Seconds(self.time(at)));
        let [wall, cpu] = self.ratios.map(|Interval { value, low, high }| {
            [value, low, high].map(|figure| Value::known(Some(figure), Value::Ratio))
        });
        let mark = match (self.is_equal(), self.is_slower()) {
            (false, _) => "DIFFERS",
            (true, true) => "slow",
            (true, false) => "",
        };
        let row = [
            self.program.into(),
            self.copies.into(),
            self.runtime.name().into(),
        ];
        let last = [Value::Bytes(self.peak()), self.package.as_str().into()];
        let mark = mark.into();
        [&row[..], &wall, &[mark], &times, &cpu, &last].concat()
    }
}

/// Compares each runtime's row with the first row, which must be stock's.
pub fn compare(rows: &mut [Row]) {
    let Some((stock, others)) = rows.split_first_mut() else {
        return;
    };
    for other in others {
        other.ratios = TIMES.map(|of| speedup(&other.sample(of), &stock.sample(of)));
    }
}

const COLUMNS: &str =
    "program|copies|runtime|ratio|low|high|mark|wall|CPU|CPU ratio|low|high|memory|package";

pub fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(COLUMNS.split('|'));
    rows.iter().for_each(|row| table.row(row.cells()));
    table
}

pub fn legend() -> String {
    format!(
        "\
ratio, CPU ratio: stock's median wall time and CPU time by this runtime's, above 1 it is faster
low, high: the 95 % interval of the ratio, by bootstrap
mark: slow, if a whole interval lies below {SLOWER}; DIFFERS, if a run printed another answer
wall: until the last copy has ended; CPU: of all copies; memory: the largest peak of a process

"
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;
    use tidegate_cli_support::output::to_json;

    use super::*;

    fn rows(walls: [f64; 3]) -> Vec<Row> {
        let row = |(runtime, wall_seconds)| {
            let usage = Usage {
                wall_seconds,
                cpu_seconds: 1.0,
                peak_rss_bytes: 1 << 20,
            };
            let answers = BTreeSet::from(["a".to_owned()]);
            Row {
                program: "fclones",
                package: "fclones 0.35.0".to_owned(),
                copies: 1,
                runtime,
                threads: 2,
                runs: vec![Run { usage, answers }; 6],
                different: None,
                ratios: [Interval::exact(f64::NAN); 2],
            }
        };
        let mut rows: Vec<Row> = Runtime::ALL.into_iter().zip(walls).map(row).collect();
        compare(&mut rows);
        rows
    }

    #[test]
    fn slower_runtime_is_marked() {
        let text = table(&rows([1.0, 0.5, 2.0])).text(false);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[2].contains("| stock      |     - |"), "{text}");
        let fast = "| tidegate   | 2.00x | 2.00x | 2.00x |      | 500.0 ms |";
        assert!(lines[3].contains(fast), "{text}");
        let slow = "| share=auto | 0.50x | 0.50x | 0.50x | slow |";
        assert!(lines[4].contains(slow), "{text}");
        assert!(lines[..5].iter().all(|line| line.len() <= 80), "{text}");
    }

    #[test]
    fn another_answer_is_marked_first() {
        let mut rows = rows([1.0, 0.5, 2.0]);
        rows[2].different = Some("b".to_owned());
        assert!(table(&rows).text(true).contains("DIFFERS"));
        let row = to_json(Row::FIELDS, &rows[2]);
        let found = ["wall_ratio", "cpu_ratio", "slower", "equal"].map(|field| &row[field]);
        assert_eq!(
            found,
            [&json!(0.5), &json!(1.0), &json!(true), &json!(false)]
        );
    }
}
