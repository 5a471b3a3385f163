//! The planted bugs in ordinary pools.

use super::{bank, board, journal, mailbox, spooler};
use crate::support::{pool, soak};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver};
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

/// Runs a program in a pool with 2 workers and in one with 4 workers, in turn, and sends of each run
/// whether it ended without a panic.
fn start(program: fn(), runs: usize) -> Receiver<bool> {
    let (ended, end) = mpsc::channel();
    thread::spawn(move || {
        let pools = [pool(2), pool(4)];
        for run in 0..runs {
            let pool = &pools[run % pools.len()];
            let result = catch_unwind(AssertUnwindSafe(|| pool.install(program)));
            // Nobody receives what comes after a run that took too long.
            let _ = ended.send(result.is_ok());
        }
    });
    end
}

/// A kernel that takes the processor away at the wrong moment makes an ordinary run meet the bug, so
/// a few may.
#[test]
fn ordinary_runs_rarely_meet_the_bugs() {
    let runs = soak(100, "runs of each planted bug");
    for (name, program) in PROGRAMS {
        let mut met = 0;
        let mut end = start(program, runs);
        for run in 1..=runs {
            match end.recv_timeout(PATIENCE) {
                Ok(true) => {}
                Ok(false) => met += 1,
                Err(_) => {
                    met += 1;
                    end = start(program, runs - run);
                }
            }
        }
        println!("{met} of {runs} ordinary runs met the bug of {name}");
        assert!(met <= runs / 10, "{met} of {runs} met the bug of {name}");
    }
}
