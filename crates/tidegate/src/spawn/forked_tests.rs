//! Handles that are used in a child which was forked while another thread held their packet.

use super::Handle;
use crate::Pool;
use crate::fork::forks::{End, PANICKED, WELL, end_of, finish, holding};

/// Forks while another thread holds the packet of a handle. The child calls `then` with the handle.
/// Returns how the child ended.
fn end_after(then: impl FnOnce(Handle<u32>)) -> End {
    let pool = Pool::builder().workers(1).build().unwrap();
    let handle = pool.spawn(|| 7);
    let packet = handle.shared_packet();
    let held = holding(move |stay| {
        let _state = packet.state.lock();
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
