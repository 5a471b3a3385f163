//! Where the cgroup hierarchies with the `cpu` controller are mounted, from `/proc/self/mountinfo`.
//!
//! A line (proc(5), section mountinfo) looks like this. Spaces, tabs, newlines and backslashes in
//! paths are written as a backslash and three octal digits.
//!
//! ```text
//! 36 35 98:0 /docker/1a /sys/fs/cgroup/cpu rw,relatime master:1 - cgroup cgroup rw,cpu,cpuacct
//! id parent    root       point              options   optional   type   source super options
//! ```
//!
//! `root` is the cgroup that the mount shows at `point`. It is not `/` for bind mounts or in
//! containers without a cgroup namespace, and it starts with `/..` if it is outside the reader's
//! namespace.
//!
//! A mount can be hidden by another mount on top of it or above it. The order of the lines does not
//! show this: a root file system that was moved into place late is listed after the mounts on it.
//! So [`Mounts::at`] follows the parents' ids, as path lookup does.

use std::path::{Path, PathBuf};

/// The version of a cgroup hierarchy, which determines the names of its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// A separate hierarchy for the `cpu` controller.
    V1,
    /// The unified hierarchy.
    V2,
}

/// One line of mountinfo.
#[derive(Debug)]
pub(crate) struct Mount {
    id: usize,
    parent: usize,
    /// True if the list has no other mount with the parent's id.
    orphan: bool,
    /// The directory of the mounted file system that is visible at `point`. In a cgroup hierarchy,
    /// this directory is a cgroup.
    pub(crate) root: PathBuf,
    pub(crate) point: PathBuf,
    /// The version of the hierarchy; `None` if this is not a cgroup hierarchy that can limit CPU
    /// time.
    pub(crate) version: Option<Version>,
}

#[derive(Debug)]
pub(crate) struct Mounts(Vec<Mount>);

impl Mounts {
    /// Parses mountinfo. Skips lines that do not have the form shown above.
    pub(crate) fn parse(mountinfo: &[u8]) -> Self {
        let (mut mounts, mut ids) = (Vec::new(), Vec::new());
        for mount in split(mountinfo, b'\n').filter_map(mount) {
            ids.push(mount.id);
            mounts.push(mount);
        }
        ids.sort_unstable();
        for mount in &mut mounts {
            mount.orphan = mount.parent == mount.id || ids.binary_search(&mount.parent).is_err();
        }
        Self(mounts)
    }

    pub(crate) fn of(&self, version: Version) -> impl Iterator<Item = &Mount> {
        let mounts = self.0.iter();
        mounts.filter(move |mount| mount.version == Some(version))
    }

    /// Whether `path` resolves to `mount`, and not to a mount that hides it.
    pub(crate) fn shows(&self, mount: &Mount, path: &Path) -> bool {
        self.at(path)
            .is_some_and(|found| std::ptr::eq(found, mount))
    }

    /// Returns the mount that `path` resolves to.
    fn at(&self, path: &Path) -> Option<&Mount> {
        let depth = |mount: &Mount| mount.point.components().count();
        let mut root: Option<&Mount> = None;
        for mount in self.0.iter().filter(|mount| mount.orphan) {
            let is_deeper = |root: &Mount| depth(mount) >= depth(root);
            if path.starts_with(&mount.point) && root.is_none_or(is_deeper) {
                root = Some(mount);
            }
        }
        let mut here = root?;
        // Each step goes to a child, so without cycles there are fewer steps than mounts. The bound
        // ends the loop even if the parents form a cycle.
        for _ in 1..self.0.len() {
            let mut next: Option<&Mount> = None;
            let is_child = |mount: &&Mount| !mount.orphan && mount.parent == here.id;
            for child in self.0.iter().filter(is_child) {
                let is_nearer = |next: &Mount| depth(child) < depth(next);
                if path.starts_with(&child.point) && next.is_none_or(is_nearer) {
                    next = Some(child);
                }
            }
            match next {
                Some(child) => here = child,
                None => break,
            }
        }
        Some(here)
    }
}

fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = split(line, b' ');
    let (id, parent, _) = (fields.next()?, fields.next()?, fields.next()?);
    let (root, point, _) = (fields.next()?, fields.next()?, fields.next()?);
    while fields.next()? != b"-" {}
    let (kind, _, super_options) = (fields.next()?, fields.next()?, fields.next()?);
    let version = match kind {
        b"cgroup2" => Some(Version::V2),
        b"cgroup" if has_cpu(super_options) => Some(Version::V1),
        _ => None,
    };
    Some(Mount {
        id: number(id)?,
        parent: number(parent)?,
        orphan: false,
        root: path(&unescaped(root)),
        point: path(&unescaped(point)),
        version,
    })
}

/// Whether a comma-separated list of controllers includes `cpu`.
pub(crate) fn has_cpu(controllers: &[u8]) -> bool {
    split(controllers, b',').any(|name| name == b"cpu")
}

pub(crate) fn split(bytes: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    bytes.split(move |&byte| byte == separator)
}

fn number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Decodes escapes such as `\040`, and keeps other backslashes.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        match tail {
            [
                a @ b'0'..=b'3',
                b @ b'0'..=b'7',
                c @ b'0'..=b'7',
                after @ ..,
            ] if *first == b'\\' => {
                out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = after;
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    out
}

/// Converts the kernel's bytes to a path. On Unix, they need not be UTF-8.
pub(crate) fn path(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
    }
    #[cfg(not(unix))]
    {
        PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(mountinfo: &str, version: Version) -> Vec<String> {
        let mounts = Mounts::parse(mountinfo.as_bytes());
        let visible = mounts.of(version).filter(|it| mounts.shows(it, &it.point));
        visible.map(|it| it.point.display().to_string()).collect()
    }

    #[test]
    fn keeps_only_the_cpu_controller() {
        let list = "\
            1 0 0:1 / / rw - ext4 /dev/vda rw\n\
            2 1 0:2 / /a rw shared:3 master:1 - cgroup cgroup rw,cpuacct\n\
            3 1 0:3 / /b rw - cgroup cgroup rw,cpu,cpuacct\n\
            4 1 0:4 / /c rw - cgroup cgroup rw,name=cpu\n\
            5 1 0:5 / /d rw shared:3 - cgroup2 cgroup2 rw\n\
            6 1 0:6 / /e rw - cpu cgroup rw,cpu\n";
        assert_eq!(points(list, Version::V1), ["/b"]);
        assert_eq!(points(list, Version::V2), ["/d"]);
    }

    #[test]
    fn decodes_escaped_paths() {
        let list = "3 1 0:3 /r\\134\\011 /my\\040groups/\\0\\9\\ rw - cgroup2 none rw";
        let mounts = Mounts::parse(list.as_bytes());
        let mount = mounts.of(Version::V2).next().unwrap();
        assert_eq!(mount.root, Path::new("/r\\\t"));
        assert_eq!(mount.point, Path::new("/my groups/\\0\\9\\"));
    }

    #[test]
    fn skips_malformed_lines() {
        let list = "\n-\n1\n1 2 3 4 5 6 7\n1 2 0:1 / /x rw -\n1 2 0:1 / /x rw - cgroup2\nx 2 0:1 / /x rw - cgroup2 a rw\n\
            \u{0}\u{0}\n18446744073709551616 2 0:1 / /x rw - cgroup2 a rw\n";
        assert_eq!(points(list, Version::V2), [""; 0]);
    }

    #[test]
    fn ignores_the_order_of_lines() {
        let list = "\
            22 29 0:2 / /sys rw - sysfs sysfs rw\n\
            30 22 0:3 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n\
            29 1 0:1 / / rw - ext4 /dev/vda rw\n";
        assert_eq!(points(list, Version::V2), ["/sys/fs/cgroup"]);
    }

    #[test]
    fn hides_covered_mounts() {
        let below = "1 0 0:1 / / rw - ext4 a rw\n2 1 0:2 / /sys/fs/cgroup rw - cgroup2 c rw\n";
        let same_place = "3 2 0:3 / /sys/fs/cgroup rw - tmpfs t rw\n";
        let further_up = "3 1 0:3 / /sys rw - tmpfs t rw\n";
        let elsewhere = "3 1 0:3 / /sys/fs/cgroup2 rw - tmpfs t rw\n";
        assert_eq!(
            points(&format!("{below}{same_place}"), Version::V2),
            [""; 0]
        );
        assert_eq!(
            points(&format!("{below}{further_up}"), Version::V2),
            [""; 0]
        );
        assert_eq!(points(&format!("{below}{elsewhere}"), Version::V2).len(), 1);
    }

    #[test]
    fn stops_at_cyclic_parents() {
        let list = "\
            9 0 0:1 / / rw - ext4 a rw\n\
            1 2 0:1 / /x rw - cgroup2 c rw\n\
            2 1 0:1 / /x rw - cgroup2 c rw\n\
            3 3 0:1 / /y rw - cgroup2 c rw\n";
        assert_eq!(points(list, Version::V2), ["/y"]);
    }
}
