//! The rules of the plan, checked mechanically: `cargo run -p xtask -- house`.
//!
//! `plan` holds the tables, `repo` the files, `lex` and `source` say what a Rust file consists of, and every file in
//! `rules/` is one group of rules: a function from the files to the breaches that it finds. A breach names its file and
//! line, its rule and what to do about it.
//!
//! These checks read text. They find what a careful reader would see at a glance, and they can be fooled by somebody
//! who wants to; what needs types is left to the compiler and to clippy.

mod lex;
mod plan;
mod repo;
mod rules;
mod source;

use std::fmt;

use crate::step::Outcome;
use crate::workspace::Workspace;
use repo::Repo;

/// Something that is not as the plan wants it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Breach {
    /// The file, from the root.
    path: String,
    /// The line, counted from 1.
    line: usize,
    /// The rule's name.
    rule: &'static str,
    /// What is wrong and what to do.
    advice: String,
}

impl Breach {
    fn new(path: &str, line: usize, rule: &'static str, advice: impl Into<String>) -> Breach {
        Breach {
            path: path.to_string(),
            line,
            rule,
            advice: advice.into(),
        }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: [{}] {}",
            self.path, self.line, self.rule, self.advice
        )
    }
}

/// A group of rules.
type Rule = fn(&Repo) -> Vec<Breach>;

/// Every group of rules.
const RULES: &[Rule] = &[
    rules::imports::check,
    rules::door::check,
    rules::unsafety::check,
    rules::orderings::check,
    rules::mutants::check,
    rules::size::check,
    rules::leftovers::check,
    rules::links::check,
    rules::words::check,
    rules::architecture::check,
];

/// Prints every breach; whether there is none.
pub fn run(workspace: &Workspace) -> Result<bool, String> {
    let breaches = breaches(&Repo::read(workspace)?);
    for breach in &breaches {
        println!("{breach}");
    }
    println!("{} breaches", breaches.len());
    Ok(breaches.is_empty())
}

/// The same as a step of `ci`.
pub fn step(workspace: &Workspace) -> Outcome {
    let found = Repo::read(workspace).map(|repo| {
        let breaches = breaches(&repo);
        if breaches.is_empty() {
            return Outcome::Passed(format!("{} files", repo.texts.len()));
        }
        let lines: Vec<String> = breaches.iter().map(Breach::to_string).collect();
        Outcome::Failed(lines.join("\n"))
    });
    found.into()
}

fn breaches(repo: &Repo) -> Vec<Breach> {
    let mut found: Vec<Breach> = RULES.iter().flat_map(|rule| rule(repo)).collect();
    found.extend(repo.unread.iter().map(|(path, line, why)| {
        Breach::new(path, *line, "lex", format!("this is not Rust: {why}"))
    }));
    found.sort();
    found
}
