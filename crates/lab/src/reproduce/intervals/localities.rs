//! What programs gain from hints about where tasks run, on a machine like that of the thesis: two
//! packages, each with four processors and 8 MiB of last-level cache (section 5.3).

use tidegate::machine::Topology;
use tidegate_policy::VictimPolicy;
use tidegate_sim::{Costs, Deques, Settings, Width};
use tidegate_workloads::locality::Locality;

use crate::arguments::Size;
use crate::engine::Cell;
use crate::reproduce::measured::{Batch, Named};
use crate::reproduce::observed::Observed;
use crate::reproduce::paper::Paper;
use crate::reproduce::simulated::{Setup, Workload};

const PACKAGES: &str = "cpus 0-7\nL3 0-3 4-7 size=8M\nnode 0-3 4-7\npackage 0-3 4-7";
const ONE_PROCESSOR: &str = "cpus 0\nL3 0 size=8M";

/// The programs of section 5.3, each with how many times as long a task takes on the simulated
/// machine as on this machine. With this factor, the program's time in the best locality is the one
/// in table 5.1, 5.3 or 5.5.
const PROGRAMS: [(&str, f64); 3] = [
    ("cachestress", 6.53),
    ("mergesort", 17.2),
    ("blockmatmul", 35.2),
];

/// The machine whose workers share the deque of their place, as in the thesis.
const PLACE_DEQUES: &str = "a deque for each place";
/// The machine whose workers have a deque each, as in this runtime.
const WORKER_DEQUES: &str = "a deque for each worker";
const ALONE: &str = "one processor";

/// Returns the size of a cache. At program size tiny, arrays exceed the cache by the same factor as
/// in the source.
pub fn cache(size: Size) -> u64 {
    match size {
        Size::Tiny => 20_480,
        Size::Small | Size::Paper => 8 << 20,
    }
}

fn settings(machine: &str, size: Size, miss: u64) -> Settings {
    let text = if machine == ALONE {
        ONE_PROCESSOR
    } else {
        PACKAGES
    };
    let topology: Topology = text.parse().expect("a topology of this program");
    let cpus = topology.cpus();
    let usual = Settings::new(cpus.len());
    // According to section 4.2, a thief picks another place at random.
    let (victim, deques) = if machine == PLACE_DEQUES {
        (VictimPolicy::Random, Deques::Place)
    } else {
        (usual.victim, Deques::Worker)
    };
    Settings {
        places: topology.places(cpus.as_slice()),
        cache: cache(size),
        victim,
        deques,
        costs: Costs {
            miss,
            ..usual.costs
        },
        ..usual
    }
}

fn cell(
    (program, slower): (&'static str, f64),
    locality: Locality,
    machine: &str,
    miss: u64,
    size: Size,
) -> Named<Observed> {
    // The cache-stress test is fast to simulate, so it always runs at its published size.
    let of_program = match (size, program) {
        (Size::Small, "cachestress") => Size::Paper,
        (size, _) => size,
    };
    let locality = locality.name();
    let given = format!("locality={locality}");
    let work = Workload {
        slower,
        ..Workload::new(program, program, of_program.into(), &given)
    };
    let settings = settings(machine, size, miss);
    let full = format!(
        "two packages/{program}/{}/{locality}/{machine}/miss={miss} cache={}",
        work.in_full(),
        settings.cache,
    );
    let setup = Setup {
        work,
        width: Width::Fixed(settings.processors),
        settings,
        instances: 1,
    };
    let short = format!("{machine}/{program}/{locality}/{miss}");
    (short, Cell::new(full, move |run| setup.observe(run)))
}

/// Runs each program in each locality, with the deques of the thesis at all costs, and with this
/// runtime's at no cost and at the fitted cost; and in the best locality on one processor.
pub fn batch(paper: &Paper, size: Size, runs: u64) -> Batch<Observed> {
    let fitted = paper.numbers("fitted").next().expect("a cost");
    let places = paper.numbers("miss").map(|miss| (PLACE_DEQUES, miss));
    let machines: Vec<_> = places
        .chain([0, fitted].map(|miss| (WORKER_DEQUES, miss)))
        .collect();
    let of_program = |program| {
        let several = machines.iter().flat_map(move |&(machine, miss)| {
            Locality::ALL.map(|locality| cell(program, locality, machine, miss, size))
        });
        several.chain([cell(program, Locality::Best, ALONE, fitted, size)])
    };
    Batch::simulated(runs, PROGRAMS.into_iter().flat_map(of_program))
}
