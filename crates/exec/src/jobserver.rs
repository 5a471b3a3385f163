//! A jobserver for `make`, whose tokens follow the program's allotment.
//!
//! docs/jobserver.md describes the protocol. A fifo contains a byte for each free token. A thread of
//! the server takes tokens back when fewer are allowed, and replaces those that killed clients have
//! lost.

mod fifo;
mod losses;
#[cfg(test)]
mod tests;

use std::env;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fifo::Fifo;
use losses::Losses;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;

use crate::say;

/// How often the server looks for tokens that are lost.
const LOOK: Duration = Duration::from_millis(500);

/// Hands out tokens until it is dropped.
pub struct Server {
    shared: Arc<Shared>,
    /// The descriptors that the program inherits, if its `make` is too old to open a fifo.
    inherited: Option<[File; 2]>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    tokens: Mutex<Tokens>,
    /// Interrupts the thread.
    bell: OwnedFd,
}

struct Tokens {
    fifo: Fifo,
    /// How many tokens clients may have.
    allowed: usize,
    /// How many tokens are in the fifo or with clients.
    circulating: usize,
    losses: Losses,
    is_over: bool,
}

impl Server {
    /// Starts a server that allows `jobs` jobs at once. The program itself is the first of them, so
    /// there is one token fewer. If [`has_old_make`], every process that is started after this
    /// inherits two descriptors of the fifo.
    ///
    /// # Errors
    /// If the system refuses the fifo or the thread.
    pub fn start(jobs: usize, has_old_make: bool) -> io::Result<Self> {
        let fifo = Fifo::create()?;
        let awaited = fifo.as_fd().try_clone_to_owned()?;
        let inherited = has_old_make.then(|| fifo.inheritable()).transpose()?;
        let mut tokens = Tokens::new(fifo);
        tokens.allow(jobs);
        let shared = Arc::new(Shared {
            tokens: Mutex::new(tokens),
            bell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        });
        let watched = shared.clone();
        let thread = std::thread::Builder::new().name("jobserver".into());
        Ok(Self {
            shared,
            inherited,
            thread: Some(thread.spawn(move || watched.run(&awaited))?),
        })
    }

    /// Returns the value for `variable` of the program, which is `MAKEFLAGS` or `CARGO_MAKEFLAGS`:
    /// the flags that the user has set there, and the address of this server.
    #[must_use]
    pub fn makeflags(&self, variable: &str) -> String {
        let own = match &self.inherited {
            None => format!("--jobserver-auth=fifo:{}", self.tokens().fifo.path()),
            Some(files) => {
                let [read, write] = files.each_ref().map(AsRawFd::as_raw_fd);
                format!("--jobserver-fds={read},{write} --jobserver-auth={read},{write}")
            }
        };
        let flags = env::var_os(variable).unwrap_or_default();
        add_flags(&flags.to_string_lossy(), &own)
    }

    /// Allows `jobs` jobs at once, the program's first included. If there are more at the moment,
    /// the server takes tokens back as clients return them.
    pub fn allow(&self, jobs: usize) {
        self.tokens().allow(jobs);
        self.shared.ring();
    }

    fn tokens(&self) -> MutexGuard<'_, Tokens> {
        self.shared.tokens()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.tokens().is_over = true;
        self.shared.ring();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn tokens(&self) -> MutexGuard<'_, Tokens> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The write fails only if the bell rings already.
    fn ring(&self) {
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }

    /// Settles debts as soon as a token is in the fifo, and looks for losses now and then.
    fn run(&self, fifo: &OwnedFd) {
        let mut next = Instant::now() + LOOK;
        loop {
            if Instant::now() >= next {
                next = Instant::now() + LOOK;
                self.look();
            }
            let owes = {
                let mut tokens = self.tokens();
                if tokens.is_over {
                    return;
                }
                tokens.settle();
                tokens.circulating > tokens.allowed
            };
            let flags = PollFlags::IN;
            let mut awaited = [PollFd::new(&self.bell, flags), PollFd::new(fifo, flags)];
            let awaited = &mut awaited[..1 + usize::from(owes)];
            let left = next.saturating_duration_since(Instant::now());
            match poll(awaited, Timespec::try_from(left).ok().as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return say(&format!("the jobserver stops: {error}")),
            }
            let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        }
    }

    /// Looks for tokens that are lost. Does not lock the tokens meanwhile, so `allow` never waits.
    fn look(&self) {
        let missing = self.tokens().missing();
        let most_held = match missing {
            0 => usize::MAX,
            _ => losses::most_held(),
        };
        self.tokens().look(missing, most_held);
    }
}

impl Tokens {
    fn new(fifo: Fifo) -> Self {
        Self {
            fifo,
            allowed: 0,
            circulating: 0,
            losses: Losses::default(),
            is_over: false,
        }
    }

    fn allow(&mut self, jobs: usize) {
        self.allowed = jobs.saturating_sub(1);
        self.settle();
    }

    /// Changes the number of tokens in circulation to the allowed one, as far as clients have
    /// returned them.
    fn settle(&mut self) {
        if self.circulating < self.allowed {
            self.circulating += self.fifo.put(self.allowed - self.circulating);
        } else {
            self.circulating -= self.fifo.take(self.circulating - self.allowed);
        }
    }

    /// Counts the tokens that are not in the fifo.
    fn missing(&self) -> usize {
        self.circulating.saturating_sub(self.fifo.count())
    }

    /// Corrects the number of tokens in circulation. `missing` were not in the fifo before the
    /// server learned that the living processes of the program could hold up to `most_held`.
    fn look(&mut self, missing: usize, most_held: usize) {
        // A token has come back that seemed to be lost, or a client returns more than it took.
        self.circulating = self.circulating.max(self.fifo.count());
        let lost = missing.min(self.missing()).saturating_sub(most_held);
        self.circulating -= self.losses.confirm(lost);
    }
}

/// Adds the address of a jobserver to the flags of `make`, before the variables that end them.
fn add_flags(flags: &str, address: &str) -> String {
    let flags = format!(" {flags}");
    let (flags, variables) = match flags.split_once(" -- ") {
        Some((flags, variables)) => (flags, format!(" -- {variables}")),
        None => (&*flags, String::new()),
    };
    format!("{flags} -j {address}{variables}")
        .trim_start()
        .to_owned()
}

/// Whether the `make` that the program would start ends with an error if it is given a fifo. Waits
/// for it, so call this while signals can end the process.
#[must_use]
pub fn has_old_make() -> bool {
    let mut make = Command::new("make");
    make.arg("--version").env_remove("MAKEFLAGS");
    make.stdin(Stdio::null()).stderr(Stdio::null());
    let Ok(mut make) = make.stdout(Stdio::piped()).spawn() else {
        return false;
    };
    let version = make.stdout.take().map(io::read_to_string);
    // This fails if the process has inherited that SIGCHLD is ignored.
    let _ = make.wait();
    version.is_some_and(|version| version.is_ok_and(|version| is_old(&version)))
}

/// GNU make opens fifos since version 4.4.
fn is_old(version: &str) -> bool {
    let number = |text: Option<&str>| text?.parse().ok();
    let Some(version) = version.strip_prefix("GNU Make ") else {
        return false;
    };
    let mut numbers = version.split(|c: char| !c.is_ascii_digit());
    let numbers: [Option<u32>; 2] = [number(numbers.next()), number(numbers.next())];
    numbers < [Some(4), Some(4)]
}
