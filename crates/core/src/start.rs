//! Starts a pool together with its share controller, which no room below knows.

use crate::options::Options;
use crate::pool::PoolInner;
use crate::share_controller;
use std::sync::Arc;

/// Starts a pool's threads, including its share controller if the pool shares the machine.
pub(crate) fn start(options: Arc<Options>) -> Arc<PoolInner> {
    let pool = PoolInner::start(options);
    share_controller::start(&pool);
    pool
}
