//! Lanes that take their samples from the two `benches/iter` programs (stock rayon and Tidegate).

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::identity::Library;
use super::program;
use super::sides::Sides;
use crate::compare::fact::Fact;
use crate::compare::idle::{REST, unknown};
use tidegate_cli_support::compare::lane::{Lane, Measurement};
use tidegate_cli_support::compare::row::Row;
use tidegate_cli_support::failure::Failure;

/// A chain that is called from one place on a given number of items.
pub struct Call<'a> {
    pub sides: &'a Sides,
    pub chain: String,
    pub library: Library,
    pub items: u64,
    /// Where the chain is called from, as the programs spell it.
    pub place: String,
    /// How long a sample's calls take in total.
    pub length: Duration,
}

impl<'a> Call<'a> {
    /// Returns the number of items; `10^n` if it is a power of ten.
    pub fn size(&self) -> String {
        match self.items.checked_ilog10() {
            Some(power) if 10_u64.pow(power) == self.items => format!("10^{power}"),
            _ => self.items.to_string(),
        }
    }

    /// Returns Tidegate's lane and the stock runtime's.
    pub fn lanes(&self) -> [Lane<'a>; 2] {
        let request = json!({
            "do": "sample", "chain": self.chain, "items": self.items,
            "micros": self.length.as_micros() as u64, "place": self.place,
        });
        let case = format!("{} {} {}", self.chain, self.size(), self.place);
        lanes(self.sides, self.library, &case, move |ask| {
            let answer = ask(&request)?;
            let nanos = answer["nanos"].as_f64();
            let nanos =
                nanos.ok_or_else(|| Failure::Impossible(format!("{answer} is not a sample")))?;
            let used = program::usage(&answer);
            Ok(Measurement { nanos, used })
        })
    }
}

/// Sends a request to a program and returns the answer.
type Ask<'a> = &'a mut dyn FnMut(&Value) -> Result<Value, Failure>;

/// Creates a lane for each program. `take` takes one sample of a program.
fn lanes<'a>(
    sides: &'a Sides,
    library: Library,
    case: &str,
    take: impl Fn(Ask<'_>) -> Result<Measurement, Failure> + Clone + 'a,
) -> [Lane<'a>; 2] {
    sides.both(library).map(|(runtime, program)| {
        let take = take.clone();
        let sample = move || take(&mut |request| program.borrow_mut().ask(request));
        let mut lane = Lane::new(case, runtime, sides.workers, sample);
        lane.version = Some(program.borrow().identity.version(library));
        lane
    })
}

/// Measures programs that are idle after they have worked.
pub struct Idle<'a> {
    pub sides: &'a Sides,
    pub length: Duration,
}

impl<'a> Idle<'a> {
    /// Returns Tidegate's lane and stock rayon's.
    pub fn lanes(&self) -> [Lane<'a>; 2] {
        let request = json!({ "do": "idle", "millis": self.length.as_millis() as u64 });
        lanes(
            self.sides,
            Library::Rayon,
            "idle after the chains",
            move |ask| {
                thread::sleep(REST);
                let used = program::usage(&ask(&request)?);
                let nanos = used.cpu.ok_or_else(unknown)?.as_nanos() as f64;
                Ok(Measurement { nanos, used })
            },
        )
    }

    /// Returns the fact that states how much CPU time an idle program used.
    pub fn fact(&self, row: &Row) -> Option<Fact> {
        let percent = 100.0 * row.median()? / self.length.as_nanos() as f64;
        Some(Fact::new(
            format!("CPU time {} on {} {}", row.case, row.runtime, row.workers),
            percent.into(),
            format!("{percent:.3} % of one processor"),
        ))
    }
}
