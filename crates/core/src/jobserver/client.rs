//! The connection to the jobserver that the environment names.
//!
//! A jobserver is a fifo, or a pipe whose descriptors are inherited, that contains a byte for each
//! free token. Other programs read from it as well, so no read may change how they read: both forms
//! are opened anew, which creates an open file description with flags of its own.
//!
//! `make` up to version 4.3 names its descriptors to all its jobs, but closes them in most. Their
//! numbers may then belong to files of this program. A descriptor that was inherited survived
//! `exec`, so it is not marked to be closed by `exec`, unlike those that Rust programs open. And
//! both lead to the same pipe. A library in C may have opened an unmarked pipe or fifo under both
//! numbers before the first pool was built; that is not noticed.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::sync::atomic::{AtomicBool, Ordering};
use tidegate_sync::lock::Mutex;
use tidegate_sync::thread::{PerProcess, at_exit};

/// In the order of precedence: a job of cargo may run below `make`.
const VARIABLES: [&str; 2] = ["CARGO_MAKEFLAGS", "MAKEFLAGS"];

/// The options that name a jobserver; the second one is the name until `make` 4.2.
const OPTIONS: [&str; 2] = ["--jobserver-auth=", "--jobserver-fds="];

/// A jobserver, and the tokens that all pools of this process hold.
pub(crate) struct Jobserver {
    read: File,
    write: File,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// A token is given back by the same byte.
    tokens: Vec<u8>,
    /// No more tokens are taken: the process exits, or was made by `fork` and so runs within the
    /// tokens of its parent.
    is_closed: bool,
}

impl Jobserver {
    /// Returns the jobserver that the environment named when the process's first pool was built.
    pub(crate) fn inherited() -> Option<&'static Self> {
        Self::of_process().get_or_init(Self::find).as_ref()
    }

    fn of_process() -> &'static PerProcess<Option<Self>> {
        static INHERITED: PerProcess<Option<Jobserver>> = PerProcess::new();
        &INHERITED
    }

    fn find() -> Option<Self> {
        static IS_FOUND: AtomicBool = AtomicBool::new(false);
        let variables = VARIABLES.iter().filter_map(env::var_os);
        let mut found = variables.filter_map(|flags| Self::open(&flags.to_string_lossy()));
        let found = found.next()?;
        // Relaxed: only a child made by `fork`, which has a copy, finds it set.
        if IS_FOUND.swap(true, Ordering::Relaxed) {
            found.held.lock().is_closed = true;
        } else {
            at_exit(close);
        }
        Some(found)
    }

    /// Opens the jobserver that the flags of `make` name, if it can be used.
    pub(crate) fn open(flags: &str) -> Option<Self> {
        let named = |word| {
            OPTIONS
                .iter()
                .find_map(|name| str::strip_prefix(word, name))
        };
        let named = flags.split_whitespace().filter_map(named).next_back()?;
        let (read, write) = match named.strip_prefix("fifo:") {
            Some(path) => (path.to_owned(), path.to_owned()),
            None => {
                let (read, write) = named.split_once(',')?;
                (inherited(read)?, inherited(write)?)
            }
        };
        if !is_one_pipe(&read, &write) {
            return None;
        }
        let mut options = OpenOptions::new();
        options.custom_flags(libc::O_NONBLOCK);
        Some(Self {
            read: options.clone().read(true).open(read).ok()?,
            write: options.write(true).open(write).ok()?,
            held: Mutex::default(),
        })
    }

    /// Takes a token if one is free. If the jobserver fails, it has no more tokens.
    pub(super) fn take(&self) -> bool {
        let mut held = self.held.lock();
        let mut token = [0];
        let is_taken = !held.is_closed && matches!((&self.read).read(&mut token), Ok(1));
        held.tokens.extend(token.iter().filter(|_| is_taken));
        is_taken
    }

    pub(super) fn give_back(&self) {
        self.held.lock().give_back(&self.write);
    }
}

impl Held {
    /// A write fails only if the pipe is full, which then contains too many tokens.
    fn give_back(&mut self, mut write: &File) {
        if let Some(token) = self.tokens.pop() {
            let _ = write.write(&[token]);
        }
    }
}

/// Whether both paths lead to the same fifo or pipe.
fn is_one_pipe(read: &str, write: &str) -> bool {
    let pipe = |path| {
        let it = fs::metadata(path).ok()?;
        it.file_type().is_fifo().then(|| (it.dev(), it.ino()))
    };
    pipe(read).is_some_and(|read| pipe(write) == Some(read))
}

/// Returns the path by which to open the descriptor `number`, if this process has inherited it.
fn inherited(number: &str) -> Option<String> {
    let number: u32 = number.parse().ok()?;
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{number}")).ok()?;
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
    let flags = i32::from_str_radix(flags.trim(), 8).ok()?;
    (flags & libc::O_CLOEXEC == 0).then(|| format!("/proc/self/fd/{number}"))
}

/// Gives all tokens back, because the process exits while pools may still work.
extern "C" fn close() {
    // A child made by `fork` does not see its parent's tokens here.
    if let Some(Some(server)) = Jobserver::of_process().get() {
        let mut held = server.held.lock();
        held.is_closed = true;
        while !held.tokens.is_empty() {
            held.give_back(&server.write);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::process::Command;

    fn fifo() -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fifo").display().to_string();
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        (folder, path)
    }

    #[test]
    fn last_option_of_make_counts() {
        let (_folder, path) = fifo();
        let flags = format!("k -j --jobserver-fds=98,99 --jobserver-auth=fifo:{path} -- A=b");
        assert!(Jobserver::open(&flags).is_some());
        assert!(Jobserver::open(&format!("{flags} --jobserver-auth=-2,-2")).is_none());
        assert!(Jobserver::open("-j4").is_none());
    }

    #[test]
    fn own_descriptors_are_not_taken_for_inherited_ones() {
        let (_folder, path) = fifo();
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).open(path).unwrap();
        let number = file.as_raw_fd();
        assert!(Jobserver::open(&format!("--jobserver-auth={number},{number}")).is_none());
    }

    #[test]
    fn ordinary_file_is_no_jobserver() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let flags = format!("--jobserver-auth=fifo:{}", file.path().display());
        assert!(Jobserver::open(&flags).is_none());
    }

    /// A program may have two other pipes at the numbers of descriptors that `make` has closed.
    #[test]
    fn two_pipes_are_no_jobserver() {
        let (_folder, path) = fifo();
        let (_other, other) = fifo();
        let open = |path: &String| OpenOptions::new().read(true).write(true).open(path);
        let files = [open(&path).unwrap(), open(&other).unwrap()];
        let named = files
            .each_ref()
            .map(|file| format!("/proc/self/fd/{}", file.as_raw_fd()));
        assert!(is_one_pipe(&named[0], &path));
        assert!(!is_one_pipe(&named[0], &named[1]));
    }

    #[test]
    fn tokens_return_as_the_bytes_they_were() {
        let (_folder, path) = fifo();
        let server = Jobserver::open(&format!("--jobserver-auth=fifo:{path}")).unwrap();
        assert!(!server.take(), "it is empty");
        (&server.write).write_all(b"x").unwrap();
        assert!(server.take() && !server.take());
        server.give_back();
        server.give_back();
        let mut bytes = [0; 2];
        assert_eq!((&server.read).read(&mut bytes).unwrap(), 1);
        assert_eq!(bytes[0], b'x');
    }
}
