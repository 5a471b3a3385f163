//! Draws a [`Screen`], as a pure function of its state and size.
//!
//! ```text
//! tidegate top   2 processors ▇█   96 % busy   load 2.31 1.90 1.20      title
//! /run/user/1000/tidegate/table.v1 (XDG_RUNTIME_DIR)                    place
//! 2 jobs   desire 4   allotment 2   in use 2                            sums
//!
//!    pid  name      desire  allotment  in use  efficiency  since  ..    titles
//!   4711  fib            2          1       1        97 %    12s  ▄▄█   rows
//!
//! sort by pid name desire ..   r reverse   q quit                       help
//! ```
//!
//! When space is short, columns are dropped first ([`Column::BY_WEIGHT`]), then lines ([`Lines`]).
//! The first row of a job is dropped last.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::column::Column;
use super::screen::{Screen, Tracked};
use tidegate_command::output::show_count;

/// Bars that fill zero to eight eighths of a cell.
const BARS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// The space between two columns, in cells.
const GAP: u16 = 2;
/// The minimum width of a job's history in cells. If there is less space, the history is left out.
const HISTORY: u16 = 8;
/// The maximum width of a name if a history is shown, in cells.
const NAME: u16 = 32;

const PLAIN: Style = Style::new();
const QUIET: Style = Style::new().add_modifier(Modifier::DIM);
const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
/// The style of a job that has all processors that it desires.
const CONTENT: Style = Style::new().fg(Color::Cyan);
/// The style of a job that is deprived of processors or stalled.
const WANTING: Style = Style::new().fg(Color::Yellow);

pub fn draw(screen: &Screen, frame: &mut Frame<'_>) {
    let area = frame.area();
    let lines = Lines::of(area);
    let buffer = frame.buffer_mut();
    put(buffer, lines.title, title(screen, lines.title.width));
    let place = shorten(&screen.place, lines.place.width);
    put(buffer, lines.place, Span::styled(place, QUIET));
    match &screen.view {
        Err(message) => Paragraph::new(message.as_str())
            .wrap(Wrap { trim: true })
            .render(lines.rows, buffer),
        Ok(rows) => {
            let room = usize::from(lines.rows.height);
            let first = screen.first(room);
            let shown = &rows[first..rows.len().min(first + room)];
            put(
                buffer,
                lines.sums,
                sums(rows, first, shown.len(), lines.sums.width),
            );
            let columns = Columns::of(lines.rows, shown);
            columns.titles(screen, lines.titles, buffer);
            for (line, tracked) in lines.rows.rows().zip(shown) {
                columns.row(screen, tracked, line, buffer);
            }
        }
    }
    put(buffer, lines.help, help(lines.help.width));
}

/// Returns how many rows fit on a screen of this size.
pub fn room(area: Rect) -> usize {
    Lines::of(area).rows.height.into()
}

/// The areas of the lines. A line that does not fit has height 0.
struct Lines {
    title: Rect,
    place: Rect,
    sums: Rect,
    titles: Rect,
    rows: Rect,
    help: Rect,
}

impl Lines {
    fn of(area: Rect) -> Self {
        let margin = u16::from(area.width >= 60);
        let mut free = Rect {
            x: area.x + margin,
            width: area.width.saturating_sub(2 * margin),
            ..area
        };
        let height = area.height;
        let mut top = |from: u16| {
            let taken = u16::from(height >= from);
            let line = Rect {
                height: taken,
                ..free
            };
            (free.y, free.height) = (free.y + taken, free.height - taken);
            line
        };
        let (title, place, sums) = (top(3), top(8), top(6));
        let _blank = top(12);
        let titles = top(4);
        let below = match height {
            0..5 => 0,
            5..12 => 1,
            _ => 2,
        };
        free.height -= below;
        let help = Rect {
            y: free.bottom() + below.saturating_sub(1),
            height: below.min(1),
            ..free
        };
        Self {
            title,
            place,
            sums,
            titles,
            rows: free,
            help,
        }
    }
}

/// Draws `text` if `line` has a height.
fn put<'a>(buffer: &mut Buffer, line: Rect, text: impl Into<Line<'a>>) {
    text.into().render(line, buffer);
}

/// Returns the first line: the program's name and the machine's load.
fn title(screen: &Screen, width: u16) -> Line<'static> {
    let load = &screen.load;
    let mut parts = vec![(1, Span::styled("tidegate top", STRONG))];
    if !load.processors.is_empty() {
        let processors = show_count(load.processors.len(), "processor");
        parts.push((3, processors.into()));
        let bars: String = load.processors.iter().map(|part| bar(*part, 1)).collect();
        parts.push((0, Span::styled(bars, CONTENT)));
    }
    if let Some(all) = load.all {
        parts.push((4, format!("{:.0} % busy", 100.0 * all).into()));
    }
    if let Some([one, five, fifteen]) = load.averages {
        parts.push((2, format!("load {one:.2} {five:.2} {fifteen:.2}").into()));
    }
    fitting(parts, width)
}

/// Returns the line with the number of jobs, the sums over all jobs that are not stalled, and the
/// range of visible jobs.
fn sums(rows: &[Tracked], first: usize, shown: usize, width: u16) -> Line<'static> {
    // A stalled job's row still shows the processors that it had before, but other jobs have taken
    // them over.
    let moving = || rows.iter().filter(|job| !job.row.stalled);
    let sum = |of: fn(&Tracked) -> usize| moving().map(of).sum::<usize>();
    if rows.is_empty() {
        return Line::from("no jobs at the moment");
    }
    let mut parts = vec![
        (4, show_count(rows.len(), "job").into()),
        (2, format!("desire {}", sum(|job| job.row.desire)).into()),
        (
            0,
            format!("allotment {}", sum(|job| job.row.allotment)).into(),
        ),
        (3, format!("in use {}", sum(|job| job.row.in_use)).into()),
    ];
    if shown < rows.len() {
        let shown = format!("{} to {} shown, arrows scroll", first + 1, first + shown);
        parts.push((1, Span::styled(shown, QUIET)));
    }
    fitting(parts, width)
}

/// Joins the parts of a line. If they do not fit, drops those with the lowest rank first.
fn fitting(mut parts: Vec<(u8, Span<'static>)>, width: u16) -> Line<'static> {
    const BETWEEN: &str = "   ";
    let joined = |parts: &[(u8, Span<'static>)]| {
        let widths = parts.iter().map(|(_, part)| part.width() + BETWEEN.len());
        widths.sum::<usize>().saturating_sub(BETWEEN.len())
    };
    while parts.len() > 1 && joined(&parts) > width.into() {
        let least = parts.iter().map(|(rank, _)| *rank).min();
        parts.retain(|(rank, _)| Some(*rank) != least);
    }
    let mut line = Line::default();
    for (_, part) in parts {
        if !line.spans.is_empty() {
            line.push_span(BETWEEN);
        }
        line.push_span(part);
    }
    line
}

/// The columns that fit, as `(column, position, width)`.
struct Columns {
    columns: Vec<(Column, u16, u16)>,
    /// The position and width of the history.
    history: Option<(u16, u16)>,
}

impl Columns {
    fn of(area: Rect, rows: &[Tracked]) -> Self {
        let mut chosen = Vec::new();
        let mut taken = 0;
        for column in Column::BY_WEIGHT {
            let gap = if chosen.is_empty() { 0 } else { GAP };
            let width = column.width() + gap;
            if chosen.is_empty() || taken + width <= area.width {
                taken += width;
                chosen.push(column);
            }
        }
        let left = area.width.saturating_sub(taken);
        let longest = rows.iter().map(|job| Span::raw(&job.row.name).width());
        let longest = longest.max().unwrap_or(0).min(NAME.into()) as u16;
        let wished = longest.saturating_sub(Column::Name.width());
        let with_history = chosen.len() == Column::ALL.len() && left >= GAP + HISTORY;
        let more = if with_history {
            wished.min(left - GAP - HISTORY)
        } else {
            left.min(wished)
        };
        let mut x = area.x;
        let mut columns = Vec::new();
        for column in Column::ALL
            .into_iter()
            .filter(|column| chosen.contains(column))
        {
            let width = match column {
                Column::Name => (column.width() + more).min(area.width),
                _ => column.width(),
            };
            columns.push((column, x, width));
            x += width + GAP;
        }
        let history = with_history.then(|| (x, area.right().saturating_sub(x)));
        Self { columns, history }
    }

    fn titles(&self, screen: &Screen, line: Rect, buffer: &mut Buffer) {
        if line.height == 0 {
            return;
        }
        for &(column, x, width) in &self.columns {
            let (style, text) = match column == screen.sort {
                // The mark of the sort order is in the gap between two columns.
                true => {
                    let mark = if screen.reverse { "▲" } else { "▼" };
                    let text = match column {
                        Column::Name => format!("{}{mark}", column.title()),
                        _ => format!("{mark}{}", column.title()),
                    };
                    (STRONG, text)
                }
                false => (QUIET, column.title().to_owned()),
            };
            cell(buffer, (x, line.y, width), &text, style, column);
        }
        if let Some((x, width)) = self.history {
            let text = "history";
            buffer.set_stringn(x, line.y, text, width.into(), QUIET);
        }
    }

    fn row(&self, screen: &Screen, tracked: &Tracked, line: Rect, buffer: &mut Buffer) {
        let row = &tracked.row;
        let style = if row.stalled || row.desire == 0 {
            QUIET
        } else {
            PLAIN
        };
        for &(column, x, width) in &self.columns {
            let deprived = row.allotment < row.desire && !row.stalled;
            let style = match column {
                Column::Allotment if deprived => WANTING,
                _ => style,
            };
            let text = column.cell(row, screen.now);
            cell(buffer, (x, line.y, width), &text, style, column);
        }
        match self.history {
            Some((x, width)) if row.stalled => {
                buffer.set_stringn(x, line.y, "stalled", width.into(), WANTING);
            }
            Some((x, width)) => history(buffer, (x, line.y, width), tracked),
            None => {}
        }
    }
}

/// Draws a cell. Names are aligned left, and numbers right. A name that does not fit ends in an
/// ellipsis.
fn cell(
    buffer: &mut Buffer,
    (x, y, width): (u16, u16, u16),
    text: &str,
    style: Style,
    column: Column,
) {
    let length = Span::raw(text).width();
    if column == Column::Name && length > width.into() {
        let (end, _) = buffer.set_stringn(x, y, text, width.saturating_sub(1).into(), style);
        buffer.set_stringn(end, y, "…", 1, style);
        return;
    }
    let free = match column {
        Column::Name => 0,
        _ => i32::from(width) - length as i32,
    };
    let left = buffer.area.left();
    let x = (i32::from(x) + free).max(left.into()) as u16;
    buffer.set_stringn(x, y, text, length, style);
}

/// Draws how many processors a job recently used, with the latest value on the right. A full cell
/// stands for the maximum of desire and usage in the visible part of the history.
fn history(buffer: &mut Buffer, (x, y, width): (u16, u16, u16), tracked: &Tracked) {
    let known = tracked.history.len().min(width.into());
    let latest = tracked.history.iter().rev().take(known);
    let most = latest
        .clone()
        .map(|(used, desire)| (*used).max(*desire))
        .max();
    let most = most.unwrap_or(1).max(1);
    for (back, &(used, desire)) in latest.enumerate() {
        let (symbol, style) = match (used, desire) {
            (0, 0) => ("·", QUIET),
            _ if used < desire => (bar(used as f64 / most as f64, 1), WANTING),
            _ => (bar(used as f64 / most as f64, 1), CONTENT),
        };
        let x = x + (known - 1 - back) as u16;
        buffer.set_stringn(x, y, symbol, 1, style);
    }
}

/// Returns a bar that fills the fraction `part` of a cell, and at least `least` eighths.
fn bar(part: f64, least: usize) -> &'static str {
    let eighths = (part * 8.0).round().clamp(0.0, 8.0) as usize;
    BARS[eighths.max(least)]
}

/// Shortens a path at its beginning, because its end is more informative.
fn shorten(text: &str, width: u16) -> String {
    let width = usize::from(width);
    if Span::raw(text).width() <= width {
        return text.to_owned();
    }
    let mut kept = text;
    while Span::raw(kept).width() + 1 > width {
        let mut rest = kept.chars();
        if rest.next().is_none() {
            return String::new();
        }
        kept = rest.as_str();
    }
    format!("…{kept}")
}

/// Returns the line that explains the keys, in its long form if that fits.
fn help(width: u16) -> Line<'static> {
    let key = |letter: String| Span::styled(letter, STRONG.add_modifier(Modifier::UNDERLINED));
    let word = |text: String| Span::styled(text, QUIET);
    let mut full = vec![word("sort by".into())];
    let mut short = vec![word("sort".into())];
    for column in Column::ALL {
        let (letter, at) = column.key();
        let title = column.title();
        full.extend([
            word(format!(" {}", &title[..at])),
            key(letter.into()),
            word(title[at + 1..].to_owned()),
        ]);
        short.extend([word(" ".into()), key(letter.into())]);
    }
    for (line, gap) in [(&mut full, "   "), (&mut short, "  ")] {
        line.extend([
            word(gap.into()),
            key("r".into()),
            word(" reverse".into()),
            word(gap.into()),
            key("q".into()),
            word(" quit".into()),
        ]);
    }
    let quit = vec![key("q".into()), word(" quit".into())];
    let fits = |line: &Line<'_>| line.width() <= width.into();
    let mut lines = [full, short, quit].map(Line::from).into_iter();
    lines.find(fits).unwrap_or_default()
}

#[cfg(test)]
mod tests;
