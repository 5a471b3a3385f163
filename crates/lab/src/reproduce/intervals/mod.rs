//! In which places intervals run, and from which kind of queue workers take them: the experiments
//! of Weibel, "An advanced scheduler for intervals", 2010, chapters 5 and 11.
//!
//! Localities are tested on a simulated machine with two caches, like that of the thesis, and on
//! this machine if it has several last-level caches. Queues are measured only on this machine,
//! because the cost of a queue operation is a property of the processor, and a simulated machine
//! has only one kind of queue.

mod counts;
mod localities;
mod pools;
mod queues;

use super::page::{Page, Setting};
use crate::engine::Session;
use tidegate_command::failure::Failure;

/// The maximum number of simulated runs, each with a different seed.
const SIMULATED_RUNS: u64 = 5;

/// The maximum number of runs on this machine. The thesis takes the mean of the best three of ten;
/// we take the median of all.
const REAL_RUNS: u64 = 10;

pub fn page(session: &Session, sim: bool, real: bool) -> Result<Page, Failure> {
    let simulated =
        sim.then(|| localities::Trial::new(session.size(), session.runs(SIMULATED_RUNS)));
    let pools = if real {
        Some(pools::Trial::new(session.size(), session.runs(REAL_RUNS))?)
    } else {
        None
    };
    simulated.iter().for_each(|trial| trial.expect(session));
    pools.iter().for_each(|trial| trial.expect(session));
    session.begin()?;
    let mut page = Page::new(
        "intervals",
        "Where intervals run, and from which queues",
        "Weibel, \"An advanced scheduler for intervals\", 2010, chapters 3, 5 and 11",
    );
    if let Some(trial) = simulated {
        page.made.push(Setting::new("simulated runs", trial.runs));
        trial.measure(session)?.add_to(&mut page);
    }
    if let Some(trial) = pools {
        page.made
            .push(Setting::new("runs on this machine", trial.runs));
        let measured = trial.measure(session)?;
        measured.add_to(&mut page);
        queues::add(&mut page, &measured, session.size());
        counts::add(&mut page, &measured, session.size());
    }
    page.made.push(Setting::new("not judged", NOT_JUDGED));
    Ok(page)
}

/// The results of the thesis that this page leaves out.
const NOT_JUDGED: &str = "Chapter 3 (threads bound to cores: a simulated machine has no threads of \
    its own; the thesis reports 1.20 to 1.56 times the time of the best placement). Figure 11.1 \
    (intervals against threads; its bars cannot be read). The halves (b) of tables 11.1 to 11.3 \
    (8 cores). Figure 11.6's locked deque for each worker (no such queue here). Table 3.1 \
    (latencies, which are input). LUFact at size C (its equations have no single solution; size B \
    takes its place).";
