//! The output of `digest` besides its result: a line per file, files with problems, and the rate.

use std::fmt;
use std::io::{self, Write};

use tidegate_workloads::digest::{ProblemKind, Report, printable};

use tidegate_command::output::show_rate;

/// The maximum number of files with problems, of each kind, that are listed without `--verbose`.
const NAMED: usize = 10;

/// Writes a line per file in the format of `sha256sum`.
pub fn list(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut written = Ok(());
    report.lines(|line| {
        if written.is_ok() {
            written = out.write_all(line);
        }
    });
    written
}

/// The rate at which files were read.
pub struct Rate {
    /// The number of bytes read.
    pub bytes: u64,
    pub seconds: f64,
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = show_rate(self.bytes as f64 / self.seconds);
        writeln!(f, "rate        {rate} (median run)")
    }
}

/// The lists of files with problems, or that changed.
pub struct Details<'a> {
    pub found: &'a Report,
    /// The paths of files that changed between the runs.
    pub changed: &'a [String],
    /// Whether to list all files, even if there are many.
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
        self.group(f, "changed during the runs, ignored", self.changed)
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
                "  and {} more (--verbose lists all)",
                lines.len() - named
            )?;
        }
        Ok(())
    }
}
