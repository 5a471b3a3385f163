//! System calls that the standard library does not offer: for naming an unnamed file, for locks
//! that belong to an opening of a file, and for the user's identity.

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

/// The options for opening a table: follow no link, wait for no device, and pass nothing on to
/// programs that this process executes.
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
    // A thread's list of descriptors shows those of its process, but the process's own list is
    // empty once its first thread has ended.
    let unnamed = CString::new(format!("/proc/thread-self/fd/{}", file.as_raw_fd()))?;
    let name = CString::new(path.as_os_str().as_bytes())?;
    let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
    // SAFETY: both names are live C strings, which the call reads.
    let done = unsafe { libc::linkat(here, unnamed.as_ptr(), here, name.as_ptr(), follow) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

fn byte(at: u64, kind: libc::c_int) -> libc::flock {
    // SAFETY: an flock consists of integers, for which all zeroes is a value. For a lock that
    // belongs to an opening, pid must be 0.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = at as libc::off_t;
    lock.l_len = 1;
    lock
}

fn ask(file: &File, command: libc::c_int, lock: &mut libc::flock) -> io::Result<()> {
    // SAFETY: the descriptor is open while `file` lives, and the lock is live and writable.
    let done = unsafe { libc::fcntl(file.as_raw_fd(), command, std::ptr::from_mut(lock)) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Locks the byte at `at` for this opening of the file, without waiting. Returns `false` if another
/// opening holds the lock.
pub(crate) fn lock(file: &File, at: u64) -> io::Result<bool> {
    match ask(file, libc::F_OFD_SETLK, &mut byte(at, libc::F_WRLCK)) {
        Ok(()) => Ok(true),
        Err(error) => match error.raw_os_error() {
            Some(libc::EAGAIN | libc::EACCES) => Ok(false),
            _ => Err(error),
        },
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

/// The maximum size, in bytes, of files that this process writes.
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

/// Whether the program has more rights than the user who started it.
pub(crate) fn is_privileged() -> bool {
    // SAFETY: getauxval has no preconditions.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}
