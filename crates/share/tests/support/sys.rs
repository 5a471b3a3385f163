//! System calls for the tests: to stop, trace and kill children, and to create unusual kinds of
//! files.
//!
//! Of these tests, only this file contains `unsafe`. All its functions are safe to call from a
//! test.

#![allow(dead_code, reason = "each test file uses its own part of this module")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};
use tidegate_testkit::PATIENCE;

/// The exit code of a child that lacks a permission that its test needs.
pub const NOT_PERMITTED: i32 = 77;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Exit(i32),
    Signal(i32),
}

pub const WELL: End = End::Exit(0);
pub const KILLED: End = End::Signal(libc::SIGKILL);

/// A child made by `fork`. Dropping it kills the process.
#[derive(Debug)]
pub struct Child {
    pid: libc::pid_t,
    end: Option<End>,
}

/// Returns how the child ended, if a status of `waitpid` reports its end.
fn end_in(status: libc::c_int) -> Option<End> {
    if libc::WIFSIGNALED(status) {
        Some(End::Signal(libc::WTERMSIG(status)))
    } else if libc::WIFEXITED(status) {
        Some(End::Exit(libc::WEXITSTATUS(status)))
    } else {
        None
    }
}

fn wait(pid: libc::pid_t, how: libc::c_int) -> Option<libc::c_int> {
    let mut status = 0;
    // SAFETY: `status` is live and writable.
    let got = unsafe { libc::waitpid(pid, &mut status, how) };
    assert!(got >= 0, "waitpid: {}", io::Error::last_os_error());
    (got == pid).then_some(status)
}

/// Ends this process immediately, without running any code of the test harness.
pub fn exit(code: i32) -> ! {
    // SAFETY: no preconditions.
    unsafe { libc::_exit(code) }
}

/// Ends the calling thread. Also ends the process if this is its last thread.
pub fn end_this_thread() -> ! {
    // SAFETY: no preconditions. Nothing on this stack is dropped, and no thread joins this one.
    unsafe { libc::syscall(libc::SYS_exit, 0) };
    exit(1)
}

fn run(act: impl FnOnce() -> i32) -> ! {
    // If the test fails, only this alarm ends a child that hangs.
    // SAFETY: no preconditions.
    unsafe { libc::alarm(4 * PATIENCE.as_secs() as libc::c_uint) };
    let told = std::panic::take_hook();
    // This hook takes no locks, and writes past the test harness, which would capture the output.
    std::panic::set_hook(Box::new(move |info| {
        let text = format!("in a child: {info}\n");
        // SAFETY: the text is live and has the given length.
        unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
    }));
    std::mem::forget(told);
    exit(catch_unwind(AssertUnwindSafe(act)).unwrap_or(101))
}

/// Forks a child that runs `act` and exits with its result, or with 101 if it panics.
pub fn fork(act: impl FnOnce() -> i32) -> Child {
    // SAFETY: the child continues in Rust code that allocates, which the C library permits after a
    // fork from a process with threads. The child takes no lock of the test harness that another
    // thread could have held.
    match unsafe { libc::fork() } {
        0 => run(act),
        pid => Child::new(pid),
    }
}

/// Forks without running the C library's fork handlers. The child sleeps until it is killed, but
/// for at most a minute.
pub fn fork_past_the_library() -> Child {
    let flags = libc::SIGCHLD as libc::c_long;
    // SAFETY: without flags, the call is a fork: the child has a copy of this memory, including the
    // caller's stack.
    match unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } {
        0 => {
            let minute = libc::timespec {
                tv_sec: 60,
                tv_nsec: 0,
            };
            let no_rest = std::ptr::null_mut::<libc::timespec>();
            // SAFETY: `minute` is live. The pointer for the remaining time is null, which the call
            // permits.
            unsafe { libc::nanosleep(&minute, no_rest) };
            exit(0)
        }
        pid => Child::new(pid as libc::pid_t),
    }
}

pub fn signal(pid: u32, signal: libc::c_int) {
    // SAFETY: no preconditions.
    unsafe { libc::kill(pid as libc::pid_t, signal) };
}

/// Returns whether all threads of a process have stopped. It takes a while until a stop signal has
/// reached all of them.
pub fn has_stopped(pid: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("it lives");
    threads.flatten().all(|thread| {
        // A thread that has just ended counts as stopped.
        let status = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        let state = status.rsplit_once(") ").map(|(_, rest)| rest);
        state.is_none_or(|state| state.starts_with('T'))
    })
}

impl Child {
    fn new(pid: libc::pid_t) -> Self {
        assert!(pid > 0, "fork: {}", io::Error::last_os_error());
        Self { pid, end: None }
    }

    pub fn pid(&self) -> u32 {
        self.pid as u32
    }

    pub fn signal(&self, number: libc::c_int) {
        if self.end.is_none() {
            signal(self.pid(), number);
        }
    }

    /// Waits until the child ends, and returns how it ended.
    pub fn end(&mut self) -> End {
        let begin = Instant::now();
        loop {
            if let Some(end) = self.end {
                return end;
            }
            self.end = wait(self.pid, libc::WNOHANG).and_then(end_in);
            if begin.elapsed() > PATIENCE {
                self.signal(libc::SIGKILL);
                panic!("child {} hangs", self.pid);
            }
            if self.end.is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// Kills the child and waits until it has ended. Afterwards, all its files are closed.
    pub fn kill(&mut self) -> End {
        self.signal(libc::SIGKILL);
        self.end()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

pub struct Traced(Child);

/// Forks a child that runs `act` under the control of [`Traced::step`]. Returns `None` if the
/// system does not permit tracing. Only the calling thread can make the child continue.
pub fn trace(act: impl FnOnce() -> i32) -> Option<Traced> {
    let mut child = fork(|| {
        let (nowhere, nothing) = (std::ptr::null_mut::<u8>(), std::ptr::null_mut::<u8>());
        // SAFETY: the request reads no memory.
        let done = unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, nowhere, nothing) };
        if done != 0 {
            return NOT_PERMITTED;
        }
        // SAFETY: no preconditions.
        unsafe { libc::raise(libc::SIGSTOP) };
        act()
    });
    let status = wait(child.pid, 0).expect("it is waited for");
    child.end = end_in(status);
    child.end.is_none().then_some(Traced(child))
}

impl Traced {
    /// Lets the child run until its next stop. If it ends first, returns how it ended.
    pub fn step(&mut self) -> Option<End> {
        self.go(libc::PTRACE_SYSCALL)
    }

    fn go(&mut self, request: libc::c_uint) -> Option<End> {
        let (nowhere, no_signal) = (std::ptr::null_mut::<u8>(), std::ptr::null_mut::<u8>());
        // SAFETY: the request reads no memory of this process.
        let done = unsafe { libc::ptrace(request as _, self.0.pid, nowhere, no_signal) };
        assert_eq!(done, 0, "ptrace: {}", io::Error::last_os_error());
        self.0.end = wait(self.0.pid, 0).and_then(end_in);
        self.0.end
    }

    /// Lets the child run until it ends, and returns how it ended.
    pub fn finish(&mut self) -> End {
        loop {
            if let Some(end) = self.0.end {
                return end;
            }
            self.go(libc::PTRACE_CONT);
        }
    }

    pub fn kill(&mut self) -> End {
        self.0.kill()
    }
}

fn name(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("a path without zero bytes")
}

fn done(answer: libc::c_int) -> io::Result<()> {
    if answer == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Creates a file of the given kind (`S_IFIFO`, `S_IFSOCK`, `S_IFCHR`) with mode 0600.
pub fn make_node(path: &Path, kind: libc::mode_t, device: (u32, u32)) -> io::Result<()> {
    let (path, device) = (name(path), libc::makedev(device.0, device.1));
    // SAFETY: the path is a live C string.
    done(unsafe { libc::mknod(path.as_ptr(), kind | 0o600, device) })
}

/// Mounts a tmpfs with `options` at `folder`, visible only to this process and its children. May
/// only be used in a child of the test.
pub fn mount_tmpfs(folder: &Path, options: &str) -> io::Result<()> {
    // SAFETY: no preconditions. Afterwards, the calling thread has its own mounts.
    done(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
    let none = c"none".as_ptr();
    let private = libc::MS_REC | libc::MS_PRIVATE;
    let nothing = std::ptr::null::<libc::c_char>();
    // SAFETY: the strings are live C strings, and there is no mount data.
    done(unsafe { libc::mount(none, c"/".as_ptr(), nothing, private, nothing.cast()) })?;
    let (folder, kind) = (name(folder), c"tmpfs".as_ptr());
    let options = CString::new(options).expect("no zero bytes");
    let data = options.as_ptr().cast();
    // SAFETY: all arguments are live C strings.
    done(unsafe { libc::mount(none, folder.as_ptr(), kind, 0, data) })
}

/// Makes a tmpfs from [`mount_tmpfs`] read-only.
pub fn make_read_only(folder: &Path) -> io::Result<()> {
    let (folder, nothing) = (name(folder), std::ptr::null::<u8>());
    let none = c"none".as_ptr();
    let flags = libc::MS_REMOUNT | libc::MS_RDONLY;
    // SAFETY: the strings are live C strings, and there is no mount data.
    done(unsafe {
        libc::mount(
            none,
            folder.as_ptr(),
            c"tmpfs".as_ptr(),
            flags,
            nothing.cast(),
        )
    })
}

/// Limits the size of the files that this process writes, in bytes.
pub fn limit_file_size(bytes: u64) {
    let limit = libc::rlimit {
        rlim_cur: bytes,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the limit is live.
    let _ = unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) };
}

/// Sets the umask: the permissions that new files do not get.
pub fn mask_modes(mask: libc::mode_t) {
    // SAFETY: no preconditions.
    unsafe { libc::umask(mask) };
}

/// Returns the location of the table if `folder` is the user's runtime folder. May only be used in
/// a child, because it changes the environment. `std::env::set_var` would wait for ever for a lock
/// that another thread may have held during the fork.
pub fn location_in(folder: &Path) -> tidegate_share::Location {
    let folder = CString::new(folder.as_os_str().as_bytes()).expect("a path");
    // SAFETY: the name is text of C, and the process was made by `fork` and has one thread.
    let removed = unsafe { libc::unsetenv(c"TIDEGATE_TABLE".as_ptr()) };
    // SAFETY: as for `unsetenv` above; the call copies both texts.
    let set = unsafe { libc::setenv(c"XDG_RUNTIME_DIR".as_ptr(), folder.as_ptr(), 1) };
    assert_eq!((removed, set), (0, 0));
    tidegate_share::Location::find().expect("this system has tables")
}

/// Changes the effective user to `id` irrevocably. May only be used in a child.
pub fn become_user(id: u32) -> io::Result<()> {
    // SAFETY: no preconditions; the process has one thread.
    done(unsafe { libc::seteuid(id) })
}

pub fn is_root() -> bool {
    // SAFETY: no preconditions.
    unsafe { libc::geteuid() == 0 }
}

/// Replaces `/proc` with an empty folder, for this process and its children.
pub fn hide_proc() -> io::Result<()> {
    let mount = |kind: &CStr, at: &CStr, flags| {
        // SAFETY: the texts end with a zero byte and live during the call, which needs no data.
        let done = unsafe {
            libc::mount(
                kind.as_ptr(),
                at.as_ptr(),
                kind.as_ptr(),
                flags,
                std::ptr::null(),
            )
        };
        self::done(done)
    };
    // SAFETY: changes only the mounts that this process sees.
    done(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
    mount(c"none", c"/", libc::MS_REC | libc::MS_PRIVATE)?;
    mount(c"tmpfs", c"/proc", 0)
}
