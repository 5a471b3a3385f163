//! Two closures, perhaps at once.

use crate::global::global;
use std::marker::PhantomData;
use tidegate::closed::Member;

/// Tells a closure of [`join_context`] how it was called.
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
    /// Stays on its thread.
    not_send: PhantomData<*mut ()>,
}

impl FnContext {
    #[inline]
    fn new(migrated: bool) -> Self {
        Self {
            migrated,
            not_send: PhantomData,
        }
    }

    /// Whether the closure was taken from the thread that gave it: stolen, or handed in by a thread of no pool.
    #[inline]
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}

/// Runs both closures, possibly in parallel, and returns their results.
///
/// `oper_a` runs right here, `oper_b` after it or on a thread that has stolen it in the meantime; then this call waits. Called from a
/// thread of no pool, both run in the global pool.
///
/// ```
/// let (a, b) = rayon_core::join(|| 1 + 1, || "two");
/// assert_eq!((a, b), (2, "two"));
/// ```
///
/// # Panics
/// With the panic of a closure, after both have run; with that of `oper_a` if both panic.
#[inline]
pub fn join<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    Member::with(|member| match member {
        Some(member) => member.join(oper_a, |_| oper_b()),
        None => inject(oper_a, oper_b),
    })
}

#[cold]
#[inline(never)]
fn inject<RA: Send, RB: Send>(
    a: impl FnOnce() -> RA + Send,
    b: impl FnOnce() -> RB + Send,
) -> (RA, RB) {
    global().inside(|member| member.join(a, |_| b()))
}

/// [`join`] with closures that are told whether they run on the thread that gave them.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(1).build()?;
/// let migrated = pool.install(|| rayon_core::join_context(|a| a.migrated(), |b| b.migrated()));
/// assert_eq!(migrated, (false, false));
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
///
/// # Panics
/// As [`join`].
#[inline]
pub fn join_context<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    Member::with(|member| match member {
        Some(member) => member.join(
            || oper_a(FnContext::new(false)),
            |stolen| oper_b(FnContext::new(stolen)),
        ),
        None => inject(
            || oper_a(FnContext::new(true)),
            || oper_b(FnContext::new(true)),
        ),
    })
}
