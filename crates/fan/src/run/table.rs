//! The table of what has failed.

use std::fmt::Write as _;

use crate::name::Name;
use crate::run::schedule::Failure;

/// How many items the table names.
const ROWS: usize = 20;

/// Returns the table, with a line for each of the first items.
pub fn of(failures: &[(&Name, &Failure)]) -> String {
    let head = ["item", "attempts", "machine", "code", "message"].map(str::to_owned);
    let mut rows = vec![head];
    rows.extend(failures.iter().take(ROWS).map(|(item, failure)| {
        let unknown = || "-".to_owned();
        let last = &failure.last;
        [
            item.to_string(),
            failure.attempts.to_string(),
            last.host.clone().unwrap_or_else(unknown),
            last.code.map_or_else(unknown, |code| code.to_string()),
            last.text.clone(),
        ]
    }));
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    let mut text = String::new();
    for row in &rows {
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(text, "{cell:width$}  ");
        }
        let _ = writeln!(text, "{}", row[4]);
    }
    if let Some(more @ 1..) = failures.len().checked_sub(ROWS) {
        let _ = writeln!(text, "and {more} more");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::schedule::Cause;

    #[test]
    fn names_the_first_items() {
        let failed = |host: Option<&str>, code, text: &str| Failure {
            attempts: 3,
            last: Cause {
                host: host.map(str::to_owned),
                code,
                text: text.to_owned(),
            },
        };
        let panicked = failed(Some("node7"), Some(1), "item 12.3 panicked: no luck");
        let killed = failed(None, None, "signal: 9 (SIGKILL)");
        let (first, other) = (Name::planned(12).child(3), Name::planned(13));
        let mut failures = vec![(&first, &panicked)];
        failures.extend((0..ROWS).map(|_| (&other, &killed)));
        let text = of(&failures);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 1 + ROWS + 1);
        assert_eq!(lines[0], "item  attempts  machine  code  message");
        assert_eq!(
            lines[1],
            "12.3  3         node7    1     item 12.3 panicked: no luck"
        );
        assert_eq!(
            lines[2],
            "13    3         -        -     signal: 9 (SIGKILL)"
        );
        assert_eq!(lines[1 + ROWS], "and 1 more");
    }
}
