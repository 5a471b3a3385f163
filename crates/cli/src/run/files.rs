//! The output that `digest` prints in addition to its result: a line for each file, the files with
//! problems, and the rate.

use std::fmt;
use std::io::{self, Write};

use tidegate_workloads::digest::{ProblemKind, Report, printable};

use tidegate_cli_support::output::show_rate;

/// The maximum number of files that are listed for each kind of problem, unless all are.
const NAMED: usize = 10;

/// Writes a line for each file, in the format of `sha256sum`.
pub fn list(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut written = Ok(());
    report.lines(|line| {
        if written.is_ok() {
            written = out.write_all(line);
        }
    });
    written
}

pub struct Rate {
    pub bytes: u64,
    pub seconds: f64,
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = show_rate(self.bytes as f64 / self.seconds);
        writeln!(f, "rate        {rate} (median run)")
    }
}

/// Lists the files with problems, and the files that changed.
pub struct Details<'a> {
    pub found: &'a Report,
    /// The paths of files that changed, below this title.
    pub changed: (&'static str, &'a [String]),
    /// The option that lists all files if there are more than [`NAMED`]. `None` lists them all.
    pub rest: Option<&'static str>,
}

impl fmt::Display for Details<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for kind in ProblemKind::ALL {
            self.group(f, kind.name(), &problems(self.found, kind))?;
        }
        let (title, changed) = self.changed;
        self.group(f, title, changed)
    }
}

/// Returns a line for each file with this problem.
pub fn problems(found: &Report, kind: ProblemKind) -> Vec<String> {
    let lines = found.problems_of(kind).map(|problem| {
        let path = match &problem.path[..] {
            [] => ".".into(),
            path => printable(path),
        };
        match &problem.reason[..] {
            "" => path,
            reason => format!("{path}: {reason}"),
        }
    });
    lines.collect()
}

impl Details<'_> {
    fn group(&self, f: &mut fmt::Formatter<'_>, title: &str, lines: &[String]) -> fmt::Result {
        if lines.is_empty() {
            return Ok(());
        }
        writeln!(f, "{title}: {}", lines.len())?;
        let named = self.rest.map_or(lines.len(), |_| NAMED);
        for line in lines.iter().take(named) {
            writeln!(f, "  {line}")?;
        }
        match (self.rest, lines.len().checked_sub(named)) {
            (Some(option), Some(more @ 1..)) => {
                writeln!(f, "  and {more} more ({option} lists all)")
            }
            _ => Ok(()),
        }
    }
}
