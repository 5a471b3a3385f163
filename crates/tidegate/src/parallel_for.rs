//! Parallel loops, which split only while other workers are idle.
//!
//! The far half of the remaining items waits in the deque as one private task, so a thief always
//! finds the biggest piece. The worker visits the near half in blocks, and polls between blocks.
//! While no worker is idle, a loop of n items costs log2(n) pushes, not n. Blocks grow until one
//! takes about [`BLOCK_TIME`], so that polls are frequent but cost almost nothing.

mod adaptors;
mod chunks;
mod filter;
mod find;
pub(crate) mod items;
mod map;
mod ranges;
mod reduce;
mod slices;

pub use adaptors::{enumerate, windows, zip};
pub use chunks::{chunks, chunks_mut};
pub use filter::filter_map;
pub(crate) use find::keep_first;
pub use find::{all, any, find_any, position_any};
pub use items::ParallelItems;
pub use map::par_map;
pub use reduce::{fold_reduce, map_reduce, max_by, min_by, sum};
pub(crate) use reduce::{map_blocks, reduce_blocks};

use items::private::Piece;
use tidegate_core::door::{self, Carried, WorkerThread, carry};
use tidegate_sync::atomic::{AtomicUsize, Ordering};
use tidegate_sync::clock;

/// How long a block of a loop should take, in nanoseconds: long compared with a poll and a clock
/// read, short compared with how long a thief waits for an answer.
const BLOCK_TIME: u64 = 5_000;
/// The largest factor by which a block may be longer than the previous one.
const GROWTH: u64 = 64;

/// How many items take about [`BLOCK_TIME`]: a hint that all workers of a loop refine.
struct Pace(AtomicUsize);

impl Pace {
    fn new() -> Self {
        Self(AtomicUsize::new(1))
    }

    fn block(&self) -> usize {
        // Relaxed: a hint.
        self.0.load(Ordering::Relaxed)
    }

    /// Adapts the hint to `done` items, which have taken from `begin` to `end`.
    fn adapt(&self, done: usize, begin: u64, end: u64) {
        let (done, took) = (done as u64, end.saturating_sub(begin).max(1));
        let wanted = (done.saturating_mul(BLOCK_TIME) / took).clamp(1, done.saturating_mul(GROWTH));
        // Relaxed: a hint.
        self.0.store(
            usize::try_from(wanted).unwrap_or(usize::MAX),
            Ordering::Relaxed,
        );
    }
}

/// The state that all workers of a loop share.
struct Loop {
    pace: Pace,
    /// The context in which blocks are visited.
    carried: Carried,
}

impl Loop {
    fn new(carried: &Carried) -> Self {
        Self {
            pace: Pace::new(),
            carried: carried.clone(),
        }
    }

    /// Visits one block, starting at the time `from`. Returns the remaining items and the time at
    /// which the block ended, unless `visit` returned false.
    fn work<P: Piece>(
        &self,
        items: P,
        visit: impl FnOnce(P) -> bool,
        from: u64,
    ) -> Option<(P, u64)> {
        let length = self.pace.block().min(items.length());
        let (now, rest) = items.cut(length);
        let done = now.length();
        let goes_on = self.carried.run(|| visit(now));
        if !goes_on || rest.length() == 0 {
            return None;
        }
        let end = clock::now();
        self.pace.adapt(done, from, end);
        Some((rest, end))
    }
}

/// What a loop collects from its items.
pub(crate) trait Output: Default + Send {
    /// Adds the output of the items that follow.
    fn append(&mut self, far: Self);
}

impl Output for () {
    fn append(&mut self, (): ()) {}
}

/// The values of a piece, and those of the pieces behind it, which other workers may have made.
pub(crate) type Values<R> = (Vec<R>, Vec<Vec<R>>);

impl<R: Send> Output for Values<R> {
    fn append(&mut self, far: Self) {
        self.1.push(far.0);
        self.1.extend(far.1);
    }
}

/// Appends the later values, so that each is copied once, however often the loop was split.
pub(crate) fn in_one<R>((mut near, far): Values<R>) -> Vec<R> {
    near.reserve_exact(far.iter().map(Vec::len).sum());
    far.into_iter().for_each(|mut part| near.append(&mut part));
    near
}

/// Visits `items`, and splits them if they exceed one block.
fn split<P: Piece, O: Output>(
    current: WorkerThread<'_>,
    items: P,
    visit: &(impl Fn(&mut O, P) -> bool + Sync),
    all: &Loop,
) -> O {
    if items.length() > all.pace.block() {
        return halve(current, items, visit, all);
    }
    let mut out = O::default();
    all.carried.run(|| visit(&mut out, items));
    out
}

fn halve<P: Piece, O: Output>(
    current: WorkerThread<'_>,
    items: P,
    visit: &(impl Fn(&mut O, P) -> bool + Sync),
    all: &Loop,
) -> O {
    let half = items.length().div_ceil(2);
    let (near, far) = items.cut(half);
    let (mut out, far) = current.join_running(
        || work_off(current, near, visit, all),
        |current| split(current, far, visit, all),
    );
    out.append(far);
    out
}

/// Visits `items` block by block, and splits the remaining items when a thief requests work.
fn work_off<P: Piece, O: Output>(
    current: WorkerThread<'_>,
    items: P,
    visit: &(impl Fn(&mut O, P) -> bool + Sync),
    all: &Loop,
) -> O {
    // Pushing the far half takes the slow path, which answers the signal.
    let is_wanted = |rest: &P, _| current.is_signalled() && rest.length() > 1;
    let finish = |rest| halve(current, rest, visit, all);
    work_until(items, visit, all, is_wanted, finish)
}

/// Visits `items` block by block until `stop` returns true for the remaining items and the time.
/// Then calls `finish` with these items.
fn work_until<P: Piece, O: Output>(
    mut items: P,
    visit: &impl Fn(&mut O, P) -> bool,
    all: &Loop,
    stop: impl Fn(&P, u64) -> bool,
    finish: impl FnOnce(P) -> O,
) -> O {
    let mut out = O::default();
    let mut from = clock::now();
    while let Some((rest, end)) = all.work(items, |block| visit(&mut out, block), from) {
        if stop(&rest, end) {
            out.append(finish(rest));
            break;
        }
        (items, from) = (rest, end);
    }
    out
}

/// Calls `f` with each item, in parallel while other workers are idle.
///
/// [`ParallelItems`] lists what `items` may be. The order of the calls is not defined. The call
/// returns when all items have been visited. The free function uses the pool of the calling task,
/// or the global pool outside of any pool. It wakes no worker for a loop that the caller finishes
/// within a few microseconds.
///
/// ```
/// let mut counts = [0; 100];
/// tidegate::for_each(&mut counts, |count| *count += 1);
/// tidegate::for_each(&counts[50..], |count| assert_eq!(*count, 1));
/// tidegate::for_each(0..=99, |i| assert_eq!(counts[i], 1));
///
/// let names = vec![String::from("ebb"), String::from("flow")];
/// tidegate::for_each(names, |name| drop(name.into_bytes()));
/// ```
///
/// # Panics
/// If `f` panics, resumes the first panic after all calls that had begun have ended. Items not
/// visited by then may be skipped; owned ones are dropped.
pub fn for_each<I: ParallelItems, F: Fn(I::Item) + Sync>(items: I, f: F) {
    let mut storage = I::Storage::default();
    let visit = |(): &mut (), block: I::Piece<'_>| {
        block.into_iter().for_each(&f);
        true
    };
    visit_blocks("for_each", items.pieces(&mut storage), &visit);
}

/// Calls `visit` with all items in blocks, until it returns false, in the pool of the calling task
/// or in the global pool.
/// `caller` is the function that the user called. A loop from outside starts on the caller alone,
/// because most loops finish before a sleeping worker would have woken.
pub(crate) fn visit_blocks<P: Piece, O: Output>(
    caller: &'static str,
    items: P,
    visit: &(impl Fn(&mut O, P) -> bool + Sync),
) -> O {
    if items.length() == 0 {
        return O::default();
    }
    let suspended = carry::carry_unless_visible();
    let all = &Loop::new(&suspended.carried);
    if let Some(current) = WorkerThread::get() {
        return split(current, items, visit, all);
    }
    door::check_allowed(caller);
    let begin = clock::now();
    let is_late = |_: &P, now: u64| now.saturating_sub(begin) >= BLOCK_TIME;
    work_until(items, visit, all, is_late, |rest| {
        door::outside(caller, move |current| split(current, rest, visit, all))
    })
}
