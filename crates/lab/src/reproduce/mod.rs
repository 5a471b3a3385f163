//! `tidegate-lab reproduce`: reproduces published experiments, on simulated machines of the
//! published sizes and on this machine.
//!
//! An experiment produces a [`Page`], which is printed as text or as JSON. `tidegate-lab report`
//! turns several pages into one document.

mod adaptive;
mod grid;
mod intervals;
mod memory;
mod multi_steal;
mod observed;
pub mod page;
mod print;
mod real;
mod scaling;
mod simulated;
mod slowed;
mod two_level;

use crate::arguments::{Experiments, ReproduceArguments};
use crate::engine::{Plan, Session};
use page::{Page, Setting};
use tidegate_command::failure::Failure;
use tidegate_command::output::{print_json, to_stdout};

/// Reproduces the experiment, or all of them, and prints the results.
pub fn reproduce(arguments: &ReproduceArguments) -> Result<(), Failure> {
    let pages = match arguments.experiment {
        Experiments::All => {
            let all = Experiments::EACH.into_iter();
            all.filter(|one| !arguments.real || *one != Experiments::Scaling)
                .map(|one| page(one, arguments))
                .collect::<Result<Vec<_>, _>>()?
        }
        one => vec![page(one, arguments)?],
    };
    let format = &arguments.format;
    if format.json {
        let value = match &pages[..] {
            [page] => serde_json::to_value(page),
            pages => serde_json::to_value(pages),
        };
        return print_json(&value.expect("pages are JSON"));
    }
    to_stdout(|out| {
        let mut pages = pages.iter();
        pages.try_for_each(|page| match format.csv {
            true => print::csv(out, page),
            false => print::page(out, page, format.wide),
        })
    })
}

fn page(experiment: Experiments, arguments: &ReproduceArguments) -> Result<Page, Failure> {
    let name = experiment.name();
    let session = Session::new(Plan {
        experiment: name.clone(),
        size: arguments.size,
        runs: arguments.runs,
        only: arguments.only.clone(),
        keep: arguments.keep.clone(),
    });
    let (sim, real) = (!arguments.real, !arguments.sim);
    let mut page = match experiment {
        Experiments::Adaptive => adaptive::page(&session, sim, real)?,
        Experiments::TwoLevel => two_level::page(&session, sim, real)?,
        Experiments::MultiSteal => multi_steal::page(&session, sim, real)?,
        Experiments::Memory => memory::page(&session, sim, real)?,
        Experiments::Intervals => intervals::page(&session, sim, real)?,
        Experiments::Scaling => scaling::page(&session, sim)?,
        Experiments::All => unreachable!("the caller names one"),
    };
    if !arguments.only.is_empty() {
        page.leave_out_unmeasured();
    }
    let size = format!("{:?}", arguments.size).to_lowercase();
    page.made.insert(0, Setting::new("size", size));
    let notes = session.notes();
    page.made
        .extend(notes.iter().map(|note| Setting::new("note", note)));
    Ok(page)
}
