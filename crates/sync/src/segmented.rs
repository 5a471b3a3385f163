//! An array that grows without moving its elements and without a lock.
//!
//! The array consists of segments. Each segment is twice as long as the one before it, is allocated
//! when an index in it is first used, and is published by a compare-and-swap of its pointer. So a
//! look-up takes two loads, and references stay valid while the array grows.
//!
//! A segment is deliberately not in a `OnceLock`: if a thread forks while another thread
//! initializes the cell, the child finds the cell locked forever. Here, a child finds either a
//! complete segment or none, in which case it allocates the segment. The drawback is that two
//! threads may allocate the same segment at the same time, and one of them drops its copy.
//!
//! The array never shrinks. It uses atomics from `std` even under loom, because loom's atomics have
//! no constant constructor and the array must fit into a static. So loom does not check it, but
//! Miri does.

use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The number of segments, which together hold 2^32 - 1 elements.
const SEGMENTS: usize = 32;

/// An array that grows when a new index is used. New elements have the default value.
///
/// The array is `Sync` if its elements are `Send` and `Sync`. So this does not compile:
///
/// ```compile_fail,E0277
/// fn share<T: Sync>(_: T) {}
/// share(tidegate_sync::segmented::SegmentedArray::<std::cell::Cell<u32>>::new());
/// ```
pub struct SegmentedArray<T> {
    /// Segment k is null, or points to the first element of a boxed slice of 2^k elements. Once a
    /// pointer is set, only a holder of `&mut self` may change it or free its box.
    segments: [AtomicPtr<T>; SEGMENTS],
    /// Makes this type `Send` and `Sync` under the same conditions as `OnceLock`.
    owns: PhantomData<OnceLock<T>>,
}

/// Returns the number of the segment that contains `index`, and the index within that segment.
fn locate(index: usize) -> (usize, usize) {
    let from_one = index + 1;
    let segment = from_one.ilog2();
    (segment as usize, from_one - (1 << segment))
}

impl<T> SegmentedArray<T> {
    /// Creates an empty array. Allocates nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            segments: [const { AtomicPtr::new(ptr::null_mut()) }; SEGMENTS],
            owns: PhantomData,
        }
    }

    /// Iterates over all elements of the segments that exist.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let segments = self.segments.iter_mut().enumerate();
        segments.flat_map(|(segment, first)| {
            let elements = ptr::slice_from_raw_parts_mut(*first.get_mut(), 1 << segment);
            // SAFETY: the pointer is null, or points to a live box of this length. The borrow of
            // `self` makes the access exclusive.
            let elements = unsafe { elements.as_mut() };
            elements.into_iter().flatten()
        })
    }

    /// Moves all elements of the segments that exist out of the array.
    pub fn into_elements(mut self) -> impl Iterator<Item = T> {
        (0..SEGMENTS)
            .filter_map(move |segment| self.take(segment))
            .flatten()
    }

    fn take(&mut self, segment: usize) -> Option<Box<[T]>> {
        let first = std::mem::replace(self.segments[segment].get_mut(), ptr::null_mut());
        if first.is_null() {
            return None;
        }
        let elements = ptr::slice_from_raw_parts_mut(first, 1 << segment);
        // SAFETY: the pointer comes from `Box::into_raw` in `add_segment`, with this length. The
        // array has just given up the pointer, and because of `&mut self` nothing borrows from the
        // box.
        Some(unsafe { Box::from_raw(elements) })
    }
}

impl<T: Default> SegmentedArray<T> {
    /// Returns the element at `index`. Allocates its segment if it is missing.
    ///
    /// # Panics
    /// If `index` is 2^32 - 1 or more, or if `T::default` panics.
    #[inline]
    pub fn get_or_grow(&self, index: usize) -> &T {
        let (segment, offset) = locate(index);
        // Acquire pairs with the Release in `add_segment`: the elements are initialized.
        let mut first = self.segments[segment].load(Ordering::Acquire);
        if first.is_null() {
            first = self.add_segment(segment);
        }
        // SAFETY: `locate` returns an offset below 2^segment, the length of the box that `first`
        // points to.
        let element = unsafe { first.add(offset) };
        // SAFETY: this is an initialized element of a live box, which is freed only through
        // `&mut self`. Until then, only shared references to its elements exist.
        unsafe { &*element }
    }

    /// Allocates a segment, unless another thread has just done so. Returns a pointer to its first
    /// element.
    #[cold]
    fn add_segment(&self, segment: usize) -> *mut T {
        let elements: Box<[T]> = (0..1_usize << segment).map(|_| T::default()).collect();
        let elements = Box::into_raw(elements);
        let first = elements.cast::<T>();
        // Release pairs with the Acquire in `get_or_grow`. On failure, Acquire pairs with the
        // Release by which the other thread published the segment.
        let (order, failed) = (Ordering::Release, Ordering::Acquire);
        match self.segments[segment].compare_exchange(ptr::null_mut(), first, order, failed) {
            Ok(_) => first,
            Err(other) => {
                // SAFETY: the pointer comes from `Box::into_raw` above, and was never published.
                drop(unsafe { Box::from_raw(elements) });
                other
            }
        }
    }
}

impl<T> Default for SegmentedArray<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for SegmentedArray<T> {
    fn drop(&mut self) {
        for segment in 0..SEGMENTS {
            drop(self.take(segment));
        }
    }
}

impl<T> fmt::Debug for SegmentedArray<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SegmentedArray").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn places_are_distinct_and_fit() {
        let mut places: Vec<_> = (0..1000).map(locate).collect();
        assert!(
            places
                .iter()
                .all(|(segment, offset)| *offset < 1 << segment)
        );
        places.dedup();
        assert_eq!(places.len(), 1000);
        let last = ((1 << (SEGMENTS - 1)) - 1) * 2;
        assert_eq!(locate(last), (SEGMENTS - 1, last / 2));
    }

    #[test]
    fn elements_stay_put_while_it_grows() {
        let mut array = SegmentedArray::<AtomicUsize>::new();
        let early = array.get_or_grow(0);
        for index in [1, 200, 5] {
            array.get_or_grow(index).store(index, Ordering::Relaxed);
        }
        assert!(ptr::eq(early, array.get_or_grow(0)));
        let mut filled: Vec<usize> = array.iter_mut().map(|it| *it.get_mut()).collect();
        filled.retain(|value| *value != 0);
        assert_eq!(filled, [1, 5, 200]);
        let moved: usize = array.into_elements().map(AtomicUsize::into_inner).sum();
        assert_eq!(moved, 206);
    }

    /// Counts its live instances. The first two instances wait for each other while being created,
    /// so that two threads allocate the same segment.
    struct Counted;

    static MADE: AtomicUsize = AtomicUsize::new(0);
    static LIVE: AtomicUsize = AtomicUsize::new(0);
    static RACE: Barrier = Barrier::new(2);

    impl Default for Counted {
        fn default() -> Self {
            LIVE.fetch_add(1, Ordering::Relaxed);
            if MADE.fetch_add(1, Ordering::Relaxed) < 2 {
                RACE.wait();
            }
            Self
        }
    }

    impl Drop for Counted {
        fn drop(&mut self) {
            LIVE.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Two threads allocate the first segment at the same time.
    #[test]
    fn threads_share_segments_dropped_once() {
        const INDICES: usize = if cfg!(miri) { 20 } else { 1000 };
        let array = SegmentedArray::<Counted>::new();
        let look_up = || {
            let elements = (0..INDICES).map(|index| array.get_or_grow(index));
            elements.map(|it| ptr::from_ref(it).addr()).collect()
        };
        let [one, other]: [Vec<usize>; 2] = std::thread::scope(|scope| {
            let threads = [(); 2].map(|()| scope.spawn(look_up));
            threads.map(|thread| thread.join().unwrap())
        });
        assert_eq!(one, other);
        let length = (INDICES + 1).next_power_of_two() - 1;
        assert_eq!(LIVE.load(Ordering::Relaxed), length);
        let mut elements = array.into_elements();
        drop(elements.next());
        drop(elements);
        assert_eq!(LIVE.load(Ordering::Relaxed), 0);
    }
}

#[cfg(all(test, unix, not(any(loom, miri))))]
mod fork_tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU32};
    use std::time::{Duration, Instant};

    static ENTERED: AtomicBool = AtomicBool::new(false);
    static GO_ON: AtomicBool = AtomicBool::new(false);

    /// An element whose first instance is not complete until `GO_ON` is set.
    struct Slow;

    impl Default for Slow {
        fn default() -> Self {
            if !ENTERED.swap(true, Ordering::Relaxed) {
                while !GO_ON.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
            }
            Self
        }
    }

    /// Waits until a child ends, and returns its wait status. After a minute, kills the child and
    /// panics.
    fn exit_status(child: libc::pid_t) -> i32 {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let mut status = 0;
            // SAFETY: `status` is live and writable.
            if unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } == child {
                return status;
            }
            if Instant::now() > end {
                // SAFETY: this is our own child, and it has not been reaped.
                unsafe { libc::kill(child, libc::SIGKILL) };
                panic!("the child hangs");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// While a thread of the parent creates a segment, the child must allocate its own.
    #[test]
    fn child_does_not_wait_for_parent() {
        static ARRAY: SegmentedArray<Slow> = SegmentedArray::new();
        static MADE: AtomicU32 = AtomicU32::new(0);
        let thread = std::thread::spawn(|| {
            ARRAY.get_or_grow(0);
            MADE.fetch_add(1, Ordering::Relaxed);
        });
        while !ENTERED.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        // SAFETY: before it exits, the child only loads and allocates a little. Of the locks it
        // takes, another thread of the test could hold only the allocator's, which the C library
        // makes usable in the child.
        let child = unsafe { libc::fork() };
        if child == 0 {
            ARRAY.get_or_grow(0);
            // SAFETY: this ends the child without running any of the parent's code.
            unsafe { libc::_exit(0) }
        }
        let status = exit_status(child);
        let unfinished = MADE.load(Ordering::Relaxed) == 0;
        GO_ON.store(true, Ordering::Relaxed);
        thread.join().unwrap();
        assert_eq!(status, 0);
        assert!(unfinished, "the thread was to be halfway through");
    }
}
