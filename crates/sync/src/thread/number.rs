//! A small number for each thread that asks for one.
//!
//! No two threads have the same number at the same time, and the lowest free one is given out, so that numbers can be
//! indices: n threads that live at once have numbers not far above n. A thread keeps its number until it ends; then a
//! later thread may get it.
//!
//! Happens before: what a thread did before its number became free is visible to the next one that has it.
//!
//! The numbers given out are marked in a fixed bitmap and not behind a lock, which a child made by `fork` might find
//! locked for ever. Beyond the bitmap numbers are given out once and never again.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

#[cfg(loom)]
use loom::thread_local;

/// How many numbers can be given out again; threads that live at once are seldom more.
const REUSABLE: usize = if cfg!(miri) { 128 } else { 4096 };
const WORD: usize = u64::BITS as usize;

/// Who has which number.
struct Numbers {
    /// A bit for each number below `REUSABLE`: somebody has it.
    taken: [AtomicU64; REUSABLE / WORD],
    /// The next of the others.
    beyond: AtomicUsize,
}

static NUMBERS: Numbers = Numbers::new();

impl Numbers {
    const fn new() -> Self {
        Self {
            taken: [const { AtomicU64::new(0) }; REUSABLE / WORD],
            beyond: AtomicUsize::new(REUSABLE),
        }
    }

    fn take(&self) -> usize {
        for (index, word) in self.taken.iter().enumerate() {
            // Relaxed: a guess; the read-modify-write below decides.
            let mut seen = word.load(Ordering::Relaxed);
            while seen != u64::MAX {
                let bit = seen.trailing_ones() as usize;
                // Acquire pairs with the Release in `give_back`: what the last thread of this number did is visible.
                let before = word.fetch_or(1 << bit, Ordering::Acquire);
                if before & (1 << bit) == 0 {
                    return index * WORD + bit;
                }
                seen = before;
            }
        }
        // Relaxed: nobody has had this number before.
        self.beyond.fetch_add(1, Ordering::Relaxed)
    }

    fn give_back(&self, number: usize) {
        if let Some(word) = self.taken.get(number / WORD) {
            // Release pairs with the Acquire in `take`.
            word.fetch_and(!(1 << (number % WORD)), Ordering::Release);
        }
    }
}

/// A thread's right to a number.
struct Ticket(usize);

impl Ticket {
    fn take() -> Self {
        Self(NUMBERS.take())
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        NUMBERS.give_back(self.0);
    }
}

thread_local! {
    static TICKET: Ticket = Ticket::take();
}

/// Calls `f` with the calling thread's number.
///
/// While thread-local values are being destroyed the thread may have lost its number; then it has another one during the
/// call.
#[inline]
pub fn with_number<R>(f: impl FnOnce(usize) -> R) -> R {
    match TICKET.try_with(|ticket| ticket.0) {
        Ok(number) => f(number),
        Err(_) => {
            let ticket = Ticket::take();
            f(ticket.0)
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::Barrier;

    fn number() -> usize {
        with_number(|number| number)
    }

    #[test]
    fn threads_that_live_at_once_have_different_numbers_and_keep_them() {
        const THREADS: usize = 8;
        let all_live = Barrier::new(THREADS);
        let numbers: HashSet<usize> = std::thread::scope(|scope| {
            let mine = || {
                let first = number();
                all_live.wait();
                assert_eq!(number(), first);
                first
            };
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(mine)).collect();
            threads.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert_eq!(numbers.len(), THREADS);
    }

    #[test]
    fn a_number_is_used_again_after_its_thread_has_ended() {
        const THREADS: usize = if cfg!(miri) { 8 } else { 100 };
        let threads = (0..THREADS).map(|_| std::thread::spawn(number));
        let numbers: HashSet<usize> = threads.map(|it| it.join().unwrap()).collect();
        assert!(numbers.len() < THREADS, "{numbers:?}");
    }

    #[test]
    fn a_thread_has_a_number_also_while_its_thread_local_values_are_destroyed() {
        struct Asks(std::sync::mpsc::Sender<usize>);
        impl Drop for Asks {
            fn drop(&mut self) {
                self.0.send(number()).unwrap();
            }
        }
        thread_local!(static ASKS: std::cell::RefCell<Option<Asks>> = const { std::cell::RefCell::new(None) });
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            ASKS.set(Some(Asks(send)));
            // Made after `ASKS`, so destroyed before it or after it, by the system.
            number();
        });
        assert!(receive.recv().is_ok());
    }

    #[test]
    fn the_lowest_free_number_is_given_out_and_beyond_the_bitmap_new_ones() {
        let numbers = Numbers::new();
        for expected in 0..REUSABLE + 2 {
            assert_eq!(numbers.take(), expected);
        }
        for number in [REUSABLE, REUSABLE - 1, 3] {
            numbers.give_back(number);
        }
        let next: Vec<usize> = (0..3).map(|_| numbers.take()).collect();
        assert_eq!(next, [3, REUSABLE - 1, REUSABLE + 2]);
    }
}
