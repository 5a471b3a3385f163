//! In which places intervals run, and from which kind of queue workers take them: the experiments
//! of Weibel, "An advanced scheduler for intervals", 2010, chapters 5 and 11.
//!
//! Localities are tested on a simulated machine with two caches, like that of the thesis, and on
//! this machine if it has several last-level caches. Queues are measured only on this machine,
//! because the cost of a queue operation is a property of the processor, and a simulated machine
//! has only one kind of queue.

mod figures;
mod localities;
mod pools;

use tidegate::machine::Machine;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::show_bytes;

use super::page::{Page, Setting};
use super::paper::{Paper, Results, items_of};
use crate::engine::Session;
use figures::{ON_POOLS, SIMULATED};
use pools::{EXTRAS, HINTED, SUITE};

const PAPER: &str = concat!(
    include_str!("../../../papers/intervals/localities.toml"),
    include_str!("../../../papers/intervals/queues.toml"),
);

const SIMULATED_RUNS: u64 = 5;

/// The maximum number of runs on this machine. The thesis takes the mean of the best three of ten;
/// we take the median of all.
const REAL_RUNS: u64 = 10;

/// With fewer runs, times on this machine are not judged.
const FEWEST_RUNS: u64 = 3;

pub fn page(session: &Session, sim: bool, real: bool) -> Result<Page, Failure> {
    let paper = Paper::read(PAPER);
    let size = session.size();
    let [simulated_runs, real_runs] = [SIMULATED_RUNS, REAL_RUNS].map(|runs| session.runs(runs));
    let simulated = sim.then(|| localities::batch(&paper, size, simulated_runs));
    let pools = real
        .then(|| pools::batch(&paper, size, real_runs))
        .transpose()?;
    simulated.iter().for_each(|batch| batch.expect(session));
    pools.iter().for_each(|batch| batch.expect(session));
    session.begin()?;
    let mut page = Page::new(
        "intervals",
        "Where intervals run, and from which queues",
        "Weibel, \"An advanced scheduler for intervals\", 2010, chapters 3, 5 and 11",
    );
    if let Some(batch) = simulated {
        let results = Results::new(&paper, batch.measure(session)?, SIMULATED, size);
        let cache = show_bytes(localities::cache(size) as f64);
        let machine = format!("two places of four processors with {cache} of cache each");
        page.made.extend([
            Setting::new("simulated runs", simulated_runs),
            Setting::new("simulated machine", machine),
            Setting::new("memory cost", results.told("memory cost")),
        ]);
        results.add(&mut page, "simulated");
    }
    if let Some(batch) = pools {
        let mut results = Results::new(&paper, batch.measure(session)?, ON_POOLS, size);
        let suite = SUITE.map(|(program, _)| program);
        for (list, programs) in [
            ("suite", &suite[..]),
            ("extras", &EXTRAS),
            ("hinted", &HINTED),
        ] {
            results.list(list, items_of("program", programs.iter().copied()));
        }
        let unhinted = ["suite", "extras"].map(|list| results.lists[list].clone());
        results.list("unhinted", unhinted.concat());
        let mut caches = "several last-level caches";
        if !pools::has_several_caches(Machine::read().topology()) {
            caches = "one last-level cache, which cannot show locality";
            results.cannot.push("one cache");
        }
        if real_runs < FEWEST_RUNS {
            results.cannot.push("few runs");
        }
        page.made.extend([
            Setting::new("runs on this machine", real_runs),
            Setting::new("this machine", caches),
        ]);
        results.add(&mut page, "here");
    }
    page.made
        .push(Setting::new("not judged", paper.told("not judged")));
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_and_figures_fit() {
        let paper = Paper::read(PAPER);
        paper.check(&["simulated"], SIMULATED, &[]);
        paper.check(&["here"], ON_POOLS, &[]);
    }
}
