//! Unique numbers: each number is assigned once per process.

use crate::worker_local;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns a number that no other call in this process returns, starting with 1.
#[must_use]
pub fn next() -> u64 {
    static GIVEN: AtomicU64 = AtomicU64::new(0);
    // Relaxed: only uniqueness matters, and the counter publishes no other data.
    GIVEN.fetch_add(1, Ordering::Relaxed) + 1
}

/// Returns the calling thread's number, which no other thread ever gets.
///
/// The number stays the same while the thread lives, even while its thread-local values are being
/// destroyed. Some systems destroy even thread-local values without destructors; there, each call
/// after that returns a new number.
#[must_use]
pub fn of_this_thread() -> u64 {
    worker_local!(static OWN: Cell<u64> = Cell::new(0));
    let known = OWN.try_with(Cell::get).unwrap_or(0);
    if known != 0 {
        return known;
    }
    let new = next();
    let _ = OWN.try_with(|own| own.set(new));
    new
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_its_own() {
        let own = of_this_thread();
        let others = std::thread::spawn(|| [of_this_thread(), of_this_thread()]);
        let others = others.join().unwrap();
        assert_eq!(others[0], others[1]);
        assert_ne!(own, others[0]);
        assert_eq!(of_this_thread(), own);
    }

    /// Requests the number in the destructors of two thread-local values. Whatever the order of
    /// destruction, one of these values is destroyed before the value that holds the number, and
    /// the other one after it.
    #[cfg(target_os = "linux")]
    #[test]
    fn thread_keeps_its_serial_until_exit() {
        struct Asks(std::sync::mpsc::Sender<u64>);
        impl Drop for Asks {
            fn drop(&mut self) {
                self.0.send(of_this_thread()).unwrap();
            }
        }
        thread_local! {
            static FIRST: Cell<Option<Asks>> = const { Cell::new(None) };
            static LAST: Cell<Option<Asks>> = const { Cell::new(None) };
        }
        let (send, receive) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            FIRST.set(Some(Asks(send.clone())));
            let own = of_this_thread();
            LAST.set(Some(Asks(send)));
            own
        });
        let own = thread.join().unwrap();
        assert_eq!(receive.iter().collect::<Vec<_>>(), [own, own]);
    }
}
