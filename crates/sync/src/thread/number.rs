//! A small number for each thread that requests one.
//!
//! Numbers can be used as indices: no two threads have the same number at the same time, and each
//! thread gets the lowest free number. So while at most n threads live at once, all numbers are
//! below n. A thread keeps its number until its thread-local values are destroyed. Another thread
//! may get the number after that.
//!
//! Happens before: everything that a thread did before it gave up its number is visible to the next
//! thread with that number.
//!
//! The numbers in use are the set bits of a [`SegmentedArray`], which grows with the number of
//! threads. No step takes a lock, because a child made by `fork` might find it locked forever. In a
//! child, the numbers of its parent's other threads stay in use. Those threads may have left the
//! data at their indices in an inconsistent state, so no other thread may get these indices.

use crate::segmented::SegmentedArray;
use crate::worker_local;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(loom)]
use loom::thread_local;

const WORD: usize = u64::BITS as usize;

/// One bit for each number, set while a thread has that number.
struct Numbers(SegmentedArray<AtomicU64>);

static NUMBERS: Numbers = Numbers::new();

impl Numbers {
    const fn new() -> Self {
        Self(SegmentedArray::new())
    }

    fn take(&self) -> usize {
        let mut index = 0;
        loop {
            if let Some(bit) = take_lowest(self.0.get_or_grow(index)) {
                return index * WORD + bit as usize;
            }
            index += 1;
        }
    }

    fn give_back(&self, number: usize) {
        let word = self.0.get_or_grow(number / WORD);
        // Release pairs with the Acquire in `take_lowest`.
        word.fetch_and(!(1 << (number % WORD)), Ordering::Release);
    }
}

/// Sets the lowest clear bit and returns its position, or `None` if all bits are set.
///
/// Any value read may be out of date, including the value that a failed exchange returns. Only a
/// successful exchange proves that a bit was the lowest clear bit, or that no bit was clear.
/// Without that proof, a thread could get a number that exceeds the number of threads.
fn take_lowest(word: &AtomicU64) -> Option<u32> {
    // Relaxed: only a guess. The exchange below verifies it.
    let mut seen = word.load(Ordering::Relaxed);
    loop {
        // If all bits are set, `taken` equals `seen`.
        let taken = seen | seen.wrapping_add(1);
        // Acquire pairs with the Release in `give_back`: what the number's previous thread did is
        // visible. Relaxed on failure: the value is only another guess.
        match word.compare_exchange(seen, taken, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => return (seen != taken).then_some(seen.trailing_ones()),
            Err(now) => seen = now,
        }
    }
}

/// Ownership of a thread's number.
struct Ticket(usize);

impl Ticket {
    fn take() -> Self {
        let number = NUMBERS.take();
        set_current(number);
        Self(number)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        set_current(NONE);
        NUMBERS.give_back(self.0);
    }
}

thread_local! {
    static TICKET: Ticket = Ticket::take();
}

const NONE: usize = usize::MAX;

// The thread's number, or `NONE` if it has no ticket. Unlike the ticket, this value has no
// destructor, so it stays usable while the other thread-local values are destroyed.
worker_local!(static CURRENT: Cell<usize> = Cell::new(NONE));

fn set_current(number: usize) {
    // Some systems destroy even this value. There, each call after that takes a new ticket.
    let _ = CURRENT.try_with(|current| current.set(number));
}

/// Calls `f` with the calling thread's number.
///
/// While a thread's thread-local values are being destroyed, it may already have lost its number.
/// It then gets another number for the duration of the call, and nested calls in `f` see that
/// number as well.
#[inline]
pub fn with_number<R>(f: impl FnOnce(usize) -> R) -> R {
    match CURRENT.try_with(Cell::get) {
        Ok(number) if number != NONE => f(number),
        _ => with_ticket(f),
    }
}

#[cold]
fn with_ticket<R>(f: impl FnOnce(usize) -> R) -> R {
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
    use std::sync::{Barrier, Mutex};

    fn number() -> usize {
        with_number(|number| number)
    }

    #[test]
    fn live_threads_keep_distinct_numbers() {
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
    fn ended_threads_numbers_are_reused() {
        const THREADS: usize = if cfg!(miri) { 8 } else { 100 };
        let threads = (0..THREADS).map(|_| std::thread::spawn(number));
        let numbers: HashSet<usize> = threads.map(|it| it.join().unwrap()).collect();
        assert!(numbers.len() < THREADS, "{numbers:?}");
    }

    #[test]
    fn number_outlives_thread_local_values() {
        struct Asks(std::sync::mpsc::Sender<[bool; 2]>);
        impl Drop for Asks {
            fn drop(&mut self) {
                let (again, other) = with_number(|outer| {
                    // What another thread would get. Windows cannot start one here.
                    let other = NUMBERS.take();
                    NUMBERS.give_back(other);
                    (number() == outer, other != outer)
                });
                self.0.send([again, other]).unwrap();
            }
        }
        thread_local!(static ASKS: std::cell::RefCell<Option<Asks>> = const { std::cell::RefCell::new(None) });
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            ASKS.set(Some(Asks(send)));
            // Take a ticket, which is destroyed before or after `ASKS`, depending on the system.
            number();
        });
        assert_eq!(receive.recv(), Ok([true, true]));
    }

    /// The lowest free number is assigned even beyond the bitmap's first segment.
    #[test]
    fn lowest_free_number_is_assigned() {
        const LIVE: usize = if cfg!(miri) { 200 } else { 10_000 };
        let numbers = Numbers::new();
        for expected in 0..LIVE {
            assert_eq!(numbers.take(), expected);
        }
        let mut ended = [LIVE - 1, 3, 64, LIVE / 2];
        for number in ended {
            numbers.give_back(number);
        }
        ended.sort_unstable();
        let next: Vec<usize> = ended.iter().map(|_| numbers.take()).collect();
        assert_eq!(next, ended);
        assert_eq!(numbers.take(), LIVE);
    }

    /// Threads take and return numbers concurrently, near the end of the bitmap's first segment.
    #[test]
    fn numbers_stay_below_thread_count() {
        const THREADS: usize = 4;
        const ROUNDS: usize = if cfg!(miri) { 20 } else { 5_000 };
        const HELD: usize = WORD - 2;
        let numbers = Numbers::new();
        for _ in 0..HELD {
            numbers.take();
        }
        let in_use: Vec<Mutex<()>> = (0..HELD + THREADS).map(|_| Mutex::new(())).collect();
        let mine = || {
            for _ in 0..ROUNDS {
                let number = numbers.take();
                let alone = in_use[number].try_lock().expect("another thread has it");
                std::thread::yield_now();
                drop(alone);
                numbers.give_back(number);
                // Orders the end of one thread before the start of the next.
                crate::barrier::full();
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(mine);
            }
        });
    }
}
