//! Kills a job at every point in its life.
//!
//! A job changes the table only by system calls. So the tests stop a child before and after each of
//! its system calls, and kill it at the n-th stop, for every n. That covers all moments of death
//! that other jobs can distinguish. In other tests, another job acts while the child is stopped,
//! which covers every interleaving of the two jobs.

use crate::support::sys::{self, Child, End, KILLED, WELL};
use crate::support::{Home, at_every_call, make_stale, to_stop, wants};
use std::fs;
use std::time::Duration;
use tidegate_share::{Kind, Name, Observer, ROWS, Seat, Soundness};
use tidegate_testkit::{PATIENCE, eventually};

/// Takes a seat, uses it twice and gives it back, as a job that may use `processors`.
fn life(home: &Home, processors: usize) -> i32 {
    let mut seat = home.seat("child");
    for _ in 0..2 {
        seat.publish(&wants(processors, processors)).unwrap();
        seat.shares().unwrap();
        seat.wait_change(Duration::ZERO).unwrap();
    }
    drop(seat);
    0
}

fn check(home: &Home) -> Soundness {
    let checked = Observer::check(&home.location()).unwrap();
    checked.expect("there is a table")
}

fn leave_dead_row(home: &Home) {
    let taken = home.folder.path().join("taken");
    let mut child: Child = sys::fork(|| {
        let mut seat = home.seat("dead");
        seat.publish(&wants(4, 4)).unwrap();
        fs::write(&taken, "").unwrap();
        std::thread::sleep(PATIENCE);
        0
    });
    eventually("the row is taken", || taken.exists());
    assert_eq!(child.kill(), KILLED);
    fs::remove_file(&taken).unwrap();
}

/// A job may die at any system call. The survivors get its processors at their next check.
#[test]
fn dead_jobs_processors_are_redistributed() {
    let home = Home::new();
    let mut survivor = home.seat("survivor");
    survivor.publish(&wants(4, 4)).unwrap();
    let mut observer = Observer::open(&home.location()).unwrap().unwrap();
    let mut seen = [0; 3];
    let mut round = |with_dead: bool| {
        at_every_call(
            || {
                if with_dead {
                    leave_dead_row(&home);
                }
            },
            || life(&home, 4),
            |stop, child| {
                seen[observer.jobs().unwrap().len().min(2)] += 1;
                assert_eq!(child.kill(), KILLED);
                let shares = survivor.shares().unwrap();
                assert_eq!((shares.allotment, shares.others), (4, 0), "stop {stop}");
                let checked = check(&home);
                let rows = (checked.alive.len(), checked.dead.len(), checked.repaired);
                assert_eq!(rows, (1, 0, 0), "stop {stop}: {checked:?}");
            },
        )
    };
    for with_dead in [false, true] {
        let stops = round(with_dead);
        assert!(stops > 50, "only {stops} stops");
    }
    if seen != [0; 3] {
        assert!(
            seen[1] > 10 && seen[2] > 10,
            "before, during and after: {seen:?}"
        );
    }
    // The rows of all dead children can be used again.
    let seats: Vec<Seat> = (1..ROWS).map(|job| home.seat(&job.to_string())).collect();
    assert_eq!(check(&home).alive.len(), 1 + seats.len());
}

#[test]
fn dying_creator_leaves_no_partial_table() {
    for stale in [false, true] {
        let home = Home::new();
        let mut seen = [0; 2];
        let stops = at_every_call(
            || {
                // The previous child may have left a table.
                let _ = fs::remove_file(home.path());
                if stale {
                    make_stale(&home);
                }
            },
            || life(&home, 4),
            |stop, child| {
                assert_eq!(child.kill(), KILLED);
                let names = fs::read_dir(home.folder.path()).unwrap().count();
                assert_eq!(names, usize::from(home.path().exists()), "stop {stop}");
                seen[names] += 1;
                if !stale && names == 1 {
                    assert!(Observer::open(&home.location()).unwrap().is_some());
                }
                let mut next = home.seat("next");
                next.publish(&wants(4, 4)).unwrap();
                assert_eq!(next.shares().unwrap().allotment, 4, "stop {stop}");
                let checked = check(&home);
                assert_eq!((checked.alive.len(), checked.dead.len()), (1, 0));
            },
        );
        assert!(stops > 50, "only {stops} stops");
        assert!(
            stops == usize::MAX || seen.iter().all(|seen| *seen > 3),
            "{seen:?}"
        );
    }
}

/// Two jobs start at the same time, while there is no table, a stale table or a good table.
#[test]
fn simultaneous_jobs_share_one_table() {
    for state in ["none", "stale", "good"] {
        let home = Home::new();
        let mut late = 0;
        let stops = at_every_call(
            || {
                let _ = fs::remove_file(home.path());
                match state {
                    "stale" => make_stale(&home),
                    "good" => drop(home.seat("earlier")),
                    _ => {}
                }
            },
            || comes(&home),
            |stop, child| {
                let other = Seat::take(&home.location(), &Name::new("other"));
                let mut other = match other {
                    Ok(seat) => seat,
                    // At this stop, the child is replacing the stale table.
                    Err(error) => {
                        assert_eq!(
                            (state, error.kind()),
                            ("stale", Kind::Unreachable),
                            "{error}"
                        );
                        late += 1;
                        assert_eq!(child.finish(), WELL);
                        return;
                    }
                };
                other.publish(&wants(4, 4)).unwrap();
                assert_eq!(child.finish(), WELL, "{state}, stop {stop}");
                assert!(
                    other.is_current(),
                    "{state}, stop {stop}: its table was removed"
                );
                let shares = other.shares().unwrap();
                assert_eq!((shares.allotment, shares.others), (4, 0));
            },
        );
        assert!(stops > 30, "{state}: only {stops} stops");
        assert!(late < 20, "{late} were late");
    }
}

/// Takes a seat, and checks that other jobs find the same table.
fn comes(home: &Home) -> i32 {
    let mut seat = home.seat("child");
    seat.publish(&wants(4, 4)).unwrap();
    let shares = seat.shares().unwrap();
    assert!(seat.is_current());
    assert_eq!(shares.allotment, 4 / (1 + shares.others));
    0
}

/// Takes the last free row and, in its last system calls, frees the row of a dead job.
fn sweep(home: &Home) -> i32 {
    let mut seat = home.seat("sweeper");
    let shares = seat.shares();
    // The process ends now, which releases the row.
    std::mem::forget(seat);
    i32::from(shares.is_err())
}

/// One job takes a row while another frees the row of a dead job. Neither takes the other's row.
#[test]
fn newcomer_and_sweeper_never_collide() {
    let home = Home::new();
    leave_dead_row(&home);
    let seats: Vec<Seat> = (2..ROWS).map(|job| home.seat(&job.to_string())).collect();
    let Some(mut dry) = sys::trace(|| sweep(&home)) else {
        println!("skipped: tracing a child is not permitted here");
        return;
    };
    let all = std::iter::from_fn(|| dry.step().is_none().then_some(())).count();
    let (mut refused, mut met) = (0, 0);
    // Skip the earlier stops, at which the child only reads rows.
    for stop in all - 50..=all {
        // This check frees the row of the previous sweeper.
        assert_eq!(check(&home).alive.len(), seats.len());
        leave_dead_row(&home);
        let mut child = sys::trace(|| sweep(&home)).expect("as before");
        if !to_stop(&mut child, stop) {
            continue;
        }
        // The child may hold the last free row.
        match Seat::take(&home.location(), &Name::new("newcomer")) {
            Ok(mut seat) => {
                seat.publish(&wants(4, 4)).unwrap();
                assert_eq!(child.finish(), WELL);
                assert_eq!(seat.shares().unwrap().allotment, 4, "stop {stop}");
                met += 1;
            }
            Err(error) => {
                assert_eq!(error.kind(), Kind::Full, "{error}");
                assert_eq!(child.finish(), WELL);
                refused += 1;
            }
        }
    }
    assert!(met > 10 && refused > 0, "{met} met, {refused} refused");
}

#[test]
fn job_may_die_at_any_time() {
    // Here, the job is not traced. It publishes continually and is killed at an arbitrary moment.
    let home = Home::new();
    let mut survivor = home.seat("survivor");
    survivor.publish(&wants(4, 4)).unwrap();
    for _ in 0..20 {
        let mut child = sys::fork(|| {
            loop {
                life(&home, 4);
            }
        });
        for _ in 0..5 {
            survivor.shares().unwrap();
        }
        assert_eq!(child.kill(), End::Signal(libc::SIGKILL));
        assert_eq!(survivor.shares().unwrap().allotment, 4);
        assert_eq!(check(&home).dead.len(), 0);
    }
}
