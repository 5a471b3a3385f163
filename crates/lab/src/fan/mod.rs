//! `tidegate-lab fan`: reproduces experiments on simulated machines, in pieces that an engine runs
//! on many real ones.
//!
//! An item is some runs of some cells of an experiment. What its piece finds are the values that a
//! session would keep in its file. Merging gives all of them to a session, which makes the page
//! without any further run. So the page is that of one process: it depends only on the kept values,
//! and these are read back as they were written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use tidegate_cli_support::failure::Failure;
use tidegate_fan::{Budget, Done, Error, Split, Weighted, carry_out};

use crate::arguments::{Experiments, FanArguments, Program, Programs, Reproduction};
use crate::engine::{Key, Run, Runs, Shard, Source, Stretch, count, divide};
use crate::reproduce::page::Page;
use crate::reproduce::{Machines, Pages, page};

/// Into how many items a piece divides the runs that it leaves. With two, the runs of a slow item
/// spread quickly over idle machines, and a piece that was a little too slow leaves few items.
const LEFT: usize = 2;

pub fn fan(arguments: FanArguments) -> Result<(), Failure> {
    Ok(carry_out(arguments.verb, &["fan".into()])?)
}

#[derive(Serialize, Deserialize)]
pub struct Item {
    experiment: Experiments,
    runs: Vec<Stretch>,
}

#[derive(Serialize, Deserialize)]
pub struct Made {
    experiment: Experiments,
    runs: Vec<Run>,
}

impl Split for Programs {
    const NAME: &'static str = "tidegate-lab";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    type Item = Item;
    type Out = Made;
    type Report = Pages;

    fn plan(&self, pieces: usize) -> Result<Vec<Weighted<Item>>, Error> {
        let Program::Reproduce(asked) = &self.program;
        if asked.real || !asked.sim {
            let text = "fan: measurements of this machine cannot be split; use --sim";
            return Err(Failure::Usage(text.to_owned()).into());
        }
        let list = |experiment| {
            let shard = Arc::new(Shard::list());
            asked.page(experiment, Source::Shard(shard.clone()))?;
            Ok((experiment, shard.left()))
        };
        let experiments = asked.selection.experiment.each().into_iter();
        let lists = experiments.map(list).collect::<Result<Vec<_>, Failure>>()?;
        let total: usize = lists.iter().map(|(_, runs)| runs.len()).sum();
        let items = lists.iter().flat_map(|(experiment, runs)| {
            // Each experiment gets its share of the pieces.
            let share = (pieces * runs.len()).div_ceil(total.max(1));
            items(*experiment, runs, share)
        });
        Ok(items.collect())
    }

    fn run(&self, item: Item, budget: &Budget) -> Result<Done<Item, Made>, Error> {
        let Program::Reproduce(asked) = &self.program;
        // One run is always made, so that pieces come to an end.
        let (is_first, budget) = (AtomicBool::new(true), *budget);
        let goes_on = move || is_first.swap(false, Ordering::Relaxed) || !budget.is_spent();
        let shard = Arc::new(Shard::of(&item.runs, goes_on));
        asked.page(item.experiment, Source::Shard(shard.clone()))?;
        let made = shard.made().into_iter();
        let runs = made.map(|((cell, run), value)| Run { cell, run, value });
        Ok(Done {
            out: Made {
                experiment: item.experiment,
                runs: runs.collect(),
            },
            rest: items(item.experiment, &shard.left(), LEFT).collect(),
        })
    }

    fn merge(&self, mut outs: Vec<Made>) -> Result<Pages, Error> {
        let Program::Reproduce(asked) = &self.program;
        let page = |experiment| {
            let of = outs.extract_if(.., |out| out.experiment == experiment);
            let runs = of.flat_map(|out| out.runs);
            let runs: Runs = runs.map(|run| ((run.cell, run.run), run.value)).collect();
            Ok(asked.page(experiment, Source::Given(runs))?)
        };
        let experiments = asked.selection.experiment.each().into_iter();
        experiments.map(page).collect::<Result<_, _>>().map(Pages)
    }
}

impl Reproduction {
    fn page(&self, experiment: Experiments, source: Source) -> Result<Page, Failure> {
        page(experiment, &self.selection, Machines::SIMULATED, source)
    }
}

/// Divides runs of an experiment into at most `parts` items. Runs count alike, although they do not
/// take equally long: a piece whose budget is spent leaves some of its runs.
fn items(
    experiment: Experiments,
    runs: &[Key],
    parts: usize,
) -> impl Iterator<Item = Weighted<Item>> {
    divide(runs, parts).into_iter().map(move |runs| Weighted {
        weight: count(&runs),
        item: Item { experiment, runs },
    })
}
