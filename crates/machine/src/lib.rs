//! What machine this is, and how many workers it is good for.
//!
//! [`Machine::read`] takes a snapshot: the CPUs that are online, those the calling thread may run on
//! ([`affinity`](Machine::affinity)), the CPU time that its cgroups grant ([`Quota`]) and what the CPUs share
//! ([`Topology`]). From it follow [`default_workers`](Machine::default_workers) and, in words,
//! [`reason`](Machine::reason); the [`Display`](fmt::Display) form is the whole report.
//!
//! **The default number of workers** is the number of CPUs that are both allowed and online, or the smallest quota of any
//! cgroup above the process rounded *up*, if that is less; at least 1. Up, because a quota that is not a whole number can
//! only be used up by more workers than its whole part: rounded down, the rest is never used. The price of the fraction
//! is that all workers stand still together at the end of a period. Measured on two CPUs with a period of 100 ms, tasks
//! of 0.1 ms in phases of 40 with a barrier after each: under a quota of 1.5 CPUs two workers did 1.5 times the work of
//! one, under 1.05 CPUs 1.01 times (at the 99th percentile a phase took up to 34 ms instead of 2 ms), under 0.5 CPUs
//! 0.95 times. So a quota of at most one CPU gives one worker, and no minimum of two is imposed.
//!
//! Reading never fails. What cannot be read or understood is told in [`notes`](Machine::notes), and the rest is used; a
//! system without `/proc` and `/sys` is asked for its own count. Everything is read as text, and everything can be read
//! from a made-up tree instead ([`Machine::read_from`]). A machine that one does not have is made of a topology
//! ([`Machine::made_up`]), which can be read from a text of a few lines.
//!
//! What this crate does **not** do: it does not follow changes (a snapshot is cheap, take another one), reads no
//! environment variables, binds no threads, and knows nothing of the load or of relative weights.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

use std::fmt;
use std::path::Path;

mod affinity;
mod cpus;
#[cfg(test)]
mod made_up;
mod mounts;
mod quota;
mod report;
#[cfg(test)]
mod tests;
mod topology;

pub use cpus::{CpuList, CpuListError};
pub use quota::Quota;
pub use topology::{Cache, CacheKind, Level, LevelKind, Node, Topology, TopologyError};

use cpus::{Below, Files, garbled, text, unreadable};

/// A snapshot of the machine as far as the number and the order of workers depend on it.
///
/// # Examples
/// ```
/// use tidegate_machine::Machine;
///
/// let machine = Machine::read();
/// assert!(machine.default_workers() >= 1);
/// println!("{} workers: {}", machine.default_workers(), machine.reason());
/// print!("{machine}");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    affinity: Option<CpuList>,
    /// How many CPUs may be used by the system's own count, asked only if the affinity is unknown.
    counted: Option<usize>,
    quotas: Vec<Quota>,
    topology: Topology,
    notes: Vec<String>,
}

impl Machine {
    /// Reads this machine.
    #[must_use]
    pub fn read() -> Self {
        Self::from_files(&Below(Path::new("/")), || {
            std::thread::available_parallelism().ok().map(usize::from)
        })
    }

    /// Reads a made-up machine, whose `/proc` and `/sys` lie below `root`.
    ///
    /// The machine that this runs on is not asked for anything: where the tree tells nothing at all, there is one CPU.
    ///
    /// # Examples
    /// ```
    /// use std::path::Path;
    /// use tidegate_machine::Machine;
    ///
    /// let machine = Machine::read_from(Path::new("/there/is/nothing/here"));
    /// assert_eq!(machine.default_workers(), 1);
    /// assert!(machine.affinity().is_none());
    /// assert!(!machine.notes().is_empty());
    /// ```
    #[must_use]
    pub fn read_from(root: &Path) -> Self {
        Self::from_files(&Below(root), || None)
    }

    /// A machine made up of nothing but a topology: it has no quotas, its affinity is unknown and all of its CPUs may be used.
    ///
    /// A topology without any CPU is taken for one CPU.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::Machine;
    ///
    /// let machine = Machine::made_up("cpus 0-127\nL3 0-63 64-127".parse()?);
    /// assert_eq!((machine.default_workers(), machine.usable().len()), (128, 128));
    /// # Ok::<(), tidegate_machine::TopologyError>(())
    /// ```
    #[must_use]
    pub fn made_up(topology: Topology) -> Self {
        let topology = match topology.cpus().is_empty() {
            true => Topology::flat(std::iter::once(0).collect()),
            false => topology,
        };
        Self {
            affinity: None,
            counted: None,
            quotas: Vec::new(),
            topology,
            notes: Vec::new(),
        }
    }

    fn from_files(files: &dyn Files, count: impl FnOnce() -> Option<usize>) -> Self {
        let mut notes = Vec::new();
        let has_files = ["/proc", "/sys"].map(|dir| files.is_dir(Path::new(dir)));
        if has_files == [false, false] {
            let counted = count();
            notes.push("no /proc and no /sys here".to_owned());
            return Self {
                affinity: None,
                counted,
                quotas: Vec::new(),
                topology: Topology::flat((0..counted.unwrap_or(1)).collect()),
                notes,
            };
        }
        let mut noted = |result: Result<CpuList, String>| result.map_err(|it| notes.push(it)).ok();
        let affinity = noted(affinity::allowed(files));
        let online = noted(online(files));
        let counted = if affinity.is_none() { count() } else { None };
        let quotas = quota::read(files, &mut notes);
        let topology = match (online, &affinity) {
            (Some(online), _) => Topology::read(files, online),
            (None, Some(allowed)) => Topology::read(files, allowed.clone()),
            (None, None) => Topology::flat((0..counted.unwrap_or(1)).collect()),
        };
        Self {
            affinity,
            counted,
            quotas,
            topology,
            notes,
        }
    }

    /// How many CPUs are online; where the system does not tell, how many are known of.
    #[must_use]
    pub fn cpus_online(&self) -> usize {
        self.topology.cpus().len()
    }

    /// The CPUs that the calling thread may run on, offline ones included; `None` where the system does not tell.
    #[must_use]
    pub fn affinity(&self) -> Option<&CpuList> {
        self.affinity.as_ref()
    }

    /// The CPUs on which workers may stand: those that are both allowed and online. Never empty.
    #[must_use]
    pub fn usable(&self) -> CpuList {
        usable(self.topology.cpus(), self.affinity.as_ref())
    }

    /// The smallest limit on CPU time, if there is any.
    #[must_use]
    pub fn quota(&self) -> Option<&Quota> {
        smallest(&self.quotas)
    }

    /// All limits on CPU time, that of the process's own cgroup first, then upwards.
    #[must_use]
    pub fn quotas(&self) -> &[Quota] {
        &self.quotas
    }

    /// What the CPUs share.
    #[must_use]
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// What could not be read or understood and may therefore be missing from the answer; one sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How many workers a pool gets if nobody says otherwise; at least 1. The rule stands at the head of this crate.
    #[must_use]
    pub fn default_workers(&self) -> usize {
        // Both are at least 1: no list that is kept is empty, and no quota is 0.
        let cpus = self.counted.unwrap_or_else(|| self.usable().len());
        within(self.quota(), cpus)
    }

    /// How much of it one may use now: affinity and quotas change while programs run. Much cheaper than another snapshot, of which
    /// only the rest still holds. `root` is as in [`read_from`](Self::read_from). `None` if less can be read than then: what is not seen is
    /// no leave to use more.
    #[must_use]
    pub fn limits(&self, root: &Path) -> Option<Limits> {
        let files = Below(root);
        let allowed = affinity::allowed(&files).ok();
        let usable = usable(
            self.topology.cpus(),
            allowed.as_ref().or(self.affinity.as_ref()),
        );
        let mut notes = Vec::new();
        let quotas = quota::read(&files, &mut notes);
        let cpus = self.counted.unwrap_or(usable.len());
        let limits = Limits {
            workers: within(smallest(&quotas), cpus),
            usable,
        };
        (notes.len() <= self.notes.len()).then_some(limits)
    }

    /// Why it is [`default_workers`](Self::default_workers), in one line such as
    /// `4 of 16 cpus: affinity 0-7, cgroup quota 4.0 cpus from /a/b`.
    #[must_use]
    pub fn reason(&self) -> String {
        report::reason(self)
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        report::full(self, out)
    }
}

/// How much of a machine one may use at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The CPUs.
    pub usable: CpuList,
    /// How many workers they and the quotas are good for.
    pub workers: usize,
}

/// The CPUs that are both allowed and online; never none.
fn usable(online: &CpuList, allowed: Option<&CpuList>) -> CpuList {
    let Some(allowed) = allowed else {
        return online.clone();
    };
    let usable = allowed.intersection(online);
    if usable.is_empty() {
        allowed.clone()
    } else {
        usable
    }
}

fn smallest(quotas: &[Quota]) -> Option<&Quota> {
    quotas.iter().min_by(|a, b| a.cpus.total_cmp(&b.cpus))
}

/// How many workers `cpus` are good for under a quota.
fn within(quota: Option<&Quota>, cpus: usize) -> usize {
    quota.map_or(cpus, |quota| cpus.min(whole_cpus(quota.cpus)))
}

/// How many workers use up a quota.
fn whole_cpus(quota: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded up and above 0; a cast ends at the largest usize"
    )]
    let workers = quota.ceil() as usize;
    workers
}

/// The CPUs that are online.
fn online(files: &dyn Files) -> Result<CpuList, String> {
    let file = Path::new("/sys/devices/system/cpu/online");
    let listed = text(files, file).map_err(|error| unreadable(file, &error))?;
    match listed.parse::<CpuList>() {
        Ok(cpus) if !cpus.is_empty() => Ok(cpus),
        _ => Err(garbled(file, &listed, "a list of CPUs")),
    }
}
