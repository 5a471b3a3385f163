//! Tasks with names.

use super::{Handle, from_here};
use std::borrow::Cow;
use std::panic::Location;
use tidegate_core::door::origin;

/// Like [`spawn`](fn@crate::spawn), but names the task, for reports of panics and for traces.
///
/// Without a name, or if it is empty, these show the line that spawned the task. See
/// [`Origin`](crate::Origin).
///
/// ```
/// let handle = tidegate::spawn_named("resize", || 6 * 7);
/// assert_eq!(handle.join(), 42);
/// ```
#[track_caller]
pub fn spawn_named<T, F>(name: impl Into<Cow<'static, str>>, f: F) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let origin = origin::named(name.into(), Location::caller());
    from_here("spawn_named", origin, f)
}
