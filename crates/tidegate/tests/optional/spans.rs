//! Spans of `tracing` that follow tasks. The test runs in a child, because a process has only one
//! global subscriber.

use crate::support::{pool, watched};
use std::sync::Barrier;
use tidegate::{TaskLocal, carry_span};
use tidegate_testkit::is_alone;
use tracing::{Id, Span, info_span};

fn here() -> Option<Id> {
    Span::current().id()
}

/// Returns the current span in both halves of a join, which run on two workers.
fn stolen_join() -> [Option<Id>; 2] {
    let barrier = Barrier::new(2);
    let meet = || {
        barrier.wait();
        here()
    };
    tidegate::join(meet, meet).into()
}

#[test]
fn tasks_run_in_the_span_of_their_fork() {
    if !is_alone("spans::tasks_run_in_the_span_of_their_fork") {
        return;
    }
    static LOCAL: TaskLocal<u32> = TaskLocal::new();
    tracing::subscriber::set_global_default(tracing_subscriber::registry()).unwrap();
    watched(|| {
        pool(2).install(|| {
            let outer = info_span!("outer").entered();
            let seen = carry_span(|| {
                let seen = stolen_join();
                let inner = info_span!("inner").entered();
                assert_eq!(stolen_join(), [inner.id(), inner.id()]);
                // Setting a task-local inside the inner span does not restore the outer span.
                assert_eq!(LOCAL.scope(1, here), inner.id());
                assert_eq!(LOCAL.scope(1, stolen_join), [inner.id(), inner.id()]);
                seen
            });
            assert_eq!(seen, [outer.id(), outer.id()]);
        });
    });
}
