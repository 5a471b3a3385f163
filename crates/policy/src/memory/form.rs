//! The memory policies and their text forms.

use super::tunables::{
    BUDGET_BYTES, BUDGET_SERIAL, DEPTH_FIRST_K, DFDEQUES_K, HYBRID_ALPHA, HYBRID_BETA, HYBRID_SLEEP,
};
use crate::error::ParseError;
use crate::parameters::{Policy, Visitor, split, without};
use crate::text;
use crate::tunable::{choices, key, words};
use alloc::borrow::Cow;
use alloc::format;
use core::fmt;
use core::str::FromStr;

/// Decides which tasks get the memory that they request, and which must wait for it. Default:
/// [`None`](Self::None).
///
/// ```
/// use tidegate_policy::MemoryPolicy;
///
/// assert_eq!(MemoryPolicy::default(), MemoryPolicy::None);
/// let budget: MemoryPolicy = "budget:bytes=64MiB,serial=8MiB".parse()?;
/// assert_eq!(budget.to_string(), "budget:bytes=64MiB,serial=8MiB");
/// assert!("budget".parse::<MemoryPolicy>().is_err()); // It has no default.
/// # Ok::<(), tidegate_policy::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryPolicy {
    /// All requests are granted immediately (the default).
    #[default]
    None,
    /// Work stealing in which tasks with large requests sleep before they get the memory.
    Hybrid(Hybrid),
    /// The leftmost tasks in depth-first order run, as in Narlikar's scheduler.
    DepthFirst(DepthFirst),
    /// DFDeques: deques are kept in depth-first order, and each thread has a memory quota from one
    /// steal to the next.
    DfDeques(DfDeques),
    /// A hard limit: the tasks together never declare more than the budget, and none waits forever.
    Budget(Budget),
}

/// The parameters of [`MemoryPolicy::Hybrid`]: how long tasks with large requests sleep.
///
/// ```
/// use tidegate_policy::MemoryPolicy;
///
/// let MemoryPolicy::Hybrid(hybrid) = "hybrid".parse()? else {
///     unreachable!()
/// };
/// assert_eq!((hybrid.alpha, hybrid.beta), (1 << 20, 64 << 10));
/// # Ok::<(), tidegate_policy::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hybrid {
    /// See [`HYBRID_ALPHA`]. In bytes, 1 MiB by default.
    pub alpha: usize,
    /// See [`HYBRID_BETA`]. In bytes for each worker, 64 KiB by default.
    pub beta: usize,
    /// See [`HYBRID_SLEEP`]. Linear by default.
    pub sleep: SleepFunction,
}

/// How long a task sleeps under [`Hybrid`], as a function of the size of its request in units of
/// `alpha + beta * workers`. Default: [`Linear`](Self::Linear).
///
/// The slides "Narlikar and hybrid schedulers for Cilk" use `Linear` and note that it could be
/// improved. All functions put the same tasks to sleep, but for different times.
///
/// ```
/// use tidegate_policy::memory::SleepFunction;
///
/// assert_eq!(SleepFunction::default(), SleepFunction::Linear);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SleepFunction {
    /// In proportion to the size, rounded down (the default).
    #[default]
    Linear,
    /// In proportion to the square root of the size, rounded down: large requests delay the program
    /// less.
    Sqrt,
    /// In proportion to the square of the size: large requests sleep until little else is left to
    /// run.
    Square,
}

/// The parameter of [`MemoryPolicy::DepthFirst`]: how much memory a task may be granted without
/// waiting.
///
/// ```
/// use tidegate_policy::MemoryPolicy;
/// use tidegate_policy::memory::DepthFirst;
///
/// let policy: MemoryPolicy = "depth-first".parse()?;
/// assert_eq!(policy, MemoryPolicy::DepthFirst(DepthFirst { k: 64 << 10 }));
/// # Ok::<(), tidegate_policy::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthFirst {
    /// See [`DEPTH_FIRST_K`]. In bytes, at least 1, 64 KiB by default.
    pub k: usize,
}

/// The parameter of [`MemoryPolicy::DfDeques`]: how much memory a thread may be granted from one
/// steal to the next.
///
/// ```
/// use tidegate_policy::MemoryPolicy;
/// use tidegate_policy::memory::DfDeques;
///
/// let policy: MemoryPolicy = "dfdeques".parse()?;
/// assert_eq!(policy, MemoryPolicy::DfDeques(DfDeques { k: 64 << 10 }));
/// # Ok::<(), tidegate_policy::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DfDeques {
    /// See [`DFDEQUES_K`]. In bytes, at least 1, 64 KiB by default.
    pub k: usize,
}

/// The parameters of [`MemoryPolicy::Budget`]: the limit on declared memory, and the part of it
/// that the serial run needs.
///
/// ```
/// use tidegate_policy::MemoryPolicy;
/// use tidegate_policy::memory::Budget;
///
/// let policy: MemoryPolicy = "budget:bytes=64MiB,serial=8MiB".parse()?;
/// assert_eq!(policy, MemoryPolicy::Budget(Budget { bytes: 64 << 20, serial: 8 << 20 }));
/// # Ok::<(), tidegate_policy::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// See [`BUDGET_BYTES`]. In bytes, without a default.
    pub bytes: usize,
    /// See [`BUDGET_SERIAL`]. In bytes, without a default.
    pub serial: usize,
}

impl Policy for Hybrid {
    const NAME: &'static str = "hybrid";
    const DEFAULT: Self = Self {
        alpha: HYBRID_ALPHA.default,
        beta: HYBRID_BETA.default,
        sleep: HYBRID_SLEEP.default,
    };

    fn visit(&mut self, visitor: &mut Visitor<'_>) -> Result<(), ParseError> {
        visitor.plain(&HYBRID_ALPHA, &mut self.alpha)?;
        visitor.plain(&HYBRID_BETA, &mut self.beta)?;
        visitor.plain(&HYBRID_SLEEP, &mut self.sleep)
    }

    fn agree(&self) -> Result<(), ParseError> {
        if self.alpha > 0 || self.beta > 0 {
            return Ok(());
        }
        let what = "alpha and beta are both 0, so every reservation would sleep";
        Err(ParseError::new("", what, "at least one above 0"))
    }
}

impl Policy for DepthFirst {
    const NAME: &'static str = "depth-first";
    const DEFAULT: Self = Self {
        k: DEPTH_FIRST_K.default,
    };

    fn visit(&mut self, visitor: &mut Visitor<'_>) -> Result<(), ParseError> {
        visitor.plain(&DEPTH_FIRST_K, &mut self.k)
    }
}

impl Policy for DfDeques {
    const NAME: &'static str = "dfdeques";
    const DEFAULT: Self = Self {
        k: DFDEQUES_K.default,
    };

    fn visit(&mut self, visitor: &mut Visitor<'_>) -> Result<(), ParseError> {
        visitor.plain(&DFDEQUES_K, &mut self.k)
    }
}

impl Policy for Budget {
    const NAME: &'static str = "budget";
    const DEFAULT: Self = Self {
        bytes: BUDGET_BYTES.default,
        serial: BUDGET_SERIAL.default,
    };

    fn visit(&mut self, visitor: &mut Visitor<'_>) -> Result<(), ParseError> {
        visitor.plain(&BUDGET_BYTES, &mut self.bytes)?;
        visitor.plain(&BUDGET_SERIAL, &mut self.serial)
    }

    fn agree(&self) -> Result<(), ParseError> {
        if self.bytes == 0 {
            let expected = "a size above 0, as in budget:64MiB,serial=8MiB";
            return Err(ParseError::new("", "bytes is missing or 0", expected));
        }
        if self.serial == 0 {
            let expected = "serial=SIZE, the serial run's peak of reserved memory";
            return Err(ParseError::new("", "serial is missing or 0", expected));
        }
        if self.bytes >= self.serial {
            return Ok(());
        }
        let (bytes, serial) = (
            text::show_size(self.bytes as u64),
            text::show_size(self.serial as u64),
        );
        let what = format!("bytes={bytes} is below serial={serial}");
        Err(ParseError::new("", &what, "bytes >= serial"))
    }
}

const NONE: &str = "none";

impl MemoryPolicy {
    pub(crate) const NAMES: &'static [&'static str] = &[
        NONE,
        Hybrid::NAME,
        DepthFirst::NAME,
        DfDeques::NAME,
        Budget::NAME,
    ];

    /// Whether the policy keeps the depth-first order of all tasks.
    #[must_use]
    pub const fn keeps_order(self) -> bool {
        match self {
            Self::None | Self::Hybrid(_) => false,
            Self::DepthFirst(_) | Self::DfDeques(_) | Self::Budget(_) => true,
        }
    }

    /// Returns the policy if its parameters are allowed.
    ///
    /// # Errors
    /// If a parameter is out of range, or two parameters contradict each other.
    pub fn check(self) -> Result<Self, ParseError> {
        match self {
            Self::None => Ok(()),
            Self::Hybrid(policy) => policy.check(),
            Self::DepthFirst(policy) => policy.check(),
            Self::DfDeques(policy) => policy.check(),
            Self::Budget(policy) => policy.check(),
        }
        .map(|()| self)
    }
}

/// Adds the name of a budget's first parameter if the text omits it, as in `64MiB,serial=8MiB`.
fn named(list: Option<&str>) -> Option<Cow<'_, str>> {
    let list = list?;
    let first = list.split(',').next().unwrap_or_default();
    let alone = !first.is_empty() && !first.as_bytes().contains(&b'=');
    Some(if alone {
        Cow::Owned(format!("{}={list}", key(BUDGET_BYTES.name)))
    } else {
        Cow::Borrowed(list)
    })
}

choices!(MemoryPolicy, check);
words!(
    SleepFunction,
    "sleep function",
    Linear = "linear",
    Sqrt = "sqrt",
    Square = "square"
);

impl FromStr for MemoryPolicy {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (name, list) = split(text);
        match name {
            NONE => without(name, list).map(|()| Self::None),
            Hybrid::NAME => Hybrid::read(list).map(Self::Hybrid),
            DepthFirst::NAME => DepthFirst::read(list).map(Self::DepthFirst),
            DfDeques::NAME => DfDeques::read(list).map(Self::DfDeques),
            Budget::NAME => Budget::read(named(list).as_deref()).map(Self::Budget),
            _ => Err(text::unknown("memory policy", name, Self::NAMES)),
        }
    }
}

impl fmt::Display for MemoryPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str(NONE),
            Self::Hybrid(policy) => policy.show(f),
            Self::DepthFirst(policy) => policy.show(f),
            Self::DfDeques(policy) => policy.show(f),
            Self::Budget(policy) => policy.show(f),
        }
    }
}
