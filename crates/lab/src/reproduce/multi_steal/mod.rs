//! How many tasks a thief takes: the experiments of Adnan and Sato, "Dynamic multiple work stealing
//! strategy for flexible load balancing", 2012.
//!
//! [`programs`] defines the programs, strategies and processors of each figure, [`results`] looks
//! up measurements, [`findings`] judges the claims, and [`sections`] draws the figures.

mod findings;
mod overhead;
mod programs;
mod real;
mod results;
mod sections;
mod simulated;
mod states;
mod trees;

use super::page::{Page, Setting};
use crate::engine::Session;
use tidegate_command::failure::Failure;

/// The number of runs of programs that take about a second to simulate. The source does not state
/// its number of runs.
const RUNS: u64 = 5;

/// The number of runs of the trees and of fib, which take up to a minute each.
const LONG_RUNS: u64 = 3;

/// The strategies of the source: a thief takes the oldest task, a fixed number of tasks, or half of
/// the tasks.
const BOTTOMMOST: &str = "bottommost";
const FIXED_2: &str = "fixed 2";
const FIXED_4: &str = "fixed 4";
const FIXED_8: &str = "fixed 8";
const FIXED_16: &str = "fixed 16";
const FIXED_20: &str = "fixed 20";
const DYNAMIC: &str = "dynamic";

pub fn page(session: &Session, sim: bool, real: bool) -> Result<Page, Failure> {
    let trees = trees::Trial::new(session.size());
    let simulated = sim.then(|| simulated::Trial::new(session));
    let real = real.then(|| real::Trial::new(session)).transpose()?;
    trees.expect(session);
    simulated.iter().for_each(|trial| trial.expect(session));
    real.iter().for_each(|trial| trial.expect(session));
    session.begin()?;
    let trees = trees.measure(session)?;
    let mut page = Page {
        made: vec![
            Setting::new("runs", session.runs(RUNS)),
            Setting::new("runs of UTS and fib", session.runs(LONG_RUNS)),
        ],
        ..Page::new(
            "multi-steal",
            "How many tasks a thief takes",
            "Adnan and Sato, \"Dynamic multiple work stealing strategy for flexible load \
             balancing\", 2012",
        )
    };
    if let Some(trial) = simulated {
        trial.add(&mut page, session, &trees)?;
    }
    if let Some(trial) = real {
        trial.add(&mut page, session)?;
    }
    Ok(page)
}
