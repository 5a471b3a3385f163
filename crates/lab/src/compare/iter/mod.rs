//! `compare iter`: compares chains of the iterators of rayon and orx-parallel on these libraries'
//! own runtimes and on Tidegate. `compare native`: compares Tidegate's own loops with chains of
//! rayon that do the same work on rayon's own runtime.
//!
//! rayon finds its runtime by package name, so one process cannot hold both runtimes. Each side is
//! therefore a separate [`program`](program::Program) in `benches/iter`; [`cargo`](crate::cargo)
//! builds both from one source. For each number of workers, both programs are started with pools of
//! that size. A program lists its chains, their sizes and the places they are called from. Each
//! line of its standard input then requests a measurement. This module takes samples from the two
//! programs alternately. A program with the wrong rayon-core is rejected.
//!
//! The programs also run chains of orx-parallel, `orx_NAME`, which do the same work as rayon's
//! chain `NAME`: one on orx-parallel's own pool, the other on Tidegate through `tidegate-orx`.
//!
//! A sample is the mean of consecutive calls, as in a user's loop, after some warm-up calls.
//!
//! | case | a call comes from |
//! |---|---|
//! | `CHAIN ITEMS inside` | a worker, with all calls of a sample in one `install` |
//! | `CHAIN ITEMS outside` | the main thread; the chain itself enters a pool |
//! | `CHAIN ITEMS install` | the main thread; each call is an `install` into a pool |
//!
//! The result is a [cell](cells::Cell) for each case. The CPU time that the programs use while idle
//! afterwards, and the stack that nested scopes take ([`depth`]), are printed as [facts](Fact)
//! below the table.
//!
//! This module does not measure memory, and a ratio never decides whether the command succeeds.

mod cells;
mod depth;
mod identity;
mod lanes;
mod program;
mod sides;

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::fact::Fact;
use super::idle::{IDLE, TINY_IDLE};
use crate::engine::Session;
use tidegate_cli_support::arguments::Size;
use tidegate_cli_support::compare::row::{Conclusion, Outcome};
use tidegate_cli_support::compare::{Rival, Setting};
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::{Table, to_json};

pub use cells::Cell;
use identity::{Chain, Library};
use lanes::{Call, Idle};
use sides::{Built, Sides};

/// The default number of samples per row.
const SAMPLES: u32 = 21;

/// How long the timed calls of a sample take in total.
const LENGTH: Duration = Duration::from_millis(10);
/// How long the timed calls of a sample take in total with `--size tiny`.
const TINY_LENGTH: Duration = Duration::from_micros(100);

/// The maximum number of items unless `--size paper` is given.
const SMALL_ITEMS: u64 = 1_000_000;

const WORKERS: usize = 2;

/// The result: a cell for each call, and further facts.
struct Findings {
    cells: Vec<Cell>,
    facts: Vec<Fact>,
}

/// The libraries that `compare iter` measures.
pub const ITERATORS: &[Library] = &[Library::Rayon, Library::Orx];

/// The libraries that `compare native` measures.
pub const LOOPS: &[Library] = &[Library::Native];

/// Compares the stock runtimes with Tidegate on these chains of the libraries, or on all of them if
/// there are no names.
pub fn compare(
    libraries: &[Library],
    chains: &[String],
    setting: &Setting,
    session: &Session,
) -> Result<Outcome, Failure> {
    if setting.with.as_deref().unwrap_or(&[Rival::Rayon]) != [Rival::Rayon] {
        return Err(Failure::Usage(
            "--with allows only rayon for iter and native, and may be omitted".into(),
        ));
    }
    let workers = match &setting.workers[..] {
        [] => &[WORKERS],
        workers => workers,
    };
    let built = Built::new()?;
    let sides = workers.iter().map(|workers| built.start(*workers));
    let sides: Vec<Sides> = sides.collect::<Result<_, _>>()?;
    let mut known = sides[0].chains();
    known.retain(|chain| libraries.contains(&chain.library));
    let chosen = chosen(&known, chains)?;
    let calls: Vec<_> = sides
        .iter()
        .flat_map(|sides| calls(sides, &chosen, setting))
        .collect();
    let lanes = calls.iter().flat_map(Call::lanes).collect();
    let rows = super::rows(session, lanes, setting.repeat(SAMPLES))?;
    let cells = Cell::all(&calls, &rows);

    let mut facts = Vec::new();
    if libraries.contains(&Library::Rayon) {
        for sides in &sides {
            let length = setting.sized(TINY_IDLE, IDLE);
            let idle = Idle { sides, length };
            let rested = super::rows(session, idle.lanes().into(), 1)?;
            facts.extend(rested.iter().filter_map(|row| idle.fact(row)));
        }
        // Measure the stack last, because a program whose stack overflows crashes.
        facts.extend(depth::facts(&sides[0], setting)?);
    }
    Ok(Outcome {
        rows,
        measure: "one call of a chain".into(),
        notes: Vec::new(),
        conclusion: Some(Box::new(Findings { cells, facts })),
    })
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&cells::legend())?;
        self.facts.iter().try_for_each(|fact| writeln!(f, "{fact}"))
    }
}

impl Conclusion for Findings {
    fn table(&self) -> Table {
        cells::table(&self.cells)
    }

    fn to_json(&self, rows: Value) -> Value {
        json!({
            "rows": rows,
            "cells": self.cells.iter().map(|cell| to_json(Cell::FIELDS, cell)).collect::<Vec<_>>(),
            "facts": self.facts.iter().map(Fact::to_json).collect::<Vec<_>>(),
        })
    }
}

/// Returns the chains with these names, or all known chains if there are no names.
fn chosen<'a>(known: &'a [Chain], names: &[String]) -> Result<Vec<&'a Chain>, Failure> {
    if names.is_empty() {
        return Ok(known.iter().collect());
    }
    let find = |name: &String| {
        let found = known.iter().find(|chain| chain.name == *name);
        found.ok_or_else(|| {
            let names: Vec<_> = known.iter().map(|chain| &*chain.name).collect();
            let names = names.join(", ");
            Failure::Usage(format!("unknown chain {name:?}: expected {names}"))
        })
    };
    names.iter().map(find).collect()
}

/// Returns the calls to measure, in the order of the table.
fn calls<'a>(sides: &'a Sides, chains: &[&Chain], setting: &Setting) -> Vec<Call<'a>> {
    let mut calls = Vec::new();
    for chain in chains {
        let sizes = match setting.size {
            Size::Tiny => &chain.sizes[..1.min(chain.sizes.len())],
            Size::Small | Size::Paper => &chain.sizes[..],
        };
        let small = |items: &&u64| **items <= SMALL_ITEMS || setting.size == Size::Paper;
        for items in sizes.iter().filter(small) {
            for place in &chain.places {
                calls.push(Call {
                    sides,
                    chain: chain.name.clone(),
                    library: chain.library,
                    items: *items,
                    place: place.clone(),
                    length: setting.sized(TINY_LENGTH, LENGTH),
                });
            }
        }
    }
    calls
}
