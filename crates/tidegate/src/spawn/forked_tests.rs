//! Handles that are used in a child which was forked while another thread held their packet.

use super::Handle;
use crate::Pool;
use crate::forks::{End, PANICKED, WELL, end_of, finish, holding};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use tidegate_core::door;
use tidegate_core::door::carry::run_raised;
use tidegate_policy::Priority::Urgent;

/// Forks while another thread holds the packet of a handle. The child calls `then` with the handle.
/// Returns how the child ended.
fn end_after(then: impl FnOnce(Handle<u32>)) -> End {
    let pool = Pool::builder().workers(1).build().unwrap();
    let handle = pool.spawn(|| 7);
    let packet = handle.shared_packet();
    let held = holding(move |stay| {
        let _inside = packet.inside.lock();
        stay();
    });
    let Some(child) = held.fork() else {
        finish(|| {
            then(handle);
            true
        });
    };
    assert_eq!(handle.join(), 7);
    end_of(child)
}

#[test]
fn joining_panics() {
    assert_eq!(end_after(|handle| _ = handle.join()), End::Exit(PANICKED));
}

#[test]
fn dropping_does_not_wait() {
    assert_eq!(end_after(drop), WELL);
    assert_eq!(end_after(|handle| drop(handle.abort_on_drop())), WELL);
}

/// A joiner with a class pushes no task into the pool of the parent.
#[test]
fn joining_a_future_pushes_nothing() {
    let pool = Pool::builder().workers(1).build().unwrap();
    let (release, released) = channel::<()>();
    drop(pool.spawn(move || released.recv()));
    let future = pool.spawn_future(async { 7 });
    let parents = door::used(&pool).clone();
    let Some(child) = holding(|stay| stay()).fork() else {
        finish(|| {
            let join = AssertUnwindSafe(|| run_raised(Urgent, || future.join()));
            catch_unwind(join).is_err() && parents.classes.len() == 0
        });
    };
    drop(release);
    assert_eq!(future.join(), 7);
    assert_eq!(end_of(child), WELL);
}
