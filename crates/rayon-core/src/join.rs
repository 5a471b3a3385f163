//! Runs two closures, possibly in parallel.

use crate::global::global;
use std::marker::PhantomData;
use tidegate_core::door::closed::Member;

/// The argument of the closures of [`join_context`]. It shows whether the closure
/// runs on another thread.
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
    /// Prevents the context from moving to another thread.
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

    /// Whether the closure runs on a different thread from the one that called [`join_context`].
    /// This is the case if another thread has stolen the closure, or if the caller belongs to no
    /// pool.
    #[inline]
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}

/// Runs both closures, possibly in parallel, and returns their results.
///
/// `oper_a` runs on the calling thread. `oper_b` runs after it, unless another thread has stolen
/// `oper_b` by then. In that case, this call waits for the other thread. If the caller belongs to
/// no pool, both closures run in the global pool.
///
/// ```
/// let (a, b) = rayon_core::join(|| 1 + 1, || "two");
/// assert_eq!((a, b), (2, "two"));
/// ```
///
/// # Panics
/// If a closure panics, this call panics with the same payload after both closures have run. If
/// both closures panic, the payload is that of `oper_a`.
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

/// Like [`join`], but each closure can query whether it runs on the caller's thread.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(1).build()?;
/// let migrated = pool.install(|| rayon_core::join_context(|a| a.migrated(), |b| b.migrated()));
/// assert_eq!(migrated, (false, false));
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
///
/// # Panics
/// Like [`join`].
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
