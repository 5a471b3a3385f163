//! The results of a map, which are written directly to their places in the vector.
//!
//! A map splits the places of the results as it splits the items, and returns a [`Made`] for each
//! part. If a call panics, each [`Made`] drops its results.

use std::mem::{self, MaybeUninit};
use std::ptr;

/// The places of the results of consecutive items.
pub(crate) type Out<'a, R> = &'a mut [MaybeUninit<R>];

/// Returns a vector of `length` results. `fill` must make a result for each place.
pub(crate) fn collect<R>(
    length: usize,
    fill: impl for<'a> FnOnce(Out<'a, R>) -> Made<'a, R>,
) -> Vec<R> {
    let mut results = Vec::with_capacity(length);
    let out = &mut results.spare_capacity_mut()[..length];
    let places = ptr::from_ref(out);
    fill(out).keep(places);
    // SAFETY: the capacity is at least `length`, and `keep` has checked that `fill` has initialized
    // the first `length` places of this vector.
    unsafe { results.set_len(length) };
    results
}

/// The results of consecutive items, and the places for more. Drops the results when it is dropped.
pub(crate) struct Made<'a, R> {
    /// The first `count` results are initialized and belong to this.
    out: Out<'a, R>,
    count: usize,
}

impl<'a, R> Made<'a, R> {
    pub(crate) fn none(out: Out<'a, R>) -> Self {
        Self { out, count: 0 }
    }

    /// Splits the places, and calls `fill` to make the results of both parts.
    pub(crate) fn halves(
        out: Out<'a, R>,
        at: usize,
        fill: impl for<'o> FnOnce(Out<'o, R>, Out<'o, R>) -> (Made<'o, R>, Made<'o, R>),
    ) -> Self {
        let (near, far) = out.split_at_mut(at);
        let places = (ptr::from_ref(near), ptr::from_ref(far));
        let (near, far) = fill(near, far);
        near.keep(places.0);
        far.keep(places.1);
        let count = out.len();
        Self { out, count }
    }

    /// Writes the results to the next places.
    #[inline]
    pub(crate) fn extend(&mut self, results: impl Iterator<Item = R>) {
        for (place, result) in self.out[self.count..].iter_mut().zip(results) {
            place.write(result);
            self.count += 1;
        }
    }

    /// Calls `fill` to make all missing results.
    pub(crate) fn complete(&mut self, fill: impl for<'o> FnOnce(Out<'o, R>) -> Made<'o, R>) {
        let out = &mut self.out[self.count..];
        let places = ptr::from_ref(out);
        fill(out).keep(places);
        self.count = self.out.len();
    }

    /// Checks that these are results for all of `places`, and leaves them there.
    fn keep(self, places: *const [MaybeUninit<R>]) {
        assert!(ptr::eq(self.out, places), "the results have other places");
        assert_eq!(self.count, self.out.len(), "results are missing");
        mem::forget(self);
    }
}

impl<R> Drop for Made<'_, R> {
    fn drop(&mut self) {
        let made = ptr::from_mut(&mut self.out[..self.count]) as *mut [R];
        // SAFETY: these results are initialized and ours, and nothing uses them after this.
        unsafe { ptr::drop_in_place(made) };
    }
}

#[cfg(test)]
mod tests {
    use super::{Made, collect};
    use std::iter;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    #[test]
    fn parts_become_one_vector() {
        let made = collect(5, |out| {
            let mut made = Made::none(out);
            made.extend(iter::once("a".to_owned()));
            made.complete(|out| {
                Made::halves(out, 1, |near, far| {
                    let (mut near, mut far) = (Made::none(near), Made::none(far));
                    near.extend(iter::once("b".to_owned()));
                    far.extend(["c", "d", "e"].map(str::to_owned).into_iter());
                    (near, far)
                })
            });
            made
        });
        assert_eq!(made, ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn incomplete_results_are_dropped() {
        let marker = Arc::new(());
        let run = || {
            collect(3, |out| {
                let mut made = Made::none(out);
                made.extend(iter::once(marker.clone()));
                made
            })
        };
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        assert_eq!(Arc::strong_count(&marker), 1);
    }

    #[test]
    fn swapped_halves_are_refused() {
        let run = || {
            collect(2, |out| {
                Made::halves(out, 1, |near, far| {
                    let (mut near, mut far) = (Made::none(near), Made::none(far));
                    near.extend(iter::once(1));
                    far.extend(iter::once(2));
                    (far, near)
                })
            })
        };
        assert!(catch_unwind(run).is_err());
    }
}
