//! Lists of CPUs in the kernel's own notation, and the files they are read from.

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// CPU numbers from here on are taken for garbage; the largest machines that Linux is built for have 8192. A list that names
/// more CPUs than that, counted with those named again, is garbage as well.
pub(super) const CPU_NUMBER_END: usize = 1 << 16;

/// Nothing read here is longer in earnest; a longer file is cut off.
const FILE_BYTES_MAX: u64 = 1 << 24;

/// A set of CPUs, sorted, written as the kernel writes it: `0-3,8,10-11`.
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
    /// The CPU numbers in ascending order, each once.
    #[must_use]
    pub fn as_slice(&self) -> &[usize] {
        &self.0
    }

    /// How many CPUs are in the list.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no CPU is in the list.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `cpu` is in the list.
    #[must_use]
    pub fn contains(&self, cpu: usize) -> bool {
        self.0.binary_search(&cpu).is_ok()
    }

    /// The CPUs that are in both lists.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(
            self.0
                .iter()
                .copied()
                .filter(|&cpu| other.contains(cpu))
                .collect(),
        )
    }

    /// A list for each CPU.
    pub(super) fn apart(&self) -> Vec<Self> {
        self.0.iter().map(|&cpu| Self(vec![cpu])).collect()
    }

    /// Whether every CPU of this list is in `other`.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.iter().all(|&cpu| other.contains(cpu))
    }
}

impl FromIterator<usize> for CpuList {
    fn from_iter<I: IntoIterator<Item = usize>>(cpus: I) -> Self {
        let mut cpus: Vec<usize> = cpus.into_iter().collect();
        cpus.sort_unstable();
        cpus.dedup();
        Self(cpus)
    }
}

impl FromStr for CpuList {
    type Err = CpuListError;

    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Self::default());
        }
        let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
        let counted = |ranges: &Vec<std::ops::RangeInclusive<usize>>| {
            ranges
                .iter()
                .map(|it| it.end() - it.start() + 1)
                .sum::<usize>()
        };
        let ranges = ranges.filter(|ranges| counted(ranges) <= CPU_NUMBER_END);
        let ranges = ranges.ok_or_else(|| CpuListError(escaped(text)))?;
        Ok(ranges.into_iter().flatten().collect())
    }
}

/// `7` or `4-7`; `None` for anything else.
fn range(text: &str) -> Option<std::ops::RangeInclusive<usize>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last && last < CPU_NUMBER_END).then_some(first..=last)
}

impl fmt::Display for CpuList {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.0.chunk_by(|low, high| low + 1 == *high);
        for (index, run) in runs.enumerate() {
            let comma = if index == 0 { "" } else { "," };
            match run {
                [cpu] => write!(out, "{comma}{cpu}")?,
                _ => write!(out, "{comma}{}-{}", run[0], run[run.len() - 1])?,
            }
        }
        Ok(())
    }
}

/// A text that is no list of CPUs; says which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuListError(String);

impl fmt::Display for CpuListError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "`{}` is no list of CPUs such as 0-3,8 with numbers below {CPU_NUMBER_END}",
            self.0
        )
    }
}

impl std::error::Error for CpuListError {}

/// The files that describe a machine; paths are absolute, as the machine itself sees them.
pub(super) trait Files {
    /// The whole content of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Whether there is a directory of this name.
    fn is_dir(&self, path: &Path) -> bool;
}

/// The files below a directory: `/` is this machine, anything else a made-up one.
pub(super) struct Below<'a>(pub(super) &'a Path);

impl Below<'_> {
    fn place(&self, path: &Path) -> PathBuf {
        self.0.join(path.strip_prefix("/").unwrap_or(path))
    }
}

impl Files for Below<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        std::fs::File::open(self.place(path))?
            .take(FILE_BYTES_MAX)
            .read_to_end(&mut content)?;
        Ok(content)
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.place(path).is_dir()
    }
}

/// A file's content as text without the surrounding white space.
pub(super) fn text(files: &dyn Files, path: &Path) -> io::Result<String> {
    let content = files.read(path)?;
    Ok(String::from_utf8_lossy(&content).trim().to_owned())
}

/// The file `name` that `/proc` keeps about the calling thread.
///
/// A thread may have its own mask and its own cgroup, which the workers it starts inherit; kernels without
/// `thread-self` have the main thread's.
///
/// # Errors
/// A sentence for the reader of the report when neither can be read.
pub(super) fn of_this_thread(files: &dyn Files, name: &str) -> Result<(PathBuf, Vec<u8>), String> {
    let of = |whom: &str| {
        let path = Path::new("/proc").join(whom).join(name);
        let content = files.read(&path);
        content
            .map(|it| (path.clone(), it))
            .map_err(|e| unreadable(&path, &e))
    };
    of("thread-self").or_else(|_| of("self"))
}

/// The sentence for a file that could not be read.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> String {
    format!("cannot read {}: {}", shown(path), error.kind())
}

/// The sentence for a file whose content is not what its format allows.
pub(super) fn garbled(path: &Path, content: &str, allowed: &str) -> String {
    let start: String = content.chars().take(40).collect();
    format!("{} holds `{}`, not {allowed}", shown(path), escaped(&start))
}

/// A path for a terminal: one line, control characters escaped.
pub(super) fn shown(path: &Path) -> String {
    escaped(&path.to_string_lossy())
}

/// A text for a terminal: control characters escaped.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}
