//! `tidegate top`: a live view of the table of jobs.
//!
//! | module | purpose |
//! |---|---|
//! | [`watch`] | reads the table, which may appear, disappear and be replaced |
//! | [`load`] | measures the load of the machine |
//! | [`screen`] | the state of the view, and the effect of keys |
//! | [`mod@column`] | the columns and their sort orders |
//! | [`draw`] | draws the view, as a pure function of its state and size |
//! | [`terminal`] | takes the terminal and restores it |
//!
//! `top` reads the table more often than it draws, because it takes several reads to recognize a
//! stalled job. It neither joins the table nor changes any job.

mod column;
mod draw;
mod load;
mod screen;
mod terminal;
mod watch;

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use clap::Args;
use ratatui::crossterm::event::{self, Event};
use tidegate_policy::tunables::{Allowed, Basis, Tunable, Unit};

use crate::roster;
use load::Meter;
use screen::{Asked, Screen};
use terminal::{Signals, Terminal};
use tidegate_cli_support::failure::Failure;
use watch::Watch;

/// The option for the time between two screen updates. `tidegate tunables` does not list it,
/// because it does not affect the runtime.
const EVERY: Tunable<u64> = Tunable {
    name: "--every",
    unit: Unit::Time,
    allowed: Allowed::Between(100_000_000, 60_000_000_000),
    default: 500_000_000,
    variable: None,
    why: "Time between two screen updates; twice a second is as fast as numbers can be read.",
    basis: Basis::Guessed,
};

/// The maximum time between two checks of the table and of the signals.
const LOOK: Duration = Duration::from_millis(200);

#[derive(Args, Clone, Copy, Debug)]
pub struct TopArguments {
    /// Time between screen updates
    #[arg(long, value_name = "TIME", value_parser = every, help = help_of_every())]
    pub every: Option<Duration>,
}

/// Parses the value of `--every`.
fn every(text: &str) -> Result<Duration, String> {
    let nanos = EVERY.parse(text).map_err(|error| error.to_string())?;
    Ok(Duration::from_nanos(nanos))
}

fn help_of_every() -> String {
    let row = EVERY.row();
    let (why, allowed, default) = (row.why, row.allowed, row.default);
    format!("{why} [range: {allowed}] [default: {default}]")
}

pub fn run(arguments: &TopArguments) -> Result<(), Failure> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err(Failure::Usage(
            "top requires a terminal; use `tidegate jobs` instead".into(),
        ));
    }
    let every = arguments
        .every
        .unwrap_or(Duration::from_nanos(EVERY.default));
    let location = roster::find()?;
    let screen = Screen::new(roster::place(&location));
    let lost = |error| Failure::Impossible(format!("the terminal cannot be used: {error}"));
    // If the process runs in the background, the kernel stops it here until it owns the terminal.
    // Until `Signals` catches them, signals still end the process.
    let mut terminal = Terminal::open().map_err(lost)?;
    let signals = Signals::note().map_err(lost)?;
    let watch = Watch::new(location);
    let shown = show(screen, watch, &mut terminal, &signals, every);
    drop(terminal);
    signals.end();
    shown.map_err(lost)
}

/// Shows the jobs until a key or a signal ends the loop.
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
