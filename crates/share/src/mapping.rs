//! System calls that the standard library lacks: to name an unnamed file, to take locks that belong
//! to an open file description, and to identify the user.

use crate::layout::{CHANGE_AT, HEAD};
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use tidegate_sync::futex::SharedWord;

/// Maps the word that counts changes.
pub(crate) fn change(file: &File) -> io::Result<SharedWord> {
    SharedWord::of(file, HEAD, CHANGE_AT)
}

/// Returns the options for opening a table: follow no symbolic link, do not wait for a device, and
/// do not pass the file on to executed programs.
pub(crate) fn options(unnamed: bool) -> OpenOptions {
    let mut options = OpenOptions::new();
    let kind = if unnamed {
        libc::O_TMPFILE
    } else {
        libc::O_NOFOLLOW | libc::O_NONBLOCK
    };
    options
        .read(true)
        .mode(0o600)
        .custom_flags(kind | libc::O_CLOEXEC);
    options
}

/// Gives an unnamed file its first name. Fails if the name is taken.
pub(crate) fn name_file(file: &File, path: &Path) -> io::Result<()> {
    // The descriptors of the process are also listed for its threads. The process's own list is
    // empty once its first thread has ended, so use the calling thread's.
    let unnamed = CString::new(format!("/proc/thread-self/fd/{}", file.as_raw_fd()))?;
    let name = CString::new(path.as_os_str().as_bytes())?;
    let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
    // SAFETY: both names are live C strings, which the call only reads.
    let done = unsafe { libc::linkat(here, unnamed.as_ptr(), here, name.as_ptr(), follow) };
    outcome(done)
}

fn outcome(done: libc::c_int) -> io::Result<()> {
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn byte(at: u64, kind: libc::c_int) -> libc::flock {
    // SAFETY: an flock consists of integers, for which zero is a valid value. For a lock that
    // belongs to an open file description, pid must be 0.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = at as libc::off_t;
    lock.l_len = 1;
    lock
}

fn ask(file: &File, command: libc::c_int, lock: &mut libc::flock) -> io::Result<()> {
    // SAFETY: the descriptor is open while `file` lives, and the lock is live and writable.
    outcome(unsafe { libc::fcntl(file.as_raw_fd(), command, std::ptr::from_mut(lock)) })
}

/// Locks the byte at `at` for this open file description, without waiting. Returns `false` if
/// another description holds the lock.
pub(crate) fn lock(file: &File, at: u64) -> io::Result<bool> {
    match ask(file, libc::F_OFD_SETLK, &mut byte(at, libc::F_WRLCK)) {
        Ok(()) => Ok(true),
        Err(error) => match error.raw_os_error() {
            Some(libc::EAGAIN | libc::EACCES) => Ok(false),
            _ => Err(error),
        },
    }
}

/// Like [`lock`], but waits until no other description holds the lock, and so returns `true`.
pub(crate) fn wait_for_lock(file: &File, at: u64) -> io::Result<bool> {
    loop {
        match ask(file, libc::F_OFD_SETLKW, &mut byte(at, libc::F_WRLCK)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done.map(|()| true),
        }
    }
}

pub(crate) fn unlock(file: &File, at: u64) -> io::Result<()> {
    ask(file, libc::F_OFD_SETLK, &mut byte(at, libc::F_UNLCK))
}

pub(crate) fn is_held(file: &File, at: u64) -> io::Result<bool> {
    let mut lock = byte(at, libc::F_WRLCK);
    ask(file, libc::F_OFD_GETLK, &mut lock)?;
    Ok(lock.l_type != libc::F_UNLCK as libc::c_short)
}

/// Returns the maximum size of files that this process may write, in bytes.
pub(crate) fn file_size_limit() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: `limit` is live and writable. If the call fails, it leaves `limit` unchanged.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    #[allow(
        clippy::useless_conversion,
        reason = "the type is narrower on 32-bit Linux"
    )]
    u64::from(limit.rlim_cur)
}

pub(crate) fn user() -> u32 {
    // SAFETY: geteuid has no preconditions.
    unsafe { libc::geteuid() }
}

/// Returns whether the program has more privileges than the user who started it.
pub(crate) fn is_privileged() -> bool {
    // SAFETY: getauxval has no preconditions.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}
