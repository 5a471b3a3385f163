//! Processors that move between jobs: the experiments of Siddhartha Sen, "Dynamic processor
//! allocation for adaptively parallel work-stealing jobs", 2004, chapter 7.
//!
//! [`setups`] lists what runs on the simulated machine; the file of the paper has the claims, charts
//! and tables.

mod figures;
mod job;
mod real;
mod series;
mod setup;
mod setups;

use super::measured::Batch;
use super::page::{Page, Setting};
use super::paper::{Paper, Results};
use crate::engine::Session;
use figures::FIGURES;
use tidegate_cli_support::failure::Failure;

const PAPER: &str = concat!(
    include_str!("../../../papers/two-level/claims.toml"),
    include_str!("../../../papers/two-level/sections.toml"),
    include_str!("../../../papers/two-level/real.toml"),
);

/// The maximum number of runs, as in the thesis.
const RUNS: u64 = 5;

pub fn page(session: &Session, sim: bool, real: bool) -> Result<Page, Failure> {
    let paper = Paper::read(PAPER);
    let (size, runs) = (session.size(), session.runs(RUNS));
    let setups = |paper| setups::all(paper, size.into());
    let simulated = sim.then(|| {
        let cells = setups(&paper).into_iter();
        Batch::simulated(runs, cells.map(|(name, setup)| (name, setup.cell())))
    });
    let here = real
        .then(|| real::Here::new(size.into(), runs))
        .transpose()?;
    simulated.iter().for_each(|batch| batch.expect(session));
    here.iter().for_each(|here| here.batch.expect(session));
    session.begin()?;
    let mut page = Page::new(
        "two-level",
        "Jobs that share the processors",
        "Siddhartha Sen, \"Dynamic processor allocation for adaptively parallel work-stealing \
         jobs\", 2004, chapter 7",
    );
    page.made.push(Setting::new("runs", runs));
    if let Some(batch) = simulated {
        let machine = "16 processors where nothing else is said; tasks so long that jobs take as \
                       long as published; an estimate takes 20 us of a processor; 7 ms between two \
                       wake-ups of a job, but in scale";
        page.made.push(Setting::new("simulated", machine));
        let mut results = Results::new(&paper, batch.measure(session)?, FIGURES, size);
        let machines = setups::machines(&paper, size.into());
        results.list("machine", machines.to_vec());
        results.list("larger", machines[2..].to_vec());
        results.add(&mut page, "sim");
    }
    if let Some(here) = here {
        here.add(&paper, &mut page, session)?;
    }
    Ok(page)
}

/// Returns the estimator of the thesis, with this target efficiency.
fn wsap(efficiency: f64) -> tidegate_policy::DesirePolicy {
    let rule = format!("wsap:eta={efficiency}");
    rule.parse().expect("a rule of this program")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_and_figures_fit() {
        let paper = Paper::read(PAPER);
        let larger = paper.lists["machine"].clone();
        paper.check(&["sim"], FIGURES, &[("larger", larger)]);
        paper.check(&["real"], real::FIGURES, &[]);
    }

    /// The ideal is a lower bound on the response under any rule.
    #[test]
    fn ideal_response_matches_known_values() {
        assert!((figures::ideal(9.73) - 0.757).abs() < 1e-3);
        assert!((figures::ideal(13.68) - 0.714).abs() < 1e-3);
    }
}
