//! A child made by `fork` inherits its parent's memory, but must not inherit its seat.

use crate::support::sys::{self, KILLED, WELL};
use crate::support::{Home, wants};
use std::path::Path;
use std::time::Duration;
use tidegate_share::{Name, Observer, Seat};
use tidegate_testkit::{PATIENCE, eventually};

/// Forks a process that takes a seat and forks an idle child, writes the child's pid into the file
/// `child`, and then sleeps.
fn parent_with_child(home: &Home, fork: impl FnOnce() -> sys::Child) -> (sys::Child, u32) {
    let told = home.folder.path().join("child");
    let parent = sys::fork(|| {
        let mut seat = home.seat("parent");
        seat.publish(&wants(4, 4)).unwrap();
        let child = fork();
        std::fs::write(told.with_extension("part"), child.pid().to_string()).unwrap();
        std::fs::rename(told.with_extension("part"), &told).unwrap();
        std::thread::sleep(PATIENCE);
        0
    });
    eventually("the parent has a child", || told.exists());
    let child = std::fs::read_to_string(&told).unwrap().parse().unwrap();
    (parent, child)
}

/// Forks a child. Once the handlers of `fork` have closed its parent's files, the child creates
/// `awake` and sleeps.
fn sleeping_child(awake: &Path) -> sys::Child {
    sys::fork(|| {
        std::fs::write(awake, "").unwrap();
        std::thread::sleep(PATIENCE);
        0
    })
}

#[test]
fn sleeping_child_frees_dead_parents_row() {
    let home = Home::new();
    let mut survivor = home.seat("survivor");
    survivor.publish(&wants(4, 4)).unwrap();
    let awake = home.folder.path().join("awake");
    let (mut parent, child) = parent_with_child(&home, || sleeping_child(&awake));
    eventually("the child sleeps", || awake.exists());
    assert_eq!(survivor.shares().unwrap().allotment, 2);
    assert_eq!(parent.kill(), KILLED);
    let shares = survivor.shares().unwrap();
    let checked = Observer::check(&home.location()).unwrap().unwrap();
    sys::signal(child, libc::SIGKILL);
    assert_eq!((shares.allotment, shares.others), (4, 0));
    assert_eq!((checked.alive.len(), checked.orphaned.len()), (1, 0));
}

/// A child keeps the row of its dead parent. The row is reported as orphaned and soon stops
/// counting.
#[test]
fn raw_forked_orphan_stops_counting() {
    let home = Home::new();
    let mut survivor = home.seat("survivor");
    survivor.publish(&wants(4, 4)).unwrap();
    let (mut parent, child) = parent_with_child(&home, sys::fork_past_the_library);
    assert_eq!(survivor.shares().unwrap().allotment, 2);
    assert_eq!(parent.kill(), KILLED);
    let counted = survivor.shares().unwrap().allotment;
    eventually("the orphan does not count any more", || {
        survivor.shares().unwrap().allotment == 4
    });
    let checked = Observer::check(&home.location()).unwrap().unwrap();
    sys::signal(child, libc::SIGKILL);
    assert_eq!(
        counted, 2,
        "the lock is held, so the row counts until it is seen to stand still"
    );
    let orphans: Vec<u32> = checked.orphaned.iter().map(|job| job.pid).collect();
    assert_eq!(orphans, [parent.pid()]);
    assert_eq!(checked.alive.len(), 1);
    eventually("the row is free when the orphan is dead", || {
        survivor.shares().unwrap();
        Observer::check(&home.location())
            .unwrap()
            .unwrap()
            .orphaned
            .is_empty()
    });
}

/// A child cannot use its parent's seat, but can take a seat of its own.
#[test]
fn child_takes_its_own_seat() {
    let home = Home::new();
    let mut seat = home.seat("parent");
    seat.publish(&wants(4, 4)).unwrap();
    let mut both = Some((seat.waker(), seat));
    let mut child = sys::fork(|| {
        let (waker, mut seat) = both.take().expect("a copy of the parent's");
        let refused = seat.publish(&wants(1, 4)).is_err()
            && seat.shares().is_err()
            && seat.wait_change(Duration::from_secs(60)).is_err();
        waker.wake();
        drop((waker, seat));
        let mut own = home.seat("child");
        own.publish(&wants(4, 4)).unwrap();
        i32::from(!(refused && own.shares().unwrap().allotment == 2))
    });
    assert_eq!(child.end(), WELL);
    let checked = Observer::check(&home.location()).unwrap().unwrap();
    assert_eq!(checked.alive.len(), 1, "the parent's row was left alone");
    assert_eq!(
        (checked.alive[0].pid, checked.alive[0].desire),
        (std::process::id(), 4)
    );
}

/// A job may take its seat before or after its first thread has ended.
#[test]
fn job_survives_its_first_thread() {
    for before in [true, false] {
        let home = Home::new();
        let ready = home.folder.path().join("ready");
        let mut child = sys::fork(|| {
            let (location, ready) = (home.location(), ready.clone());
            let (tell, told) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                if !before {
                    eventually("the first thread has ended", || {
                        is_zombie(std::process::id())
                    });
                }
                let seat = Seat::take(&location, &Name::new("second thread")).unwrap();
                tell.send(()).unwrap();
                std::fs::write(ready, "").unwrap();
                std::thread::sleep(PATIENCE);
                drop(seat);
            });
            if before {
                told.recv().unwrap();
            } else {
                // Keep the channel open, because the other thread panics if it cannot send.
                std::mem::forget(told);
            }
            sys::end_this_thread()
        });
        eventually("the seat is taken", || ready.exists());
        eventually("the first thread has ended", || is_zombie(child.pid()));
        let checked = Observer::check(&home.location()).unwrap().unwrap();
        let found = (checked.alive.len(), checked.orphaned.len());
        assert_eq!(found, (1, 0), "before: {before}");
        assert_eq!(child.kill(), KILLED);
    }
}

/// Returns whether a process's first thread is dead but has not been reaped.
fn is_zombie(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| stat.contains(") Z "))
}
