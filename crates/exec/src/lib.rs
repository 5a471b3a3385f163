//! Runs a program that does not use Tidegate as a job that shares the processors.
//!
//! docs/exec.md describes the protocol. The decisions are in [`outside`], the
//! table and the record of masks in [`tidegate_share`].
//!
//! | module | what it does |
//! |---|---|
//! | `seat` | takes a row of the table for the program |
//! | `environment` | chooses the variables that the program gets in addition |
//! | `start` | starts the program and waits for its end |
//! | `signals` | receives the command's signals |
//! | [`outside`] | decides how many processors the program gets, and which ones |
//! | `follow` | observes the program and confines it to its allotment |
//! | `watcher` | gives the program its processors back, or ends it, if the command dies |
//! | `jobserver` | serves tokens to `make` |

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod environment;
mod follow;
pub mod jobserver;
pub mod outside;
mod seat;
mod signals;
mod start;
mod watcher;

pub use follow::{Following, Means, Stop};
pub use watcher::{SUBCOMMAND, watch};

use std::fmt;
use std::io::Write;
use std::sync::mpsc;
use std::thread;

use environment::Additions;
use jobserver::Server;
use seat::Place;
use signals::Signals;
use start::Program;
use tidegate_policy::share::SharePolicy;
use tidegate_share::confinement;
use watcher::Watcher;

/// How to make the program follow its allotment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// By quota where a cgroup is delegated to this user, otherwise by affinity (the default).
    #[default]
    Auto,
    /// By the quota of a cgroup of its own.
    Quota,
    /// By the affinity of its threads.
    Affinity,
    /// Not at all: only the counts of threads are set, when the program starts.
    Count,
}

/// What to run, and its part of the machine.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program and its arguments; not empty.
    pub command: Vec<std::ffi::OsString>,
    /// The name in the table; by default the program's file name.
    pub name: Option<String>,
    /// The weight relative to other jobs: 1 to 10,000.
    pub weight: usize,
    /// The processors that the program gets even if its share is smaller.
    pub min: usize,
    /// The most processors that the program uses; by default all that it may run on.
    pub max: Option<usize>,
    /// How the program follows its allotment.
    pub how: How,
    /// The most jobs that the program may run at once if it is a `make`, which then gets a
    /// jobserver.
    pub jobserver: Option<usize>,
    /// Whether the program ends if this process is killed.
    pub kill_with_command: bool,
    /// Whether to print what was chosen, and why, before the program starts.
    pub explain: bool,
    /// Whether the program shares the processors: not if this is `Off`.
    pub share: SharePolicy,
}

/// Why the program was not run.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    text: String,
}

impl Failure {
    /// Returns the exit code: 127 if there is no such program, 126 if it cannot be executed.
    #[must_use]
    pub fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Failure {}

/// Runs the program, waits for its end and returns its exit code. If a signal ended the program,
/// the same signal ends this process. If it cannot, as with real-time signals, the code is 128 + n.
///
/// Call this in a process with one thread, just before the process exits: most signals stay blocked,
/// and all children of the process are waited for. Messages go to standard error.
///
/// # Errors
/// Returns an error if the program cannot be started.
pub fn run(options: &Options) -> Result<u8, Failure> {
    // A signal must be able to end the command while it waits for a `make`.
    let has_old_make = options.jobserver.is_some() && jobserver::has_old_make();
    // Before anything that a signal must not interrupt, and so that all threads of the command
    // block the signals for which this thread waits.
    let signals = Signals::block().map_err(|error| Failure {
        code: start::NOT_EXECUTABLE,
        text: format!("cannot receive signals: {}", error.desc()),
    })?;
    let place = Place::take(options);
    let mut means = place
        .as_ref()
        .map(|place| Means::prepare(options.how, &place.location));
    let jobs = options.jobserver;
    let server = jobs.and_then(|jobs| serve(jobs, place.as_ref(), has_old_make));
    let may_confine = means.as_ref().is_some_and(Means::may_confine);
    let name = (may_confine || options.kill_with_command).then(confinement::own_name);
    let additions = additions(place.as_ref(), name.as_deref(), server.as_ref());
    explain(options, place.as_ref(), means.as_ref(), &additions);
    let named = name.as_deref().filter(|_| options.kill_with_command);
    let watcher = named.and_then(watcher);
    let start = || {
        let program = Program::start(&options.command, &additions, &signals)?;
        if let Some((watcher, name)) = watcher.as_ref().zip(named) {
            watcher.take_along(program.pid(), name);
        }
        Ok(program)
    };
    let program = means
        .as_mut()
        .map_or_else(start, |means| means.start(start));
    // There is nothing to end if it has not started.
    let program = program.inspect_err(|_| watcher.iter().for_each(Watcher::let_go))?;
    let (follower, server) = match (place, means) {
        (Some(place), Some(means)) => follow(options, place, means, server, program.pid()),
        _ => (None, server),
    };
    let end = program.supervise(&signals);
    watcher.iter().for_each(Watcher::let_go);
    drop((follower, server, watcher));
    signals.release_keys();
    Ok(end.repeat())
}

/// Says what was chosen, and why, if the user wants to know it. Otherwise, says only why the program
/// will not be confined although it should be.
fn explain(options: &Options, place: Option<&Place>, means: Option<&Means>, additions: &Additions) {
    let place = place.filter(|_| options.explain);
    let means = means.filter(|means| options.explain || means.has_failed());
    let reasons = [
        place.map(|place| place.reason.as_str()),
        means.map(Means::reason),
    ];
    reasons.into_iter().flatten().for_each(say);
    if options.explain {
        say(&additions.to_string());
    }
}

/// Starts the jobserver. If that fails, says so, and the program runs without it.
///
/// Until the first look at the program, it may run as many jobs as it may have processors: a client
/// keeps what it has taken, so a later look could not correct more.
fn serve(jobs: usize, place: Option<&Place>, has_old_make: bool) -> Option<Server> {
    let jobs = place.map_or(jobs, |place| place.threads.min(jobs));
    let server = Server::start(jobs, has_old_make);
    let server = server.inspect_err(|error| say(&format!("no jobserver: {error}")));
    server.ok()
}

/// Returns the watcher that ends the program if this process dies. If there is none, says so.
fn watcher(name: &str) -> Option<Watcher> {
    let watcher = Watcher::of_program(name).inspect_err(|error| {
        let end = "the program will not end if this command is killed";
        say(&format!("{end}: cannot start its watcher: {error}"));
    });
    watcher.ok()
}

/// Chooses the variables that the program gets. Without a seat, it gets only those of the jobserver
/// and the command's `name`.
fn additions(place: Option<&Place>, name: Option<&str>, server: Option<&Server>) -> Additions {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let additions = place.map(|place| Additions::choose(place.threads, is_set));
    let additions = additions.unwrap_or_default().with_makeflags(server);
    additions.with_name(name)
}

/// Ends the following when it is dropped.
struct Follower {
    stop: Stop,
    /// Returns the jobserver, which must live as long as the program.
    thread: Option<thread::JoinHandle<Option<Server>>>,
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.stop.set();
        if self
            .thread
            .take()
            .is_some_and(|thread| thread.join().is_err())
        {
            say("some threads may stay confined: the thread that follows the program panicked");
        }
    }
}

/// Starts the thread that makes the program follow its allotment. If that fails, says so, and
/// returns the jobserver, which the program still needs.
fn follow(
    options: &Options,
    place: Place,
    means: Means,
    server: Option<Server>,
    program: i32,
) -> (Option<Follower>, Option<Server>) {
    let (sender, receiver) = mpsc::channel::<Following>();
    let builder = thread::Builder::new().name("tidegate-exec".to_owned());
    let thread = match builder.spawn(move || receiver.recv().ok()?.run()) {
        Ok(thread) => Some(thread),
        Err(error) => {
            say(&format!("the program is not confined: {error}"));
            // It does not share the machine either, as its seat ends here.
            if let (Some(server), Some(jobs)) = (&server, options.jobserver) {
                server.allow(jobs);
            }
            return (None, server);
        }
    };
    let seat = (place.seat, &place.machine);
    let following = Following::begin(options, seat, means, server, program);
    let stop = following.stop();
    // This cannot fail: the thread waits for it.
    let _ = sender.send(following);
    (Some(Follower { stop, thread }), None)
}

/// Prints a line to standard error. If that fails, the program runs all the same.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "tidegate exec: {text}");
}
