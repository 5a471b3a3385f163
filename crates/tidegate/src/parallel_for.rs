//! Parallel loops, which split only while other workers are idle.
//!
//! The far half of the remaining items waits in the deque as one private task, so a thief always
//! finds the biggest piece. The worker visits the near half in blocks, and polls between blocks.
//! While no worker is idle, a loop of n items costs log2(n) pushes, not n. Blocks grow until one
//! takes about [`BLOCK_TIME`], so that polls are frequent but cost almost nothing.

mod chunks;
pub(crate) mod items;
mod map;
mod ranges;
mod reduce;
mod slices;

pub use chunks::{chunks, chunks_mut};
pub use items::ParallelItems;
pub use map::par_map;
pub(crate) use map::par_map_on;
pub use reduce::map_reduce;
pub(crate) use reduce::map_reduce_on;

use crate::cancel::token::CancelToken;
use crate::owned::Storage;
use items::private::Piece;
use tidegate_core::door::{self, Carried, WorkerThread, carry};
use tidegate_sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tidegate_sync::clock;

/// How long a block of a loop should take, in nanoseconds: long compared with a poll and a clock
/// read, short compared with how long a thief waits for an answer.
const BLOCK_TIME: u64 = 5_000;
/// The largest factor by which a block may be longer than the previous one.
const GROWTH: u64 = 64;

/// The state that all workers of a loop share.
pub(crate) struct Loop {
    /// The length of the next block: a hint that all workers refine.
    block: AtomicUsize,
    /// The context in which blocks are visited.
    carried: Carried,
    /// The token that stops the loop.
    token: Option<CancelToken>,
    /// Whether some items were not visited because the token was cancelled.
    was_cut_short: AtomicBool,
}

impl Loop {
    pub(crate) fn new(carried: &Carried) -> Self {
        Self {
            block: AtomicUsize::new(1),
            carried: carried.clone(),
            token: None,
            was_cut_short: AtomicBool::new(false),
        }
    }

    pub(crate) fn stopped_by(carried: &Carried, token: CancelToken) -> Self {
        Self {
            token: Some(token),
            ..Self::new(carried)
        }
    }

    /// Returns the name of the function that was called.
    fn caller(&self) -> &'static str {
        match self.token {
            Some(_) => "try_for_each",
            None => "for_each",
        }
    }

    fn block(&self) -> usize {
        // Relaxed: a hint.
        self.block.load(Ordering::Relaxed)
    }

    /// Visits the items, unless the loop's token is cancelled.
    fn visit<I: Piece>(&self, items: I, f: impl FnMut(I::Item)) {
        if self.is_cancelled() {
            self.cut_short();
        } else {
            self.carried.run(|| items.into_iter().for_each(f));
        }
    }

    /// Records that an item was not visited because the loop was cancelled.
    pub(crate) fn cut_short(&self) {
        // Relaxed: read after the loop.
        self.was_cut_short.store(true, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.token.as_ref().is_some_and(CancelToken::is_cancelled)
    }

    /// Whether some items were not visited because the loop's token was cancelled. Call this only
    /// after the loop.
    pub(crate) fn was_cut_short(&self) -> bool {
        // Relaxed: the loop's joins order all stores before this load.
        self.was_cut_short.load(Ordering::Relaxed)
    }

    /// Visits one block, starting at the time `from`, and adapts the block length. Returns the
    /// remaining items and the time at which the block ended.
    fn work<I: Piece>(&self, items: I, f: impl FnMut(I::Item), from: u64) -> Option<(I, u64)> {
        let length = self.block().min(items.length());
        let (now, rest) = items.cut(length);
        let done = now.length() as u64;
        self.visit(now, f);
        if rest.length() == 0 {
            return None;
        }
        let end = clock::now();
        let took = end.saturating_sub(from).max(1);
        let wanted = (done.saturating_mul(BLOCK_TIME) / took).clamp(1, done.saturating_mul(GROWTH));
        // Relaxed: a hint.
        self.block.store(
            usize::try_from(wanted).unwrap_or(usize::MAX),
            Ordering::Relaxed,
        );
        Some((rest, end))
    }
}

/// Visits `items`, and splits them if they exceed one block.
fn split<I: Piece>(current: WorkerThread<'_>, items: I, f: &(impl Fn(I::Item) + Sync), all: &Loop) {
    if items.length() <= all.block() {
        all.visit(items, f);
    } else {
        halve(current, items, f, all);
    }
}

fn halve<I: Piece>(current: WorkerThread<'_>, items: I, f: &(impl Fn(I::Item) + Sync), all: &Loop) {
    let half = items.length().div_ceil(2);
    let (near, far) = items.cut(half);
    current.join_running(
        || work_off(current, near, f, all),
        |current| split(current, far, f, all),
    );
}

/// Visits `items` block by block, and splits the remaining items when a thief requests work.
fn work_off<I: Piece>(
    current: WorkerThread<'_>,
    mut items: I,
    f: &(impl Fn(I::Item) + Sync),
    all: &Loop,
) {
    let mut from = clock::now();
    while let Some((rest, end)) = all.work(items, f, from) {
        if current.is_signalled() && rest.length() > 1 {
            // Pushing the far half takes the slow path, which answers the signal.
            return halve(current, rest, f, all);
        }
        (items, from) = (rest, end);
    }
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
    let suspended = carry::carry_unless_visible();
    visit_all(items, &f, &Loop::new(&suspended.carried));
}

/// Runs a loop in the pool of the calling task, or in the global pool.
pub(crate) fn visit_all<I: ParallelItems>(items: I, f: &(impl Fn(I::Item) + Sync), all: &Loop) {
    let mut storage = Storage::new();
    let items = items.pieces(&mut storage);
    if items.length() == 0 {
        return;
    }
    match WorkerThread::get() {
        Some(current) => split(current, items, f, all),
        None => for_each_outside(items, f, all),
    }
}

/// Runs a loop on this worker.
pub(crate) fn visit_all_on<I: ParallelItems>(
    current: WorkerThread<'_>,
    items: I,
    f: &(impl Fn(I::Item) + Sync),
    all: &Loop,
) {
    let mut storage = Storage::new();
    split(current, items.pieces(&mut storage), f, all);
}

/// Starts the loop on the caller alone, because most loops finish before a sleeping worker would
/// have woken.
fn for_each_outside<I: Piece>(mut items: I, f: &(impl Fn(I::Item) + Sync), all: &Loop) {
    door::check_allowed(all.caller());
    let begin = clock::now();
    let mut from = begin;
    while let Some((rest, end)) = all.work(items, f, from) {
        if end.saturating_sub(begin) >= BLOCK_TIME {
            return door::outside(all.caller(), move |current| split(current, rest, f, all));
        }
        (items, from) = (rest, end);
    }
}
