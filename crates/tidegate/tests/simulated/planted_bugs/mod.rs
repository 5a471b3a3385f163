//! Small programs, each with a bug that needs a rare order of threads: ordinary runs miss it, and a
//! search on simulated pools finds it. The repaired programs pass the same search.

mod bank;
mod board;
mod journal;
mod mailbox;
mod spooler;

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::Instant;
use tidegate::{Pool, testing};

const SEEDS: u64 = 1_000;

/// Stands for the real work of a program: reads a file, for about 0.1 ms. Nothing in here is a step
/// of a simulation.
fn read() {
    static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| "é".repeat(50_000).into_bytes());
    assert!(std::str::from_utf8(black_box(&FILE)).is_ok());
}

/// Searches for a failure of `program`, which must be a bug with this message.
fn finds(message: &str, program: fn()) {
    let start = Instant::now();
    let failure = testing::search(SEEDS, Pool::builder, move |_| program());
    let time = start.elapsed();
    let failure = failure.expect("no seed finds the bug");
    println!("seed {}, after {time:.1?}: {failure}", failure.found());
    assert!(failure.message().contains(message), "{failure}");
}

mod lock_order_across_join {
    use super::*;

    #[test]
    fn search_finds_the_ring() {
        finds("deadlock", || bank::close_day(bank::book));
    }

    #[test]
    fn accounts_in_order_pass() {
        testing::check(SEEDS, |_| bank::close_day(bank::book_in_order));
    }
}

mod lost_update_across_spawn {
    use super::*;

    #[test]
    fn search_finds_the_lost_sales() {
        finds("sales are lost", || {
            board::add_up(board::Board::set_if_unchanged)
        });
    }

    #[test]
    fn update_in_one_step_passes() {
        testing::check(SEEDS, |_| {
            board::add_up(board::Board::set_at_once_if_unchanged)
        });
    }
}

mod notification_between_steps {
    use super::*;

    #[test]
    fn search_finds_the_waiting_printer() {
        finds("deadlock", || spooler::print(spooler::Queue::next));
    }

    #[test]
    fn waiting_in_one_step_passes() {
        testing::check(SEEDS, |_| spooler::print(spooler::Queue::next_at_once));
    }
}

mod notification_without_lock {
    use super::*;

    #[test]
    fn search_finds_the_waiting_writer() {
        finds("deadlock", || mailbox::print(mailbox::Mailbox::close));
    }

    #[test]
    fn closing_with_the_lock_passes() {
        testing::check(SEEDS, |_| mailbox::print(mailbox::Mailbox::close_locked));
    }
}

mod publication_after_unlock {
    use super::*;

    #[test]
    fn search_finds_the_stale_length() {
        finds("the length is stale", || {
            journal::write(journal::Journal::append)
        });
    }

    #[test]
    fn publication_under_lock_passes() {
        testing::check(SEEDS, |_| journal::write(journal::Journal::append_locked));
    }
}
