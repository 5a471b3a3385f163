//! How many tasks one steal takes.
//!
//! Adnan and Sato, "Dynamic multiple work stealing strategy for flexible load balancing", 2012,
//! describe three rules: take the oldest task, a fixed number of the oldest, or half of them. Their
//! `n` includes the task that the victim runs. Here only the waiting tasks count,
//! `waiting = n - 1`, so half is rounded up and the last waiting task can be stolen. A fourth rule,
//! half of long deques only, is ours: a long deque holds many tasks of a flat tree, and a short one
//! the few levels of a recursion, whose oldest task is worth most of them.
//!
//! In that paper, stealing many tasks at once suited an irregular tree search with deep stacks: it
//! reduced the time spent stealing from 29 to 6 percent of the total. For programs with few waiting
//! tasks, stealing one task at a time works equally well, and a thief that insists on a large fixed
//! number never succeeds.
//!
//! The rules decide how many tasks a thief takes; the deque decides which tasks. The rules ignore
//! the length of tasks and the number of thieves.

use crate::error::ParseError;
use crate::text;
use crate::tunable::{Basis, Tunable, choice, choices, count, table};
use core::fmt;
use core::str::FromStr;

/// How many of a victim's waiting tasks one steal takes. Default: [`One`](Self::One).
///
/// ```
/// use tidegate_policy::StealAmount;
///
/// let fixed: StealAmount = "fixed:20".parse()?;
/// assert_eq!((fixed.take(19), fixed.take(21)), (0, 20));
/// # Ok::<(), tidegate_policy::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StealAmount {
    /// One task (the default).
    One,
    /// Exactly this many tasks, from 1 to 65,536, or none if fewer wait. If thieves can currently
    /// reach only some of a victim's tasks, the steal takes only those. From a worker that waits, or
    /// has given its slot away for a blocking call, thieves take one task at a time.
    Fixed(usize),
    /// Half of the victim's tasks, rounded down, counting the task that the victim is running.
    Half,
    /// Half of the victim's tasks if more than this many wait, from 1 to 65,536, and one task
    /// otherwise.
    HalfAbove(usize),
}

impl StealAmount {
    pub(crate) const NAMES: &'static [&'static str] = &["one", "half", "half-above:N", "fixed:N"];

    /// Returns how many tasks to take from a victim with `waiting` tasks that have not started. The
    /// result is at most `waiting`.
    #[must_use]
    pub const fn take(self, waiting: usize) -> usize {
        match self {
            Self::One => {
                if waiting > 0 {
                    1
                } else {
                    0
                }
            }
            Self::Fixed(d) => {
                if waiting >= d {
                    d
                } else {
                    0
                }
            }
            Self::HalfAbove(threshold) if waiting <= threshold => Self::One.take(waiting),
            Self::Half | Self::HalfAbove(_) => waiting.div_ceil(2),
        }
    }

    /// Returns the rule for a victim that waits or is in a blocking call. It does not run its tasks
    /// meanwhile and may depend on them, so thieves that leave fewer than a fixed number could
    /// leave it waiting forever.
    #[must_use]
    pub const fn from_resting(self) -> Self {
        match self {
            Self::Fixed(_) => Self::One,
            Self::One | Self::Half | Self::HalfAbove(_) => self,
        }
    }

    /// Rejects a number outside the range of [`STEAL_FIXED`] or [`STEAL_HALF_ABOVE`]. With a fixed
    /// number of 0, a thief would never take a task.
    ///
    /// # Errors
    /// Returns an error that names the number and the range.
    pub fn check(self) -> Result<Self, ParseError> {
        match self {
            Self::One | Self::Half => Ok(self),
            Self::Fixed(d) => STEAL_FIXED.check(d).map(Self::Fixed),
            Self::HalfAbove(threshold) => STEAL_HALF_ABOVE.check(threshold).map(Self::HalfAbove),
        }
    }
}

table! {
    STEAL: StealAmount = choice("steal", StealAmount::NAMES, StealAmount::One).set_by("TIDEGATE_STEAL"),
        "How many tasks a steal takes. With `one`, the thief's deque holds only descendants of the stolen task, so the joiner \
         can safely steal back from it. Larger amounts require the split deque.", Basis::Published("Haselsteiner 2015, section 2.2");
    STEAL_FIXED: usize = count("steal.fixed", "tasks", 1, 65_536, 2),
        "How many tasks a steal takes under `fixed`. It must be given; 2 suits most programs.", Basis::Published("Adnan and Sato 2012");
    STEAL_HALF_ABOVE: usize = count("steal.half-above", "tasks", 1, 65_536, 32),
        "Under `half-above`, a steal takes half of the victim's tasks if more than this many wait. It must be given; 32 suits most programs.",
        Basis::Measured;
}

choices!(StealAmount, check);

impl Default for StealAmount {
    fn default() -> Self {
        STEAL.default
    }
}

impl fmt::Display for StealAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One => f.write_str("one"),
            Self::Fixed(d) => write!(f, "fixed:{d}"),
            Self::Half => f.write_str("half"),
            Self::HalfAbove(threshold) => write!(f, "half-above:{threshold}"),
        }
    }
}

impl FromStr for StealAmount {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "one" => Ok(Self::One),
            "half" => Ok(Self::Half),
            _ => match text.split_once(':') {
                Some(("fixed", d)) => Ok(Self::Fixed(STEAL_FIXED.parse(d)?)),
                Some(("half-above", threshold)) => {
                    Ok(Self::HalfAbove(STEAL_HALF_ABOVE.parse(threshold)?))
                }
                _ => Err(text::unknown("steal amount", text, Self::NAMES)),
            },
        }
    }
}
