//! Who imports whom, and which crates forbid what.
//!
//! Reads the manifests as cargo understands them, so that renamed and inherited dependencies are seen as what they are.
//! Dependencies of tests alone are free.

use crate::house::Breach;
use crate::house::plan::{Outside, PROGRAMS, ROOMS, Room, WITHOUT_STD, package_of, room_of};
use crate::house::repo::{Repo, Text};
use crate::workspace::{Dependency, Package};

/// Breaches in manifests and in the attributes of crate roots.
pub fn check(repo: &Repo) -> Vec<Breach> {
    let manifests = repo.packages.iter().flat_map(manifest);
    manifests
        .chain(strangers(repo))
        .chain(ROOMS.iter().flat_map(|room| attributes(repo, room)))
        .collect()
}

/// Manifests of packages that no check goes through.
fn strangers(repo: &Repo) -> impl Iterator<Item = Breach> {
    let folder = |file: &Text| Some(file.path.strip_suffix("/Cargo.toml")?.to_string());
    let folders = repo.texts.iter().filter_map(folder);
    let known = |folder: &String| repo.packages.iter().any(|known| known.folder == *folder);
    folders.filter(move |folder| !known(folder)).map(|folder| {
        let advice = "neither a member of the workspace nor a row of the table of packages beside it: make it one of these";
        Breach::new(&format!("{folder}/Cargo.toml"), 1, "import", advice)
    })
}

fn manifest(package: &Package) -> Vec<Breach> {
    let path = format!("{}/Cargo.toml", package.folder);
    if is_program(package) {
        return program(package, &path);
    }
    let Some(room) = room_of(&path) else {
        let advice = format!(
            "crate {} is not in the plan: add its row to ROOMS first",
            package.name
        );
        return vec![Breach::new(&path, 1, "import", advice)];
    };
    let mut found = Vec::new();
    if package.name != package_of(room.folder) {
        let advice = format!("call this package {}", package_of(room.folder));
        found.push(Breach::new(&path, 1, "import", advice));
    }
    let forbidden = package
        .dependencies
        .iter()
        .filter(|dependency| !dependency.dev && !allowed(room, dependency));
    found.extend(forbidden.map(|dependency| {
        let advice = format!(
            "{} may not import {}: take it out, or change the plan first",
            room.folder, dependency.name
        );
        Breach::new(&path, 1, "import", advice)
    }));
    found
}

/// Whether the package is one that nobody imports.
fn is_program(package: &Package) -> bool {
    let top = package.folder.split('/').next();
    top.is_some_and(|top| PROGRAMS.contains(&top))
}

fn program(package: &Package, path: &str) -> Vec<Breach> {
    let advice = "this is a program of the repository alone: write publish = false";
    let breach = || Breach::new(path, 1, "import", advice);
    package.published.then(breach).into_iter().collect()
}

fn allowed(room: &Room, dependency: &Dependency) -> bool {
    let name = dependency.name.as_str();
    let is_room = |other: &Room| !dependency.foreign && package_of(other.folder) == name;
    if ROOMS.iter().any(is_room) {
        return room.imports.iter().any(|import| package_of(import) == name);
    }
    match room.outside {
        Outside::Only(names) => names.contains(&name),
        Outside::AnyWithOptional(names) => dependency.optional || !names.contains(&name),
    }
}

fn attributes(repo: &Repo, room: &Room) -> Vec<Breach> {
    let mut wanted = Vec::new();
    if room.unsafe_in.is_empty() {
        wanted.push(("#![forbid(unsafe_code)]", "unsafe"));
    }
    if room.folder == WITHOUT_STD {
        wanted.push(("#![no_std]", "import"));
    }
    let mut found = Vec::new();
    for root in ["lib.rs", "main.rs"].map(|file| format!("crates/{}/src/{file}", room.folder)) {
        let Some(text) = repo.text(&root) else {
            continue;
        };
        for (attribute, rule) in wanted
            .iter()
            .filter(|(attribute, _)| !text.contains(attribute))
        {
            found.push(Breach::new(
                &root,
                1,
                rule,
                format!("this crate must begin with {attribute}"),
            ));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::rules::small;

    fn package(folder: &str, dependencies: &[(&str, bool, bool)]) -> Package {
        let dependency = |(name, dev, optional): &(&str, bool, bool)| Dependency {
            name: name.to_string(),
            foreign: false,
            dev: *dev,
            optional: *optional,
        };
        Package {
            name: package_of(folder),
            folder: format!("crates/{folder}"),
            version: "0.1.0".to_string(),
            published: true,
            rust_version: "1.85".to_string(),
            dependencies: dependencies.iter().map(dependency).collect(),
        }
    }

    fn breaches(folder: &str, dependencies: &[(&str, bool, bool)]) -> usize {
        manifest(&package(folder, dependencies)).len()
    }

    #[test]
    fn a_room_imports_only_what_its_row_names() {
        assert_eq!(breaches("deque", &[("tidegate-sync", false, false)]), 0);
        assert_eq!(breaches("deque", &[("tidegate-policy", false, false)]), 1);
        assert_eq!(breaches("policy", &[("libm", false, false)]), 1);
        assert_eq!(breaches("rayon-core", &[("tidegate", false, false)]), 0);
        assert_eq!(
            breaches("rayon-core", &[("tidegate-sync", false, false)]),
            1
        );
    }

    #[test]
    fn a_package_of_the_registry_with_the_name_of_a_room_is_none() {
        let breaches = |folder: &str, foreign: bool| {
            let mut package = package(folder, &[("rayon-core", false, false)]);
            package.dependencies[0].foreign = foreign;
            manifest(&package).len()
        };
        assert_eq!((breaches("cli", true), breaches("cli", false)), (0, 1));
        assert_eq!(breaches("deque", true), 1);
    }

    #[test]
    fn tests_may_depend_on_anything() {
        assert_eq!(breaches("policy", &[("proptest", true, false)]), 0);
    }

    #[test]
    fn peers_stand_behind_a_feature() {
        assert_eq!(
            breaches(
                "workloads",
                &[("rayon", false, true), ("sha2", false, false)]
            ),
            0
        );
        assert_eq!(breaches("workloads", &[("rayon", false, false)]), 1);
    }

    #[test]
    fn a_crate_outside_the_plan_or_with_another_name_is_a_breach() {
        assert_eq!(breaches("cellar", &[]), 1);
        let mut package = package("sync", &[]);
        package.name = "sync".to_string();
        assert_eq!(manifest(&package).len(), 1);
    }

    #[test]
    fn a_program_imports_what_it_likes_and_is_not_published() {
        let mut program = package("sync", &[("rayon", false, false)]);
        program.folder = "examples/small".to_string();
        assert_eq!(manifest(&program).len(), 1);
        program.published = false;
        assert_eq!(manifest(&program), []);
    }

    #[test]
    fn a_manifest_that_no_check_goes_through_is_a_breach() {
        let files = [("Cargo.toml", ""), ("tools/a/Cargo.toml", "")];
        let strange = |packages: Vec<Package>| {
            let mut repo = small::repo(&files);
            repo.packages = packages;
            strangers(&repo).count()
        };
        assert_eq!(strange(Vec::new()), 1);
        let mut known = package("sync", &[]);
        known.folder = "tools/a".to_string();
        assert_eq!(strange(vec![known]), 0);
    }

    #[test]
    fn a_crate_without_unsafe_says_so_and_policy_does_without_std() {
        let root = "crates/policy/src/lib.rs";
        assert_eq!(
            small::found(check, root, "//! Nothing."),
            ["unsafe:1", "import:1"]
        );
        let text = "#![no_std]\n#![forbid(unsafe_code)]";
        assert_eq!(small::found(check, root, text), [""; 0]);
    }
}
