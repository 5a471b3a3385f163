//! A line on the terminal that says what a long command is doing.
//!
//! It appears on standard error after [`PATIENCE`], and only when that is a terminal; until then, and
//! everywhere else, nothing is started: no thread, no signal handler, no clock. Ctrl-C takes the line
//! away before the process ends, so the terminal is left as it was.

use std::process;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{show_bytes, tame};

/// What takes less time than this goes by without a line.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time between two pictures of the line.
const PICTURE: Duration = Duration::from_millis(250);

/// The exit code of a process that Ctrl-C ended, by the shells' custom: 128 and the signal's number.
const INTERRUPTED: i32 = 130;

/// The line; it goes when this is dropped.
pub struct Progress {
    bar: ProgressBar,
    revealer: Option<Revealer>,
}

/// The thread that shows the line when it is time. It ends when the sender is dropped.
struct Revealer {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Progress {
    /// The progress of a command that takes `steps` steps.
    pub fn start(steps: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden());
        let revealer = console_is_there().then(|| Revealer::start(bar.clone()));
        let progress = Self { bar, revealer };
        progress.expect(0);
        progress
    }

    /// So many further steps will come.
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

    /// Says what happens now.
    pub fn say(&self, what: &str) {
        self.bar.set_message(tame(what));
    }

    /// One more step is done.
    pub fn step(&self) {
        self.bar.inc(1);
    }

    /// Runs `work` and shows next to `what` how far the program says it has come.
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
            // It does nothing that can panic; if it did, the line is gone all the same.
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

fn console_is_there() -> bool {
    std::io::IsTerminal::is_terminal(&std::io::stderr())
}

fn clear_on_interrupt(bar: ProgressBar) {
    let handler = move || {
        bar.finish_and_clear();
        process::exit(INTERRUPTED);
    };
    // Without a handler Ctrl-C still ends the process, with the last picture of the line left behind.
    let _ = ctrlc::set_handler(handler);
}
