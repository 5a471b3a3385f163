//! Lanes whose samples are taken by the programs.

use std::cell::RefCell;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tidegate_workloads::Runtime;

use super::program::{self, Program};
use super::sides::Sides;
use crate::compare::Setting;
use crate::compare::fact::Fact;
use crate::compare::idle::{IDLE, REST, TINY_IDLE, unknown};
use crate::compare::lane::{Lane, Sample};
use crate::compare::race::{Race, SERIAL};
use crate::compare::row::Row;
use crate::failure::Failure;

/// A chain on so many items, called from one place.
pub struct Call<'a> {
    /// Who calls it.
    pub sides: &'a Sides,
    /// The chain's name.
    pub chain: String,
    /// Whether the chain forks at the smallest of its sizes.
    pub forks: bool,
    /// How many items.
    pub items: u64,
    /// How many of the chain's sizes are smaller.
    pub rank: usize,
    /// How often it is called for a sample.
    pub times: u64,
    /// From where.
    pub place: &'static str,
}

impl<'a> Call<'a> {
    /// The number of items, as a power of ten where it is one.
    pub fn size(&self) -> String {
        match self.items.checked_ilog10() {
            Some(power) if 10_u64.pow(power) == self.items => format!("10^{power}"),
            _ => self.items.to_string(),
        }
    }

    /// A lane of `program`, which does it at `place`.
    fn lane(
        &self,
        runtime: &'static str,
        workers: usize,
        (program, place): (&'a RefCell<Program>, &str),
    ) -> Lane<'a> {
        let request = json!({
            "do": "sample", "chain": self.chain, "items": self.items, "times": self.times,
            "workers": workers, "place": place,
        });
        let take = move || sample(&program.borrow_mut().ask(&request)?);
        Lane::new(&self.name(), runtime, workers, take)
    }
}

/// The sample in an answer.
fn sample(answer: &Value) -> Result<Sample, Failure> {
    let nanos = answer["nanos"].as_f64();
    let nanos = nanos.ok_or_else(|| Failure::Impossible(format!("{answer} is no sample")))?;
    let used = program::usage(answer);
    Ok(Sample { nanos, used })
}

impl<'a> Race<'a> for &Call<'a> {
    fn name(&self) -> String {
        format!("{} {} {}", self.chain, self.size(), self.place)
    }

    fn on<R: Runtime + 'a>(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        let Some(program) = self.sides.on(R::NAME) else {
            return Ok(Lane::not_applicable(&self.name(), R::NAME, workers));
        };
        let mut lane = self.lane(R::NAME, workers, (program, self.place));
        lane.version = Some(program.borrow().identity.version());
        Ok(lane)
    }

    fn serial(&self) -> Result<Lane<'a>, Failure> {
        let program = &self.sides.stock;
        let mut lane = self.lane(SERIAL, 1, (program, SERIAL));
        lane.version = Some(program.borrow().identity.compiler.clone());
        Ok(lane)
    }
}

/// Programs that have worked and are left alone, for so long.
pub struct Idle<'a> {
    sides: &'a Sides,
    length: Duration,
}

impl<'a> Idle<'a> {
    /// As long as in `compare idle`.
    pub fn new(sides: &'a Sides, setting: &Setting) -> Self {
        Self {
            sides,
            length: setting.sized(TINY_IDLE, IDLE),
        }
    }

    /// What a row says of one program.
    pub fn fact(&self, row: &Row) -> Option<Fact> {
        let percent = 100.0 * row.median()? / self.length.as_nanos() as f64;
        Some(Fact::plain(
            format!("CPU time {} on {} {}", row.case, row.runtime, row.workers),
            percent.into(),
            format!("{percent:.3} % of one processor"),
        ))
    }
}

impl<'a> Race<'a> for &Idle<'a> {
    fn name(&self) -> String {
        "idle after the chains".into()
    }

    fn on<R: Runtime + 'a>(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        let Some(program) = self.sides.on(R::NAME) else {
            return Ok(Lane::not_applicable(&self.name(), R::NAME, workers));
        };
        let request = json!({ "do": "idle", "millis": self.length.as_millis() as u64 });
        let take = move || {
            thread::sleep(REST);
            let used = program::usage(&program.borrow_mut().ask(&request)?);
            let nanos = used.cpu.ok_or_else(unknown)?.as_nanos() as f64;
            Ok(Sample { nanos, used })
        };
        let mut lane = Lane::new(&self.name(), R::NAME, workers, take);
        lane.version = Some(program.borrow().identity.version());
        Ok(lane)
    }
}
