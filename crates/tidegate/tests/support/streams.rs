//! Parts of the tests of streams: a source that counts its reads, and a function that waits for
//! them.

use super::Tally;
use std::sync::Arc;

/// A source of `0..items` that counts its reads.
pub fn counted(items: usize) -> (Arc<Tally>, impl Iterator<Item = usize> + Send) {
    let reads = Arc::new(Tally::new());
    let count = reads.clone();
    let source = (0..items).inspect(move |_| count.come());
    (reads, source)
}

/// A function that returns its argument. For item 0 it waits until `count` items were read.
pub fn late_first(reads: Arc<Tally>, count: usize) -> impl Fn(usize) -> usize + Send + Sync {
    move |n| {
        if n == 0 {
            reads.wait_for(count);
        }
        n
    }
}
