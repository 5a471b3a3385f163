//! Looks up measurements by program, strategy and number of processors.

use super::BOTTOMMOST;
use crate::engine::{Interval, Sample};
use crate::reproduce::grid::Grid;
use crate::reproduce::observed::Observed;

/// Several grids whose runs have the same costs.
pub struct Results(pub Vec<Grid>);

/// Extracts a figure, such as the run time, from what was observed in one run.
pub type Figure = fn(&Observed) -> f64;

pub fn seconds(run: &Observed) -> f64 {
    run.seconds
}

pub fn steals(run: &Observed) -> f64 {
    run.steals
}

/// Returns the fraction of the workers' time spent running tasks. The source has five classes of
/// time, of which this runtime has three.
pub fn busy(run: &Observed) -> f64 {
    run.busy / all(run)
}

/// Returns the fraction of the workers' time spent searching for tasks and taking them.
pub fn steal(run: &Observed) -> f64 {
    run.stealing / all(run)
}

/// Returns the fraction of the workers' time spent resting.
pub fn idle(run: &Observed) -> f64 {
    run.asleep / all(run)
}

pub fn not_busy(run: &Observed) -> f64 {
    steal(run) + idle(run)
}

fn all(run: &Observed) -> f64 {
    run.busy + run.stealing + run.asleep
}

impl Results {
    /// Returns the figure of each run of a program under a strategy.
    pub fn sample(&self, work: &str, strategy: &str, processors: usize, figure: Figure) -> Sample {
        let found = self.0.iter().find_map(|grid| {
            let plan = grid.plan();
            let rule = plan.rules.iter().position(|rule| rule.name == strategy)?;
            let load = plan
                .loads
                .iter()
                .position(|load| load.processors == processors)?;
            Some((grid, (rule, grid.work(work)?, load)))
        });
        let (grid, cell) = found.expect("a cell of a plan");
        grid.sample(cell, figure)
    }

    /// Returns the ratio of a figure under two strategies.
    pub fn ratio(
        &self,
        work: &str,
        strategies: [&str; 2],
        processors: usize,
        figure: Figure,
    ) -> Interval {
        let [one, other] = strategies.map(|name| self.sample(work, name, processors, figure));
        one.over(&other)
    }

    /// Returns the time on one processor, and the time under a strategy on several processors.
    fn times(&self, work: &str, strategy: &str, processors: usize) -> [Sample; 2] {
        [(BOTTOMMOST, 1), (strategy, processors)]
            .map(|(strategy, processors)| self.sample(work, strategy, processors, seconds))
    }

    pub fn speedup(&self, work: &str, strategy: &str, processors: usize) -> Interval {
        let [alone, time] = self.times(work, strategy, processors);
        alone.over(&time)
    }

    pub fn speedup_ratio(&self, works: [&str; 2], strategy: &str, processors: usize) -> Interval {
        let times = works.map(|work| self.times(work, strategy, processors));
        let samples: Vec<&Sample> = times.iter().flatten().collect();
        Interval::of(&samples, |medians| {
            (medians[0] / medians[1]) / (medians[2] / medians[3])
        })
    }
}
