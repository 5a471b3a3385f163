//! Creates rows of intervals one after the other in bounded memory. Each interval waits for some
//! intervals of the previous row, which the caller chooses.
//!
//! Rows are created in batches. A batch is an interval whose body creates the rows of that batch
//! and then drafts intervals that cover all later batches assigned to it: the first interval covers
//! one batch, the second two batches, the third four, and so on. Each of these intervals does the
//! same for its own batches. It starts after the first row of the previous batch has ended. So only
//! two batches exist at a time, provided that every row ends before the next row does. If the
//! number of batches has b bits, there are about b drafts and unfinished ancestors, and never more
//! than half of b^2.
//!
//! Every interval is created after the intervals it waits for, and siblings are created in time
//! order, so adding an edge never requires a search.
//!
//! If a row fails, the remaining drafts are never freed; the inline interval returns the failure.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidegate::interval::{Interval, IntervalBuilder, Scope};

use super::follow;
use crate::runtime::Runtime;

#[derive(Default)]
struct Passed<'scope> {
    /// The most recently created row.
    row: Mutex<Vec<Interval<'scope>>>,
    /// Drafts of the intervals that create the later batches, in reverse order.
    later: Mutex<Vec<IntervalBuilder<'scope>>>,
}

/// Creates `rows` rows inside `body`, in batches of `batch` rows. `weave` must create one row: it
/// receives the row's number and the previous row as a vector, schedules new intervals, and stores
/// them in the vector in place of the old ones. `weave` decides which interval is at which index.
pub fn unfold<'scope, 'env, R, W>(body: &Scope<'scope, 'env>, rows: u64, batch: u64, weave: W)
where
    R: Runtime,
    W: Fn(&Scope<'scope, 'env>, u64, &mut Vec<Interval<'scope>>) + Clone + Send + Sync + 'scope,
{
    let passed = Arc::new(Passed::default());
    if rows > 0 {
        one_batch::<R, W>(body, 0..rows, batch.max(1), weave, &passed);
    }
}

/// Creates the first batch of `rows`, and drafts intervals for the rest.
fn one_batch<'scope, 'env, R, W>(
    body: &Scope<'scope, 'env>,
    rows: Range<u64>,
    batch: u64,
    weave: W,
    passed: &Arc<Passed<'scope>>,
) where
    R: Runtime,
    W: Fn(&Scope<'scope, 'env>, u64, &mut Vec<Interval<'scope>>) + Clone + Send + Sync + 'scope,
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

/// A poisoned lock is fine, because no code panics in the middle of an update.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
