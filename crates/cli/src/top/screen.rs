//! What the screen shows, and what keys do to it. How it is drawn is [`draw`](super::draw)'s.

use std::collections::VecDeque;
use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::column::Column;
use super::load::Load;
use crate::roster::Row;

/// How many looks at a job are remembered: more than fit on any screen that shows the rest.
const REMEMBERED: usize = 240;

/// Everything that is shown.
#[derive(Debug)]
pub struct Screen {
    /// The table's path and why it is that one.
    pub place: String,
    /// The machine's load.
    pub load: Load,
    /// The time since 1970.
    pub now: Duration,
    /// The jobs in the order in which they are shown, or what there is to say instead.
    pub view: Result<Vec<Tracked>, String>,
    /// By what rows are sorted.
    pub sort: Column,
    /// Whether the other way round.
    pub reverse: bool,
    /// How many rows lie above the screen.
    pub offset: usize,
}

/// A job and what it did of late.
#[derive(Clone, Debug)]
pub struct Tracked {
    /// The job.
    pub row: Row,
    /// What it kept busy and what it desired, the latest last.
    pub history: VecDeque<(usize, usize)>,
}

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// To end.
    Quit,
    /// To stop until somebody continues the process.
    Stop,
    /// To go on, with a screen that may look otherwise.
    Draw,
}

impl Screen {
    /// A screen about the table at `place` that has seen nothing yet.
    pub fn new(place: String) -> Self {
        Self {
            place,
            load: Load::default(),
            now: Duration::ZERO,
            view: Ok(Vec::new()),
            sort: Column::Since,
            reverse: false,
            offset: 0,
        }
    }

    /// Shows what was seen at the time `now`.
    pub fn update(&mut self, rows: Result<Vec<Row>, String>, load: Load, now: Duration) {
        let before = std::mem::replace(&mut self.view, Ok(Vec::new())).unwrap_or_default();
        (self.load, self.now) = (load, now);
        self.view = rows.map(|rows| {
            let rows = rows.into_iter();
            rows.map(|row| Tracked::after(&before, row)).collect()
        });
        self.arrange();
    }

    /// What a key does, with room for `room` rows.
    pub fn press(&mut self, key: KeyEvent, room: usize) -> Asked {
        if key.kind == KeyEventKind::Release {
            return Asked::Draw;
        }
        let page = room.max(1);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => return Asked::Quit,
            KeyCode::Char('z') if control => return Asked::Stop,
            KeyCode::Char('q') | KeyCode::Esc => return Asked::Quit,
            KeyCode::Char('r') => self.reverse = !self.reverse,
            KeyCode::Char(letter) => self.sort_by(letter),
            KeyCode::Up => self.offset = self.offset.saturating_sub(1),
            KeyCode::Down => self.offset += 1,
            KeyCode::PageUp => self.offset = self.offset.saturating_sub(page),
            KeyCode::PageDown => self.offset += page,
            KeyCode::Home => self.offset = 0,
            KeyCode::End => self.offset = usize::MAX,
            _ => {}
        }
        self.offset = self.first(room);
        self.arrange();
        Asked::Draw
    }

    /// The first row on a screen with room for `room`, so that none of it is left empty without need.
    pub fn first(&self, room: usize) -> usize {
        let rows = self.view.as_ref().map_or(0, Vec::len);
        self.offset.min(rows.saturating_sub(room))
    }

    fn sort_by(&mut self, letter: char) {
        let chosen = Column::ALL
            .into_iter()
            .find(|column| column.key().0 == letter);
        if let Some(column) = chosen {
            (self.sort, self.reverse) = (column, false);
        }
    }

    fn arrange(&mut self) {
        let (sort, reverse) = (self.sort, self.reverse);
        let Ok(rows) = &mut self.view else {
            return;
        };
        rows.sort_by(|a, b| {
            let (a, b) = (&a.row, &b.row);
            let order = sort.compare(a, b);
            let order = if reverse { order.reverse() } else { order };
            // Rows that are equal must not change places between two pictures.
            order.then((a.since, a.pid).cmp(&(b.since, b.pid)))
        });
    }
}

impl Tracked {
    /// `row`, with what was known of the same job before.
    fn after(before: &[Self], row: Row) -> Self {
        let same = |tracked: &&Self| {
            let known = &tracked.row;
            (known.pid, known.since, &known.name) == (row.pid, row.since, &row.name)
        };
        let known = before.iter().find(same);
        let mut history = known.map_or_else(VecDeque::new, |known| known.history.clone());
        if history.len() == REMEMBERED {
            history.pop_front();
        }
        history.push_back((row.in_use, row.desire));
        Self { row, history }
    }
}
