//! What the loom models of this crate have in common. The models of joins, scopes and sleep are in
//! `tidegate-core`.

use crate::Pool;
use tidegate_sync::model::check_part;

pub(crate) fn pool(workers: usize) -> Pool {
    Pool::builder()
        .workers(workers)
        .max_threads(workers)
        .build()
        .expect("valid options")
}

/// Explores only the part from the first fork to the end of the last join, which allows a deeper
/// search than the whole life of a pool.
pub(crate) fn check_calls(body: impl Fn() + Send + Sync + 'static) {
    check_part(move || {
        let pool = pool(2);
        pool.install(|| {
            loom::explore();
            body();
            loom::stop_exploring();
        });
    });
}
