//! A pool whose table is unusable computes as usual. If it must explain itself, it prints why it
//! runs alone.
//!
//! A test whose child starts threads after a fork runs in a separate process: such a child cannot if
//! another thread of its parent starts or ends during the fork.

use crate::share::damage::{self, each};
use crate::share::sys::{self, NOT_PERMITTED, WELL};
use crate::share::{Home, overwrite};
use crate::support::jobs::{Job, jobs, plays, until_told};
use crate::support::{fib, pool};
use std::time::Duration;
use tidegate_policy::tunables::TABLE_LOOK;
use tidegate_testkit::is_alone;

const COMPUTES: &str = "tables::job_that_computes";
const ALONE: &str = "runs as if it were alone: ";

#[test]
fn job_that_computes() {
    if plays(COMPUTES) {
        let pool = pool(2);
        until_told(|| assert_eq!(pool.install(|| fib(15)), 610));
    }
}

/// Runs a job with its table in `home`. The job must print exactly once that it runs alone, with
/// the reason `says`. It then runs for `longer`.
fn runs_alone(home: &Home, says: &str, longer: Duration) {
    let mut job = Job::start(COMPUTES, &home.path(), &[]);
    job.says(ALONE);
    std::thread::sleep(longer);
    let lines = job.end();
    let told: Vec<&String> = lines
        .iter()
        .filter(|line| line.contains("table.v1"))
        .collect();
    let [line] = *told else {
        panic!("one line: {told:?}")
    };
    assert!(line.contains(ALONE) && line.contains(says), "{line}");
    assert!(line.contains(&home.path().display().to_string()), "{line}");
}

/// The pool computes and reports why it runs alone.
#[test]
fn pool_with_unusable_table_runs_alone() {
    each(|home, damage| runs_alone(home, damage.says, Duration::ZERO));
}

#[test]
fn pool_survives_file_size_limit() {
    if !is_alone("tables::pool_survives_file_size_limit") {
        return;
    }
    let home = Home::new();
    let mut child = sys::fork(|| {
        sys::limit_file_size(0);
        // Long enough for the pool to look at the table once more. It fails again, but prints
        // nothing.
        let looks = Duration::from_nanos(2 * TABLE_LOOK.default);
        runs_alone(&home, "files of this process may have 0 bytes", looks);
        0
    });
    assert_eq!(child.end(), WELL);
}

/// The file system is full or read-only, and the pool reports which.
#[test]
fn pool_without_disk_space_runs_alone() {
    if !is_alone("tables::pool_without_disk_space_runs_alone") {
        return;
    }
    for (full, says) in [
        (true, "No space left on device"),
        (false, "Read-only file system"),
    ] {
        let home = Home::new();
        let mut child = sys::fork(|| {
            let size = if full { "size=4096" } else { "size=1m" };
            if sys::mount_tmpfs(home.folder.path(), &format!("{size},mode=700")).is_err() {
                return NOT_PERMITTED;
            }
            if !full {
                damage::good(&home);
                sys::make_read_only(home.folder.path()).unwrap();
            }
            runs_alone(&home, says, Duration::ZERO);
            0
        });
        match child.end() {
            sys::End::Exit(NOT_PERMITTED) => {
                println!("skipped: a file system of the test's own is not permitted here");
            }
            end => assert_eq!(end, WELL),
        }
    }
}

/// The table is damaged, removed and truncated while the pool works.
#[test]
fn pool_recovers_from_lost_table() {
    let home = Home::new();
    let mut job = Job::start(COMPUTES, &home.path(), &[]);
    job.says("shares the machine");
    // This frees the job's row, so the job takes another one.
    overwrite(&home, 2048, &[0; 2048]);
    job.says("another process has written there");
    std::fs::remove_file(home.path()).unwrap();
    tidegate_testkit::eventually("the job is in the new table", || {
        home.path().exists() && jobs(&home.path()).iter().any(|it| it.pid == job.pid())
    });
    std::fs::File::options()
        .write(true)
        .open(home.path())
        .unwrap()
        .set_len(100)
        .unwrap();
    job.says("instead of 135168");
    job.end();
}
