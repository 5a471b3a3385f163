//! Tables for people, in the form that Markdown shows as a table too.

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{Cell, CellAlignment};

/// A table under construction.
pub struct Table(comfy_table::Table);

impl Table {
    /// A table with these columns.
    pub fn new<const N: usize>(columns: [&str; N]) -> Self {
        Self::with_columns(columns)
    }

    /// A table with these columns, however many.
    pub fn with_columns<'a>(columns: impl IntoIterator<Item = &'a str>) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_preset(ASCII_MARKDOWN).set_header(columns);
        Self(table)
    }

    /// Adds a row. Cells that begin with a number are set to the right; a `|` within one would begin the next, and is escaped.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let aligned = cells.into_iter().map(|text| {
            let unsigned = text.strip_prefix('-').unwrap_or(&text);
            let alignment = match unsigned.starts_with(|c: char| c.is_ascii_digit()) {
                true => CellAlignment::Right,
                false => CellAlignment::Left,
            };
            Cell::new(text.replace('|', "\\|")).set_alignment(alignment)
        });
        self.0.add_row(aligned);
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.trim_fmt().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_in_a_cell_ends_no_cell() {
        let mut table = Table::new(["name", "n"]);
        table.row(["a | b".into(), "7".into()]);
        let text = table.to_string();
        assert_eq!(text.lines().last(), Some("| a \\| b | 7 |"));
    }
}
