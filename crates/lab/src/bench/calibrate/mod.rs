//! `bench calibrate`: measures this machine's costs, for use in the simulator.
//!
//! Each round measures every cost once. Measurements with two threads use the two
//! processors nearest to each other; the cost of distance uses the two furthest apart.

mod estimate;
mod memory;
mod tasks;
mod threads;

use std::time::Duration;

use tidegate::machine::Machine;
use tidegate_policy::tunables::{self as t, Tunable};

use crate::bench::ProgramsArguments;
use crate::engine::sheet::print_notes;
use crate::engine::{Interval, Sample, Session};
use tidegate_cli_support::arguments::Size;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::json_fields;
use tidegate_cli_support::output::{JsonField, Table, Value as Cell, print_json, to_json};

/// Each cost, and a description of how it is measured.
#[rustfmt::skip]
const COSTS: [(Tunable<u64>, &str); 17] = [
    (t::SIM_FORK, "half of what a join of fib takes beyond the calls, on one worker"),
    (t::SIM_JOIN, "the other half"),
    (t::SIM_ALLOCATE, "a reservation, taken and dropped"),
    (t::SIM_ATTEMPT, "half a round of two threads that answer each other"),
    (t::SIM_LOOK, "a word written that another thread reads, less one that none reads, by value seen"),
    (t::SIM_DISTANCE, "the same between the processors furthest apart, by step"),
    (t::SIM_MISS, "a KiB read from memory, less one from the cache of a processor"),
    (t::SIM_STEAL, "an empty task stolen, without the look"),
    (t::SIM_LOOK_AGAIN, "between two looks of a thief that never rests"),
    (t::SIM_YIELD, "a yield, alone"),
    (t::SIM_SLEEP, "processor time of a thread that sleeps and is woken"),
    (t::SIM_WAKE, "from unpark until the other thread runs"),
    (t::SIM_WAKE_CALL, "unpark"),
    (t::SIM_SLACK, "how late a thread is that has slept for 100 us, less a wake-up"),
    (t::SIM_HANDOVER, "half a round of two threads that take turns on a processor"),
    (t::SIM_SLICE, "turns of two threads that both want a processor"),
    (t::SIM_ESTIMATE, "processor time of a share controller by its estimates"),
];

/// The costs that one round measured, in nanoseconds and in the order of [`COSTS`]; `None` for a
/// cost that this machine cannot measure.
type Round = [Option<f64>; COSTS.len()];

pub struct Cost {
    tunable: Tunable<u64>,
    how: &'static str,
    nanos: Sample,
}

struct Processors {
    near: [usize; 2],
    /// The two processors furthest apart, and how many more steps apart they are than the near
    /// pair. `None` if all pairs are equally far apart.
    far: Option<([usize; 2], u32)>,
}

pub fn bench(arguments: &ProgramsArguments) -> Result<(), Failure> {
    let processors = Processors::find()?;
    let session = Session::whole("bench-calibrate", arguments.size, &arguments.keep);
    let rounds = session.share_turns(&["costs"], arguments.repeat.into(), |_, _| {
        round(&processors, arguments.size)
    })?;
    let cost = |(place, (tunable, how)): (usize, &(Tunable<u64>, &'static str))| Cost {
        tunable: *tunable,
        how,
        nanos: Sample::new(rounds[0].iter().filter_map(|round: &Round| round[place])),
    };
    let costs: Vec<Cost> = COSTS.iter().enumerate().map(cost).collect();
    if arguments.format.json {
        return print_json(
            &costs
                .iter()
                .map(|cost| to_json(Cost::FIELDS, cost))
                .collect(),
        );
    }
    table(&costs).print(arguments.format)?;
    print_notes(arguments.format, &session.notes())
}

impl Processors {
    fn find() -> Result<Self, Failure> {
        let machine = Machine::read();
        let usable = machine.usable();
        let cpus = usable.as_slice();
        let tree = machine.topology().places(cpus);
        let pairs = (0..cpus.len()).flat_map(|a| (a + 1..cpus.len()).map(move |b| (a, b)));
        let distance = |&(a, b): &(usize, usize)| tree.distance(a, b);
        let both = |(a, b): (usize, usize)| [cpus[a], cpus[b]];
        let (Some(near), Some(far)) = (
            pairs.clone().min_by_key(distance),
            pairs.clone().max_by_key(distance),
        ) else {
            return Err(Failure::Impossible(
                "bench calibrate requires two processors, but this process may use only one".into(),
            ));
        };
        let steps = distance(&far) - distance(&near);
        Ok(Self {
            near: both(near),
            far: (steps > 0).then(|| (both(far), steps)),
        })
    }
}

fn round(processors: &Processors, size: Size) -> Result<Round, Failure> {
    let times: u32 = match size {
        Size::Tiny => 1,
        Size::Small | Size::Paper => 10,
    };
    let long = u64::from(times);
    let near = processors.near;
    let both = tasks::fork_and_join(15 + 4 * times.ilog2())?;
    let reservation = tasks::reserve(1_000 * times)?;
    let attempt = threads::attempt(near, 5_000 * long)?;
    let look = threads::look(near, 50_000 * long)?;
    let distance = match processors.far {
        None => None,
        Some((far, steps)) => {
            let far = threads::attempt(far, 5_000 * long)?;
            Some((far - attempt) / f64::from(steps))
        }
    };
    let miss = memory::miss(size)?;
    let steal = tasks::steal(200 * times as usize)? - attempt;
    let again = tasks::look(Duration::from_millis(2 * long))? - attempt;
    let yields = threads::yields(1_000 * times);
    let wake = threads::wake(near, 10 * times)?;
    let late = threads::lateness(near[0], 10 * times)?;
    let handover = threads::handover(near[0], 100 * long)?;
    let slice = threads::slice(near[0], Duration::from_millis(20 * long))?;
    let estimate = estimate::estimate(10 * times as usize)?;
    Ok([
        Some(both / 2.0),
        Some(both / 2.0),
        Some(reservation),
        Some(attempt),
        Some(look),
        distance,
        Some(miss),
        Some(steal),
        Some(again),
        Some(yields),
        wake.sleep,
        Some(wake.latency),
        Some(wake.call),
        Some(late - wake.latency),
        Some(handover),
        slice,
        estimate,
    ])
}

impl Cost {
    /// Returns the median, rounded and clamped to the tunable's range.
    fn nanos(&self) -> Option<u64> {
        if self.nanos.is_empty() {
            return None;
        }
        let (least, most) = match self.tunable.allowed {
            t::Allowed::Between(least, most) => (least, most),
            t::Allowed::OneOf(_) => (0, u64::MAX),
        };
        let median = self.nanos.median().round();
        Some((median.max(0.0) as u64).clamp(least, most))
    }

    pub const FIELDS: &[JsonField<Self>] = json_fields! { cost:
        name "of the row of `tidegate tunables`" = cost.tunable.name;
        nanos "the median as an integer; null if this machine cannot measure it" = cost.nanos();
        nanos_low "the 95 % interval of the median" = cost.nanos.interval().low;
        nanos_high "" = cost.nanos.interval().high;
        least_nanos "" = cost.nanos.min();
        greatest_nanos "" = cost.nanos.max();
        median_of "rounds" = cost.nanos.count();
        default_nanos "" = cost.tunable.default;
        how "how it is measured" = cost.how;
    };
}

/// Puts the most important columns first.
fn table(costs: &[Cost]) -> Table {
    #[rustfmt::skip]
    let mut table = Table::new([
        "cost", "here", "low", "high", "default", "measured as", "from", "to",
    ]);
    for cost in costs {
        let nanos = &cost.nanos;
        let Interval { value, low, high } = nanos.interval();
        let time = |nanos: f64| Cell::known(Some(nanos / 1e9), Cell::Seconds);
        table.row([
            cost.tunable.name.into(),
            time(value),
            time(low),
            time(high),
            Cell::Seconds(cost.tunable.default as f64 / 1e9),
            cost.how.into(),
            time(nanos.min()),
            time(nanos.max()),
        ]);
    }
    table
}
