//! Drafts: intervals that are not scheduled yet.

use super::failure::UsageError;
use super::{Interval, Lock, life};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use tidegate_core::PlaceId;
use tidegate_core::door::place;

/// An interval that is not scheduled yet, so it cannot start while its edges are being added.
///
/// [`schedule`](Self::schedule) schedules it immediately. If the builder is dropped, the interval
/// is scheduled when the body that created it returns, or immediately if that body has already
/// returned. So no interval starts before the body has added all edges:
///
/// ```
/// use std::sync::Mutex;
/// use tidegate::interval::{self, Interval};
///
/// let order = Mutex::new(Vec::new());
/// interval::run(|s| {
///     let order = &order;
///     let create = |name| {
///         let builder = s.interval(move |_| order.lock().unwrap().push(name));
///         Interval::clone(&builder) // The builder is dropped here.
///     };
///     let (first, second) = (create("first"), create("second"));
///     first.end().before(second.start()).unwrap();
/// })?;
/// assert_eq!(order.into_inner().unwrap(), ["first", "second"]);
/// # Ok::<(), interval::Failure>(())
/// ```
///
/// If that body panics or, in [`Scope::try_interval`](super::Scope::try_interval), returns an
/// error, some edges may be missing. Therefore the intervals that it created and whose builders
/// were dropped are skipped, and only those that were scheduled explicitly run. If a builder was
/// moved to another body, its interval is scheduled when the builder is dropped, even if that body
/// fails before it has added edges.
///
/// A body that waits for one of its intervals must schedule that interval. A body that creates many
/// intervals should also schedule them, so that the first ones run while it creates the others. A
/// builder that is leaked ([`std::mem::forget`]) is never scheduled, so the inline interval
/// [stalls](super::Failure::is_stall).
pub struct IntervalBuilder<'scope, T = ()> {
    draft: Option<Interval<'scope, T>>,
}

impl<'scope, T> IntervalBuilder<'scope, T> {
    pub(super) fn of(draft: Interval<'scope, T>) -> Self {
        Self { draft: Some(draft) }
    }

    /// Schedules the interval now: it begins when everything before its start has occurred.
    pub fn schedule(mut self) -> Interval<'scope, T> {
        let interval = self.draft.take().expect("until it is scheduled");
        life::schedule(interval.handle.0);
        interval
    }

    /// Names the interval, for messages and graphs. The default is its number among the intervals
    /// of its parent. If the interval fails or never ends, the error message contains the name and
    /// the line that created the interval.
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        // User code, which must not run under the lock.
        let name = name.into();
        let core = self.core();
        core.extras_or_new().lock().name = Some(name);
        core.tree().watch(core);
        if let Some(recorder) = core.tree().recorder() {
            recorder.name(core);
        }
        self
    }

    /// Makes the interval's task run at a place; see [`PlaceId`]. By default, the task runs on the
    /// worker that makes it ready, or on a worker that steals it.
    ///
    /// # Panics
    /// If the place belongs to another pool.
    pub fn at(self, place: PlaceId) -> Self {
        place::check_place(self.core().live_scope().pool(), place);
        self.core().extras_or_new().lock().place = Some(place);
        self
    }

    /// Makes the interval hold the lock from before its start until after its end.
    ///
    /// Intervals inside a call to [`run`](fn@super::run) must not request a lock that an interval
    /// enclosing the call holds.
    ///
    /// # Errors
    /// If this interval or an enclosing one has already requested the lock, or if an enclosing
    /// interval has requested a lock that was created later than this one.
    pub fn lock(&mut self, lock: &Lock) -> Result<(), UsageError> {
        lock.check(self.core())?;
        lock.add_to(self.core());
        Ok(())
    }
}

impl<'scope, T> Deref for IntervalBuilder<'scope, T> {
    type Target = Interval<'scope, T>;

    fn deref(&self) -> &Self::Target {
        self.draft.as_ref().expect("until it is scheduled")
    }
}

impl<T> Drop for IntervalBuilder<'_, T> {
    fn drop(&mut self) {
        if let Some(interval) = self.draft.take() {
            life::schedule_at_return(interval.handle.0);
        }
    }
}

impl<T> fmt::Debug for IntervalBuilder<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IntervalBuilder")
            .field(&self.core().name())
            .finish()
    }
}
