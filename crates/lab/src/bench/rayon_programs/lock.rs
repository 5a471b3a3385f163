//! Reads and compares lock files, which list the versions of all packages in a build.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tidegate_command::failure::Failure;

use super::files::{self, at};

pub const LOCK: &str = "Cargo.lock";

/// The versions of each package in a lock file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Lock(BTreeMap<String, BTreeSet<String>>);

/// A package that has different versions in two lock files.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    pub name: String,
    /// Versions that only the first lock file has.
    pub first: Vec<String>,
    /// Versions that only the second lock file has.
    pub second: Vec<String>,
}

impl Lock {
    pub fn read(path: &Path) -> Result<Lock, Failure> {
        let text = files::read(path)?;
        Lock::parse(&String::from_utf8_lossy(&text)).map_err(|why| at(path, &why))
    }

    fn parse(text: &str) -> Result<Lock, String> {
        let table: toml::Table = text.parse().map_err(|error| format!("{error}"))?;
        let packages = table.get("package").and_then(toml::Value::as_array);
        let mut lock = Lock::default();
        for package in packages.ok_or("has no packages")? {
            let field = |name: &str| package.get(name).and_then(toml::Value::as_str);
            let (Some(name), Some(version)) = (field("name"), field("version")) else {
                return Err("has a package without name or version".to_string());
            };
            let versions = lock.0.entry(name.to_string()).or_default();
            versions.insert(version.to_string());
        }
        Ok(lock)
    }

    pub fn versions(&self, name: &str) -> impl Iterator<Item = &str> {
        let versions = self.0.get(name).into_iter().flatten();
        versions.map(String::as_str)
    }

    /// Returns the packages of which each lock file has a version that the other lacks. It is not a
    /// difference if only one file has an additional package or version, because the two
    /// rayon-cores have different dependencies.
    pub fn differences(&self, other: &Lock) -> Vec<Difference> {
        let only = |a: &BTreeSet<String>, b: &BTreeSet<String>| a.difference(b).cloned().collect();
        let pairs = self.0.iter().filter_map(|(name, first)| {
            let second = other.0.get(name)?;
            let difference = Difference {
                name: name.clone(),
                first: only(first, second),
                second: only(second, first),
            };
            let differs = !difference.first.is_empty() && !difference.second.is_empty();
            differs.then_some(difference)
        });
        pairs.collect()
    }
}

/// Whether `version` is older than `other` and compatible with it.
pub fn older(version: &str, other: &str) -> bool {
    let (Some((series, version)), Some((other_series, other))) = (numbers(version), numbers(other))
    else {
        return false;
    };
    series == other_series && version < other
}

/// Splits a version into two parts: the numbers in which compatible versions agree, and the numbers
/// in which they may differ. `None` unless the version consists of three numbers.
fn numbers(version: &str) -> Option<([u64; 2], [u64; 2])> {
    let numbers: Vec<u64> = version
        .split('.')
        .map(|number| number.parse().ok())
        .collect::<Option<_>>()?;
    match *numbers.as_slice() {
        [0, minor, patch] => Some(([0, minor], [patch, 0])),
        [major, minor, patch] => Some(([major, 0], [minor, patch])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(packages: &[(&str, &str)]) -> Lock {
        let packages = packages.iter().map(|(name, version)| {
            format!("[[package]]\nname = {name:?}\nversion = {version:?}\n")
        });
        Lock::parse(&packages.collect::<String>()).unwrap()
    }

    #[test]
    fn every_version_is_read() {
        let lock = lock(&[("a", "1.0.0"), ("b", "1.2.3"), ("a", "2.0.0")]);
        assert_eq!(lock.versions("a").collect::<Vec<_>>(), ["1.0.0", "2.0.0"]);
        assert_eq!(lock.versions("c").count(), 0);
        assert!(Lock::parse("[[package]]\nname = \"a\"").is_err());
        assert!(Lock::parse("version = 4").is_err());
    }

    #[test]
    fn older_versions_are_compatible() {
        assert!(older("0.2.155", "0.2.191"));
        assert!(older("1.4.0", "1.10.0"));
        for version in ["0.2.191", "0.2.200", "0.1.300", "1.0.0-alpha.1"] {
            assert!(!older(version, "0.2.191"), "{version}");
        }
    }

    mod differences {
        use super::*;

        #[test]
        fn are_versions_in_place_of_others() {
            let first = lock(&[("a", "1.0.0"), ("a", "2.0.0"), ("b", "1.0.0")]);
            let second = lock(&[("a", "1.0.1"), ("a", "2.0.0"), ("b", "1.0.0")]);
            let found = first.differences(&second);
            let [difference] = found.as_slice() else {
                panic!("{found:?}");
            };
            assert_eq!(difference.name, "a");
            assert_eq!(difference.first, ["1.0.0"]);
            assert_eq!(difference.second, ["1.0.1"]);
        }

        #[test]
        fn are_not_packages_of_one_side() {
            let stock = lock(&[("rayon", "1.12.0"), ("crossbeam-deque", "0.8.6")]);
            let ours = lock(&[("rayon", "1.12.0"), ("memmap2", "0.9.5")]);
            assert_eq!(stock.differences(&ours), []);
            let more = lock(&[("rayon", "1.12.0"), ("rayon", "2.0.0")]);
            assert_eq!(stock.differences(&more), []);
        }
    }
}
