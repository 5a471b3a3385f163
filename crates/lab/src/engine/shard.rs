//! A shard of an experiment's runs, which one process of several makes.

use std::collections::BTreeSet;
use std::mem;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};
use tidegate_cli_support::failure::Failure;

use super::session::Cell;
use super::store::Runs;

/// A run: the cell's name, and the run's number.
pub type Key = (String, u64);

/// Consecutive runs of a cell.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Stretch {
    pub cell: String,
    pub runs: Range<u64>,
}

/// The runs that a process is asked for, and what became of them.
pub struct Shard {
    /// `None` for all runs.
    asked: Option<BTreeSet<Key>>,
    goes_on: Box<dyn Fn() -> bool + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    made: Runs,
    left: BTreeSet<Key>,
}

impl Shard {
    /// Asks for these runs, as long as `goes_on` allows another one to begin.
    pub fn of(asked: &[Stretch], goes_on: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let runs = |stretch: &Stretch| {
            let cell = stretch.cell.clone();
            stretch.runs.clone().map(move |run| (cell.clone(), run))
        };
        Self {
            asked: Some(asked.iter().flat_map(runs).collect()),
            goes_on: Box::new(goes_on),
            state: Mutex::default(),
        }
    }

    /// Asks for all runs, and makes none of them: this lists them.
    pub fn list() -> Self {
        Self {
            asked: None,
            goes_on: Box::new(|| false),
            state: Mutex::default(),
        }
    }

    /// Makes those runs of these cells that were asked for, in parallel.
    pub fn take<T: Serialize>(&self, cells: &[&Cell<'_, T>], runs: u64) -> Result<(), Failure> {
        let is_asked = |cell: &str, run| match &self.asked {
            Some(asked) => asked.contains(&(cell.to_owned(), run)),
            None => true,
        };
        let all = (0..runs).flat_map(|run| cells.iter().map(move |cell| (cell, run)));
        let all: Vec<_> = all
            .filter(|(cell, run)| is_asked(&cell.name, *run))
            .collect();
        let failed = OnceLock::new();
        tidegate::for_each(0..all.len(), |number| {
            let (cell, run) = all[number];
            let key = (cell.name.clone(), run);
            if failed.get().is_some() || !(self.goes_on)() {
                self.with_state(|state| state.left.insert(key));
                return;
            }
            match (cell.take)(run) {
                Ok(value) => {
                    let value = serde_json::to_value(value).expect("runs are JSON");
                    self.with_state(|state| state.made.insert(key, value));
                }
                Err(failure) => drop(failed.set(failure)),
            }
        });
        failed.into_inner().map_or(Ok(()), Err)
    }

    pub fn made(&self) -> Runs {
        self.with_state(|state| mem::take(&mut state.made))
    }

    pub fn left(&self) -> Vec<Key> {
        let left = self.with_state(|state| mem::take(&mut state.left));
        left.into_iter().collect()
    }

    fn with_state<R>(&self, then: impl FnOnce(&mut State) -> R) -> R {
        // If a run panics, the command ends, so no later run sees the poisoned state.
        then(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Divides runs into at most `shards` shards of about equal size.
pub fn divide(runs: &[Key], shards: usize) -> Vec<Vec<Stretch>> {
    let shards = shards.min(runs.len());
    let start = |shard: usize| runs.len() * shard / shards;
    let shard = |shard| stretches(&runs[start(shard)..start(shard + 1)]);
    (0..shards).map(shard).collect()
}

pub fn count(stretches: &[Stretch]) -> u64 {
    let lengths = stretches.iter().map(|one| one.runs.end - one.runs.start);
    lengths.sum()
}

fn stretches(runs: &[Key]) -> Vec<Stretch> {
    let joined = runs.chunk_by(|(cell, run), (next, after)| cell == next && run + 1 == *after);
    joined
        .map(|joined| Stretch {
            cell: joined[0].0.clone(),
            runs: joined[0].1..joined[0].1 + joined.len() as u64,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn cells() -> Vec<Cell<'static, u64>> {
        let cell = |number: u64| Cell::new(number.to_string(), move |run| Ok(10 * number + run));
        vec![cell(1), cell(2)]
    }

    fn take(shard: &Shard, runs: u64) {
        let cells = cells();
        shard.take(&cells.iter().collect::<Vec<_>>(), runs).unwrap();
    }

    fn stretch(cell: &str, runs: Range<u64>) -> Stretch {
        let cell = cell.to_owned();
        Stretch { cell, runs }
    }

    #[test]
    fn a_list_divides_all_runs() {
        for (shards, expected) in [
            (1, vec![vec![stretch("1", 0..3), stretch("2", 0..3)]]),
            (
                4,
                vec![
                    vec![stretch("1", 0..1)],
                    vec![stretch("1", 1..3)],
                    vec![stretch("2", 0..1)],
                    vec![stretch("2", 1..3)],
                ],
            ),
        ] {
            let shard = Shard::list();
            take(&shard, 3);
            let left = shard.left();
            assert_eq!(divide(&left, shards), expected);
            let each = divide(&left, 100);
            assert_eq!(
                each.iter().map(|shard| count(shard)).collect::<Vec<_>>(),
                [1; 6]
            );
            assert!(shard.made().is_empty());
        }
    }

    /// Whatever order the runs begin in, each of them is made once, by the shard or by its rest.
    #[test]
    fn a_spent_part_leaves_the_rest() {
        let all = [stretch("1", 0..4), stretch("2", 1..3)];
        let whole = Shard::of(&all, || true);
        take(&whole, 4);
        let whole = whole.made();
        assert!(whole.values().eq(&[10, 11, 12, 13, 21, 22]), "{whole:?}");
        for budget in 0..=6 {
            let begun = AtomicU64::new(0);
            let goes_on = move || begun.fetch_add(1, Ordering::Relaxed) < budget;
            let shard = Shard::of(&all, goes_on);
            take(&shard, 4);
            let (mut made, left) = (shard.made(), shard.left());
            assert_eq!((made.len() as u64, left.len() as u64), (budget, 6 - budget));
            let rest = Shard::of(&divide(&left, 2).concat(), || true);
            take(&rest, 4);
            let rest_made = rest.made();
            assert!(rest_made.keys().eq(&left), "{rest_made:?}");
            assert!(rest.left().is_empty());
            made.extend(rest_made);
            assert_eq!(made, whole);
        }
    }

    #[test]
    fn an_error_ends_a_part() {
        let shard = Shard::of(&[stretch("1", 0..2)], || true);
        let cell = Cell::new("1", |_| Err::<u64, _>(Failure::Usage("no".to_owned())));
        let failure = shard.take(&[&cell], 2).unwrap_err();
        assert!(matches!(failure, Failure::Usage(_)), "{failure}");
    }
}
