//! Rows of intervals, one after the other, each waiting for what it says of the one before, in bounded memory.
//!
//! Rows are created in batches. A batch is an interval whose body creates the rows and, behind them,
//! drafts for all batches that are left to it: one of one batch, then of two, of four, and so on, each
//! of which does the same with its own. A draft waits until the first row of the batch right before it
//! has ended; so two batches are there at a time, if all of a row comes before the end of the next, and drafts and open ancestors as many as the number
//! of batches has bits, and half of its square at most.
//!
//! Everything is created after what it waits for, and siblings in the order of time, so that no edge
//! needs a search.
//!
//! What it does not do: let go when a row fails. The drafts that are left are then never freed, and the
//! failure is what the inline interval returns.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidegate::interval::{Body, Draft, Interval};

use super::follow;
use crate::runtime::Runtime;

/// What passes from batch to batch.
#[derive(Default)]
struct Passed<'scope> {
    /// The row that was created last.
    row: Mutex<Vec<Interval<'scope>>>,
    /// The batches to come, the next one last.
    later: Mutex<Vec<Draft<'scope>>>,
}

/// Creates so many rows inside of `body`, in batches of `batch`. `weave` gets a row's number and the
/// row before, by whatever places it likes, and leaves there what it has created and scheduled.
pub fn unfold<'scope, 'env, R, W>(body: &Body<'scope, 'env>, rows: u64, batch: u64, weave: W)
where
    R: Runtime,
    W: Fn(&Body<'scope, 'env>, u64, &mut Vec<Interval<'scope>>) + Clone + Send + Sync + 'scope,
{
    let passed = Arc::new(Passed::default());
    if rows > 0 {
        one_batch::<R, W>(body, 0..rows, batch.max(1), weave, &passed);
    }
}

/// The first batch of these rows, and drafts for the others.
fn one_batch<'scope, 'env, R, W>(
    body: &Body<'scope, 'env>,
    rows: Range<u64>,
    batch: u64,
    weave: W,
    passed: &Arc<Passed<'scope>>,
) where
    R: Runtime,
    W: Fn(&Body<'scope, 'env>, u64, &mut Vec<Interval<'scope>>) + Clone + Send + Sync + 'scope,
{
    let mut row = std::mem::take(&mut *lock(&passed.row));
    weave(body, rows.start, &mut row);
    let first = row.clone();
    let end = rows.end.min(rows.start + batch);
    (rows.start + 1..end).for_each(|number| weave(body, number, &mut row));
    *lock(&passed.row) = row;
    let (mut next, mut length) = (end, batch);
    let mut drafts = Vec::new();
    while next < rows.end {
        let rows = next..rows.end.min(next + length);
        (next, length) = (rows.end, 2 * length);
        let (weave, passed) = (weave.clone(), passed.clone());
        let first = rows.start;
        let draft = body.interval(move |body| {
            one_batch::<R, W>(body, rows, batch, weave, &passed);
        });
        drafts.push(R::named(draft, || format!("rows from {first}")));
    }
    let mut later = lock(&passed.later);
    later.extend(drafts.into_iter().rev());
    if let Some(next) = later.pop() {
        first.iter().for_each(|interval| follow(interval, &next));
    }
}

/// Nobody leaves a lock's content half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
