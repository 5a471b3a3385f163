//! How idle thieves rest: reproduces the experiments with backoffs and quanta of Haselsteiner,
//! "Adaptive Work-Stealing Techniques", 2015. The programs of that thesis run alone, and several at
//! once. Section and figure numbers in this module are those of the thesis.

mod figures;
mod machines;
mod plans;
mod rest;

use tidegate_workloads::Size;

use super::measured::Batch;
use super::observed::Observed;
use super::page::{Page, Setting};
use super::paper::{Paper, Results, items_of};
use crate::engine::Session;
use figures::FIGURES;
use tidegate_cli_support::failure::Failure;

const PAPER: &str = concat!(
    include_str!("../../../papers/adaptive/lists.toml"),
    include_str!("../../../papers/adaptive/claims.toml"),
    include_str!("../../../papers/adaptive/parameters.toml"),
    include_str!("../../../papers/adaptive/outlook.toml"),
    include_str!("../../../papers/adaptive/sections.toml"),
);

/// The smallest number of processors on which backoffs made a difference to bipartition (section
/// 4.3).
const MANY: usize = 20;

/// Returns the number of runs of each cell; the thesis uses 20.
fn runs(session: &Session) -> u64 {
    session.runs(match session.size().into() {
        Size::Paper => 20,
        Size::Tiny | Size::Small => 3,
    })
}

pub fn page(session: &Session, sim: bool, real: bool) -> Result<Page, Failure> {
    let paper = Paper::read(PAPER);
    let simulated = if sim {
        plans::simulated(&paper, session)
    } else {
        vec![]
    };
    let here = real.then(|| plans::here(&paper, session)).transpose()?;
    simulated
        .iter()
        .chain(&here)
        .for_each(|batch| batch.expect(session));
    session.begin()?;
    let mut page = Page {
        made: vec![Setting::new("runs", runs(session))],
        ..Page::new(
            "adaptive",
            "How thieves rest",
            "Haselsteiner, \"Adaptive Work-Stealing Techniques\", 2015, chapters 4 to 7",
        )
    };
    if sim {
        let mut measured = Batch::measure_all(simulated, session)?;
        measured.is_short = Observed::is_short;
        let mut results = Results::new(&paper, measured, FIGURES, session.size());
        plans::lists(&paper, &mut results);
        page.made.extend(plans::made(session));
        for part in ["programs", "parameters", "rest", "outlook"] {
            page.findings.extend(results.findings(part));
        }
        for part in ["aggregated", "programs", "steals", "parameters", "sleeps"] {
            page.sections.extend(results.sections(part));
        }
        page.sections.push(rest::section(&paper));
        page.sections.extend(results.sections("outlook"));
    }
    if let Some(batch) = here {
        let measured = batch.measure(session)?;
        add_here(
            &mut page,
            Results::new(&paper, measured, FIGURES, session.size()),
        );
    }
    Ok(page)
}

fn add_here(page: &mut Page, mut results: Results<'_, Observed>) {
    let processors = plans::processors();
    page.made.extend([
        Setting::new("processors here", processors),
        Setting::new(
            "not run here",
            "UTS-7; and bipartition as often as in the thesis, which made 100 runs of it",
        ),
    ]);
    let loads = plans::loads_here();
    results.list("alone", vec![loads[0].as_str().into()]);
    results.list("four", vec![loads[2].as_str().into()]);
    results.list("load here", items_of("load", loads));
    let works = plans::works_here(Size::Tiny).into_iter();
    results.list("work", items_of("work", works.map(|work| work.name)));
    for list in ["aggregated", "machine", "place", "slept"] {
        let here = results.lists[&format!("{list} here")].clone();
        results.list(list, here);
    }
    if processors < MANY {
        results.cannot.push("few processors");
    }
    page.findings.extend(results.findings("here"));
    for part in ["aggregated", "programs", "sleeps"] {
        page.sections.extend(results.sections(part));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_and_figures_fit() {
        #[rustfmt::skip]
        let parts = [
            "aggregated", "programs", "steals", "parameters", "sleeps", "rest", "outlook", "here",
        ];
        Paper::read(PAPER).check(&parts, FIGURES, &[]);
    }

    #[test]
    fn every_value_of_a_sweep_is_another_rule() {
        let paper = Paper::read(PAPER);
        for mut rules in plans::rules_of_sweeps(&paper) {
            let count = rules.len();
            rules.sort();
            rules.dedup();
            assert_eq!(rules.len(), count, "{rules:?}");
        }
    }
}
