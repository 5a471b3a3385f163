//! `bench places`: what hints of where tasks run are worth, and what places cost those that give none.
//!
//! Each worker is a place of its own, as on a machine whose processors share no cache; all pools have as many workers. The runs of a program
//! take turns, so that whatever else happens on the machine meets all of its rows alike.
//!
//! What it does not do: share the machine. The pools lie in one process, and each would leave processors to the one before it.

mod row;

use std::hint::black_box;
use std::time::Instant;

use tidegate::{PlaceBy, Pool, Share};
use tidegate_workloads::fib::Fib;
use tidegate_workloads::locality::Locality;
use tidegate_workloads::locality::blockmatmul::Blockmatmul;
use tidegate_workloads::locality::cachestress::Cachestress;
use tidegate_workloads::locality::mergesort::Mergesort;
use tidegate_workloads::quicksort::Quicksort;
use tidegate_workloads::{Given, Program, Runtime, Size, Tidegate, Values, Visitor, visit};

use super::counters::Counters;
use crate::arguments::ProgramsArguments;
pub use row::Row;
use row::Sample;
use tidegate_command::failure::Failure;
use tidegate_command::options;
use tidegate_command::output::Progress;
use tidegate_command::reference::{Found, Reference};

/// Programs whose tasks can be put into places, and programs that know of none.
const PROGRAMS: [(&str, bool); 5] = [
    (Cachestress::NAME, true),
    (Mergesort::NAME, true),
    (Blockmatmul::NAME, true),
    (Fib::NAME, false),
    (Quicksort::NAME, false),
];

/// Measures and prints.
pub fn bench(arguments: &ProgramsArguments) -> Result<(), Failure> {
    let (rows, refusal) = rows(arguments.size.into(), arguments.repeat)?;
    row::print(&rows, refusal.as_deref(), arguments.format)
}

/// Measures them all. Also why nothing could be counted, if so.
pub fn rows(size: Size, repeat: u32) -> Result<(Vec<Row>, Option<String>), Failure> {
    let (workers, why) = options::number_of_workers(None)?;
    if workers < 2 {
        return Err(Failure::Impossible(format!(
            "bench places: one worker ({why}) is one place, and two are the least; see TIDEGATE_WORKERS"
        )));
    }
    // Before the pools, so that their threads are counted.
    let (mut counters, refusal) = Counters::open();
    let mut pools = Vec::new();
    for bound in [false, true] {
        for places in [PlaceBy::Machine, PlaceBy::Each(1)] {
            pools.push(Placed::start(workers, places, bound)?);
        }
    }
    let progress = Progress::start(u64::from(repeat) * PROGRAMS.len() as u64);
    let mut rows = Vec::new();
    for (name, hinted) in PROGRAMS {
        let measure = Measure {
            hinted,
            size,
            repeat,
            pools: &pools,
            counters: &mut counters,
            progress: &progress,
        };
        rows.extend(visit(name, measure.size, &Given::default(), measure)??);
    }
    Ok((rows, refusal))
}

/// A pool, and how it was made.
struct Placed {
    places: PlaceBy,
    bound: bool,
    workers: usize,
    pool: Tidegate,
}

impl Placed {
    fn start(workers: usize, places: PlaceBy, bound: bool) -> Result<Self, Failure> {
        let builder = Pool::builder().workers(workers).share(Share::Off);
        let pool = builder.places(places).bind(bound).build();
        let pool = pool.map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(Self {
            places,
            bound,
            workers,
            pool: Tidegate::new(pool),
        })
    }
}

/// Measures the program that it is shown.
struct Measure<'a> {
    hinted: bool,
    size: Size,
    repeat: u32,
    pools: &'a [Placed],
    counters: &'a mut Counters,
    progress: &'a Progress,
}

/// One way to run a program.
struct Lane<'a, P> {
    program: P,
    placed: &'a Placed,
    row: Row,
}

impl Visitor for Measure<'_> {
    type Out = Result<Vec<Row>, Failure>;

    fn visit<P: Program>(self, plain: P) -> Self::Out {
        let mut lanes = self.lanes::<P>()?;
        let mut input = plain
            .prepare()
            .map_err(|error| Failure::Impossible(error.to_string()))?;
        self.progress
            .say(&format!("{}: the serial version, to compare", P::NAME));
        let mut reference = match Reference::published(&plain) {
            Some(reference) => reference,
            None => {
                let output = plain.serial(&mut input);
                Reference::serial(Found::new(&plain, &input, output))
            }
        };
        for round in 1..=self.repeat {
            self.progress
                .say(&format!("{}: round {round} of {}", P::NAME, self.repeat));
            for lane in &mut lanes {
                let (sample, output) = lane.run(&mut input, self.counters);
                let mut found = Found::new(&lane.program, &input, output);
                if !reference.check(&lane.program, &input, &mut found).agrees {
                    let (row, source) = (&lane.row, reference.source());
                    return Err(Failure::Wrong(format!(
                        "{row}: the answer is not that of {source}"
                    )));
                }
                lane.row.add(sample);
            }
            self.progress.step();
        }
        Ok(lanes.into_iter().map(|lane| lane.row).collect())
    }
}

impl<'a> Measure<'a> {
    /// In every locality on pools of several places, bound and not, or, without hints, on every pool.
    fn lanes<P: Program>(&self) -> Result<Vec<Lane<'a, P>>, Failure> {
        let mut lanes = Vec::new();
        for placed in self.pools {
            let one = placed.places == PlaceBy::Machine;
            let localities: &[Option<Locality>] = match (self.hinted, one) {
                (true, true) => &[],
                (true, false) => &Locality::ALL.map(Some),
                (false, _) => &[None],
            };
            for &locality in localities {
                let given = Given {
                    named: locality
                        .map(|one| ("locality".into(), one.name().into()))
                        .into_iter()
                        .collect(),
                    ..Given::default()
                };
                lanes.push(Lane {
                    program: P::from_values(&Values::parse(P::PARAMETERS, self.size, &given)?)?,
                    placed,
                    row: Row::new(P::NAME, locality, placed),
                });
            }
        }
        Ok(lanes)
    }
}

impl<P: Program> Lane<'_, P> {
    fn run(&self, input: &mut P::Input, counters: &mut Counters) -> (Sample, P::Output) {
        let pool = &self.placed.pool;
        let steals = || pool.pool().stats().counters.steals;
        self.program.reset(input);
        let before = steals();
        let (counts, (took, output)) = counters.of(|| {
            pool.install(|fork| {
                let start = Instant::now();
                let output = self.program.parallel::<Tidegate>(black_box(input), fork);
                (start.elapsed(), output)
            })
        });
        let sample = Sample {
            seconds: took.as_secs_f64(),
            steals: (steals() - before) as f64,
            counts,
        };
        (sample, output)
    }
}
