//! Draws a [`Screen`], as a pure function of its state and size.
//!
//! ```text
//! tidegate top   2 processors ▇█   96 % busy   load 2.31 1.90 1.20      title
//! /run/user/1000/tidegate/table.v1 (XDG_RUNTIME_DIR)                    place
//! 2 jobs   desire 4   allotment 2   in use 2                            sums
//!
//!    pid name      desire  allotment  in use  efficiency  since ..      titles
//!   4711 fib            2          1       1        97 %    12s ▄▄█     rows
//!
//! sort by pid name desire ..   r reverse   q quit                       help
//! ```
//!
//! When space is short, columns are dropped first ([`Column::BY_WEIGHT`]), then lines ([`Lines`]).
//! The first row of a job is dropped last.

use std::iter;

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Cell, Paragraph, Row, Table, Wrap};

use super::column::Column;
use super::screen::{Screen, Tracked};
use tidegate_cli_support::output::show_count;

/// Bars that fill zero to eight eighths of a cell.
const BARS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

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
    let lines = Lines::of(frame.area());
    frame.render_widget(title(screen, lines.title.width), lines.title);
    // If a path is too long, its end is more informative than its beginning.
    let place = Line::styled(&*screen.place, QUIET);
    let fits = place.width() <= lines.place.width.into();
    let side = if fits {
        Alignment::Left
    } else {
        Alignment::Right
    };
    frame.render_widget(place.alignment(side), lines.place);
    match &screen.view {
        Err(message) => {
            let message = Paragraph::new(&**message).wrap(Wrap { trim: true });
            frame.render_widget(message, lines.rows);
        }
        Ok(rows) => {
            let first = screen.first(lines.rows.height.into());
            let shown = rows[first..].iter().take(lines.rows.height.into());
            let shown: Vec<_> = shown.collect();
            let sums = sums(rows, first, shown.len(), lines.sums.width);
            frame.render_widget(sums, lines.sums);
            let (titles, rows) = tables(screen, &shown, lines.rows.width);
            frame.render_widget(titles, lines.titles);
            frame.render_widget(rows, lines.rows);
        }
    }
    frame.render_widget(help(lines.help.width), lines.help);
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
        let from = |height| Constraint::Length(u16::from(area.height >= height));
        let constraints = [
            from(3),
            from(8),
            from(6),
            from(12),
            from(4),
            Constraint::Fill(1),
            from(12),
            from(5),
        ];
        let lines = Layout::vertical(constraints).horizontal_margin(u16::from(area.width >= 60));
        let [title, place, sums, _, titles, rows, _, help] = lines.areas(area);
        Self {
            title,
            place,
            sums,
            titles,
            rows,
            help,
        }
    }
}

/// Returns the first line: the program's name and the machine's load.
fn title(screen: &Screen, width: u16) -> Line<'static> {
    let load = &screen.load;
    let mut parts = vec![(1, Span::styled("tidegate top", STRONG).into())];
    if !load.processors.is_empty() {
        let processors = show_count(load.processors.len(), "processor");
        parts.push((3, processors.into()));
        let bars: String = load.processors.iter().map(|part| bar(*part)).collect();
        parts.push((0, Span::styled(bars, CONTENT).into()));
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
    let moving = || rows.iter().filter(|job| !job.status.stalled);
    let sum = |of: fn(&Tracked) -> usize| moving().map(of).sum::<usize>();
    if rows.is_empty() {
        return Line::from("no jobs at the moment");
    }
    let mut parts = vec![
        (4, show_count(rows.len(), "job").into()),
        (2, format!("desire {}", sum(|job| job.status.desire)).into()),
        (
            0,
            format!("allotment {}", sum(|job| job.status.allotment)).into(),
        ),
        (3, format!("in use {}", sum(|job| job.status.in_use)).into()),
    ];
    if shown < rows.len() {
        let shown = format!("{} to {} shown, arrows scroll", first + 1, first + shown);
        parts.push((1, Span::styled(shown, QUIET).into()));
    }
    fitting(parts, width)
}

/// Joins the parts of a line. If they do not fit, drops those with the lowest rank first.
fn fitting(mut parts: Vec<(u8, Line<'static>)>, width: u16) -> Line<'static> {
    const BETWEEN: &str = "   ";
    loop {
        let spans = parts.iter().map(|(_, part)| part.spans.clone());
        let spans: Vec<_> = spans.collect();
        let line = Line::from(spans.join(&Span::raw(BETWEEN)));
        let least = parts.iter().map(|(rank, _)| *rank).min();
        if parts.len() < 2 || line.width() <= width.into() {
            return line;
        }
        parts.retain(|(rank, _)| Some(*rank) != least);
    }
}

/// Returns the titles and the rows, with the columns that fit.
fn tables(screen: &Screen, shown: &[&Tracked], width: u16) -> (Table<'static>, Table<'static>) {
    let mut left = width;
    let mut fits = |column: &Column| {
        let needed = column.width() + 1;
        let fits = left >= needed;
        left -= if fits { needed } else { 0 };
        fits
    };
    let chosen: Vec<Column> = Column::BY_WEIGHT
        .into_iter()
        .take_while(&mut fits)
        .collect();
    let history = chosen.len() == Column::ALL.len() && left >= HISTORY;
    let name = |job: &&Tracked| Span::raw(Column::Name.cell(&job.status, screen.now)).width();
    let longest = shown.iter().map(name);
    let longest = longest.max().unwrap_or(0).min(NAME.into()) as u16;
    let columns = Column::ALL
        .into_iter()
        .filter(|column| chosen.contains(column));
    let columns: Vec<Column> = columns.collect();
    let free = left - if history { HISTORY } else { 0 };
    let more = longest.saturating_sub(Column::Name.width()).min(free);
    let widths = columns.iter().map(|column| match column {
        Column::Name => Constraint::Length(column.width() + more),
        _ => Constraint::Length(column.width()),
    });
    let rest = history.then_some(Constraint::Fill(1));
    let table = Table::default().widths(widths.chain(rest));
    let title = |column: &Column| align(*column, heading(screen, *column));
    let titles = columns.iter().map(title);
    let titles = titles.chain(history.then(|| Cell::from("history").style(QUIET)));
    let room = usize::from(left - more);
    let rows = shown.iter().map(|job| {
        let cells = columns.iter().map(|column| cell(screen, job, *column));
        Row::new(cells.chain(history.then(|| recent(job, room))))
    });
    (table.clone().rows([Row::new(titles)]), table.rows(rows))
}

/// Returns the title of a column, which shows the sort order.
fn heading(screen: &Screen, column: Column) -> Span<'static> {
    let title = column.title();
    let mark = if screen.reverse { "▲" } else { "▼" };
    match column {
        _ if column != screen.sort => Span::styled(title, QUIET),
        Column::Name => Span::styled(format!("{title}{mark}"), STRONG),
        _ => Span::styled(format!("{mark}{title}"), STRONG),
    }
}

fn cell(screen: &Screen, job: &Tracked, column: Column) -> Cell<'static> {
    let status = &job.status;
    let style = match column {
        Column::Allotment if status.allotment < status.desire && !status.stalled => WANTING,
        _ if status.stalled || status.desire == 0 => QUIET,
        _ => PLAIN,
    };
    align(column, Span::styled(column.cell(status, screen.now), style))
}

/// Returns a cell in which a name is aligned left, and anything else right.
fn align(column: Column, text: Span<'static>) -> Cell<'static> {
    let side = match column {
        Column::Name => Alignment::Left,
        _ => Alignment::Right,
    };
    Cell::from(Text::from(text).alignment(side))
}

/// Returns how many processors a job recently used, with the latest value on the right. A full cell
/// stands for the maximum of desire and usage in the visible part of the history.
fn recent(job: &Tracked, width: usize) -> Cell<'static> {
    if job.status.stalled {
        return Cell::from("stalled").style(WANTING);
    }
    let known = job.history.len();
    let latest = job.history.range(known.saturating_sub(width)..);
    let most = latest.clone().map(|(used, desire)| (*used).max(*desire));
    let most = most.max().unwrap_or(1).max(1);
    let bars = latest.map(|&(used, desire)| match (used, desire) {
        (0, 0) => Span::styled("·", QUIET),
        _ => {
            let style = if used < desire { WANTING } else { CONTENT };
            Span::styled(bar(used as f64 / most as f64), style)
        }
    });
    Cell::from(bars.collect::<Line<'_>>())
}

/// Returns a bar that fills the fraction `part` of a cell, and at least an eighth.
fn bar(part: f64) -> &'static str {
    let eighths = (part * 8.0).round().clamp(1.0, 8.0) as usize;
    BARS[eighths]
}

/// Returns the line that explains the keys.
fn help(width: u16) -> Line<'static> {
    let key = |letter: char| {
        let style = STRONG.add_modifier(Modifier::UNDERLINED);
        Span::styled(letter.to_string(), style)
    };
    let word = |text| Span::styled(text, QUIET);
    let titles = Column::ALL.into_iter().flat_map(|column| {
        let ((letter, at), title) = (column.key(), column.title());
        [
            word(" "),
            word(&title[..at]),
            key(letter),
            word(&title[at + 1..]),
        ]
    });
    let sort = iter::once(word("sort by")).chain(titles);
    let parts = vec![
        (0, sort.collect()),
        (1, Line::from_iter([key('r'), word(" reverse")])),
        (2, Line::from_iter([key('q'), word(" quit")])),
    ];
    fitting(parts, width)
}

#[cfg(test)]
mod tests;
