//! What `digest` has to say beyond its fields: lines of files, problem files, and the rate.

use std::fmt;
use std::io::{self, Write};

use tidegate_workloads::digest::{ProblemKind, Report, printable};

use tidegate_command::output::show_rate;

/// How many problem files of a kind are named unless all are asked for.
const NAMED: usize = 10;

/// Writes a line per file, as `sha256sum` does.
pub fn list(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut written = Ok(());
    report.lines(|line| {
        if written.is_ok() {
            written = out.write_all(line);
        }
    });
    written
}

/// How fast the bytes went by.
pub struct Rate {
    /// Bytes read.
    pub bytes: u64,
    /// In how many seconds.
    pub seconds: f64,
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = show_rate(self.bytes as f64 / self.seconds);
        writeln!(f, "rate        {rate}, by the median time")
    }
}

/// Files about which there is something to say.
pub struct Details<'a> {
    /// What was found.
    pub found: &'a Report,
    /// What changed between the runs.
    pub changed: &'a [String],
    /// Whether to name all of them.
    pub all: bool,
}

impl fmt::Display for Details<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for kind in ProblemKind::ALL {
            let lines = self.found.problems_of(kind).map(|problem| {
                let path = match &problem.path[..] {
                    [] => ".".into(),
                    path => printable(path),
                };
                match &problem.reason[..] {
                    "" => path,
                    reason => format!("{path}: {reason}"),
                }
            });
            self.group(f, kind.name(), &lines.collect::<Vec<_>>())?;
        }
        self.group(f, "changed meanwhile and left out", self.changed)
    }
}

impl Details<'_> {
    fn group(&self, f: &mut fmt::Formatter<'_>, title: &str, lines: &[String]) -> fmt::Result {
        if lines.is_empty() {
            return Ok(());
        }
        writeln!(f, "{title}: {}", lines.len())?;
        let named = if self.all { lines.len() } else { NAMED };
        for line in lines.iter().take(named) {
            writeln!(f, "  {line}")?;
        }
        if lines.len() > named {
            writeln!(
                f,
                "  and {} more (--verbose names all)",
                lines.len() - named
            )?;
        }
        Ok(())
    }
}
