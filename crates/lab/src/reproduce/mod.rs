//! `tidegate-lab reproduce`: reproduces published experiments, on simulated machines of the
//! published sizes and on this machine.
//!
//! An experiment produces a [`Page`], which is printed as text or as JSON. `tidegate-lab report`
//! turns several pages into one document.

mod adaptive;

mod intervals;
mod measured;
mod memory;
mod multi_steal;
mod observed;
pub mod page;
mod paper;
mod plan;
mod print;
#[cfg(test)]
mod printed;
mod real;
mod scaling;
mod simulated;
mod two_level;
mod units;

use std::fmt;

use serde::{Serialize, Serializer};
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::{print_json, to_stdout};

use crate::arguments::{Experiments, ReproduceArguments, Selection};
use crate::engine::{Plan, Session, Source};
use page::{Page, Setting};

/// The pages of a command. As JSON, a single page stands alone.
pub struct Pages(pub Vec<Page>);

/// The machines on which experiments run.
#[derive(Clone, Copy)]
pub struct Machines {
    sim: bool,
    real: bool,
}

impl Machines {
    pub const SIMULATED: Self = Self {
        sim: true,
        real: false,
    };
}

/// Reproduces the experiment, or all of them, and prints the results.
pub fn reproduce(arguments: &ReproduceArguments) -> Result<(), Failure> {
    let machines = Machines {
        sim: !arguments.real,
        real: !arguments.sim,
    };
    let asked = arguments.selection.experiment;
    let is_possible =
        |one: &Experiments| one == &asked || machines.sim || *one != Experiments::Scaling;
    let each = asked.each().into_iter().filter(is_possible);
    let pages = each.map(|one| {
        let source = Source::File(arguments.keep.clone());
        page(one, &arguments.selection, machines, source)
    });
    let pages = Pages(pages.collect::<Result<_, _>>()?);
    let format = &arguments.format;
    if format.json {
        return print_json(&serde_json::to_value(pages).expect("pages are JSON"));
    }
    to_stdout(|out| {
        let mut pages = pages.0.iter();
        pages.try_for_each(|page| {
            if format.csv {
                print::csv(out, page)
            } else {
                print::page(out, page, format.wide)
            }
        })
    })
}

/// Makes the page of an experiment.
pub fn page(
    experiment: Experiments,
    selection: &Selection,
    Machines { sim, real }: Machines,
    source: Source,
) -> Result<Page, Failure> {
    let Selection {
        size, runs, only, ..
    } = selection;
    let session = Session::new(Plan {
        experiment: experiment.name(),
        size: *size,
        runs: *runs,
        only: only.clone(),
        source,
    });
    let mut page = match experiment {
        Experiments::Adaptive => adaptive::page(&session, sim, real)?,
        Experiments::TwoLevel => two_level::page(&session, sim, real)?,
        Experiments::MultiSteal => multi_steal::page(&session, sim, real)?,
        Experiments::Memory => memory::page(&session, sim, real)?,
        Experiments::Intervals => intervals::page(&session, sim, real)?,
        Experiments::Scaling => scaling::page(&session, sim)?,
        Experiments::All => unreachable!("the caller names one"),
    };
    if !only.is_empty() {
        page.leave_out_unmeasured();
    }
    let size = format!("{size:?}").to_lowercase();
    page.made.insert(0, Setting::new("size", size));
    let notes = session.notes();
    page.made
        .extend(notes.iter().map(|note| Setting::new("note", note)));
    Ok(page)
}

impl Serialize for Pages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [page] => page.serialize(serializer),
            pages => pages.serialize(serializer),
        }
    }
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        for page in &self.0 {
            print::page(&mut text, page, false).expect("memory can be written");
        }
        f.write_str(str::from_utf8(&text).expect("pages are text"))
    }
}
