//! Lanes that take their samples from the two `benches/iter` programs (stock rayon and Tidegate).

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::program;
use super::sides::Sides;
use crate::compare::fact::Fact;
use crate::compare::idle::{IDLE, REST, TINY_IDLE, unknown};
use tidegate_command::compare::Setting;
use tidegate_command::compare::lane::{Lane, Measurement};
use tidegate_command::compare::row::Row;
use tidegate_command::failure::Failure;

/// Calls of a chain on a number of items, from one place.
pub struct Call<'a> {
    /// The programs that run it.
    pub sides: &'a Sides,
    /// The chain's name.
    pub chain: String,
    pub items: u64,
    /// The place from which the chain is called, as the programs name it.
    pub place: String,
    /// The total duration of the calls in a sample.
    pub length: Duration,
}

impl<'a> Call<'a> {
    /// The number of items, written as a power of ten if possible.
    pub fn size(&self) -> String {
        match self.items.checked_ilog10() {
            Some(power) if 10_u64.pow(power) == self.items => format!("10^{power}"),
            _ => self.items.to_string(),
        }
    }

    /// Tidegate's lane and stock rayon's.
    pub fn lanes(&self) -> [Lane<'a>; 2] {
        let request = json!({
            "do": "sample", "chain": self.chain, "items": self.items,
            "micros": self.length.as_micros() as u64, "place": self.place,
        });
        let case = format!("{} {} {}", self.chain, self.size(), self.place);
        lanes(self.sides, &case, move |ask| {
            let answer = ask(&request)?;
            let nanos = answer["nanos"].as_f64();
            let nanos =
                nanos.ok_or_else(|| Failure::Impossible(format!("{answer} is no sample")))?;
            let used = program::usage(&answer);
            Ok(Measurement { nanos, used })
        })
    }
}

/// Sends a request to a program and returns the answer.
type Ask<'a> = &'a mut dyn FnMut(&Value) -> Result<Value, Failure>;

/// A lane for each program; `take` takes its samples.
fn lanes<'a>(
    sides: &'a Sides,
    case: &str,
    take: impl Fn(Ask<'_>) -> Result<Measurement, Failure> + Clone + 'a,
) -> [Lane<'a>; 2] {
    sides.both().map(|(runtime, program)| {
        let take = take.clone();
        let sample = move || take(&mut |request| program.borrow_mut().ask(request));
        let mut lane = Lane::new(case, runtime, sides.workers, sample);
        lane.version = Some(program.borrow().identity.version());
        lane
    })
}

/// Programs that are measured while idle, after they have worked.
pub struct Idle<'a> {
    sides: &'a Sides,
    length: Duration,
}

impl<'a> Idle<'a> {
    /// The programs stay idle for as long as the pools in `compare idle`.
    pub fn new(sides: &'a Sides, setting: &Setting) -> Self {
        Self {
            sides,
            length: setting.sized(TINY_IDLE, IDLE),
        }
    }

    /// Tidegate's lane and stock rayon's.
    pub fn lanes(&self) -> [Lane<'a>; 2] {
        let request = json!({ "do": "idle", "millis": self.length.as_millis() as u64 });
        lanes(self.sides, "idle after the chains", move |ask| {
            thread::sleep(REST);
            let used = program::usage(&ask(&request)?);
            let nanos = used.cpu.ok_or_else(unknown)?.as_nanos() as f64;
            Ok(Measurement { nanos, used })
        })
    }

    /// States the result in one program's row.
    pub fn fact(&self, row: &Row) -> Option<Fact> {
        let percent = 100.0 * row.median()? / self.length.as_nanos() as f64;
        Some(Fact::new(
            format!("CPU time {} on {} {}", row.case, row.runtime, row.workers),
            percent.into(),
            format!("{percent:.3} % of one processor"),
        ))
    }
}
