//! The peak memory of tasks: the experiments of the slides "Narlikar and hybrid schedulers for
//! Cilk", which build on Narlikar and Blelloch, "Space-efficient scheduling of nested parallelism",
//! 1999.

mod figures;
mod plans;

use tidegate::machine::Machine;
use tidegate_cli_support::failure::Failure;
use toml::Value;

use super::measured::Batch;
use super::observed::Observed;
use super::page::{Page, Setting};
use super::paper::{Paper, Results, items_of};
use crate::engine::{Session, Verdict};
use figures::FIGURES;
use plans::Profile;

const PAPER: &str = concat!(
    include_str!("../../../papers/memory/claims.toml"),
    include_str!("../../../papers/memory/sections.toml"),
);

/// The maximum number of runs. The source does not state its number of runs.
const RUNS: u64 = 5;

/// The smallest number of processors in the source.
const FOUR: usize = 4;

/// The programs, and the numbers of workers here: as many as processors, and the source's minimum.
struct Programs {
    paper: Paper,
    profiles: Vec<Profile>,
    processors: usize,
    workers: Vec<usize>,
}

impl Programs {
    fn of(&self, list: &str) -> Vec<&Profile> {
        plans::those(&self.paper, &self.profiles, list)
    }

    fn batches(&self, runs: u64, sim: bool, real: bool) -> Result<Vec<Batch<Observed>>, Failure> {
        let mut batches = vec![];
        if sim {
            let all = self.paper.numbers("processors").map(|one| one as usize);
            let all: Vec<usize> = all.collect();
            batches.extend(plans::simulated(
                "simulated",
                runs,
                &self.of("program"),
                &all,
            ));
            batches.push(plans::slides(runs, &self.profiles[0], &all));
            batches.extend(plans::swept(&self.paper, runs, &self.of("swept")));
        }
        if real {
            let here = self.of("program here");
            for profile in &here {
                let cells = plans::plan(profile, &self.workers).here()?;
                batches.push(Batch::real(runs, cells));
            }
            // For comparison, simulated machines have as many processors as the pools workers.
            let beside = sim.then(|| plans::simulated("as here", runs, &here, &self.workers));
            batches.extend(beside.into_iter().flatten());
        }
        Ok(batches)
    }
}

pub fn page(session: &Session, sim: bool, real: bool) -> Result<Page, Failure> {
    let runs = session.runs(RUNS);
    let works = plans::works(session.size().into()).into_iter();
    let processors = Machine::read().usable().len();
    let mut workers = vec![processors, FOUR];
    workers.dedup();
    let programs = Programs {
        paper: Paper::read(PAPER),
        profiles: works.map(Profile::new).collect::<Result<_, _>>()?,
        processors,
        workers,
    };
    let batches = programs.batches(runs, sim, real)?;
    batches.iter().for_each(|batch| batch.expect(session));
    session.begin()?;
    let mut page = Page {
        made: vec![
            Setting::new("runs", runs),
            Setting::new(
                "parameters",
                "S1 is the peak of the serial run; k and alpha are S1/64 (alpha is S1/8 where the \
                 slides' figures are compared), beta is alpha/4, the budget is 1.1 S1",
            ),
        ],
        ..Page::new(
            "memory",
            "How much memory tasks need at a time",
            "The slides \"Narlikar and hybrid schedulers for Cilk\", after Narlikar and Blelloch, \
             \"Space-efficient scheduling of nested parallelism\", 1999",
        )
    };
    let measured = Batch::measure_all(batches, session)?;
    let mut results = Results::new(&programs.paper, measured, FIGURES, session.size());
    for list in ["program", "swept", "program here"] {
        let items = programs.of(list).into_iter().map(Profile::item);
        results.list(list, items.collect());
    }
    if sim {
        add_simulated(&mut page, &mut results);
    }
    if real {
        add_here(&mut page, &mut results, &programs, sim);
    }
    Ok(page)
}

fn add_here(page: &mut Page, results: &mut Results<'_, Observed>, programs: &Programs, sim: bool) {
    let processors = programs.processors;
    page.made.push(Setting::new("processors here", processors));
    results.list("here", vec![(processors as i64).into()]);
    let workers = programs.workers.iter().map(|workers| *workers as i64);
    results.list("workers", items_of("processors", workers));
    page.findings.extend(results.findings("here"));
    if sim {
        page.sections.extend(results.sections("beside"));
    }
    set(
        results,
        [("place", "Here"), ("on", "here"), ("loads", "workers")],
    );
    let here = results.lists["program here"].clone();
    results.list("program", here);
    page.sections.extend(results.sections("programs"));
}

fn set(results: &mut Results<'_, Observed>, values: [(&str, &str); 3]) {
    for (name, value) in values {
        results.list(name, vec![Value::from(value)]);
    }
}

/// Adds the simulated runs. The section of the first program also has the source's figures.
fn add_simulated(page: &mut Page, results: &mut Results<'_, Observed>) {
    let likeness = results.findings("likeness");
    let is_like = |finding: &super::page::Finding| finding.verdict == Verdict::Agrees;
    if !likeness.iter().all(is_like) {
        results.cannot.push("unlike the source's program");
    }
    for part in ["likeness", "sim", "functions"] {
        page.findings.extend(results.findings(part));
    }
    set(
        results,
        [
            ("place", "Simulated"),
            ("on", "simulated"),
            ("loads", "processors"),
        ],
    );
    page.sections = results.sections("programs");
    for published in results.sections("published") {
        let first = &mut page.sections[0];
        first.text = format!("{} {}", first.text, published.text);
        first.charts.splice(0..0, published.charts);
        first.tables.splice(0..0, published.tables);
    }
    page.sections.extend(results.sections("sim"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_and_figures_fit() {
        #[rustfmt::skip]
        let parts = [
            "likeness", "sim", "functions", "programs", "published", "here", "beside",
        ];
        Paper::read(PAPER).check(&parts, FIGURES, &[]);
    }
}
