//! A progress line on the terminal for long commands.
//!
//! If standard error is a terminal, the line appears there after [`PATIENCE`]. Otherwise, this
//! module starts no thread, installs no signal handler and reads no clock. Ctrl-C erases the line
//! before the process ends.

use std::process;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{show_bytes, tame};

/// A command that takes less time than this shows no progress line.
const PATIENCE: Duration = Duration::from_secs(2);

/// The time between two updates of the line.
const PICTURE: Duration = Duration::from_millis(250);

/// The exit code after Ctrl-C: by convention, 128 plus the signal's number.
const INTERRUPTED: i32 = 130;

/// The progress line. Dropping it erases the line.
pub struct Progress {
    bar: ProgressBar,
    revealer: Option<Revealer>,
}

/// The thread that shows the line after [`PATIENCE`]. It ends when the sender is dropped.
struct Revealer {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Progress {
    /// Starts the progress line of a command with `steps` steps.
    pub fn start(steps: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden());
        let revealer = is_on_terminal().then(|| Revealer::start(bar.clone()));
        let progress = Self { bar, revealer };
        progress.expect(0);
        progress
    }

    /// Creates a progress line that is never shown.
    pub fn hidden() -> Self {
        Self {
            bar: ProgressBar::hidden(),
            revealer: None,
        }
    }

    /// Adds `steps` to the total number of steps.
    pub fn expect(&self, steps: u64) {
        self.bar.inc_length(steps);
        let template = match self.bar.length() {
            Some(0 | 1) => "{elapsed:>4} {wide_msg}",
            _ => "{elapsed:>4} {bar:20} {pos}/{len} {eta:>4} left {wide_msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
    }

    /// Sets the message that describes what the command is doing.
    pub fn say(&self, what: &str) {
        self.bar.set_message(tame(what));
    }

    /// Completes a step.
    pub fn step(&self) {
        self.bar.inc(1);
    }

    /// Runs `work`. Meanwhile, the line shows `what`, followed by the program's own progress.
    pub fn watch<T: Send>(
        &self,
        what: &str,
        program: Option<&tidegate_workloads::Progress>,
        work: impl FnOnce() -> T,
    ) -> T {
        self.say(what);
        let (Some(program), Some(_)) = (program, &self.revealer) else {
            return work();
        };
        thread::scope(|scope| {
            let (stop, stopped) = mpsc::channel::<()>();
            scope.spawn(move || {
                while stopped.recv_timeout(PICTURE) == Err(RecvTimeoutError::Timeout) {
                    let (files, bytes) = (program.files(), show_bytes(program.bytes() as f64));
                    self.say(&format!("{what}: {files} files, {bytes}"));
                }
            });
            let result = work();
            drop(stop);
            result
        })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(Revealer { stop, thread }) = self.revealer.take() {
            drop(stop);
            // This thread cannot panic. Even if it did, the line would be erased below.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

impl Revealer {
    fn start(bar: ProgressBar) -> Self {
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            if stopped.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                clear_on_interrupt(bar.clone());
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.enable_steady_tick(PICTURE);
            }
        });
        Self { stop, thread }
    }
}

fn is_on_terminal() -> bool {
    std::io::IsTerminal::is_terminal(&std::io::stderr())
}

fn clear_on_interrupt(bar: ProgressBar) {
    let handler = move || {
        bar.finish_and_clear();
        process::exit(INTERRUPTED);
    };
    // Without this handler, Ctrl-C also ends the process, but leaves the line on the terminal.
    let _ = ctrlc::set_handler(handler);
}
