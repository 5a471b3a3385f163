//! The state of the screen, and what keys do to it. The module [`draw`](super::draw) draws it.

use std::collections::VecDeque;
use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::column::Column;
use super::load::Load;
use crate::roster::JobStatus;

/// The maximum length of a job's history, which is longer than what fits on a screen.
const REMEMBERED: usize = 240;

#[derive(Debug)]
pub struct Screen {
    /// The table's path, and the reason why this path is used.
    pub place: String,
    pub load: Load,
    /// The time of the latest update, since 1970.
    pub now: Duration,
    /// The jobs in display order, or a message if there are none.
    pub view: Result<Vec<Tracked>, String>,
    /// The column by which rows are sorted.
    pub sort: Column,
    /// Whether the sort order is reversed.
    pub reverse: bool,
    /// The number of rows that have scrolled off the top of the screen.
    pub offset: usize,
}

/// A job and its recent history.
#[derive(Clone, Debug)]
pub struct Tracked {
    pub status: JobStatus,
    /// Pairs of the number of processors used and the number desired, with the latest pair last.
    pub history: VecDeque<(usize, usize)>,
}

/// What a key press requests from the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Quit,
    /// Stop the process, as Ctrl-Z does.
    Stop,
    Draw,
}

impl Screen {
    /// Creates an empty screen. `place` is the table's path and the reason why this path is used.
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

    /// Shows these jobs and this load at the time `now`.
    pub fn update(&mut self, rows: Result<Vec<JobStatus>, String>, load: Load, now: Duration) {
        let before = std::mem::replace(&mut self.view, Ok(Vec::new())).unwrap_or_default();
        (self.load, self.now) = (load, now);
        self.view = rows.map(|rows| {
            let rows = rows.into_iter();
            rows.map(|status| Tracked::after(&before, status)).collect()
        });
        self.arrange();
    }

    /// Handles a key press on a screen that has space for `room` rows.
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

    /// Returns the index of the first visible row if `room` rows fit. Limits the offset, so that
    /// the screen is full if possible.
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
            let (a, b) = (&a.status, &b.status);
            let order = sort.compare(a, b);
            let order = if reverse { order.reverse() } else { order };
            // Rows that compare as equal must not swap places between two updates.
            order.then((a.since, a.pid).cmp(&(b.since, b.pid)))
        });
    }
}

impl Tracked {
    /// Tracks the job of `status`, whose history continues the one that the job has in `before`.
    fn after(before: &[Self], status: JobStatus) -> Self {
        let same = |tracked: &&Self| {
            let known = &tracked.status;
            (known.pid, known.since, &known.name) == (status.pid, status.since, &status.name)
        };
        let known = before.iter().find(same);
        let mut history = known.map_or_else(VecDeque::new, |known| known.history.clone());
        if history.len() == REMEMBERED {
            history.pop_front();
        }
        history.push_back((status.in_use, status.desire));
        Self { status, history }
    }
}
