//! Runs on this machine: programs on pools that differ in their queues or in their places.

use std::slice;
use std::sync::Arc;

use tidegate::machine::{CacheKind, Machine, Topology};
use tidegate::policy::{Choose, PlaceBy};
use tidegate::{Builder, Pool};
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::options;
use tidegate_policy::QueueKind;
use tidegate_workloads::Tidegate;
use tidegate_workloads::locality::Locality;

use crate::arguments::Size;
use crate::bench::programs;
pub use crate::bench::subject::Ran;
use crate::bench::subject::Subject;
use crate::engine::Cell;
use crate::reproduce::measured::{Batch, Named};
use crate::reproduce::paper::{Paper, texts};
use crate::reproduce::simulated::Workload;

/// The number of workers in the pools that differ in their queues. Parts (a) of the published
/// tables are for two cores.
const WORKERS: usize = 2;

/// The programs of section 5.2 and chapter 11, each with its parameters by size. They have as many
/// tasks as the sums of takes and steals in tables 11.2 and 11.3 imply: 100,000 for Series, 60,000 for
/// MonteCarlo, 3,400 for MolDyn, and one for each row of SOR. At size small, they have a tenth as
/// many.
#[rustfmt::skip]
pub const SUITE: [(&str, [&str; 3]); 7] = [
    ("crypt", [""; 3]),
    ("lufact", [""; 3]),
    ("moldyn", ["", "pieces=22", "pieces=22"]),
    ("montecarlo", ["", "pieces=6000", "pieces=60000"]),
    ("raytracer", [""; 3]),
    ("series", ["", "pieces=10000", "pieces=100000"]),
    ("sor", ["", "pieces=150", "pieces=2000"]),
];

/// Further programs without hints.
pub const EXTRAS: [&str; 2] = ["fib", "quicksort"];

/// The programs of section 5.3, which give hints.
pub const HINTED: [&str; 3] = ["cachestress", "mergesort", "blockmatmul"];

/// A pool, with a short name, and a name that contains everything a run depends on.
#[derive(Clone)]
struct Contender {
    short: String,
    full: String,
    pool: Arc<Tidegate>,
}

impl Contender {
    fn new(short: &str, full: &str, pool: Builder) -> Result<Self, Failure> {
        Ok(Self {
            short: short.to_owned(),
            full: full.to_owned(),
            pool: Arc::new(Tidegate::new(programs::pool(pool)?)),
        })
    }
}

/// Returns how programs with hints divide the processors into places: a place for each last-level
/// cache, or for each worker if there is only one such cache.
fn places() -> PlaceBy {
    if has_several_caches(Machine::read().topology()) {
        PlaceBy::Cache
    } else {
        PlaceBy::Each(1)
    }
}

/// Whether the machine has more than one last-level cache.
pub fn has_several_caches(topology: &Topology) -> bool {
    let caches = || {
        let caches = topology.caches().iter();
        caches.filter(|cache| cache.kind != CacheKind::Instruction)
    };
    let last = caches().map(|cache| cache.level).max();
    caches().filter(|cache| Some(cache.level) == last).count() > 1
}

/// Runs the programs of section 5.2 and chapter 11 on each queue and on places, further programs on
/// places, and the programs of section 5.3 with hints, on places whose workers are bound to CPUs.
pub fn batch(paper: &Paper, size: Size, runs: u64) -> Result<Batch<Ran>, Failure> {
    let two = || Pool::builder().workers(WORKERS);
    let (workers, _) = options::number_of_workers(None)?;
    // A single worker would have neither a victim nor a second place.
    let all = || Pool::builder().workers(workers.max(2));
    let queue = |name: &str| {
        let queue: QueueKind = name.parse().expect("a queue of this program");
        Contender::new(name, &format!("queue={name}"), two().queue(queue))
    };
    let queues = texts(&paper.lists["queue"], "queue").map(queue);
    let mut contenders = queues.collect::<Result<Vec<_>, _>>()?;
    let idle = "elastic:search=0ns".parse();
    let parking = two()
        .queue(QueueKind::Lazy)
        .idle(idle.expect("a policy of this program"));
    contenders.push(Contender::new(
        "parks at once",
        "idle=elastic:search=0ns",
        parking,
    )?);
    let each = all().places(PlaceBy::Each(1));
    let on_places = [
        Contender::new(
            "one place",
            "places=machine",
            all().places(PlaceBy::Machine),
        )?,
        Contender::new("a place for each worker", "places=each:1", each)?,
    ];
    contenders.extend(on_places.clone());
    let hinted = |locality: Locality| {
        let full = format!("places={} bound=yes", places());
        Contender::new(locality.name(), &full, all().places(places()).bind(true))
    };
    let hinted = Locality::ALL.into_iter().map(hinted);
    let hinted = hinted.collect::<Result<Vec<_>, _>>()?;
    let suite =
        SUITE.map(|(program, given)| cells(program, size, given[size as usize], &contenders));
    let extras = EXTRAS.map(|program| cells(program, size, "", &on_places));
    let hint = |on: &Contender| format!("locality={}", on.short);
    let hinted = HINTED.iter().flat_map(|program| {
        let cells = |on| cells(program, size, &hint(on), slice::from_ref(on));
        hinted.iter().map(cells)
    });
    let cells = suite.into_iter().chain(extras).chain(hinted);
    Ok(Batch::real(runs, cells.flatten()))
}

/// Returns the cells of a program on these pools. They share one input, which the first run
/// prepares.
fn cells(
    program: &'static str,
    size: Size,
    given: &str,
    contenders: &[Contender],
) -> Vec<Named<Ran>> {
    let work = Workload::new(program, program, size.into(), given);
    let subject = Arc::new(Subject::new(work.program, work.size, work.given()));
    let cell = |Contender { short, full, pool }: &Contender| {
        let full = format!("this machine/{program}/{}/{short}/{full}", work.in_full());
        let (subject, pool) = (subject.clone(), pool.clone());
        let run = Cell::new(full, move |_| subject.run(&pool));
        (format!("{program}/{short}"), run)
    };
    contenders.iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_level_caches_are_counted() {
        for (text, several) in [
            ("cpus 0-3\nL2 0-1 2-3 size=1M\nL3 0-3 size=8M", false),
            ("cpus 0-3\nL2 0-1 2-3 size=1M", true),
            ("cpus 0-3", false),
        ] {
            assert_eq!(
                has_several_caches(&text.parse().unwrap()),
                several,
                "{text}"
            );
        }
    }
}
