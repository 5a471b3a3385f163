//! Where intervals run, and from which queues: the experiments of Weibel, "An advanced scheduler for intervals", 2010, chapters 5 and 11.
//!
//! Only on this machine: what a queue costs and what a cache saves is the processors' affair, which the simulated machine knows nothing of.

mod localities;
mod queues;

use super::page::{Page, Setting};
use crate::arguments::ReproduceArguments;
use crate::failure::Failure;

/// The most runs; the thesis takes the best three of ten.
const RUNS: u64 = 10;

/// Makes the page.
pub fn page(arguments: &ReproduceArguments) -> Result<Page, Failure> {
    if arguments.sim {
        return Err(Failure::Usage(
            "intervals --sim: the simulated machine has neither caches nor queues of several kinds; allowed: --real"
                .into(),
        ));
    }
    let runs = arguments.runs.min(RUNS);
    let mut page = Page {
        experiment: "intervals".to_owned(),
        title: "Where intervals run, and from which queues".to_owned(),
        source: "Weibel, \"An advanced scheduler for intervals\", 2010, chapters 5 and 11"
            .to_owned(),
        made: vec![
            Setting::new("size", format!("{:?}", arguments.size).to_lowercase()),
            Setting::new("runs", runs),
        ],
        findings: vec![],
        sections: vec![],
    };
    let size = arguments.size.into();
    localities::add(&mut page, size, runs as u32)?;
    queues::add(&mut page, size, runs as u32)?;
    Ok(page)
}
