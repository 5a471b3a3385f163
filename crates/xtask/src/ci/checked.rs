//! Whether the slow checks are needed: `.ci/checked` records with which sources all of them have passed.
//!
//! The sources are git's tree objects of the last commit, so what is not committed is never recorded.

use std::fs;

use super::FILE;
use crate::command::Cmd;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// What the slow checks depend on, besides the compiler.
const SOURCES: [&str; 9] = [
    "crates/sync",
    "crates/deque",
    "crates/share",
    "crates/tidegate",
    "crates/rayon-core",
    "crates/policy",
    "crates/machine",
    "crates/xtask",
    "Cargo.lock",
];

/// The sources and the compiler at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The names of the sources and the compiler, each with what identifies it.
    entries: Vec<(String, String)>,
    /// The first source with changes that are not committed, as git prints it.
    changed: Option<String>,
    /// Whether the clone lacks a part of its history.
    shallow: bool,
}

impl State {
    /// Asks git and the compiler.
    pub fn read(workspace: &Workspace) -> Result<State, String> {
        let objects = SOURCES.map(|source| format!("HEAD:{source}"));
        let objects = objects.iter().map(String::as_str);
        let hashes =
            workspace.git(&["rev-parse"].into_iter().chain(objects).collect::<Vec<_>>())?;
        let named = SOURCES.iter().zip(hashes.lines());
        let mut entries: Vec<_> = named.map(|(n, h)| (n.to_string(), h.to_string())).collect();
        let rustc = Cmd::new(workspace, "rustc", "rustc").args(["--version"]);
        let version = rustc.succeed()?.lines().last().map(str::to_string);
        entries.push(("compiler".to_string(), version.unwrap_or_default()));
        let status = ["status", "--porcelain", "--"].into_iter().chain(SOURCES);
        let status = workspace.git(&status.collect::<Vec<_>>())?;
        let shallow = workspace.git(&["rev-parse", "--is-shallow-repository"])?;
        Ok(State {
            entries,
            changed: status.lines().next().map(str::to_string),
            shallow: shallow.trim() == "true",
        })
    }

    /// Why the slow checks must run, given what `.ci/checked` holds.
    pub fn reason(&self, recorded: Option<&str>) -> Option<String> {
        let Some(recorded) = recorded else {
            return Some(format!("there is no {FILE}"));
        };
        if self.shallow {
            return Some("the clone is shallow".to_string());
        }
        if let Some(changed) = &self.changed {
            return Some(format!("not committed: {changed}"));
        }
        let differs = |(name, value): &&(String, String)| {
            let line = format!("{name} {value}");
            !recorded.lines().any(|recorded| recorded == line)
        };
        let (name, _) = self.entries.iter().find(differs)?;
        Some(format!("{FILE} was written with another {name}"))
    }

    /// Why the state cannot be recorded.
    pub fn unrecordable(&self) -> Option<String> {
        let changed = self.changed.as_ref()?;
        Some(format!(
            "commit this first, or run ci without --full: {changed}"
        ))
    }

    /// Writes the state to `.ci/checked`, unless it has changed since it was read.
    pub fn record(&self, workspace: &Workspace) -> Result<Outcome, String> {
        if State::read(workspace)? != *self {
            return Err("the sources have changed during the checks".to_string());
        }
        fs::write(workspace.root.join(FILE), self.to_string())
            .map_err(|error| format!("{FILE}: {error}"))?;
        Ok(Outcome::Passed(format!("commit {FILE}")))
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let command = "cargo run -p xtask -- ci --full";
        writeln!(f, "# `{command}` wrote this after every check had passed.")?;
        let mut entries = self.entries.iter();
        entries.try_for_each(|(name, value)| writeln!(f, "{name} {value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> State {
        let entry = |(n, v): (&str, &str)| (n.to_string(), v.to_string());
        let entries = [
            ("crates/sync", "1"),
            ("Cargo.lock", "2"),
            ("compiler", "rustc 3"),
        ];
        State {
            entries: entries.map(entry).to_vec(),
            changed: None,
            shallow: false,
        }
    }

    fn reason(state: &State) -> Option<String> {
        state.reason(Some(&super::tests::state().to_string()))
    }

    #[test]
    fn nothing_is_needed_for_recorded_sources() {
        assert_eq!(reason(&state()), None);
        assert_eq!(state().unrecordable(), None);
    }

    #[test]
    fn a_missing_file_is_a_reason() {
        let reason = state().reason(None).unwrap();
        assert!(reason.contains("no .ci/checked"), "{reason}");
    }

    #[test]
    fn a_shallow_clone_is_a_reason() {
        let shallow = State {
            shallow: true,
            ..state()
        };
        assert!(reason(&shallow).unwrap().contains("shallow"));
    }

    #[test]
    fn each_difference_is_a_reason() {
        for at in 0..state().entries.len() {
            let mut other = state();
            other.entries[at].1.push('0');
            assert!(reason(&other).unwrap().ends_with(&other.entries[at].0));
        }
        let mut more = state();
        more.entries
            .push(("crates/new".to_string(), "4".to_string()));
        assert!(reason(&more).unwrap().ends_with("crates/new"));
    }

    #[test]
    fn uncommitted_changes_are_a_reason_and_not_recorded() {
        let changed = State {
            changed: Some(" M crates/sync/src/lib.rs".to_string()),
            ..state()
        };
        assert!(reason(&changed).unwrap().contains("lib.rs"));
        assert!(changed.unrecordable().unwrap().contains("lib.rs"));
    }

    #[test]
    fn this_repository_has_a_state() {
        let state = State::read(&Workspace::load().unwrap()).unwrap();
        assert_eq!(state.entries.len(), SOURCES.len() + 1);
    }
}
