//! `bench places`: how much programs gain if they hint where their tasks should run, and what
//! places cost programs without hints.
//!
//! Each worker is its own place, as on a machine whose processors share no cache. All pools have
//! the same number of workers.
//!
//! Sharing is off. Otherwise, each pool would leave processors to the pools that this process
//! created before it.

use std::rc::Rc;

use tidegate::{
    Pool,
    policy::{PlaceBy, SharePolicy},
};
use tidegate_workloads::fib::Fib;
use tidegate_workloads::locality::Locality;
use tidegate_workloads::locality::blockmatmul::Blockmatmul;
use tidegate_workloads::locality::cachestress::Cachestress;
use tidegate_workloads::locality::mergesort::Mergesort;
use tidegate_workloads::quicksort::Quicksort;
use tidegate_workloads::{Given, Program, Size, Tidegate};

use super::counters::{Counters, Counts};
use super::subject::{Ran, Subject};
use crate::bench::ProgramsArguments;
use crate::engine::sheet::{Column, Field, Sheet};
use crate::engine::{Sample, Session};
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::Value;
use tidegate_cli_support::{columns, options};

/// The programs, and whether their tasks have hints for places.
const PROGRAMS: [(&str, bool); 5] = [
    (Cachestress::NAME, true),
    (Mergesort::NAME, true),
    (Blockmatmul::NAME, true),
    (Fib::NAME, false),
    (Quicksort::NAME, false),
];

pub const COLUMNS: &[Column] = columns! {
    program "program" Value::Number, "";
    locality "locality" Value::Number, "null for programs without hints";
    places "places" Value::Number, "";
    bound "bound" Value::Number, "";
    workers "" Value::Number, "";
    median_of "" Value::Number, "repetitions";
    seconds "time" Value::Seconds, "";
    ratio "ratio" Value::Ratio,
        "of the seconds to those of the same program without hints, or with one place";
    steals "steals" Value::Number, "per run";
    last_level_misses "last-level misses" Value::Number,
        "of all threads in a run, from the kernel's counter cache-misses; null if it does not \
         provide it";
    cache_references "cache references" Value::Number, "the same from its counter cache-references";
};

pub fn bench(arguments: &ProgramsArguments) -> Result<(), Failure> {
    let (workers, why) = options::number_of_workers(None)?;
    if workers < 2 {
        return Err(Failure::Impossible(format!(
            "bench places requires two workers, but there is one ({why}): see TIDEGATE_WORKERS"
        )));
    }
    // Open the counters before creating the pools, so that they also count the pools' threads.
    let (mut counters, refusal) = Counters::open();
    let pools = Placed::all(workers)?;
    let ways = ways(arguments.size.into(), &pools);
    let names: Vec<String> = ways.iter().map(Way::name).collect();
    let session = Session::whole("bench-places", arguments.size, &arguments.keep);
    let runs = session.share_turns(&names, arguments.repeat.into(), |way, _| {
        let way = &ways[way];
        let (counts, ran) = counters.of(|| way.subject.run(&way.placed.pool));
        Ok((ran?, counts))
    })?;
    let rows: Vec<(&Way<'_>, Vec<Run>)> = ways.iter().zip(runs).collect();
    let refusal = refusal.map(|why| format!("cache counters are not available: {why}"));
    let notes: Vec<String> = refusal.into_iter().chain(session.notes()).collect();
    sheet(&rows, workers).print(arguments.format, &notes)
}

struct Placed {
    places: PlaceBy,
    bound: bool,
    pool: Tidegate,
}

impl Placed {
    fn all(workers: usize) -> Result<Vec<Self>, Failure> {
        let mut all = Vec::new();
        for bound in [false, true] {
            for places in [PlaceBy::Machine, PlaceBy::Each(1)] {
                let builder = Pool::builder().workers(workers).share(SharePolicy::Off);
                let pool = builder.places(places).bind(bound).build();
                let pool = pool.map_err(|error| Failure::Usage(error.to_string()))?;
                all.push(Self {
                    places,
                    bound,
                    pool: Tidegate::new(pool),
                });
            }
        }
        Ok(all)
    }
}

/// A program, the locality of its hints, and the pool that it runs on.
struct Way<'a> {
    program: &'static str,
    locality: Option<Locality>,
    placed: &'a Placed,
    subject: Rc<Subject>,
}

/// A run, and the hardware events that were counted during it.
type Run = (Ran, Counts);

/// Returns all combinations of program, locality and pool. A program with hints runs in every
/// locality on the pools with several places; other programs run on every pool.
fn ways(size: Size, pools: &[Placed]) -> Vec<Way<'_>> {
    let mut ways = Vec::new();
    for (program, hinted) in PROGRAMS {
        let localities: &[Option<Locality>] = if hinted {
            &Locality::ALL.map(Some)
        } else {
            &[None]
        };
        for &locality in localities {
            let named = locality.map(|one| ("locality".into(), one.name().into()));
            let given = Given {
                named: named.into_iter().collect(),
                ..Given::default()
            };
            let subject = Rc::new(Subject::new(program, size, given));
            let fits = |placed: &&Placed| !hinted || placed.places != PlaceBy::Machine;
            ways.extend(pools.iter().filter(fits).map(|placed| Way {
                program,
                locality,
                placed,
                subject: subject.clone(),
            }));
        }
    }
    ways
}

impl Way<'_> {
    fn locality(&self) -> &'static str {
        self.locality.map_or("no hints", Locality::name)
    }

    fn name(&self) -> String {
        let Placed { places, bound, .. } = self.placed;
        format!(
            "{}/{}/places={places} bound={bound}",
            self.program,
            self.locality()
        )
    }

    /// Whether this is the baseline for its program and binding. A program with hints has the runs
    /// that ignore the hints as its baseline; a program without hints has the runs on a pool with a
    /// single place.
    fn is_base(&self) -> bool {
        match self.locality {
            Some(locality) => locality == Locality::Ignorant,
            None => self.placed.places == PlaceBy::Machine,
        }
    }

    fn is_base_of(&self, other: &Self) -> bool {
        let of = |way: &Self| (way.program, way.placed.bound);
        self.is_base() && of(self) == of(other)
    }
}

fn sheet(rows: &[(&Way<'_>, Vec<Run>)], workers: usize) -> Sheet {
    let seconds = |runs: &[Run]| Sample::new(runs.iter().map(|(ran, _)| ran.seconds));
    let mut sheet = Sheet::new(COLUMNS);
    for (way, runs) in rows {
        let base = rows.iter().find(|(base, _)| base.is_base_of(way));
        let base = base.map_or_else(Sample::default, |(_, runs)| seconds(runs));
        // An event that was not counted in every run has no figure.
        let counted = |event: usize| {
            let counts: Option<Vec<f64>> = runs.iter().map(|(_, counts)| counts[event]).collect();
            Sample::new(counts.unwrap_or_default()).interval()
        };
        let steals = Sample::new(runs.iter().map(|(ran, _)| ran.steals));
        let [references, misses] = [0, 1].map(counted);
        sheet.row([
            Field::text(way.program),
            way.locality
                .map_or(Field::NONE, |one| Field::text(one.name())),
            Field::text(way.placed.places.to_string()),
            Field::Flag(way.placed.bound),
            Field::count(workers),
            Field::count(runs.len()),
            Field::Measured(seconds(runs).interval()),
            Field::Measured(seconds(runs).over(&base)),
            Field::Measured(steals.interval()),
            Field::Measured(misses),
            Field::Measured(references),
        ]);
    }
    sheet
}
