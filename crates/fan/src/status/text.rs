//! The status as text.

use std::fmt;

use super::report::{Attempt, Host, Status};
use crate::name::Name;
use crate::phrases::{count, list, span};
use crate::run::schedule::{Cause, Failure};
use crate::run::table;

/// How many attempts are listed.
const ROWS: usize = 20;

impl Status {
    /// Returns how far the run is, in one line.
    pub fn headline(&self) -> String {
        // Not rounded up: 100 % means that nothing is missing.
        let percent = match self.missing.is_empty() {
            true => 100,
            false => self.weight_published * 100 / self.weight.max(1),
        };
        let (published, items) = (self.published, count(self.items, "item"));
        let elapsed = span(self.elapsed);
        let left = self.left.map(|left| format!(", {} left", span(left)));
        let left = left.unwrap_or_default();
        let program = &self.program;
        format!("{program}: {percent} %, {published} of {items} published, {elapsed} elapsed{left}")
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.headline())?;
        for host in &self.hosts {
            write_host(f, host)?;
        }
        attempts(f, "runs", &self.running)?;
        attempts(f, "was killed", &self.killed)?;
        self.write_failed(f)?;
        for split in self.split.iter().take(ROWS) {
            let items = count(split.items, "item");
            writeln!(f, "item {} left work to {items}", split.item)?;
        }
        more(f, self.split.len())?;
        if let Some(merge) = &self.merge {
            return writeln!(f, "everything is published, merge it: {merge}");
        }
        let missing: Vec<&Name> = self.missing.iter().collect();
        writeln!(f, "missing: items {}", list(&missing))?;
        match self.running.is_empty() {
            true => writeln!(f, "nothing runs: repeat the command `run` to go on"),
            false => Ok(()),
        }
    }
}

impl Status {
    fn write_failed(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.failed.is_empty() {
            return Ok(());
        }
        let failed = self.failed.iter().map(|failed| {
            let last = Cause {
                host: Some(failed.host.clone()),
                code: Some(failed.code.into()),
                text: match failed.is_published {
                    true => format!("{} (published since)", failed.text),
                    false => failed.text.clone(),
                },
            };
            let attempts = failed.attempts;
            (&failed.item, Failure { attempts, last })
        });
        let failed: Vec<_> = failed.collect();
        let failed: Vec<_> = failed
            .iter()
            .map(|(item, failure)| (*item, failure))
            .collect();
        write!(f, "failed attempts:\n{}", table::of(&failed))
    }
}

fn write_host(f: &mut fmt::Formatter<'_>, host: &Host) -> fmt::Result {
    let published = host.published;
    let idle = host.idle * 100.0;
    let (name, seconds, at_once) = (&host.host, host.seconds, host.at_once);
    writeln!(
        f,
        "{name}: {published} published in {seconds:.1} s, up to {at_once} at once, {idle:.0} % idle"
    )
}

/// Writes a line for each of the first attempts.
fn attempts(f: &mut fmt::Formatter<'_>, what: &str, attempts: &[Attempt]) -> fmt::Result {
    for attempt in attempts.iter().take(ROWS) {
        let Attempt {
            item, host, pid, ..
        } = attempt;
        let age = span(attempt.age);
        let elsewhere = match attempt.is_here {
            true => "",
            false => ", as far as this machine can tell",
        };
        let published = match attempt.is_published {
            true => ", although it is published",
            false => "",
        };
        writeln!(
            f,
            "item {item} {what} on {host}, process {pid}, begun {age} ago{elsewhere}{published}"
        )?;
    }
    more(f, attempts.len())
}

fn more(f: &mut fmt::Formatter<'_>, all: usize) -> fmt::Result {
    match all.saturating_sub(ROWS) {
        0 => Ok(()),
        more => writeln!(f, "and {more} more"),
    }
}
