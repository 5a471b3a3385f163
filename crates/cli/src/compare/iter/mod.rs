//! `compare iter`: chains of rayon's iterators on its own runtime and on Tidegate.
//!
//! rayon finds its runtime by the name of a package, so that one process cannot hold both. Each side therefore is a
//! [`program`](program::Program) of its own, in `benches/iter`, built from one source by [`cargo`] and told line by line
//! what to measure. The programs name the chains and sizes; here the samples are put in turns, and conclusions drawn
//! ([`summary`]). A program whose rayon-core is not the one that its side promises is refused.
//!
//! | case | the time is |
//! |---|---|
//! | `CHAIN ITEMS inside` | that of a call, of many within one `install` |
//! | `CHAIN ITEMS outside` | that of a call from a thread of no pool, each an `install` |
//! | `idle after the chains` | CPU time of the whole process while nobody asks it for anything |
//!
//! The serial lane is the same chain without rayon, in the program with rayon's own runtime.
//!
//! What this does not do: measure memory, or decide by a goal whether the command succeeds.

mod cargo;
mod depth;
mod identity;
mod lanes;
mod program;
mod sides;
mod summary;

use super::Setting;
use super::race;
use super::rounds;
use super::row::{Outcome, Row};
use crate::arguments::Rival;
use crate::failure::Failure;

use identity::Chain;
use lanes::{Call, Idle};
use sides::Sides;

/// Samples of a row, for each of a chain's sizes; those of the last take seconds a round.
const SAMPLES: [u32; 3] = [51, 51, 15];

/// How often a chain is called for a sample where everything is tiny.
const TINY_TIMES: u64 = 2;

/// Compares rayon's runtime with Tidegate in these chains, or in all if there are none.
pub fn compare(chains: &[String], setting: &Setting) -> Result<Outcome, Failure> {
    let sides = Sides::start()?;
    let known = sides.stock.borrow().identity.chains.clone();
    let calls = calls(&sides, &chosen(&known, chains)?, setting);
    let workers = setting.workers()?;
    let mut rows = rows(&calls, &workers, setting)?;
    let mut summary = summary::of(&calls, &workers, &rows);

    let idle = Idle::new(&sides, setting);
    let most = workers.iter().copied().max().unwrap_or(1);
    let lanes = race::lanes(&&idle, &[Rival::Rayon], &[most])?;
    let rested = rounds::take(lanes, 1, false)?;
    summary.extend(rested.iter().filter_map(|row| idle.fact(row)));
    rows.extend(rested);
    // Last, because a program that runs out of stack is gone.
    summary.extend(depth::facts(&sides, setting)?);
    Ok(Outcome {
        rows,
        measure: "one call of a chain; idle: CPU time".into(),
        notes: Vec::new(),
        summary: Some(summary),
    })
}

/// The rows of calls that are in the order of their ranks; calls of one rank are measured in turns.
fn rows(calls: &[Call<'_>], workers: &[usize], setting: &Setting) -> Result<Vec<Row>, Failure> {
    let rivals = setting.rivals_elsewhere(&[Rival::Serial, Rival::Rayon]);
    let mut rows = Vec::new();
    for calls in calls.chunk_by(|a, b| a.rank == b.rank) {
        let mut lanes = Vec::new();
        for call in calls {
            lanes.extend(race::lanes(&call, &rivals, workers)?);
        }
        let samples = SAMPLES[calls[0].rank.min(SAMPLES.len() - 1)];
        rows.extend(rounds::take(lanes, setting.repeat(samples), true)?);
    }
    Ok(rows)
}

/// The chains of these names among those that the programs know.
fn chosen<'a>(known: &'a [Chain], names: &[String]) -> Result<Vec<&'a Chain>, Failure> {
    if names.is_empty() {
        return Ok(known.iter().collect());
    }
    let find = |name: &String| {
        let found = known.iter().find(|chain| chain.name == *name);
        found.ok_or_else(|| {
            let names: Vec<_> = known.iter().map(|chain| &*chain.name).collect();
            let names = names.join(", ");
            Failure::Usage(format!("--chain is {name:?}, allowed are: {names}"))
        })
    };
    names.iter().map(find).collect()
}

/// What is called, small inputs first.
fn calls<'a>(sides: &'a Sides, chains: &[&Chain], setting: &Setting) -> Vec<Call<'a>> {
    let mut calls = Vec::new();
    for chain in chains {
        let sizes = setting.sized(&chain.sizes[..1], &chain.sizes[..]);
        for (rank, size) in sizes.iter().enumerate() {
            for (place, times) in [("inside", size.inside), ("outside", size.outside)] {
                calls.push(Call {
                    sides,
                    chain: chain.name.clone(),
                    forks: chain.forks,
                    rank,
                    items: size.items,
                    times: setting.sized(TINY_TIMES, times),
                    place,
                });
            }
        }
    }
    calls.sort_by_key(|call| call.rank);
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_that_no_program_knows_is_told_with_those_that_there_are() {
        let known = ["zip", "rev"].map(|name| Chain {
            name: name.into(),
            forks: false,
            sizes: Vec::new(),
        });
        assert_eq!(chosen(&known, &[]).unwrap().len(), 2);
        assert_eq!(chosen(&known, &["rev".into()]).unwrap()[0].name, "rev");
        let told = chosen(&known, &["map".into()]).err().unwrap().to_string();
        assert_eq!(told, "--chain is \"map\", allowed are: zip, rev");
    }
}
