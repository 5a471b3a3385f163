//! A mutant's patch, which describes itself above its diff: what is wrong, and the test that must fail.
//!
//! ```text
//! The owner publishes tasks without Release.
//!
//! Fails: loom PACKAGE PREEMPTIONS TEST
//! ```
//!
//! The title is the text up to the first empty line. More text may follow. Miri has the name of an integration test in
//! place of the bound on preemptions.

use crate::command::Cmd;
use crate::loom;
use crate::miri;
use crate::workspace::Workspace;

/// The folder of the patches, from the root.
pub const FOLDER: &str = "crates/xtask/mutants";

/// A mistake in the code, and the test that must catch it.
#[derive(Debug, PartialEq)]
pub struct Mutant {
    /// The name of the patch, without `.patch`.
    pub name: String,
    /// The path of the patch, from the root.
    pub file: String,
    /// What it breaks.
    pub title: String,
    /// The test that must fail.
    pub target: Target,
}

/// One test, and what runs it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// What runs it.
    pub tool: Tool,
    package: String,
    /// The test, with its modules.
    pub test: String,
}

/// What runs a test.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Tool {
    /// Loom, with this bound on preemptions.
    Loom(usize),
    /// Miri, on the integration test of this name, with one schedule: a thread runs until it waits or ends.
    Miri(String),
}

/// Takes luck out of Miri's schedule.
const NEVER_PREEMPT: &str = "-Zmiri-preemption-rate=0";

/// Every mutant, by name.
pub fn all(workspace: &Workspace) -> Result<Vec<Mutant>, String> {
    let files = workspace.files()?.into_iter();
    let patches = files.filter(|file| file.starts_with(FOLDER));
    let read = |file: String| {
        let text = workspace.read(&file)?;
        let mutant = parse(&file, &text);
        mutant.ok_or_else(|| format!("{file}: no title or no line `Fails: ..` above the diff"))
    };
    patches.map(read).collect()
}

fn parse(file: &str, text: &str) -> Option<Mutant> {
    let name = file.rsplit('/').next()?.strip_suffix(".patch")?;
    let (head, _) = text.split_once("\ndiff --git ")?;
    let (title, _) = head.split_once("\n\n")?;
    let fails = head.lines().find_map(|line| line.strip_prefix("Fails: "))?;
    let [tool, package, argument, test] = fails.split(' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    let tool = match tool {
        "loom" => Tool::Loom(argument.parse().ok()?),
        "miri" => Tool::Miri(argument.to_string()),
        _ => return None,
    };
    Some(Mutant {
        name: name.to_string(),
        file: file.to_string(),
        title: title.replace('\n', " "),
        target: Target {
            tool,
            package: package.to_string(),
            test: test.to_string(),
        },
    })
}

impl Tool {
    /// Makes sure that the tool is there; the error says why it is not.
    pub fn ready(&self, workspace: &Workspace) -> Result<(), String> {
        match self {
            Tool::Loom(_) => Ok(()),
            Tool::Miri(_) => miri::ready(workspace),
        }
    }
}

impl Target {
    /// `cargo test` of the test's package, up to the arguments for the test program.
    pub fn cargo_test(&self, workspace: &Workspace, log: &str) -> Cmd {
        let command = match &self.tool {
            Tool::Loom(bound) => loom::command(workspace, log, &self.package, *bound),
            Tool::Miri(program) => miri::command(workspace, log, &self.package, NEVER_PREEMPT)
                .args(["--test", program]),
        };
        // Incremental, because one build differs from the next in a few lines.
        command
            .env("CARGO_INCREMENTAL", "1")
            .env("RUST_BACKTRACE", "0")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_names_the_test() {
        let text = "Two lines\nof title.\n\nMore.\nFails: loom p 2 m::t\n\ndiff --git a/a b/a\n";
        let found = parse("a/b/late.patch", text).unwrap();
        assert_eq!(
            (found.name.as_str(), found.title.as_str()),
            ("late", "Two lines of title.")
        );
        assert_eq!(found.target.tool, Tool::Loom(2));
        assert_eq!(found.target.test, "m::t");
        assert_eq!(parse("late.patch", &text.replace("loom", "luck")), None);
        assert_eq!(parse("late.patch", &text.replace(" m::t", "")), None);
        assert_eq!(parse("late.patch", "diff --git a/a b/a\n"), None);
    }
}
