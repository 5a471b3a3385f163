//! Tasks with names.

use super::Handle;
use crate::origin::Origin;
use std::borrow::Cow;
use std::panic::Location;

/// Like [`spawn`](fn@crate::spawn), but names the task, for reports of panics and for traces.
///
/// Without a name, or if it is empty, these show the line that spawned the task. See [`Origin`].
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
    let origin = Origin::named(name.into(), Location::caller());
    crate::spawn_from("spawn_named", origin, f)
}
