//! Futex calls on a word of this process, and on a word in a file shared by processes.

#[cfg(all(target_os = "linux", not(any(loom, miri))))]
pub(crate) mod linux {
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    pub(super) fn timespec(limit: Duration) -> libc::timespec {
        libc::timespec {
            tv_sec: limit.as_secs().min(i64::MAX as u64) as libc::time_t,
            tv_nsec: limit.subsec_nanos() as _,
        }
    }

    /// Sleeps while `word` holds `expected`, for at most `limit`. May return early for any reason.
    pub(crate) fn wait(word: &AtomicU32, expected: u32, limit: Option<Duration>) {
        let spec = limit.map(timespec);
        let spec_ptr = spec.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let op = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: `word` is a live, aligned u32 for the whole call. `spec_ptr` is null or points to
        // `spec`, which outlives the call. The kernel reads `word` and `spec` and writes neither.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), op, expected, spec_ptr) };
    }

    /// Wakes one thread that sleeps on `word`.
    pub(crate) fn wake(word: &AtomicU32) {
        let op = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: for a private wake, the kernel uses the address only as a key and accesses no
        // memory.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), op, 1) };
    }
}

pub use shared::SharedWord;

#[cfg(all(target_os = "linux", not(any(loom, miri))))]
mod shared {
    use super::linux::timespec;
    use memmap2::{MmapOptions, MmapRaw};
    use std::fs::File;
    use std::io;
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    /// A word in a file, through which processes wait and wake each other.
    ///
    /// Only the kernel reads and writes the word. If the file has been truncated, the kernel
    /// returns an error. If the program accessed the word itself, it would then be killed by a
    /// signal.
    #[derive(Debug)]
    pub struct SharedWord {
        map: MmapRaw,
        offset: usize,
    }

    impl SharedWord {
        /// Maps the word at `offset`, a multiple of 4, in the first `length` bytes of `file`.
        ///
        /// # Errors
        /// The system cannot map the file.
        ///
        /// # Panics
        /// If `offset` is not a multiple of 4, or the word does not lie within those bytes.
        pub fn of(file: &File, length: usize, offset: usize) -> io::Result<Self> {
            assert!(offset % 4 == 0 && offset + 4 <= length);
            let map = MmapOptions::new().len(length).map_raw(file)?;
            Ok(Self { map, offset })
        }

        fn address(&self) -> *mut AtomicU32 {
            self.map.as_mut_ptr().wrapping_add(self.offset).cast()
        }

        /// Sleeps while the word is `expected`, for at most `limit`. May return early for any
        /// reason.
        ///
        /// # Errors
        /// The word no longer exists because the file was truncated.
        pub fn wait(&self, expected: u32, limit: Duration) -> io::Result<()> {
            let spec = timespec(limit);
            let (op, spec) = (libc::FUTEX_WAIT, std::ptr::from_ref(&spec));
            // SAFETY: the address lies in a live mapping and is aligned, and `spec` points to a
            // live value. The kernel reads the word and `spec`, and reports an error if the file no
            // longer covers the address.
            let done =
                unsafe { libc::syscall(libc::SYS_futex, self.address(), op, expected, spec) };
            if done == 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EAGAIN | libc::ETIMEDOUT | libc::EINTR) => Ok(()),
                _ => Err(error),
            }
        }

        /// Adds 1 to the word and wakes all threads that wait on it.
        ///
        /// # Errors
        /// Like [`wait`](Self::wait).
        pub fn add_and_wake(&self) -> io::Result<()> {
            const EVERYBODY: libc::c_int = libc::c_int::MAX;
            let add = libc::FUTEX_OP(libc::FUTEX_OP_ADD, 1, libc::FUTEX_OP_CMP_EQ, 0);
            // The call can also wake threads that wait on a second word. Here, both words are the
            // same, and no further thread needs to be woken.
            let (op, nobody, word) = (libc::FUTEX_WAKE_OP, 0usize, self.address());
            // SAFETY: both addresses are the address of an aligned word in a live mapping. The
            // kernel changes the word atomically, and reports an error if the file no longer covers
            // the address.
            let done =
                unsafe { libc::syscall(libc::SYS_futex, word, op, EVERYBODY, nobody, word, add) };
            if done < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(())
        }
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, miri)))))]
mod shared {
    use std::fs::File;
    use std::io;
    use std::time::Duration;

    /// A word in a file. Never created, because threads cannot wait on such a word on this system.
    #[derive(Debug)]
    pub struct SharedWord(std::convert::Infallible);

    impl SharedWord {
        /// Always fails on this system.
        ///
        /// # Errors
        /// Always [`Unsupported`](io::ErrorKind::Unsupported).
        pub fn of(_: &File, _: usize, _: usize) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        /// Never called, because this type has no values.
        ///
        /// # Errors
        /// Never.
        pub fn wait(&self, _: u32, _: Duration) -> io::Result<()> {
            match self.0 {}
        }

        /// Never called, because this type has no values.
        ///
        /// # Errors
        /// Never.
        pub fn add_and_wake(&self) -> io::Result<()> {
            match self.0 {}
        }
    }
}

#[cfg(all(test, target_os = "linux", not(any(loom, miri))))]
mod tests {
    use super::SharedWord;
    use std::fs::File;
    use std::io::Read;
    use std::os::fd::{FromRawFd, OwnedFd};
    use std::os::unix::fs::FileExt;
    use std::time::Duration;

    const LONG: Duration = Duration::from_secs(60);

    fn file(length: u64) -> File {
        // SAFETY: the name is a live C string. The call returns a new descriptor or an error.
        let fd = unsafe { libc::memfd_create(c"word".as_ptr(), libc::MFD_CLOEXEC) };
        assert!(fd >= 0);
        // SAFETY: the descriptor is new, and nothing else owns it.
        let file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
        file.set_len(length).unwrap();
        file
    }

    #[test]
    fn change_wakes_a_waiter_on_word() {
        let file = file(4096);
        let (here, there) = (
            SharedWord::of(&file, 4096, 8).unwrap(),
            SharedWord::of(&file, 4096, 8).unwrap(),
        );
        let waiter = std::thread::spawn(move || here.wait(0, LONG));
        there.add_and_wake().unwrap();
        waiter.join().unwrap().unwrap();
        let mut word = [0; 4];
        file.read_exact_at(&mut word, 8).unwrap();
        assert_eq!(u32::from_ne_bytes(word), 1);
    }

    #[test]
    fn truncated_file_fails_without_signal() {
        let mut file = file(4096);
        let word = SharedWord::of(&file, 4096, 0).unwrap();
        word.add_and_wake().unwrap();
        file.set_len(0).unwrap();
        assert!(word.wait(1, LONG).is_err());
        assert!(word.add_and_wake().is_err());
        assert_eq!(file.read(&mut [0; 4]).unwrap(), 0);
    }
}
