//! What goes wrong with intervals: misuse that is refused on the spot, and failures that surface at the inline interval.

use super::node::Core;
use crate::unwind::{self, Payload};
use std::error::Error;
use std::fmt;
use tidegate_sync::lock::Mutex;

/// An error of any kind.
pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// What was asked of intervals and cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UsageErrorKind {
    /// The edge would close a cycle.
    Cycle,
    /// The point that was to wait has occurred already.
    Occurred,
    /// The points lie under different inline intervals, of which the inner one ends before the outer goes on, or neither waits for the other.
    OtherTree,
    /// The lock was requested by the interval already, or by one inside of which it runs.
    LockTwice,
    /// An interval inside of which this one runs has requested a lock that was made later.
    LockOrder,
}

/// An order between intervals or a lock that was refused; nothing has changed by it.
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

    /// What is wrong.
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
                "{first} and {second} lie under different inline intervals and can never be ordered"
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

/// What a panic carries, under a lock so that a failure may be shared like other errors.
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

/// Why one interval failed.
pub(super) enum Cause {
    Error(BoxError),
    Panic(Carried),
    /// So many children of the root wait for each other.
    Stalled(u32),
}

/// Why an inline interval failed: the first interval inside of it that did, and what led there.
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
/// assert_eq!(failure.chain(), ["read", "the inline interval"]);
/// assert_eq!(failure.to_string(), "read failed: invalid digit found in string");
/// ```
pub struct Failure {
    cause: Cause,
    chain: Vec<String>,
    /// How many intervals failed besides.
    pub(super) more: usize,
}

impl Failure {
    pub(super) fn of(cause: Cause, node: &Core) -> Self {
        let mut chain = vec![node.name()];
        let mut next = node.parent;
        while let Some(parent) = next {
            // SAFETY: the node has not ended, so its ancestors have not.
            let parent = unsafe { parent.as_ref() };
            chain.push(parent.name());
            next = parent.parent;
        }
        Self {
            cause,
            chain,
            more: 0,
        }
    }

    /// The interval that failed, then those inside of which it ran, up to the inline interval.
    #[must_use]
    pub fn chain(&self) -> &[String] {
        &self.chain
    }

    /// How many more intervals failed by themselves; what was skipped for it does not count.
    #[must_use]
    pub fn others(&self) -> usize {
        self.more
    }

    /// Whether intervals wait for each other, so that nothing could go on.
    #[must_use]
    pub fn is_stall(&self) -> bool {
        matches!(self.cause, Cause::Stalled(_))
    }

    /// The error that a body has returned.
    #[must_use]
    pub fn error(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        match &self.cause {
            Cause::Error(error) => Some(&**error),
            Cause::Panic(_) | Cause::Stalled(_) => None,
        }
    }

    /// What a panic of a body has carried.
    ///
    /// # Errors
    /// It was none: the failure itself.
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
            Cause::Stalled(1) => write!(f, "an interval waits for what never comes")?,
            Cause::Stalled(count) => write!(f, "{count} intervals wait for what never comes")?,
            Cause::Error(error) => write!(f, "{} failed: {error}", self.chain[0])?,
            Cause::Panic(carried) => {
                let message = unwind::message(&carried.0.lock()).to_owned();
                write!(f, "{} panicked: {message}", self.chain[0])?;
            }
        }
        let between = self.chain.len().saturating_sub(1);
        for outer in self.chain[..between].iter().skip(1) {
            write!(f, ", in {outer}")?;
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
        // The error itself is in the message.
        self.error()?.source()
    }
}
