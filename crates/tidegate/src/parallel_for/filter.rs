//! Maps that leave items out, and keep the order of the rest.

use super::items::ParallelItems;
use super::{Values, in_one, visit_blocks};

/// Maps each item to a value or to nothing, in parallel, and returns the values in the order of the
/// items.
///
/// [`ParallelItems`] lists what `items` may be. The call waits for the result. The free function
/// uses the pool of the calling task, or the global pool outside of any pool. It wakes no worker
/// for a loop that the caller finishes within a few microseconds.
///
/// ```
/// let texts = ["6", "seven", "8"];
/// let numbers: Vec<u32> = tidegate::filter_map(&texts, |text| text.parse().ok());
/// assert_eq!(numbers, [6, 8]);
/// ```
///
/// # Panics
/// If `f` panics, resumes the first panic after all calls that had begun have ended. The values
/// made by then and the remaining items are dropped.
#[must_use = "to visit the items without a result, use `for_each`"]
pub fn filter_map<I: ParallelItems, R: Send>(
    items: I,
    f: impl Fn(I::Item) -> Option<R> + Sync,
) -> Vec<R> {
    let mut storage = I::Storage::default();
    let visit = |out: &mut Values<R>, block: I::Piece<'_>| {
        for item in block {
            if let Some(result) = f(item) {
                out.0.push(result);
            }
        }
        true
    };
    let values = visit_blocks("filter_map", items.pieces(&mut storage), &visit);
    in_one(values)
}
