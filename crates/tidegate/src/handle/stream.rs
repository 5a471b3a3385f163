//! Streams in a pool.

use super::Pool;
use crate::stream::{Stream, Target};

impl Pool {
    /// Like the function [`stream`](fn@crate::stream), but runs the items in this pool.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let lengths = pool.stream(["ebb", "flow"]).map(str::len).ordered();
    /// assert_eq!(lengths.sum::<usize>(), 7);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[track_caller]
    pub fn stream<I: IntoIterator>(&self, source: I) -> Stream<'_, I::IntoIter> {
        Stream::new(source, Target::Pool(self))
    }
}
