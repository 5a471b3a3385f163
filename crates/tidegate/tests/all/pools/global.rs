//! The program builds the global pool itself, in a child, because a process has only one.

use tidegate::{Pool, build_global, current_num_workers};
use tidegate_testkit::is_alone;

/// A child made by `fork` keeps the options of its parent's global pool.
#[test]
fn global_pool_is_built_once() {
    if !is_alone("pools::global::global_pool_is_built_once") {
        return;
    }
    let refused = build_global(Pool::builder().workers(4).max_threads(2));
    let error = refused.unwrap_err().to_string();
    assert!(error.starts_with("Builder::max_threads: 2"), "{error}");

    build_global(Pool::builder().workers(3).name("mine")).unwrap();
    assert_eq!(current_num_workers(), 3);
    assert_eq!(tidegate::broadcast(|number| number).len(), 3);

    let again = build_global(Pool::builder().workers(2)).unwrap_err();
    assert_eq!(
        again.to_string(),
        "build_global: the global pool exists already"
    );
    assert_eq!(current_num_workers(), 3);

    #[cfg(unix)]
    {
        use crate::support::forks::{WELL, in_child};
        let child = || {
            let refused = build_global(Pool::builder()).is_err();
            refused && current_num_workers() == 3 && tidegate::broadcast(|_| ()).len() == 3
        };
        assert_eq!(in_child(child), WELL);
    }
}
