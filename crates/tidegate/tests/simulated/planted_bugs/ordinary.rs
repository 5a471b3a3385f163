//! The planted bugs in ordinary pools.

use super::{bank, board, journal, mailbox, spooler};
use crate::support::{pool, soak};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A run that takes longer than this counts as a deadlock. It normally takes less than 10 ms.
const PATIENCE: Duration = Duration::from_secs(120);

const PROGRAMS: [(&str, fn()); 5] = [
    ("bank", || bank::close_day(bank::book)),
    ("board", || board::add_up(board::Board::set_if_unchanged)),
    ("journal", || journal::write(journal::Journal::append)),
    ("mailbox", || mailbox::print(mailbox::Mailbox::close)),
    ("spooler", || spooler::print(spooler::Queue::next)),
];

/// Runs each program in a pool with 2 workers and in one with 4 workers, in turn. A failure does
/// not mean that the runtime is wrong: it means that an ordinary run has met the bug.
#[test]
fn ordinary_runs_miss_the_bugs() {
    let runs = soak(100, "runs of each planted bug");
    for (name, program) in PROGRAMS {
        let (ended, end) = mpsc::channel();
        thread::spawn(move || {
            let pools = [pool(2), pool(4)];
            for run in 0..runs {
                let pool = &pools[run % pools.len()];
                let result = catch_unwind(AssertUnwindSafe(|| pool.install(program)));
                // The receiver is gone only if the test has already failed.
                let _ = ended.send(result.is_ok());
            }
        });
        for run in 0..runs {
            match end.recv_timeout(PATIENCE) {
                Ok(true) => {}
                Ok(false) => panic!("the bug of {name} hit ordinary run {run}: it has panicked"),
                Err(_) => panic!("the bug of {name} hit ordinary run {run}: it does not end"),
            }
        }
    }
}
