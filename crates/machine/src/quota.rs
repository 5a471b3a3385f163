//! How much CPU time the cgroups above this process grant it, as a number of CPUs.
//!
//! A cgroup may limit the CPU time of everything inside it to a quota per period (cgroup v2 `cpu.max`, cgroup v1
//! `cpu.cfs_quota_us` and `cpu.cfs_period_us`; Linux documentation, admin-guide/cgroup-v2 and scheduler/sched-bwc). The
//! limit of every ancestor holds, so all are read, from the process's own cgroup (`/proc/thread-self/cgroup`) up to the
//! highest one that a mount shows, and the smallest quota / period counts. Both versions are read: on a hybrid system
//! the `cpu` controller may be in either.
//!
//! What one mount hides another may show, so every visible mount of a hierarchy is used. What stands in the way is told
//! and does not stop the rest: no mount shows the process's cgroup; a mount shows only cgroups above it (it begins
//! outside the process's cgroup namespace); a file cannot be read or does not hold what its format allows. A file that
//! does not exist is no limit: root cgroups have none, nor have cgroups without the `cpu` controller.
//!
//! It does not look at `cpu.weight` or `cpu.shares`: a share of a busy machine says nothing about an idle one. It does
//! not count `cpu.max.burst` either, which lends time but adds none, nor what siblings under the same limit use.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::cpus::{Files, garbled, of_this_thread, shown, text, unreadable};
use super::mounts::{Mounts, Version, has_cpu, path};

#[cfg(test)]
mod tests;

/// A limit on CPU time that a cgroup sets.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Quota {
    /// CPU seconds per second; above 0, not always a whole number.
    pub cpus: f64,
    /// The cgroup, as its namespace names it.
    pub from: PathBuf,
    /// The file that holds the quota.
    pub file: PathBuf,
}

/// The limits of this thread's cgroups, from its own upwards; what stands in the way is added to `notes`.
pub(super) fn read(files: &dyn Files, notes: &mut Vec<String>) -> Vec<Quota> {
    let read = |name| of_this_thread(files, name);
    let (groups, mounts) = match (read("cgroup"), read("mountinfo")) {
        (Ok((_, groups)), Ok((_, mounts))) => (own_groups(&groups), Mounts::parse(&mounts)),
        (groups, mounts) => {
            notes.extend([groups.err(), mounts.err()].into_iter().flatten());
            return Vec::new();
        }
    };
    let mut steps = Vec::new();
    for (index, (version, group)) in groups.iter().enumerate() {
        let gap = match climb(files, &mounts, *version, group, &mut steps) {
            View::Nothing => "",
            View::Above => ", only some above it",
            View::Whole => continue,
        };
        // The first is version 1 where that has the controller; then version 2 cannot have it and may be missing.
        if index == 0 {
            notes.push(format!("no mount shows the cgroup {}{gap}", shown(group)));
        }
    }
    steps.sort_by_key(|step| std::cmp::Reverse(step.group.components().count()));
    let mut quotas = Vec::new();
    for step in steps {
        match step.limit {
            Limit::Quota(quota) => quotas.push(quota),
            Limit::Unknown(note) => notes.push(note),
            Limit::None => {}
        }
    }
    quotas
}

/// The cgroups of a thread that may limit its CPU time, that of version 1 first.
///
/// The lines are `id:controllers:path`; version 2 has the id 0 and names no controllers. A path may contain colons.
fn own_groups(cgroup: &[u8]) -> Vec<(Version, PathBuf)> {
    let group = |line: &[u8]| {
        let mut fields = line.splitn(3, |&byte| byte == b':');
        let (id, controllers, group) = (fields.next()?, fields.next()?, fields.next()?);
        match (id, controllers) {
            (b"0", b"") => Some((Version::V2, path(group))),
            _ if has_cpu(controllers) => Some((Version::V1, path(group))),
            _ => None,
        }
    };
    let lines = cgroup.split(|&byte| byte == b'\n');
    let mut groups: Vec<_> = lines.filter_map(group).collect();
    groups.sort_by_key(|(version, _)| *version == Version::V2);
    groups
}

/// How much of the way from a cgroup upwards the mounts show.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum View {
    Nothing,
    /// Some cgroups above it, but not the cgroup.
    Above,
    /// The cgroup and what is above it up to the root of the mount.
    Whole,
}

/// One cgroup on the way up.
struct Step {
    version: Version,
    group: PathBuf,
    limit: Limit,
}

/// What a cgroup's files say.
enum Limit {
    None,
    Unknown(String),
    Quota(Quota),
}

impl Limit {
    /// Orders what two mounts of the same cgroup say by how much it tells.
    fn weight(&self) -> u8 {
        match self {
            Self::None => 0,
            Self::Unknown(_) => 1,
            Self::Quota(_) => 2,
        }
    }
}

/// Adds a step for each cgroup from `group` upwards that a mount shows.
fn climb(
    files: &dyn Files,
    mounts: &Mounts,
    version: Version,
    group: &Path,
    steps: &mut Vec<Step>,
) -> View {
    let mut view = View::Nothing;
    for mount in mounts.of(version) {
        let Some(way) = Way::between(&mount.root, group) else {
            continue;
        };
        for depth in (0..=way.names.len()).rev() {
            let below = |top: &Path| {
                let mut path = top.to_owned();
                path.extend(&way.names[..depth]);
                path
            };
            let dir = below(&mount.point);
            if !mounts.shows(mount, &dir) || !files.is_dir(&dir) {
                continue;
            }
            let is_own = way.whole && depth == way.names.len();
            view = view.max(if is_own { View::Whole } else { View::Above });
            let group = below(&mount.root);
            let limit = limit(files, version, &dir, &group);
            add(
                steps,
                Step {
                    version,
                    group,
                    limit,
                },
            );
        }
    }
    view
}

/// Adds a step unless another mount has shown as much of the same cgroup.
fn add(steps: &mut Vec<Step>, step: Step) {
    let same = |it: &&mut Step| it.version == step.version && it.group == step.group;
    match steps.iter_mut().find(same) {
        None => steps.push(step),
        Some(known) if known.limit.weight() < step.limit.weight() => *known = step,
        Some(_) => {}
    }
}

/// The way down from the root of a mount to a cgroup.
struct Way<'a> {
    names: Vec<&'a OsStr>,
    /// False if the root lies so far above the namespace that the first names are unknown; then there are none.
    whole: bool,
}

impl<'a> Way<'a> {
    /// `None` if the cgroup is not below the root.
    fn between(root: &Path, group: &'a Path) -> Option<Self> {
        let (root_ups, root_names) = ups_and_names(root)?;
        let (group_ups, group_names) = ups_and_names(group)?;
        if root_ups == group_ups {
            let below = group_names.starts_with(&root_names);
            return below.then(|| Self {
                names: group_names[root_names.len()..].to_vec(),
                whole: true,
            });
        }
        let above = root_ups > group_ups && root_names.is_empty();
        above.then_some(Self {
            names: Vec::new(),
            whole: false,
        })
    }
}

/// Splits `/../../a/b`, a path that begins outside the namespace, into 2 and `[a, b]`; `None` for any other form.
fn ups_and_names(path: &Path) -> Option<(usize, Vec<&OsStr>)> {
    let mut ups = 0;
    let mut names = Vec::new();
    for component in path.strip_prefix("/").ok()?.components() {
        match component {
            Component::ParentDir if names.is_empty() => ups += 1,
            Component::Normal(name) => names.push(name),
            _ => return None,
        }
    }
    Some((ups, names))
}

/// What the files of the cgroup `group`, shown at `dir`, say.
fn limit(files: &dyn Files, version: Version, dir: &Path, group: &Path) -> Limit {
    let (file, read): (_, fn(&dyn Files, &Path) -> _) = match version {
        Version::V1 => (dir.join("cpu.cfs_quota_us"), read_v1),
        Version::V2 => (dir.join("cpu.max"), read_v2),
    };
    match read(files, &file) {
        Ok(None) => Limit::None,
        Err(note) => Limit::Unknown(note),
        Ok(Some(cpus)) => Limit::Quota(Quota {
            cpus,
            from: group.to_owned(),
            file,
        }),
    }
}

/// `cpu.max` holds `max 100000` or `50000 100000`: quota and period in microseconds.
fn read_v2(files: &dyn Files, file: &Path) -> Result<Option<f64>, String> {
    let Some(content) = text_if_there(files, file)? else {
        return Ok(None);
    };
    let limit = match content.split_once(' ') {
        Some(("max", _)) => return Ok(None),
        Some((quota, period)) => ratio(quota, period),
        None => None,
    };
    limit
        .map(Some)
        .ok_or_else(|| garbled(file, &content, "`max` or a quota, and a period"))
}

/// `cpu.cfs_quota_us` holds microseconds per period, -1 for no limit; the period is in the file beside it.
fn read_v1(files: &dyn Files, file: &Path) -> Result<Option<f64>, String> {
    let Some(quota) = text_if_there(files, file)? else {
        return Ok(None);
    };
    if quota == "-1" {
        return Ok(None);
    }
    let period_file = file.with_file_name("cpu.cfs_period_us");
    let period = text(files, &period_file).map_err(|error| unreadable(&period_file, &error))?;
    let both = format!("{quota} per {period}");
    ratio(&quota, &period)
        .map(Some)
        .ok_or_else(|| garbled(file, &both, "-1 or a quota, and a period"))
}

fn text_if_there(files: &dyn Files, file: &Path) -> Result<Option<String>, String> {
    match text(files, file) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(file, &error)),
    }
}

/// quota / period, both whole numbers above 0.
fn ratio(quota: &str, period: &str) -> Option<f64> {
    let above_zero = |digits: &str| digits.parse::<u64>().ok().filter(|&number| number > 0);
    #[expect(
        clippy::cast_precision_loss,
        reason = "real quotas are far below 2^53 microseconds"
    )]
    Some(above_zero(quota)? as f64 / above_zero(period)? as f64)
}
