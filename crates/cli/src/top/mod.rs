//! `tidegate top`: the table of jobs as a screen that follows it.
//!
//! | file | holds |
//! |---|---|
//! | [`watch`] | the table, which may come, go and be replaced meanwhile |
//! | [`load`] | how busy the machine is |
//! | [`screen`] | what is shown, and what keys do |
//! | [`mod@column`] | the columns and their orders |
//! | [`draw`] | the picture, a function of the screen and of its size |
//! | [`terminal`] | the terminal, and how it gets back what it was |
//!
//! It looks at the table more often than it draws: that a job stands still shows only to who keeps looking. It takes no part in the
//! table and changes no job.

mod column;
mod draw;
mod load;
mod screen;
mod terminal;
mod watch;

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event};
use tidegate_policy::tunables::{Allowed, Basis, Tunable, Unit};

use crate::arguments::TopArguments;
use crate::roster;
use load::Meter;
use screen::{Asked, Screen};
use terminal::{Signals, Terminal};
use tidegate_command::failure::Failure;
use watch::Watch;

/// How often the screen shows something new. No tunable of the runtime's, so it is not listed among them.
const EVERY: Tunable<u64> = Tunable {
    name: "--every",
    unit: Unit::Time,
    allowed: Allowed::Between(100_000_000, 60_000_000_000),
    default: 500_000_000,
    variable: None,
    why: "Time between two pictures; twice a second is as fast as numbers can be read.",
    basis: Basis::Guessed,
};

/// The most time between two looks at the table and at signals.
const LOOK: Duration = Duration::from_millis(200);

/// Reads a time between two pictures.
pub fn every(text: &str) -> Result<Duration, String> {
    let nanos = EVERY.parse(text).map_err(|error| error.to_string())?;
    Ok(Duration::from_nanos(nanos))
}

/// What the help says of that option.
pub fn help_of_every() -> String {
    let row = EVERY.row();
    let (why, allowed, default) = (row.why, row.allowed, row.default);
    format!("{why} [allowed: {allowed}] [default: {default}]")
}

/// Carries the subcommand out.
pub fn run(arguments: &TopArguments) -> Result<(), Failure> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err(Failure::Usage(
            "top needs a terminal for its keys and its screen; use `tidegate jobs`".into(),
        ));
    }
    let every = arguments
        .every
        .unwrap_or(Duration::from_nanos(EVERY.default));
    let location = roster::find()?;
    let screen = Screen::new(roster::place(&location));
    let lost = |error| Failure::Impossible(format!("the terminal cannot be used: {error}"));
    // In the background the kernel stops it here until the terminal is its own; a signal that is not noted yet ends it even then.
    let mut terminal = Terminal::open().map_err(lost)?;
    let signals = Signals::note().map_err(lost)?;
    let watch = Watch::new(location);
    let shown = show(screen, watch, &mut terminal, &signals, every);
    drop(terminal);
    signals.end();
    shown.map_err(lost)
}

/// Shows the screen until somebody or something ends it.
fn show(
    mut screen: Screen,
    mut watch: Watch,
    terminal: &mut Terminal,
    signals: &Signals,
    every: Duration,
) -> io::Result<()> {
    let mut meter = Meter::start();
    let mut due = Instant::now();
    while !signals.is_end_noted() {
        if signals.is_stop_noted() {
            terminal.give_back();
            signals.stop();
        }
        if signals.goes_on() {
            terminal.take_again()?;
            due = Instant::now();
        }
        let seen = watch.look();
        if Instant::now() >= due {
            screen.update(seen, meter.read(), roster::now());
            terminal.draw(|frame| draw::draw(&screen, frame))?;
            due = Instant::now() + every;
        }
        if event::poll(LOOK.min(due.saturating_duration_since(Instant::now())))? {
            if let Event::Key(key) = event::read()? {
                let size = terminal.size()?;
                let room = draw::room((ratatui::layout::Position::ORIGIN, size).into());
                match screen.press(key, room) {
                    Asked::Quit => return Ok(()),
                    Asked::Stop => signals.ask_to_stop(),
                    Asked::Draw => {}
                }
            }
            terminal.draw(|frame| draw::draw(&screen, frame))?;
        }
    }
    Ok(())
}
