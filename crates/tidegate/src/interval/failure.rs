//! Errors of intervals: invalid calls, which are rejected immediately, and failures, which the
//! inline interval returns.

use super::node::Core;
use super::stall::Stall;
use std::error::Error;
use std::fmt;
use tidegate_core::door::{Payload, unwind};
use tidegate_sync::lock::Mutex;

pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// Why an order or a lock was rejected.
///
/// ```
/// use tidegate::interval::{self, UsageErrorKind};
///
/// interval::run(|s| {
///     let outer = s.interval(|_| ());
///     let error = s.inline(|s| {
///         let inner = s.interval(|_| ());
///         outer.end().before(inner.start()).unwrap_err()
///     });
///     assert_eq!(error.unwrap().wrong(), UsageErrorKind::OtherTree);
/// })?;
/// # Ok::<(), interval::Failure>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UsageErrorKind {
    /// The edge would close a cycle.
    Cycle,
    /// The point that should wait has already occurred.
    Occurred,
    /// The points belong to different inline intervals, so they have different roots. If one inline
    /// interval is inside the other, the inner one ends before the outer body continues; otherwise
    /// neither ever waits for the other.
    OtherTree,
    /// This interval or an enclosing one has already requested the lock.
    LockTwice,
    /// An enclosing interval has requested a lock that was created later than this one.
    LockOrder,
}

/// The error returned if an order between intervals or the request of a lock is rejected. The
/// rejected call has no effect.
///
/// ```
/// use tidegate::interval;
///
/// interval::run(|s| {
///     let (a, b) = (s.interval(|_| ()).named("a"), s.interval(|_| ()).named("b"));
///     a.end().before(b.start()).unwrap();
///     let error = b.end().before(a.start()).unwrap_err();
///     println!("{error}");
///     assert_eq!(error.wrong(), interval::UsageErrorKind::Cycle);
/// })?;
/// # Ok::<(), interval::Failure>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError {
    wrong: UsageErrorKind,
    first: String,
    second: String,
}

impl UsageError {
    #[cold]
    pub(super) fn new(wrong: UsageErrorKind, first: String, second: String) -> Self {
        Self {
            wrong,
            first,
            second,
        }
    }

    /// Returns why the order or the lock was rejected.
    ///
    /// ```
    /// use tidegate::interval::{self, Lock, UsageErrorKind};
    ///
    /// let lock = Lock::new();
    /// interval::run(|s| {
    ///     let mut holder = s.interval(|_| ());
    ///     holder.lock(&lock).unwrap();
    ///     let error = holder.lock(&lock).unwrap_err();
    ///     assert_eq!(error.wrong(), UsageErrorKind::LockTwice);
    /// })?;
    /// # Ok::<(), interval::Failure>(())
    /// ```
    #[must_use]
    pub fn wrong(&self) -> UsageErrorKind {
        self.wrong
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, second, .. } = self;
        match self.wrong {
            UsageErrorKind::Cycle => write!(
                f,
                "{second} comes before {first} already: an edge back would close a cycle"
            ),
            UsageErrorKind::Occurred => write!(
                f,
                "{second} cannot wait for {first} any more: that point of it has occurred"
            ),
            UsageErrorKind::OtherTree => write!(
                f,
                "{first} and {second} have different roots and can never be ordered"
            ),
            UsageErrorKind::LockTwice => write!(
                f,
                "{first} requests a lock that {second} has requested already"
            ),
            UsageErrorKind::LockOrder => write!(
                f,
                "{first} requests a lock that was made before one of {second}, inside of which it runs"
            ),
        }
    }
}

impl Error for UsageError {}

/// The payload of a panic. The mutex makes a [`Failure`] `Sync`, as errors usually are.
pub(super) struct Carried(Mutex<Payload>);

impl Carried {
    pub(super) fn into_payload(self) -> Payload {
        self.0.into_inner()
    }
}

impl From<Payload> for Cause {
    fn from(payload: Payload) -> Self {
        Self::Panic(Carried(Mutex::new(payload)))
    }
}

pub(super) enum Cause {
    Error(BoxError),
    Panic(Carried),
    /// Intervals can never end; see [`Failure::is_stall`].
    Stalled(Stall),
}

/// The error of an inline interval. It names the interval that failed first, the cause, and the
/// chain of intervals that contain the failed one.
///
/// ```
/// use tidegate::interval;
///
/// let failure = interval::run(|s| {
///     let read = s.try_interval(|_| "one".parse::<u8>()).named("read");
///     let double = read.then(s, |_, number| number * 2).unwrap();
///     (read.schedule(), double.schedule()).1.value().copied()
/// })
/// .unwrap_err();
/// assert_eq!(failure.chain(), ["read", "root"]);
/// // For example: read (src/main.rs:4:18) failed: invalid digit found in string
/// assert!(failure.to_string().ends_with(" failed: invalid digit found in string"));
/// ```
pub struct Failure {
    cause: Cause,
    /// Which interval failed and where it was created.
    label: String,
    chain: Vec<String>,
    /// How many other intervals failed.
    pub(super) more: usize,
}

impl Failure {
    pub(super) fn of(cause: Cause, node: &Core) -> Self {
        let mut chain = vec![node.name()];
        let mut next = node.parent;
        while let Some(parent) = next {
            // SAFETY: the node has not ended, so its ancestors have not either.
            let parent = unsafe { parent.as_ref() };
            chain.push(parent.name());
            next = parent.parent;
        }
        Self {
            cause,
            label: node.title(),
            chain,
            more: 0,
        }
    }

    /// Returns the name of the interval that failed, followed by those of the intervals that
    /// contain it, up to the inline interval, which is called `root`.
    ///
    /// ```
    /// let failure = tidegate::interval::run(|s| {
    ///     s.interval(|s| {
    ///         s.try_interval(|_| "one".parse::<u8>()).named("read");
    ///     })
    ///     .named("prepare");
    /// })
    /// .unwrap_err();
    /// assert_eq!(failure.chain()[..2], ["read", "prepare"]);
    /// ```
    #[must_use]
    pub fn chain(&self) -> &[String] {
        &self.chain
    }

    /// Returns how many other intervals failed. Intervals that were skipped because of a failure
    /// don't count.
    ///
    /// ```
    /// let failure = tidegate::interval::run(|s| {
    ///     s.try_interval(|_| "one".parse::<u8>());
    ///     s.try_interval(|_| "two".parse::<u8>());
    /// })
    /// .unwrap_err();
    /// assert_eq!(failure.others(), 1);
    /// ```
    #[must_use]
    pub fn others(&self) -> usize {
        self.more
    }

    /// Whether the inline interval failed because intervals inside it can never end: they wait for
    /// each other, or for an interval whose builder was neither scheduled nor dropped.
    ///
    /// The error message lists the waiting intervals and what each waits for. In release builds, it
    /// lists only intervals that have a [name](super::IntervalBuilder::named).
    ///
    /// ```
    /// // A draft that is neither scheduled nor dropped never begins.
    /// let stalled = tidegate::interval::run(|s| std::mem::forget(s.interval(|_| ())));
    /// assert!(stalled.unwrap_err().is_stall());
    /// ```
    #[must_use]
    pub fn is_stall(&self) -> bool {
        matches!(self.cause, Cause::Stalled(_))
    }

    /// Returns the error that the failed body returned, or `None` after a panic or a stall.
    ///
    /// ```
    /// let failure = tidegate::interval::run(|s| {
    ///     s.try_interval(|_| "one".parse::<u8>());
    /// })
    /// .unwrap_err();
    /// assert!(failure.error().unwrap().is::<std::num::ParseIntError>());
    /// ```
    #[must_use]
    pub fn error(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        match &self.cause {
            Cause::Error(error) => Some(&**error),
            Cause::Panic(_) | Cause::Stalled(_) => None,
        }
    }

    /// Returns the payload of the failed body's panic.
    ///
    /// ```
    /// let failure = tidegate::interval::run(|s| {
    ///     s.interval(|_| -> u32 { panic!("oh") });
    /// })
    /// .unwrap_err();
    /// assert_eq!(failure.into_panic().unwrap().downcast_ref(), Some(&"oh"));
    /// ```
    ///
    /// # Errors
    /// Returns the failure itself if it isn't a panic.
    pub fn into_panic(self) -> Result<Box<dyn std::any::Any + Send>, Self> {
        match self.cause {
            Cause::Panic(carried) => Ok(carried.into_payload()),
            cause => Err(Self { cause, ..self }),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Stalled(stall) => write!(f, "{stall}")?,
            Cause::Error(error) => write!(f, "{} failed: {error}", self.label)?,
            Cause::Panic(carried) => {
                let message = unwind::message(&carried.0.lock()).to_owned();
                write!(f, "{} panicked: {message}", self.label)?;
            }
        }
        let between = self.chain.len().saturating_sub(1);
        for outer in self.chain.get(1..between).unwrap_or_default() {
            write!(f, ", in {}", outer.escape_debug())?;
        }
        match self.more {
            0 => Ok(()),
            1 => write!(f, "; and another one"),
            more => write!(f, "; and {more} others"),
        }
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Failure({self})")
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // The message already contains the error itself.
        self.error()?.source()
    }
}
