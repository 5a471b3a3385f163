//! Peaks and times of one program under every scheduler.

use crate::reproduce::grid::Grid;
use crate::reproduce::page::{Chart, Line, Section, Sheet};
use crate::reproduce::sample::Mean;
use tidegate_command::output::{show_bytes, show_ratio, show_seconds};

/// Means of a program's runs; grids of this experiment have one program each.
pub struct Results<'a> {
    pub grid: &'a Grid,
    /// What the serial run declares at most.
    pub s1: u64,
}

impl Results<'_> {
    pub fn name(&self) -> &'static str {
        self.grid.plan().works[0].name
    }

    pub fn peak(&self, rule: usize, load: usize) -> Mean {
        self.grid.mean((rule, 0, load), |observed| observed.peak)
    }

    pub fn seconds(&self, rule: usize, load: usize) -> Mean {
        self.grid.seconds(rule, 0, load)
    }

    /// The section of a program.
    pub fn section(&self, place: &str) -> Section {
        let peaks = self.chart(
            "most memory at a time",
            "in units of the serial run's",
            |rule, load| self.peak(rule, load).over(self.s1 as f64),
        );
        let times = self.chart("time", "time / that of work stealing", |rule, load| {
            self.seconds(rule, load).over(self.seconds(0, load).value)
        });
        Section {
            title: format!("{place}: {}", self.name()),
            text: format!(
                "The serial run declares {} at most.",
                show_bytes(self.s1 as f64)
            ),
            charts: vec![peaks, times],
            tables: vec![self.table()],
        }
    }

    fn chart(&self, what: &str, y: &str, figure: impl Fn(usize, usize) -> Mean) -> Chart {
        let plan = self.grid.plan();
        let point = |rule, load: usize| figure(rule, load).at(load as f64);
        let line = |rule: usize| Line {
            name: plan.rules[rule].name.clone(),
            points: (0..plan.loads.len())
                .map(|load| point(rule, load))
                .collect(),
        };
        Chart {
            title: format!("{}: {what}", self.name()),
            x: "processors".to_owned(),
            y: y.to_owned(),
            labels: plan.loads.iter().map(|load| load.name()).collect(),
            lines: (0..plan.rules.len()).map(line).collect(),
        }
    }

    fn table(&self) -> Sheet {
        let plan = self.grid.plan();
        let mut rows = Vec::new();
        for (load, on) in plan.loads.iter().enumerate() {
            for (rule, scheduler) in plan.rules.iter().enumerate() {
                let (peak, seconds) = (self.peak(rule, load), self.seconds(rule, load));
                rows.push(vec![
                    on.name(),
                    scheduler.name.clone(),
                    show_bytes(peak.value),
                    show_ratio(peak.value / self.peak(0, load).value),
                    show_ratio(peak.value / self.s1 as f64),
                    show_seconds(seconds.value),
                    show_ratio(seconds.value / self.seconds(0, load).value),
                ]);
            }
        }
        let columns = [
            "processors",
            "scheduler",
            "most memory",
            "by work stealing",
            "by serial",
            "time",
            "by work stealing",
        ];
        Sheet {
            title: format!("{}: memory and time", self.name()),
            columns: columns.map(str::to_owned).into(),
            rows,
        }
    }
}
