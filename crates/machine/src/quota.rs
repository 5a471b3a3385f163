//! The CPU time that cgroups grant to this process, as a number of CPUs.
//!
//! A cgroup can limit the CPU time of everything inside it to a quota per period (cgroup v2
//! `cpu.max`, cgroup v1 `cpu.cfs_quota_us` and `cpu.cfs_period_us`; see admin-guide/cgroup-v2 and
//! scheduler/sched-bwc of the Linux documentation). The limits of all ancestors apply, so all of
//! them are read, from the process's own cgroup (`/proc/thread-self/cgroup`) up to the highest
//! visible one. Both versions are read: on a hybrid system the `cpu` controller can be in either.
//!
//! One mount can show cgroups that another one hides, so every visible mount of a hierarchy is
//! used. The following problems are reported, and everything else is still read:
//!
//! * no mount shows the process's cgroup;
//! * a mount shows only cgroups above it, because it begins outside the process's cgroup namespace;
//! * a file cannot be read, or is malformed.
//!
//! A missing file means no limit: neither root cgroups nor cgroups without the `cpu` controller
//! have the file.
//!
//! `cpu.weight` and `cpu.shares` are ignored, because a share of a busy machine means nothing on an
//! idle one. `cpu.max.burst` is ignored because it only moves time between periods. The CPU time
//! that siblings under the same limit use is ignored, too.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use crate::files::{Files, garbled, of_this_thread, shown, text, unreadable};
use crate::mounts::{Mounts, Version, has_cpu, path, split};

#[cfg(test)]
mod tests;

/// A cgroup's limit on CPU time.
///
/// # Examples
/// ```
/// let machine = tidegate_machine::Machine::read();
/// for quota in machine.quotas() {
///     assert!(quota.cpus > 0.0);
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Quota {
    /// The limit in CPU seconds per second: above 0, and not always an integer.
    pub cpus: f64,
    /// The path of the cgroup that sets the limit, as seen in this process's cgroup namespace.
    pub from: PathBuf,
    /// The file that contains the quota.
    pub file: PathBuf,
}

impl Quota {
    /// Returns the number of workers needed to use up the quota; at least 1.
    pub(crate) fn workers(&self) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "rounded up and above 0; the cast saturates"
        )]
        let workers = self.cpus.ceil() as usize;
        workers
    }
}

/// Reads the limits of this thread's own cgroup and then those of its ancestors, from the nearest
/// up. Adds problems to `notes`.
pub(crate) fn read(files: &dyn Files, notes: &mut Vec<String>) -> Vec<Quota> {
    let mut read = |name| of_this_thread(files, name).map_err(|note| notes.push(note));
    let (Ok((_, groups)), Ok((_, mounts))) = (read("cgroup"), read("mountinfo")) else {
        return Vec::new();
    };
    let (groups, mounts) = (own_groups(&groups), Mounts::parse(&mounts));
    let mut steps = Vec::new();
    for (index, (version, group)) in groups.iter().enumerate() {
        let gap = match climb(files, &mounts, *version, group, &mut steps) {
            View::Nothing => "",
            View::Above => ", only some above it",
            View::Whole => continue,
        };
        // The first group is of version 1 if that version has the `cpu` controller. In that case,
        // version 2 cannot have the controller and need not be mounted.
        if index == 0 {
            notes.push(format!("no mount shows the cgroup {}{gap}", shown(group)));
        }
    }
    let mut quotas = Vec::new();
    for step in steps {
        match step.limit {
            Ok(Some(quota)) => quotas.push(quota),
            Ok(None) => {}
            Err(note) => notes.push(note),
        }
    }
    quotas
}

/// Returns the cgroups of a thread that can limit its CPU time, version 1 first.
///
/// A line of the file is `id:controllers:path`. Version 2 has the id 0 and lists no controllers.
/// The path can contain colons.
fn own_groups(cgroup: &[u8]) -> Vec<(Version, PathBuf)> {
    let group = |line: &[u8]| {
        let mut fields = split(line, b':');
        let (id, controllers) = (fields.next()?, fields.next()?);
        let group = line.get(id.len() + controllers.len() + 2..)?;
        match (id, controllers) {
            (b"0", b"") => Some((Version::V2, path(group))),
            _ if has_cpu(controllers) => Some((Version::V1, path(group))),
            _ => None,
        }
    };
    let (mut groups, mut others) = (Vec::new(), Vec::new());
    for found in split(cgroup, b'\n').filter_map(group) {
        match found.0 {
            Version::V1 => groups.push(found),
            Version::V2 => others.push(found),
        }
    }
    groups.append(&mut others);
    groups
}

/// How much the mounts show of a cgroup and its ancestors.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum View {
    Nothing,
    /// Some ancestors, but not the cgroup.
    Above,
    /// The cgroup and its ancestors up to the root of the mount.
    Whole,
}

/// A cgroup and its limit, on the way up from the thread's own cgroup.
struct Step {
    version: Version,
    group: PathBuf,
    limit: Limit,
}

type Limit = Result<Option<Quota>, String>;

impl Step {
    /// Returns the precedence of the limit. If two mounts show different limits of the same cgroup,
    /// the limit with the higher rank is kept.
    fn rank(&self) -> u8 {
        match self.limit {
            Ok(None) => 0,
            Err(_) => 1,
            Ok(Some(_)) => 2,
        }
    }
}

/// Adds a step for `group` and each of its ancestors that a mount shows.
fn climb(
    files: &dyn Files,
    mounts: &Mounts,
    version: Version,
    group: &Path,
    steps: &mut Vec<Step>,
) -> View {
    let mut view = View::Nothing;
    for mount in mounts.of(version) {
        let Some((way, is_whole)) = between(&mount.root, group) else {
            continue;
        };
        for part in way.ancestors() {
            let below = |top: &Path| match part.parent() {
                Some(_) => top.join(part),
                // Joining an empty path would add a slash.
                None => top.to_owned(),
            };
            let dir = below(&mount.point);
            if !mounts.shows(mount, &dir) || !files.is_dir(&dir) {
                continue;
            }
            let is_own = is_whole && part == way;
            view = view.max(if is_own { View::Whole } else { View::Above });
            let group = below(&mount.root);
            let limit = limit(files, version, &dir, &group);
            let step = Step {
                version,
                group,
                limit,
            };
            add(steps, step);
        }
    }
    view
}

/// Adds a step behind those that are as deep or deeper. If there already is a step for the same
/// cgroup, replaces it only if the new limit has a higher rank.
fn add(steps: &mut Vec<Step>, step: Step) {
    let same = |it: &&mut Step| it.version == step.version && it.group == step.group;
    match steps.iter_mut().find(same) {
        None => {
            let depth = |it: &Step| it.group.components().count();
            let place = steps.partition_point(|it| depth(it) >= depth(&step));
            steps.insert(place, step);
        }
        Some(known) if known.rank() < step.rank() => *known = step,
        Some(_) => {}
    }
}

/// Returns the path from the root of a mount down to a cgroup, and whether it is the whole path.
/// The path is empty and not whole if the root is so far above the namespace that the first names
/// are unknown. Returns `None` if the cgroup is not below the root.
fn between<'a>(root: &Path, group: &'a Path) -> Option<(&'a Path, bool)> {
    let (root_ups, root_names) = ups_and_names(root)?;
    let (group_ups, _) = ups_and_names(group)?;
    if root_ups == group_ups {
        return Some((group.strip_prefix(root).ok()?, true));
    }
    let above = root_ups > group_ups && root_names == 0;
    above.then_some((Path::new(""), false))
}

/// Counts the steps up and the names in a path such as `/../../a/b`, which begins outside the
/// namespace. Returns `None` if the path has another form.
fn ups_and_names(path: &Path) -> Option<(usize, usize)> {
    let (mut ups, mut names) = (0, 0);
    for component in path.strip_prefix("/").ok()?.components() {
        match component {
            Component::ParentDir if names == 0 => ups += 1,
            Component::Normal(_) => names += 1,
            _ => return None,
        }
    }
    Some((ups, names))
}

/// Reads the limit of the cgroup `group`, whose directory is `dir`.
fn limit(files: &dyn Files, version: Version, dir: &Path, group: &Path) -> Limit {
    let (file, read): (_, fn(&dyn Files, &Path) -> _) = match version {
        Version::V1 => (dir.join("cpu.cfs_quota_us"), read_v1),
        Version::V2 => (dir.join("cpu.max"), read_v2),
    };
    let from = group.to_owned();
    Ok(read(files, &file)?.map(|cpus| Quota { cpus, from, file }))
}

/// Reads `cpu.max`: `max 100000` or `50000 100000`, a quota and a period in microseconds.
fn read_v2(files: &dyn Files, file: &Path) -> Result<Option<f64>, String> {
    let Some(content) = text_if_there(files, file)? else {
        return Ok(None);
    };
    let limit = match content.split_once(' ') {
        Some(("max", _)) => return Ok(None),
        Some((quota, period)) => ratio(quota, period),
        None => None,
    };
    let expected = "\"max\" or a quota, and a period";
    Ok(Some(
        limit.ok_or_else(|| garbled(file, &content, expected))?,
    ))
}

/// Reads `cpu.cfs_quota_us`, in microseconds per period or -1 for no limit, and the period.
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
    let expected = "-1 or a quota, and a period";
    let limit = ratio(&quota, &period).ok_or_else(|| garbled(file, &both, expected))?;
    Ok(Some(limit))
}

fn text_if_there(files: &dyn Files, file: &Path) -> Result<Option<String>, String> {
    match text(files, file) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(file, &error)),
    }
}

/// Divides the quota by the period; both must be positive integers.
fn ratio(quota: &str, period: &str) -> Option<f64> {
    let above_zero = |digits: &str| digits.parse::<u64>().ok().filter(|&number| number > 0);
    #[expect(
        clippy::cast_precision_loss,
        reason = "real quotas are far below 2^53 microseconds"
    )]
    Some(above_zero(quota)? as f64 / above_zero(period)? as f64)
}
