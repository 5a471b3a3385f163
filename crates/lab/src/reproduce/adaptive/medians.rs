//! Figures computed from many cells, with intervals that account for the runs of all these cells.
//!
//! A figure is a function of medians. It is computed once to find out which cells it reads, and
//! then repeatedly from resampled runs of these cells ([`Interval::of`]). If it reads a cell twice,
//! it therefore gets the same median both times.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::engine::ratios::{geometric_mean, greatest, least};
use crate::engine::{Interval, Sample};
use crate::reproduce::grid::Grid;
use crate::reproduce::observed::Observed;

/// Selects one of the figures that each run of a cell has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Figure {
    Seconds,
    Naps,
    Asleep,
    Steals,
}

/// The key of a median: the address of a grid, the indices of rule, program and load, and the
/// figure.
type Key = (usize, (usize, usize, usize), Figure);

type Median<'a> = dyn Fn(&Grid, (usize, usize, usize), Figure) -> f64 + 'a;

/// The results of an experiment, with access to the medians in their grids.
pub struct View<'a, R> {
    pub results: &'a R,
    median: &'a Median<'a>,
}

/// One grid of the results, with access to its medians.
pub struct On<'a> {
    grid: &'a Grid,
    median: &'a Median<'a>,
}

impl Figure {
    fn of(self, observed: &Observed) -> f64 {
        match self {
            Self::Seconds => observed.seconds,
            Self::Naps => observed.naps,
            Self::Asleep => observed.asleep,
            Self::Steals => observed.steals,
        }
    }
}

/// Computes a figure and its interval. The value is NaN if `--only` left out any cell that the
/// figure reads.
pub fn interval<R>(results: &R, figure: impl Fn(&View<'_, R>) -> f64) -> Interval {
    let key = |grid: &Grid, cell, of| (std::ptr::from_ref(grid).addr(), cell, of);
    let read: RefCell<HashMap<Key, usize>> = RefCell::default();
    let samples: RefCell<Vec<Sample>> = RefCell::default();
    let collect = |grid: &Grid, cell, of: Figure| {
        let sample = grid.sample(cell, |observed| of.of(observed));
        let median = sample.median();
        read.borrow_mut()
            .entry(key(grid, cell, of))
            .or_insert_with(|| {
                samples.borrow_mut().push(sample);
                samples.borrow().len() - 1
            });
        median
    };
    figure(&View {
        results,
        median: &collect,
    });
    let (read, samples) = (read.into_inner(), samples.into_inner());
    let samples: Vec<&Sample> = samples.iter().collect();
    Interval::of(&samples, |medians| {
        let redrawn = |grid: &Grid, cell, of| medians[read[&key(grid, cell, of)]];
        figure(&View {
            results,
            median: &redrawn,
        })
    })
}

impl<R> View<'_, R> {
    pub fn on<'a>(&'a self, grid: &'a Grid) -> On<'a> {
        On {
            grid,
            median: self.median,
        }
    }
}

impl On<'_> {
    /// Returns the median of a figure, for a program under a rule and a load.
    pub fn figure(&self, figure: Figure, rule: &str, work: &str, load: &str) -> f64 {
        let grid = self.grid;
        let work = grid.work(work).expect("a program of the plan");
        (self.median)(grid, (grid.rule(rule), work, grid.load(load)), figure)
    }

    /// Returns the time of a program under a rule: the geometric mean over the loads.
    pub fn time(&self, rule: &str, work: &str, loads: &[&str]) -> f64 {
        let times = loads
            .iter()
            .map(|load| self.figure(Figure::Seconds, rule, work, load));
        geometric_mean(&times.collect::<Vec<f64>>())
    }

    pub fn times<const N: usize>(&self, rules: [&str; N], work: &str, loads: &[&str]) -> [f64; N] {
        rules.map(|rule| self.time(rule, work, loads))
    }

    /// Returns the ratio of a program's shortest time under the rules `slow` to its longest time
    /// under the rules `fast`.
    pub fn slower(&self, slow: &[&str], fast: &[&str], work: &str, loads: &[&str]) -> f64 {
        let times = |rules: &[&str]| -> Vec<f64> {
            let time = |rule: &&str| self.time(rule, work, loads);
            rules.iter().map(time).collect()
        };
        least(&times(slow)) / greatest(&times(fast))
    }

    /// Returns the aggregated time under a rule, averaged over the loads. Each program's time is
    /// divided by its mean over the rules `unit`, and the quotients of all measured programs are
    /// averaged (section 3.2).
    pub fn aggregated(&self, rule: &str, loads: &[&str], unit: &[&str]) -> f64 {
        mean(
            loads
                .iter()
                .map(|load| self.aggregated_under(rule, load, unit)),
        )
    }

    fn aggregated_under(&self, rule: &str, load: &str, unit: &[&str]) -> f64 {
        let grid = self.grid;
        let load = grid.load(load);
        let is_whole = |work: &usize| {
            let is_measured = |rule: &&str| grid.is_measured((grid.rule(rule), *work, load));
            unit.iter().chain(&[rule]).all(is_measured)
        };
        let works = (0..grid.plan().works.len()).filter(is_whole);
        mean(works.map(|work| {
            let time =
                |rule: &str| (self.median)(grid, (grid.rule(rule), work, load), Figure::Seconds);
            time(rule) / mean(unit.iter().map(|rule| time(rule)))
        }))
    }
}

/// Returns the mean, or NaN if there are no values.
pub fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    sum / count
}

/// Returns the ratio of the longest time to the shortest.
pub fn spread(times: &[f64]) -> f64 {
    greatest(times) / least(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::grid::{Load, Plan, Rule};
    use crate::reproduce::simulated::Work;
    use tidegate_workloads::Size;

    /// Creates a grid of two rules and two programs, in which the second program was run only under
    /// the first rule.
    fn grid() -> Grid {
        let plan = Plan {
            rules: ["none", "linear"].map(|name| Rule::new(name, name)).into(),
            works: ["lu", "quicksort"]
                .map(|name| Work::new(name, name, Size::Tiny, &[]))
                .into(),
            loads: vec![Load {
                processors: 8,
                instances: 1,
            }],
        };
        let run = |seconds| Observed {
            seconds,
            ..Observed::default()
        };
        let observed = [vec![3.0, 6.0, 3.0], vec![1.0], vec![1.0, 2.0, 2.0], vec![]];
        let runs = observed.map(|cell| cell.into_iter().map(run).collect());
        Grid::new(plan, runs.into())
    }

    #[test]
    fn cells_read_twice_have_one_median() {
        let grid = grid();
        let ratio = interval(&grid, |view| {
            let on = view.on(view.results);
            on.time("none", "lu", &["8"]) / on.time("none", "lu", &["8"])
        });
        assert_eq!(ratio, Interval::exact(1.0));
        let time = interval(&grid, |view| {
            view.on(view.results)
                .figure(Figure::Seconds, "none", "lu", "8")
        });
        assert_eq!((time.low, time.value, time.high), (3.0, 3.0, 6.0));
    }

    #[test]
    fn programs_left_out_do_not_count() {
        let grid = grid();
        let aggregated = |rule: &'static str, unit: &'static [&'static str]| {
            let figure =
                |view: &View<'_, Grid>| view.on(view.results).aggregated(rule, &["8"], unit);
            interval(&grid, figure).value
        };
        assert_eq!(aggregated("none", &["none", "linear"]), 1.2);
        assert_eq!(aggregated("none", &["linear"]), 1.5);
        let left_out = interval(&grid, |view| {
            view.on(view.results).time("linear", "quicksort", &["8"])
        });
        assert!(!left_out.is_measured());
    }
}
