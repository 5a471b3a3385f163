//! Where intervals run, and from which queues: the experiments of Weibel, "An advanced scheduler for intervals", 2010, chapters 5 and 11.
//!
//! Localities also on a simulated machine with two caches, as the thesis had. Queues only on this one: what an operation on a queue costs is the processors' affair,
//! and a simulated machine has one kind.

mod localities;
mod queues;
mod simulated;

use super::page::{Page, Setting};
use crate::arguments::ReproduceArguments;
use tidegate_command::failure::Failure;

/// The most runs; the thesis takes the best three of ten.
const RUNS: u64 = 10;

/// Makes the page.
pub fn page(arguments: &ReproduceArguments) -> Result<Page, Failure> {
    let runs = arguments.runs.min(RUNS);
    let mut page = Page {
        experiment: "intervals".to_owned(),
        title: "Where intervals run, and from which queues".to_owned(),
        source: "Weibel, \"An advanced scheduler for intervals\", 2010, chapters 5 and 11"
            .to_owned(),
        expected: false,
        made: vec![
            Setting::new("size", format!("{:?}", arguments.size).to_lowercase()),
            Setting::new("runs", runs),
        ],
        findings: vec![],
        sections: vec![],
    };
    let size = arguments.size.into();
    if !arguments.real {
        simulated::add(&mut page, size, runs)?;
    }
    if !arguments.sim {
        localities::add(&mut page, size, runs as u32)?;
        queues::add(&mut page, size, runs as u32)?;
    }
    Ok(page)
}
