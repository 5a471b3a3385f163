//! Whether the slow checks are needed: `.ci/checked` records with which sources all checks have passed.
//!
//! The sources are git's tree objects of the last commit, so what is not committed is never recorded.

use std::fs;

use super::FILE;
use crate::command::Cmd;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// What the slow checks depend on, besides the compiler.
#[rustfmt::skip]
const SOURCES: [&str; 9] = [
    "crates/sync", "crates/deque", "crates/share", "crates/tidegate", "crates/rayon-core",
    "crates/policy", "crates/machine", "crates/xtask", "Cargo.lock",
];

/// The sources and the compiler at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The object of each source, as git prints it, and the compiler.
    entries: Vec<String>,
    /// The first change of a source that is not committed, as git prints it.
    uncommitted: Option<String>,
    shallow: bool,
}

impl State {
    pub fn read(workspace: &Workspace) -> Result<State, String> {
        let objects = workspace.git(&[&["ls-tree", "HEAD", "--"], &SOURCES[..]].concat())?;
        if objects.lines().count() != SOURCES.len() {
            return Err(format!(
                "there are other sources than {SOURCES:?}: correct the table"
            ));
        }
        let rustc = Cmd::new(workspace, "rustc", "rustc").args(["--version"]);
        let version = rustc.succeed()?;
        let entries = objects.lines().chain(version.lines().last());
        let status = workspace.git(&[&["status", "--porcelain", "--"], &SOURCES[..]].concat())?;
        let shallow = workspace.git(&["rev-parse", "--is-shallow-repository"])?;
        Ok(State {
            entries: entries.map(str::to_string).collect(),
            uncommitted: status.lines().next().map(str::to_string),
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
        if let Some(change) = &self.uncommitted {
            return Some(format!("not committed: {change}"));
        }
        let mut entries = self.entries.iter();
        let differs = entries.find(|entry| !recorded.lines().any(|line| line == *entry))?;
        Some(format!("not in {FILE}: {differs}"))
    }

    pub fn unrecordable(&self) -> Option<String> {
        let change = self.uncommitted.as_ref()?;
        Some(format!("commit this, or run ci without --full: {change}"))
    }

    fn record_text(&self) -> String {
        let head = "# `cargo run -p xtask -- ci --full` wrote this after every check had passed.";
        format!("{head}\n{}\n", self.entries.join("\n"))
    }

    /// Writes `.ci/checked`, unless the state has changed since it was read.
    pub fn record(&self, workspace: &Workspace) -> Outcome {
        if State::read(workspace)? != *self {
            return Err("the sources have changed during the checks".into());
        }
        let written = fs::write(workspace.root.join(FILE), self.record_text());
        written.map_err(|error| format!("{FILE}: {error}"))?;
        Ok(format!("commit {FILE}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> State {
        let entries = ["crates/sync 1", "Cargo.lock 2", "rustc 3"];
        State {
            entries: entries.map(str::to_string).to_vec(),
            uncommitted: None,
            shallow: false,
        }
    }

    /// The reason after `change`, if the file records the state before it.
    fn reason_after(change: impl Fn(&mut State)) -> String {
        let mut changed = state();
        change(&mut changed);
        let reason = changed.reason(Some(&state().record_text()));
        reason.unwrap_or_default()
    }

    #[test]
    fn recorded_sources_are_no_reason() {
        assert_eq!(reason_after(|_| {}), "");
        assert_eq!(state().unrecordable(), None);
    }

    #[test]
    fn a_missing_file_is_a_reason() {
        let reason = state().reason(None);
        assert_eq!(reason.as_deref(), Some("there is no .ci/checked"));
    }

    #[test]
    fn a_shallow_clone_is_a_reason() {
        let reason = reason_after(|state| state.shallow = true);
        assert_eq!(reason, "the clone is shallow");
    }

    #[test]
    fn another_source_lock_file_or_compiler_is_a_reason() {
        for (at, entry) in state().entries.iter().enumerate() {
            let reason = reason_after(|state| state.entries[at].push('0'));
            assert_eq!(reason, format!("not in {FILE}: {entry}0"));
        }
    }

    #[test]
    fn an_uncommitted_change_is_a_reason_and_not_recorded() {
        let mut changed = state();
        changed.uncommitted = Some(" M Cargo.lock".to_string());
        let reason = reason_after(|state| *state = changed.clone());
        assert_eq!(reason, "not committed:  M Cargo.lock");
        assert!(changed.unrecordable().is_some());
    }
}
