//! The runners of a stream: which of its pools have how many.

use tidegate_core::door::PoolInner;

/// The runners of each pool that has any.
#[derive(Default)]
pub(super) struct Runners(Vec<InPool>);

struct InPool {
    /// The address of the pool. A runner keeps its pool alive, so no other pool gets it meanwhile.
    pool: usize,
    /// How many have begun and not ended.
    begun: usize,
    /// Whether one that has not begun is in the pool's queue, or about to be queued.
    is_queued: bool,
}

impl Runners {
    /// Whether none is queued in this pool, and fewer have begun than the pool has workers. If so,
    /// counts one as queued.
    pub(super) fn needs_one(&mut self, pool: &PoolInner) -> bool {
        let here = self.in_pool(pool);
        let needs_one = !here.is_queued && here.begun < pool.wanted();
        here.is_queued |= needs_one;
        needs_one
    }

    /// Counts the queued runner as begun.
    pub(super) fn begin(&mut self, pool: &PoolInner) {
        let here = self.in_pool(pool);
        here.is_queued = false;
        here.begun += 1;
    }

    pub(super) fn end(&mut self, pool: &PoolInner) {
        self.in_pool(pool).begun -= 1;
        self.0.retain(|here| here.begun > 0 || here.is_queued);
    }

    fn in_pool(&mut self, pool: &PoolInner) -> &mut InPool {
        let pool = std::ptr::from_ref(pool).addr();
        let known = self.0.iter().position(|here| here.pool == pool);
        let place = known.unwrap_or_else(|| {
            self.0.push(InPool {
                pool,
                begun: 0,
                is_queued: false,
            });
            self.0.len() - 1
        });
        &mut self.0[place]
    }
}
