//! A snapshot of the machine, and the number of workers that follows from it.
//!
//! The crate's documentation explains the rule for that number.

use std::ffi::OsString;
use std::path::Path;

use tidegate_policy::tunables::REQUEST_VARIABLE;

use crate::affinity;
use crate::cpus::{CpuList, some_cpus};
use crate::engine::{self, Grant};
use crate::files::{Files, Root, text, unreadable};
use crate::quota::{self, Quota};
use crate::topology::Topology;

#[cfg(test)]
mod tests;

/// A snapshot of everything that determines the number and the order of workers.
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
    /// The system's count of usable CPUs; only queried if the affinity is unknown.
    pub(crate) counted: Option<usize>,
    quotas: Vec<Quota>,
    grants: Vec<Grant>,
    topology: Topology,
    notes: Vec<String>,
}

impl Machine {
    /// Reads this machine, and the environment variables of [engines](Grant).
    ///
    /// # Examples
    /// ```
    /// let machine = tidegate_machine::Machine::read();
    /// println!("{machine}"); // the whole report
    /// assert!(machine.default_workers() >= 1);
    /// ```
    #[must_use]
    pub fn read() -> Self {
        let count = tidegate_sync::thread::processors;
        let variable = |name: &str| std::env::var_os(name);
        // Windows has no such files, but Wine shows those of its host.
        let root = if cfg!(windows) { r"\\?\none" } else { "/" };
        Self::from_files(&Root(Path::new(root)), &count, &variable)
    }

    /// Reads a made-up machine, whose `/proc` and `/sys` are below `root`.
    ///
    /// Nothing comes from the machine that the program runs on: an empty directory yields one CPU,
    /// and environment variables are ignored.
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
        Self::from_files(&Root(root), &|| None, &|_| None)
    }

    /// Creates a machine from a topology alone: without quotas, with an unknown affinity, and with
    /// all of its CPUs usable.
    ///
    /// A topology without CPUs counts as one CPU.
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
    #[inline]
    pub fn made_up(topology: Topology) -> Self {
        let topology = if topology.cpus().is_empty() {
            Topology::flat((0..1).collect())
        } else {
            topology
        };
        Self {
            affinity: None,
            counted: None,
            quotas: Vec::new(),
            grants: Vec::new(),
            topology,
            notes: Vec::new(),
        }
    }

    /// `count` counts the CPUs where their list is unknown; `variable` returns the value of an
    /// environment variable.
    fn from_files(
        files: &dyn Files,
        count: &dyn Fn() -> Option<usize>,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Self {
        let mut notes = Vec::new();
        let mut grants = engine::read(variable, &mut notes);
        if !files.is_dir(Path::new("/proc")) && !files.is_dir(Path::new("/sys")) {
            let counted = count();
            notes.push("no /proc and no /sys here".to_owned());
            return Self {
                counted,
                grants,
                notes,
                ..Self::made_up(Topology::flat((0..counted.unwrap_or(1)).collect()))
            };
        }
        let mut noted = |result: Result<CpuList, String>| result.map_err(|it| notes.push(it)).ok();
        let affinity = noted(affinity::allowed(files));
        let online = noted(online(files));
        let counted = if affinity.is_none() { count() } else { None };
        let quotas = quota::read(files, &mut notes);
        if !quotas.is_empty() {
            grants.retain(|grant| grant.variable != REQUEST_VARIABLE);
        }
        let topology = match (online, &affinity) {
            (Some(online), _) => Topology::read(files, online),
            (None, Some(allowed)) => Topology::read(files, allowed.clone()),
            (None, None) => Topology::flat((0..counted.unwrap_or(1)).collect()),
        };
        Self {
            affinity,
            counted,
            quotas,
            grants,
            topology,
            notes,
        }
    }

    /// Returns the number of online CPUs, or of known CPUs if the system does not report which ones
    /// are online.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::Machine;
    ///
    /// let machine = Machine::made_up("cpus 0-3\nL3 0-1 2-3".parse()?);
    /// assert_eq!(machine.cpus_online(), 4);
    /// # Ok::<(), tidegate_machine::TopologyError>(())
    /// ```
    #[must_use]
    pub fn cpus_online(&self) -> usize {
        self.topology.cpus().len()
    }

    /// Returns the CPUs that the calling thread may run on, including offline ones; `None` if
    /// unknown.
    ///
    /// # Examples
    /// ```
    /// let machine = tidegate_machine::Machine::read();
    /// if let Some(cpus) = machine.affinity() {
    ///     println!("this thread may run on {cpus}");
    /// }
    /// ```
    #[must_use]
    pub fn affinity(&self) -> Option<&CpuList> {
        self.affinity.as_ref()
    }

    /// Returns the CPUs that workers may run on: those that are both allowed and online. Never
    /// empty.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::Machine;
    ///
    /// let machine = Machine::made_up("cpus 0-3\nL3 0-1 2-3".parse()?);
    /// assert_eq!(machine.usable().to_string(), "0-3");
    /// # Ok::<(), tidegate_machine::TopologyError>(())
    /// ```
    #[must_use]
    pub fn usable(&self) -> CpuList {
        usable(self.topology.cpus(), self.affinity.as_ref())
    }

    /// Returns the smallest limit on CPU time, if any.
    ///
    /// # Examples
    /// ```
    /// let machine = tidegate_machine::Machine::read();
    /// if let Some(quota) = machine.quota() {
    ///     println!("{} CPUs, from {}", quota.cpus, quota.file.display());
    /// }
    /// ```
    #[must_use]
    pub fn quota(&self) -> Option<&Quota> {
        smallest(&self.quotas)
    }

    /// Returns all limits on CPU time, from the process's own cgroup upwards.
    ///
    /// # Examples
    /// ```
    /// let machine = tidegate_machine::Machine::read();
    /// assert_eq!(machine.quotas().is_empty(), machine.quota().is_none());
    /// ```
    #[must_use]
    pub fn quotas(&self) -> &[Quota] {
        &self.quotas
    }

    /// Returns the numbers of CPUs that engines have given to this process.
    ///
    /// # Examples
    /// ```
    /// let machine = tidegate_machine::Machine::read();
    /// for grant in machine.grants() {
    ///     assert!(machine.default_workers() <= grant.cpus);
    /// }
    /// ```
    #[must_use]
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// Returns the topology: which CPUs share cores, caches, NUMA nodes and packages.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::Machine;
    ///
    /// let machine = Machine::made_up("cpus 0-3\nL3 0-1 2-3".parse()?);
    /// assert_eq!(machine.topology().caches().len(), 2);
    /// # Ok::<(), tidegate_machine::TopologyError>(())
    /// ```
    #[must_use]
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns one sentence for each problem in reading the machine. The snapshot may lack the
    /// information that the sentence is about.
    ///
    /// # Examples
    /// ```
    /// let machine = tidegate_machine::Machine::read();
    /// for note in machine.notes() {
    ///     println!("{note}");
    /// }
    /// ```
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the default number of workers of a pool; at least 1.
    ///
    /// [The crate's documentation](crate#the-default-number-of-workers) explains the rule.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::Machine;
    ///
    /// let machine = Machine::made_up("cpus 0-3\nL3 0-1 2-3".parse()?);
    /// assert_eq!(machine.default_workers(), 4);
    /// # Ok::<(), tidegate_machine::TopologyError>(())
    /// ```
    #[must_use]
    pub fn default_workers(&self) -> usize {
        let cpus = self.counted.unwrap_or_else(|| self.usable().len());
        self.bounded(cpus, self.quota())
    }

    /// Returns the number of workers for `cpus` CPUs under a quota. At least 1: no stored list is
    /// empty, and neither a quota nor a grant is 0.
    fn bounded(&self, cpus: usize, quota: Option<&Quota>) -> usize {
        let mut workers = quota.map_or(cpus, |quota| quota.workers().min(cpus));
        for grant in &self.grants {
            workers = workers.min(grant.cpus);
        }
        workers
    }

    /// Returns the CPUs that the calling thread may run on now, including offline ones; `None` if
    /// unknown. The files are read below `root`, which is `/` for this machine.
    ///
    /// # Examples
    /// ```
    /// use std::path::Path;
    /// use tidegate_machine::Machine;
    ///
    /// assert_eq!(Machine::current_affinity(Path::new("/there/is/nothing/here")), None);
    /// ```
    #[must_use]
    pub fn current_affinity(root: &Path) -> Option<CpuList> {
        affinity::allowed(&Root(root)).ok()
    }

    /// Reads the affinity and the quotas again, because they may change while a program runs.
    ///
    /// This is much cheaper than another snapshot. The [grants](Self::grants) of the snapshot still
    /// count, because the environment of a process does not change while it runs. The files are
    /// read below `root`, which is `/` for this machine. `before` is the affinity that the calling
    /// thread had before: while it is unchanged, the affinity of the snapshot counts, which may be
    /// that of another thread. Returns `None` if there was a problem that the snapshot did not
    /// have, because a limit that can no longer be read must not count as lifted.
    ///
    /// # Examples
    /// ```
    /// use std::path::Path;
    /// use tidegate_machine::Machine;
    ///
    /// let (machine, root) = (Machine::read(), Path::new("/"));
    /// let before = Machine::current_affinity(root);
    /// if let Some(limits) = machine.limits(root, before.as_ref()) {
    ///     println!("up to {} workers on CPUs {}", limits.workers, limits.usable);
    /// }
    /// ```
    #[must_use]
    pub fn limits(&self, root: &Path, before: Option<&CpuList>) -> Option<Limits> {
        let files = Root(root);
        let now = Self::current_affinity(root);
        if now.is_none() && self.affinity.is_some() {
            return None;
        }
        let allowed = now.filter(|now| Some(now) != before);
        let allowed = allowed.as_ref().or(self.affinity.as_ref());
        let usable = usable(self.topology.cpus(), allowed);
        let mut notes = Vec::new();
        let quotas = quota::read(&files, &mut notes);
        if notes.iter().any(|note| !self.notes.contains(note)) {
            return None;
        }
        let cpus = self.counted.unwrap_or(usable.len());
        Some(Limits {
            workers: self.bounded(cpus, smallest(&quotas)),
            usable,
        })
    }
}

/// The CPUs and the number of workers that a process may use at one moment.
///
/// # Examples
/// ```
/// use std::path::Path;
///
/// let machine = tidegate_machine::Machine::read();
/// if let Some(limits) = machine.limits(Path::new("/"), None) {
///     assert!(limits.workers >= 1);
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The CPUs that workers may run on.
    pub usable: CpuList,
    /// The number of workers that these CPUs, the quotas and the grants allow.
    pub workers: usize,
}

/// Returns the CPUs that are both allowed and online; all allowed CPUs if none of them is online.
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

fn online(files: &dyn Files) -> Result<CpuList, String> {
    let file = Path::new("/sys/devices/system/cpu/online");
    let listed = text(files, file).map_err(|error| unreadable(file, &error))?;
    some_cpus(file, &listed, "a list of CPUs")
}
