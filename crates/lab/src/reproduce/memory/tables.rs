//! Tables of the peaks and times of a program under every scheduler.

use super::STEALING;
use crate::engine::{Interval, Sample};
use crate::reproduce::grid::Grid;
use crate::reproduce::page::{Chart, Line, Point, Section};
use tidegate_command::output::{Table, Value, show_bytes};
use tidegate_sim::WorkSpan;

/// The runs of a program. Each grid in this experiment has only one program.
pub struct Results {
    pub grid: Grid,
    /// The work, span and peak of the program's serial run.
    pub extent: WorkSpan,
}

impl Results {
    pub fn name(&self) -> &'static str {
        self.grid.plan().works[0].name
    }

    pub fn peak(&self, scheduler: &str, load: usize) -> Sample {
        let rule = self.grid.rule(scheduler);
        self.grid.sample((rule, 0, load), |observed| observed.peak)
    }

    pub fn seconds(&self, scheduler: &str, load: usize) -> Sample {
        self.grid.seconds(self.grid.rule(scheduler), 0, load)
    }

    /// Returns a scheduler's peak, relative to work stealing.
    pub fn peak_ratio(&self, scheduler: &str, load: usize) -> Interval {
        self.peak(scheduler, load).over(&self.peak(STEALING, load))
    }

    /// Returns a scheduler's time, relative to work stealing.
    pub fn time_ratio(&self, scheduler: &str, load: usize) -> Interval {
        self.seconds(scheduler, load)
            .over(&self.seconds(STEALING, load))
    }

    /// Returns the names of the schedulers, or of the rules in a sweep.
    pub fn schedulers(&self) -> impl Iterator<Item = &str> {
        self.grid.plan().rules.iter().map(|rule| rule.name.as_str())
    }

    pub fn section(&self, place: &str) -> Section {
        let s1 = self.extent.peak_bytes as f64;
        let peaks = self.chart("peak memory", "peak / S1", |scheduler, load| {
            self.peak(scheduler, load).interval().times(1.0 / s1)
        });
        let times = self.chart("time", "time / that of work stealing", |scheduler, load| {
            self.time_ratio(scheduler, load)
        });
        Section {
            title: format!("{place}: {}", self.name()),
            text: format!("S1, the peak of the serial run, is {}.", show_bytes(s1)),
            charts: vec![peaks, times],
            tables: vec![self.table()],
        }
    }

    fn chart(&self, what: &str, y: &str, figure: impl Fn(&str, usize) -> Interval) -> Chart {
        let loads = &self.grid.plan().loads;
        let line = |scheduler: &str| Line {
            name: scheduler.to_owned(),
            points: (0..loads.len())
                .filter_map(|load| Point::new(load as f64, figure(scheduler, load)))
                .collect(),
        };
        Chart {
            title: format!("{}: {what}", self.name()),
            x: "processors".to_owned(),
            y: y.to_owned(),
            labels: loads.iter().map(|load| load.name()).collect(),
            log: false,
            lines: self.schedulers().map(line).collect(),
        }
    }

    fn table(&self) -> Table {
        let columns = [
            "processors",
            "scheduler",
            "peak",
            "/ work stealing",
            "/ S1",
            "time",
            "/ work stealing",
        ];
        let title = format!("{}: peak memory and time", self.name());
        let mut table = Table::new(columns).titled(title);
        for (load, on) in self.grid.plan().loads.iter().enumerate() {
            for scheduler in self.schedulers() {
                let peak = self.peak(scheduler, load).median();
                let figures = [
                    Value::known(Some(peak), Value::Bytes),
                    ratio(self.peak_ratio(scheduler, load)),
                    Value::known(Some(peak / self.extent.peak_bytes as f64), Value::Ratio),
                    Value::known(Some(self.seconds(scheduler, load).median()), Value::Seconds),
                    ratio(self.time_ratio(scheduler, load)),
                ];
                let name = [on.name().into(), scheduler.into()];
                table.row(name.into_iter().chain(figures));
            }
        }
        table
    }
}

/// Creates a table cell that shows the interval's value as a ratio, without the interval's ends.
pub fn ratio(interval: Interval) -> Value {
    Value::known(Some(interval.value), Value::Ratio)
}

/// Creates a table that compares every scheduler with work stealing, on every program under one
/// load.
pub fn overview(results: &[Results], load: usize, title: &str) -> Table {
    let schedulers: Vec<&str> = results[0].schedulers().skip(1).collect();
    let columns = schedulers
        .iter()
        .flat_map(|name| [format!("{name}, peak"), "time".to_owned()]);
    let mut table = Table::new(std::iter::once("program".to_owned()).chain(columns)).titled(title);
    for program in results {
        let cells = schedulers.iter().flat_map(|name| {
            [
                program.peak_ratio(name, load),
                program.time_ratio(name, load),
            ]
            .map(ratio)
        });
        table.row(std::iter::once(Value::from(program.name())).chain(cells));
    }
    table
}
