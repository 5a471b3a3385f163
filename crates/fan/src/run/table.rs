//! The table of what has failed.

use std::fmt::Write as _;

/// How many items the table names.
const ROWS: usize = 20;

/// An item whose attempts have failed: its name, their number, and the machine, the code and the
/// message of the last one.
pub type Row = [String; 5];

/// Returns the table, with a line for each of the first items.
pub fn of(failures: &[Row]) -> String {
    let head = ["item", "attempts", "machine", "code", "message"].map(str::to_owned);
    let mut rows = vec![head];
    rows.extend(failures.iter().take(ROWS).cloned());
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

    #[test]
    fn names_the_first_items() {
        let row = |row: [&str; 5]| row.map(str::to_owned);
        let mut failures = vec![row([
            "12.3",
            "3",
            "node7",
            "1",
            "item 12.3 panicked: no luck",
        ])];
        let killed = row(["13", "3", "node7", "1", "signal: 9 (SIGKILL)"]);
        failures.extend((0..ROWS).map(|_| killed.clone()));
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
            "13    3         node7    1     signal: 9 (SIGKILL)"
        );
        assert_eq!(lines[1 + ROWS], "and 1 more");
    }
}
