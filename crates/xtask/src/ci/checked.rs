//! Decides whether a check is needed: `.ci/checked` records the sources for which all checks have
//! passed.
//!
//! The sources are git's tree objects in the last commit, so uncommitted changes are never
//! recorded.

use std::collections::BTreeSet;
use std::fs;

use super::FILE;
use crate::command::Cmd;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// The sources on which the checks of all code depend, besides the compiler.
#[rustfmt::skip]
const CODE: &[&str] = &["crates", "benches", "examples", "fuzz", "Cargo.toml", "Cargo.lock", "clippy.toml"];

/// The sources on which the checks of concurrent code depend, besides the compiler.
#[rustfmt::skip]
const CONCURRENT: &[&str] = &[
    "crates/sync", "crates/deque", "crates/share", "crates/core", "crates/tidegate", "crates/rayon-core",
    "crates/policy", "crates/machine", "crates/xtask", "Cargo.lock",
];

/// The sources and the compiler at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The compiler, and the object of each source as git prints it.
    entries: Vec<String>,
    /// The first uncommitted change to a source, as git prints it.
    pub uncommitted: Option<String>,
    shallow: bool,
}

impl State {
    /// Reads the states of all code and of concurrent code.
    pub fn read(workspace: &Workspace) -> Result<[State; 2], String> {
        Ok([
            State::of(workspace, CODE)?,
            State::of(workspace, CONCURRENT)?,
        ])
    }

    fn of(workspace: &Workspace, sources: &[&str]) -> Result<State, String> {
        let objects = workspace.git(&[&["ls-tree", "HEAD", "--"], sources].concat())?;
        if objects.lines().count() != sources.len() {
            return Err(format!(
                "there are other sources than {sources:?}: correct the table"
            ));
        }
        let rustc = Cmd::new(workspace, "rustc", "rustc").args(["--version"]);
        let version = rustc.succeed()?;
        let entries = objects.lines().chain(version.lines().last());
        let status = workspace.git(&[&["status", "--porcelain", "--"], sources].concat())?;
        let shallow = workspace.git(&["rev-parse", "--is-shallow-repository"])?;
        Ok(State {
            entries: entries.map(str::to_string).collect(),
            uncommitted: status.lines().next().map(str::to_string),
            shallow: shallow.trim() == "true",
        })
    }

    /// Returns why the checks of these sources must run, given the text of `.ci/checked`. Returns
    /// `None` if they need not run.
    pub fn reason(&self, recorded: Option<&str>) -> Option<String> {
        let Some(recorded) = recorded else {
            return Some(format!("there is no {FILE}"));
        };
        if self.shallow {
            return Some("the clone is shallow".to_string());
        }
        if let Some(change) = &self.uncommitted {
            return Some(format!("not committed: {change}"));
        }
        let mut entries = self.entries.iter();
        let differs = entries.find(|entry| !recorded.lines().any(|line| line == *entry))?;
        Some(format!("not in {FILE}: {differs}"))
    }
}

fn record_text(states: &[State; 2]) -> String {
    let head = "# `cargo run -p xtask -- ci --full` wrote this after every check had passed.";
    // Both states contain the compiler and the lock file. The set keeps one entry of each.
    let entries: BTreeSet<&str> = states
        .iter()
        .flat_map(|state| state.entries.iter().map(String::as_str))
        .collect();
    entries
        .iter()
        .fold(format!("{head}\n"), |text, entry| text + entry + "\n")
}

/// Writes `.ci/checked`, unless a source has changed since `states` were read.
pub fn record(workspace: &Workspace, states: &[State; 2]) -> Outcome {
    if State::read(workspace)? != *states {
        return Err("the sources have changed during the checks".into());
    }
    let written = fs::write(workspace.root.join(FILE), record_text(states));
    written.map_err(|error| format!("{FILE}: {error}"))?;
    Ok(format!("commit {FILE}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::beside::BESIDE;

    fn states() -> [State; 2] {
        let texts = ["crates 1", "crates/sync 4"].map(|source| [source, "Cargo.lock 2", "rustc 3"]);
        texts.map(|entries| State {
            entries: entries.map(str::to_string).to_vec(),
            uncommitted: None,
            shallow: false,
        })
    }

    /// Returns the reason for running the checks after `change`, if the file records the states
    /// before `change`.
    fn reason_after(change: impl Fn(&mut State)) -> String {
        let [mut changed, _] = states();
        change(&mut changed);
        let reason = changed.reason(Some(&record_text(&states())));
        reason.unwrap_or_default()
    }

    #[test]
    fn every_package_is_code() {
        let workspace = Workspace::load().unwrap();
        let members = workspace.packages.iter();
        let members = members.map(|package| workspace.folder(package));
        for folder in members.chain(BESIDE.iter().map(|beside| beside.folder.to_string())) {
            assert!(CODE.iter().any(|code| folder.starts_with(code)), "{folder}");
        }
    }

    #[test]
    fn recorded_sources_are_no_reason() {
        let text = record_text(&states());
        assert!(
            states()
                .iter()
                .all(|state| state.reason(Some(&text)).is_none())
        );
        assert_eq!(text.matches("rustc 3").count(), 1);
    }

    /// Older versions of xtask, which did not record the checks of all code, wrote such a file.
    #[test]
    fn file_without_code_requires_its_checks() {
        let recorded = "# Head\ncrates/sync 4\nCargo.lock 2\nrustc 3\n";
        let reasons = states().map(|state| state.reason(Some(recorded)));
        assert_eq!(
            reasons,
            [Some("not in .ci/checked: crates 1".to_string()), None]
        );
    }

    /// A missing file, a shallow clone and an uncommitted change are each a reason to run the
    /// checks.
    #[test]
    fn incomplete_state_requires_checks() {
        let reason = states()[0].reason(None);
        assert_eq!(reason.as_deref(), Some("there is no .ci/checked"));
        let reason = reason_after(|state| state.shallow = true);
        assert_eq!(reason, "the clone is shallow");
        let reason = reason_after(|state| state.uncommitted = Some(" M a".to_string()));
        assert_eq!(reason, "not committed:  M a");
    }

    /// The inputs of a check are the sources, the lock file and the compiler.
    #[test]
    fn changed_inputs_require_checks() {
        for (at, entry) in states()[0].entries.iter().enumerate() {
            let reason = reason_after(|state| state.entries[at].push('0'));
            assert_eq!(reason, format!("not in {FILE}: {entry}0"));
        }
    }
}
