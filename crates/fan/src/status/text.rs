//! The status as text.

use std::collections::BTreeSet;
use std::fmt;

use super::report::{Attempt, Host, Queued, Status};
use crate::name::Name;
use crate::phrases::{count, items, span};
use crate::run::table;

/// How many attempts are listed.
const ROWS: usize = 20;

impl Status {
    /// Returns the program, with what it was asked for.
    pub fn title(&self) -> String {
        format!("{}: {}", self.program, self.request)
    }

    /// Returns how far the run is, in one line.
    pub fn headline(&self) -> String {
        if self.items == 0 {
            return "the plan has no items".to_owned();
        }
        // Not rounded up: 100 % means that nothing is missing.
        let percent = if self.missing.is_empty() {
            100
        } else {
            self.weight_published * 100 / self.weight.max(1)
        };
        let (published, items) = (self.published, count(self.items, "item"));
        let elapsed = span(self.elapsed);
        let left = self.left.map(|left| format!(", {} left", span(left)));
        let left = left.unwrap_or_default();
        format!("{percent} %, {published} of {items} published, {elapsed} elapsed{left}")
    }

    /// Returns the items that neither have a result nor run. Whether one waits or has failed for
    /// good, only `run` knows.
    fn missing(&self) -> Vec<&Name> {
        let running = self.running.iter().map(|attempt| &attempt.item);
        let wrong = self.wrong.iter().map(|wrong| &wrong.item);
        let others: BTreeSet<&Name> = running.chain(wrong).collect();
        let missing = self.missing.iter();
        missing.filter(|item| !others.contains(item)).collect()
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title())?;
        writeln!(f, "{}", self.headline())?;
        for host in self.hosts.iter().filter(|host| host.published > 0) {
            write_host(f, host)?;
        }
        self.write_split(f)?;
        attempts(f, "runs", &self.running)?;
        attempts(f, "was killed", &self.killed)?;
        self.write_failed(f)?;
        for wrong in self.wrong.iter().take(ROWS) {
            writeln!(f, "{}", wrong.text)?;
        }
        more(f, self.wrong.len())?;
        let missing = self.missing();
        if !missing.is_empty() {
            writeln!(f, "missing: {}", items(&missing))?;
        }
        if let Some(run) = &self.run {
            writeln!(f, "run is active in this folder: {run}")?;
        }
        if let Some(Queued { text, age }) = &self.queue {
            writeln!(f, "{text}, as `run` said {} ago", span(*age))?;
        }
        if let Some(merge) = &self.merge {
            writeln!(f, "everything is published; to merge it: {merge}")?;
        }
        if let Some(resume) = &self.resume {
            writeln!(f, "nothing runs; to resume: {resume}")?;
        }
        Ok(())
    }
}

impl Status {
    fn write_split(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.split.is_empty() {
            return Ok(());
        }
        let left: usize = self.split.iter().map(|split| split.items).sum();
        let (pieces, left) = (count(self.split.len(), "piece"), count(left, "item"));
        writeln!(f, "{pieces} left work to others, as {left}")
    }

    fn write_failed(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.failed.is_empty() {
            return Ok(());
        }
        let rows = self.failed.iter().map(|failed| {
            let text = if failed.is_published {
                format!("{} (published since)", failed.text)
            } else {
                failed.text.clone()
            };
            let numbers = [failed.attempts, failed.code.into()];
            let [attempts, code] = numbers.map(|number| number.to_string());
            [
                failed.item.to_string(),
                attempts,
                failed.host.clone(),
                code,
                text,
            ]
        });
        let rows: Vec<_> = rows.collect();
        write!(f, "failed attempts:\n{}", table::of(&rows))
    }
}

fn write_host(f: &mut fmt::Formatter<'_>, host: &Host) -> fmt::Result {
    let pieces = count(host.published, "piece");
    let idle = host.idle * 100.0;
    let (name, seconds, at_once) = (&host.host, host.seconds, host.at_once);
    writeln!(
        f,
        "{name}: {pieces}, {seconds:.1} s of work, up to {at_once} at once, {idle:.0} % idle"
    )
}

/// Writes a line for each of the first attempts.
fn attempts(f: &mut fmt::Formatter<'_>, what: &str, attempts: &[Attempt]) -> fmt::Result {
    for attempt in attempts.iter().take(ROWS) {
        let (item, host, pid) = (&attempt.item, &attempt.host, attempt.pid);
        let age = span(attempt.age);
        let elsewhere = if attempt.is_here {
            ""
        } else {
            ", as far as this machine can tell"
        };
        let published = if attempt.is_published {
            ", although it is published"
        } else {
            ""
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
