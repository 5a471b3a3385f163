//! Sets of CPUs in the kernel's own notation.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use crate::files::{escaped, garbled};

/// Lists with this CPU number or a larger one are rejected, and so are lists that name more CPUs
/// than this, counting repetitions. Linux supports far fewer CPUs.
pub(crate) const CPU_NUMBER_END: usize = 1 << 16;

/// A sorted set of CPUs, written as the kernel writes it: `0-3,8,10-11`.
///
/// # Examples
/// ```
/// use tidegate_machine::CpuList;
///
/// let cpus: CpuList = "0-3,8,10-11".parse()?;
/// assert_eq!(cpus.as_slice(), [0, 1, 2, 3, 8, 10, 11]);
/// assert_eq!(cpus.to_string(), "0-3,8,10-11");
/// assert!("3-1".parse::<CpuList>().is_err());
/// # Ok::<(), tidegate_machine::CpuListError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuList(Vec<usize>);

impl CpuList {
    pub(crate) fn of(mut cpus: Vec<usize>) -> Self {
        cpus.sort_unstable();
        cpus.dedup();
        Self(cpus)
    }

    /// Returns the CPU numbers in ascending order, without duplicates.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::CpuList;
    ///
    /// let cpus: CpuList = "0-3,8".parse()?;
    /// assert_eq!(cpus.as_slice(), [0, 1, 2, 3, 8]);
    /// # Ok::<(), tidegate_machine::CpuListError>(())
    /// ```
    #[must_use]
    pub fn as_slice(&self) -> &[usize] {
        &self.0
    }

    /// Returns the number of CPUs in the list.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::CpuList;
    ///
    /// let cpus: CpuList = "0-3,8".parse()?;
    /// assert_eq!(cpus.len(), 5);
    /// # Ok::<(), tidegate_machine::CpuListError>(())
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the list is empty.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::CpuList;
    ///
    /// let cpus: CpuList = "0-3,8".parse()?;
    /// assert!(!cpus.is_empty() && CpuList::default().is_empty());
    /// # Ok::<(), tidegate_machine::CpuListError>(())
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether `cpu` is in the list.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::CpuList;
    ///
    /// let cpus: CpuList = "0-3,8".parse()?;
    /// assert!(cpus.contains(8) && !cpus.contains(7));
    /// # Ok::<(), tidegate_machine::CpuListError>(())
    /// ```
    #[must_use]
    pub fn contains(&self, cpu: usize) -> bool {
        self.0.binary_search(&cpu).is_ok()
    }

    /// Returns how many CPUs of the list have smaller numbers than `cpu`.
    pub(crate) fn rank(&self, cpu: usize) -> usize {
        let (Ok(rank) | Err(rank)) = self.0.binary_search(&cpu);
        rank
    }

    /// Returns the CPUs that are in both lists.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::CpuList;
    ///
    /// let cpus: CpuList = "0-3,8".parse()?;
    /// assert_eq!(cpus.intersection(&"2-8".parse()?).to_string(), "2-3,8");
    /// # Ok::<(), tidegate_machine::CpuListError>(())
    /// ```
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.0.retain(|&cpu| other.contains(cpu));
        both
    }

    /// Returns one list per CPU.
    pub(crate) fn singletons(&self) -> Vec<Self> {
        let mut lists = Vec::new();
        for &cpu in &self.0 {
            lists.push(Self(vec![cpu]));
        }
        lists
    }

    /// Returns whether every CPU of this list is in `other`.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::CpuList;
    ///
    /// let cpus: CpuList = "0-3,8".parse()?;
    /// assert!(cpus.is_subset(&"0-8".parse()?) && !cpus.is_subset(&"0-7".parse()?));
    /// # Ok::<(), tidegate_machine::CpuListError>(())
    /// ```
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.iter().all(|&cpu| other.contains(cpu))
    }
}

impl FromIterator<usize> for CpuList {
    fn from_iter<I: IntoIterator<Item = usize>>(cpus: I) -> Self {
        Self::of(cpus.into_iter().collect())
    }
}

impl FromStr for CpuList {
    type Err = CpuListError;

    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Self::default());
        }
        let mut cpus = Vec::new();
        for word in text.split(',') {
            match range(word) {
                Some(range) if cpus.len() + range.len() <= CPU_NUMBER_END => cpus.extend(range),
                _ => return Err(CpuListError(escaped(text))),
            }
        }
        Ok(Self::of(cpus))
    }
}

/// Reads a list of CPUs that must not be empty.
pub(crate) fn some_cpus(path: &Path, list: &str, expected: &str) -> Result<CpuList, String> {
    match list.parse::<CpuList>() {
        Ok(cpus) if !cpus.is_empty() => Ok(cpus),
        _ => Err(garbled(path, list, expected)),
    }
}

/// Parses `7` or `4-7`.
fn range(text: &str) -> Option<Range<usize>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last && last < CPU_NUMBER_END).then_some(first..last + 1)
}

impl fmt::Display for CpuList {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for run in self.0.chunk_by(|low, high| low + 1 == *high) {
            write!(out, "{comma}{}", run[0])?;
            if let [_, .., last] = run {
                write!(out, "-{last}")?;
            }
            comma = ",";
        }
        Ok(())
    }
}

/// The error returned for a text that is not a list of CPUs.
///
/// # Examples
/// ```
/// let error = "3-1".parse::<tidegate_machine::CpuList>().unwrap_err();
/// assert!(error.to_string().starts_with("\"3-1\" is no list of CPUs"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuListError(String);

impl fmt::Display for CpuListError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "\"{}\" is no list of CPUs such as 0-3,8 with numbers below {CPU_NUMBER_END}",
            self.0
        )
    }
}

impl std::error::Error for CpuListError {}
