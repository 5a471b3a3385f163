//! What programs gain from hints about where tasks run, on a machine like that of the thesis: two
//! packages, each with four processors and 8 MiB of last-level cache (section 5.3).
//!
//! Times are compared with those on the same machine with free memory accesses, so that an effect
//! counts as locality only if it comes from misses.

mod findings;
mod section;

use tidegate::machine::Topology;
use tidegate_policy::VictimPolicy;
use tidegate_sim::Width;
use tidegate_sim::{Deques, Settings};
use tidegate_workloads::locality::Locality;

use crate::arguments::Size;
use crate::engine::{Cell, Interval, Sample, Session};
use crate::reproduce::observed::Observed;
use crate::reproduce::page::{Page, Setting};
use crate::reproduce::simulated::{Case, Work};
use tidegate_command::failure::Failure;
use tidegate_command::output::{show_bytes, show_ratio};

const MACHINE: &str = "cpus 0-7\nL3 0-3 4-7 size=8M\nnode 0-3 4-7\npackage 0-3 4-7";
const ONE_PROCESSOR: &str = "cpus 0\nL3 0 size=8M";
const CACHE: u64 = 8 << 20;
/// The size of a cache at program size tiny, in bytes. It is chosen so that arrays exceed the cache
/// by the same factor as in the source, where a cache has 8 MiB.
const TINY_CACHE: u64 = 20_480;

/// The cost of fetching a KiB that is not in the cache, in nanoseconds. At this cost, the
/// cache-stress test without hints takes [`FITTED_RATIO`] times as long as in the best locality.
const FITTED: u64 = 68;
/// From table 5.1: 4.038 s divided by 3.596 s.
const FITTED_RATIO: f64 = 1.123;

/// The costs that are compared, in nanoseconds for each KiB that is not in the cache. 20 is the
/// simulator's default: the cost on this machine with prefetching. The last three are the costs of
/// an additional miss in the three programs according to tables 5.1 to 5.6 of the thesis: 6.3, 128
/// and 213 ns for a line of 64 bytes.
const COSTS: [u64; 6] = [0, 20, FITTED, 100, 2_048, 3_408];

/// A program of section 5.3.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Program {
    name: &'static str,
    /// How many times as long a task takes on the simulated machine as on this machine. With this
    /// factor, the program's time in the best locality is the one in table 5.1, 5.3 or 5.5.
    slower: f64,
}

const CACHESTRESS: Program = Program {
    name: "cachestress",
    slower: 6.53,
};
const MERGESORT: Program = Program {
    name: "mergesort",
    slower: 17.2,
};
const BLOCKMATMUL: Program = Program {
    name: "blockmatmul",
    slower: 35.2,
};
const PROGRAMS: [Program; 3] = [CACHESTRESS, MERGESORT, BLOCKMATMUL];

/// The setting in which a program runs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Variant {
    program: Program,
    locality: Locality,
    machine: Machine,
    /// The cost of fetching a KiB that is not in the cache, in nanoseconds.
    miss: u64,
}

/// How the machine's workers share deques.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Machine {
    /// The workers of a place share one deque, as in the thesis.
    PlaceDeques,
    /// Each worker has its own deque, as in this runtime.
    WorkerDeques,
    OneProcessor,
}

impl Machine {
    const fn name(self) -> &'static str {
        match self {
            Self::PlaceDeques => "a deque for each place",
            Self::WorkerDeques => "a deque for each worker",
            Self::OneProcessor => "one processor",
        }
    }

    fn settings(self, size: Size, miss: u64) -> Settings {
        let text = match self {
            Self::OneProcessor => ONE_PROCESSOR,
            _ => MACHINE,
        };
        let topology: Topology = text.parse().expect("a topology of this program");
        let cpus = topology.cpus();
        let usual = Settings::new(cpus.len());
        Settings {
            places: topology.places(cpus.as_slice()),
            cache: match size {
                Size::Tiny => TINY_CACHE,
                Size::Small | Size::Paper => CACHE,
            },
            // According to section 4.2, a thief picks another place at random.
            victim: match self {
                Self::PlaceDeques => VictimPolicy::Random,
                _ => usual.victim,
            },
            deques: match self {
                Self::PlaceDeques => Deques::Place,
                _ => Deques::Worker,
            },
            costs: tidegate_sim::Costs {
                miss,
                ..usual.costs
            },
            ..usual
        }
    }
}

impl Variant {
    fn cell(self, size: Size) -> Cell<'static, Observed> {
        let work = self.work(size);
        let settings = self.machine.settings(size, self.miss);
        let name = format!(
            "two packages/{}/{}/{}/{}/miss={} cache={}",
            self.program.name,
            work.in_full(),
            self.locality.name(),
            self.machine.name(),
            self.miss,
            settings.cache,
        );
        let case = Case {
            work,
            width: Width::Fixed(settings.processors),
            settings,
            instances: 1,
        };
        Cell::new(name, move |run| case.observe(run))
    }

    fn work(self, size: Size) -> Work {
        // The cache-stress test is fast to simulate, so it always runs at its published size.
        let size = match (size, self.program.name) {
            (Size::Small, "cachestress") => Size::Paper,
            (size, _) => size,
        };
        let name = self.program.name;
        Work {
            slower: self.program.slower,
            ..Work::new(name, name, size.into(), given(self.locality))
        }
    }
}

pub const fn given(locality: Locality) -> &'static str {
    match locality {
        Locality::Best => "locality=best",
        Locality::Ignorant => "locality=ignorant",
        Locality::Random => "locality=random",
        Locality::Worst => "locality=worst",
    }
}

/// Lists the variants of each program:
///
/// * in each locality, with the deques of the thesis, at each of [`COSTS`];
/// * in each locality, with this runtime's deques, at no cost and at the fitted cost;
/// * in the best locality, on one processor.
fn variants() -> Vec<Variant> {
    let machines = |program| {
        let places = COSTS.map(|miss| (Machine::PlaceDeques, miss));
        let workers = [0, FITTED].map(|miss| (Machine::WorkerDeques, miss));
        let both = places.into_iter().chain(workers);
        let several = both.flat_map(move |(machine, miss)| {
            Locality::ALL.map(|locality| Variant {
                program,
                locality,
                machine,
                miss,
            })
        });
        let alone = Variant {
            program,
            locality: Locality::Best,
            machine: Machine::OneProcessor,
            miss: FITTED,
        };
        several.chain([alone])
    };
    PROGRAMS.into_iter().flat_map(machines).collect()
}

/// The cells, and how often to run them.
pub struct Trial {
    pub runs: u64,
    size: Size,
    cells: Vec<Cell<'static, Observed>>,
}

impl Trial {
    pub fn new(size: Size, runs: u64) -> Self {
        let cells = variants().into_iter().map(|variant| variant.cell(size));
        Self {
            runs,
            size,
            cells: cells.collect(),
        }
    }

    pub fn expect(&self, session: &Session) {
        session.expect(&self.cells, self.runs);
    }

    pub fn measure(self, session: &Session) -> Result<Measured, Failure> {
        let observed = session.side_by_side(&self.cells, self.runs)?;
        Ok(Measured {
            size: self.size,
            rows: variants().into_iter().zip(observed).collect(),
        })
    }
}

/// The runs of each variant.
pub struct Measured {
    size: Size,
    rows: Vec<(Variant, Vec<Observed>)>,
}

impl Measured {
    pub fn add_to(&self, page: &mut Page) {
        let cache = show_bytes(Machine::PlaceDeques.settings(self.size, 0).cache as f64);
        page.made.push(Setting::new(
            "simulated machine",
            format!("two places of four processors with {cache} of cache each"),
        ));
        let fitted = self.slowdown(CACHESTRESS, Locality::Ignorant, FITTED);
        page.made.push(Setting::new(
            "memory cost",
            format!(
                "{FITTED} ns a KiB, fitted at full size so that the cache-stress test without hints \
                 takes {FITTED_RATIO} of its time in the best locality (table 5.1); here {}. Tables \
                 5.1 and 5.2 give 100 ns a KiB: (4.038 s - 3.596 s) x 8 cores by 562 million lines \
                 of 64 bytes",
                fitted.show(show_ratio),
            ),
        ));
        page.findings.extend(findings::findings(self));
        page.sections.push(section::of(self));
    }

    fn sample(&self, variant: Variant, figure: fn(&Observed) -> f64) -> Sample {
        let mut rows = self.rows.iter();
        let row = rows.find(|(other, _)| *other == variant);
        Sample::new(row.into_iter().flat_map(|(_, runs)| runs).map(figure))
    }

    /// Returns a figure of the runs with the deques of the thesis.
    fn on_places(
        &self,
        (program, locality): (Program, Locality),
        miss: u64,
        figure: fn(&Observed) -> f64,
    ) -> Sample {
        let variant = Variant {
            program,
            locality,
            machine: Machine::PlaceDeques,
            miss,
        };
        self.sample(variant, figure)
    }

    /// Returns the ratio of the times in a locality and in the best one, divided by the same ratio
    /// on a machine with free cache misses.
    fn slowdown(&self, program: Program, locality: Locality, miss: u64) -> Interval {
        self.slowdown_by(program, [locality, Locality::Best], miss)
    }

    fn slowdown_by(
        &self,
        program: Program,
        [locality, base]: [Locality; 2],
        miss: u64,
    ) -> Interval {
        let seconds = |locality, miss| self.on_places((program, locality), miss, |run| run.seconds);
        let costly = [locality, base].map(|locality| seconds(locality, miss));
        let free = [locality, base].map(|locality| seconds(locality, 0));
        let samples = [&costly[0], &costly[1], &free[0], &free[1]];
        Interval::of(&samples, |t| (t[0] / t[1]) / (t[2] / t[3]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes up runs of every variant.
    pub(super) fn measured(size: Size, run: impl Fn(Variant) -> Observed) -> Measured {
        let row = |variant| (variant, vec![run(variant); 3]);
        Measured {
            size,
            rows: variants().into_iter().map(row).collect(),
        }
    }

    #[test]
    fn cells_have_different_names() {
        let trial = Trial::new(Size::Small, 1);
        let names: std::collections::BTreeSet<_> =
            trial.cells.iter().map(|cell| &cell.name).collect();
        assert_eq!(names.len(), variants().len());
    }

    #[test]
    fn effects_without_misses_are_divided_out() {
        // Every locality except the best doubles the time even if misses are free. Misses add
        // another tenth.
        let measured = measured(Size::Paper, |variant| {
            let elsewhere = f64::from(u8::from(variant.locality != Locality::Best));
            let costs = f64::from(u8::from(variant.miss > 0));
            Observed {
                seconds: (1.0 + elsewhere) * (1.0 + 0.1 * elsewhere * costs),
                ..Observed::default()
            }
        });
        let slowdown = measured.slowdown(MERGESORT, Locality::Worst, FITTED);
        assert!((slowdown.value - 1.1).abs() < 1e-9, "{slowdown:?}");
    }
}
