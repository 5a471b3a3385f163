//! The side of the protocol that any thread may use.

use super::{Gen, Public, Split};
use std::ptr::NonNull;
use tidegate_sync::atomic::Ordering;
use tidegate_sync::barrier;

/// How an attempt to steal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Steal {
    /// The number of tasks that were taken.
    Success(u64),
    /// There were public tasks, but another thread was faster.
    Lost,
    /// There were no public tasks, or this thief may not take them.
    Empty,
}

impl<T> Split<T> {
    /// Tries once to steal the oldest public tasks. Passes each of them to `sink`, oldest first.
    ///
    /// `amount` receives the number of waiting tasks and returns how many to take. At most the
    /// public tasks are taken. If `amount` returns 0, nothing happens. If `only` is given, the
    /// steal succeeds only while that generation lasts.
    ///
    /// The owner may have to wait until `sink` has received all tasks. So `sink` must not panic,
    /// must not use the owner's side of this deque, and should not take longer than storing a
    /// pointer.
    pub fn steal(
        &self,
        amount: impl FnOnce(u64) -> u64,
        only: Option<Gen>,
        mut sink: impl FnMut(NonNull<T>),
    ) -> Steal {
        // Acquire pairs with the Release by which the owner, or an exposing thief, published the
        // slots.
        let now = Public(self.public.load(Ordering::Acquire));
        let stale = only.is_some_and(|only| only != now.generation());
        if now.len() == 0 || stale {
            return Steal::Empty;
        }
        // Relaxed: the private part is only estimated.
        let bottom = self.owner.bot.load(Ordering::Relaxed);
        let top = now.top_near(bottom);
        let k = amount(now.waiting_below(bottom)).min(now.len());
        if k == 0 {
            return Steal::Empty;
        }
        // AcqRel: acquires what made these tasks public, and orders the reads below after the
        // theft.
        let taken = self.public.compare_exchange(
            now.0,
            now.stolen(k).0,
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
        if taken.is_err() {
            return Steal::Lost;
        }
        for nth in 0..k {
            // Wrapping: `top` was computed before the theft, from a bottom that may have changed;
            // its low bits are right.
            let position = top.wrapping_add(nth);
            sink(self.polled.ring.get(position));
        }
        // Release pairs with the owner's Acquire in `top_if_all_read`: the owner may reuse the
        // slots read above.
        self.thieves.read.fetch_add(k, Ordering::Release);
        Steal::Success(k)
    }

    /// Returns the number of public tasks.
    #[must_use]
    pub fn public_len(&self) -> u64 {
        // Acquire: if a thread decides not to sleep because of this, it must see what the publisher
        // wrote.
        Public(self.public.load(Ordering::Acquire)).len()
    }

    /// Returns the number of waiting tasks, public or private. This is an estimate unless a barrier
    /// orders it.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        // Acquire, here and below: as in `has_private` and `public_len`.
        let bottom = self.owner.bot.load(Ordering::Acquire);
        Public(self.public.load(Ordering::Acquire)).waiting_below(bottom)
    }

    /// Whether there are waiting tasks that no thief can reach yet. This is an estimate unless a
    /// barrier orders it.
    #[must_use]
    pub fn has_private(&self) -> bool {
        // Acquire pairs with the owner's Release store of `bot`.
        let bottom = self.owner.bot.load(Ordering::Acquire);
        let now = Public(self.public.load(Ordering::Acquire));
        bottom > now.split_near(bottom)
    }

    /// Returns the maximum number of tasks that were ever in the deque at once, judging by the
    /// highest position that was filled. The result is too high if the base has moved up because
    /// stolen tasks were not joined. Reads every slot of the ring.
    #[must_use]
    pub fn deepest(&self) -> u64 {
        self.polled.ring.deepest() as u64
    }

    /// Returns the generation of the task at the base of the owner's stack.
    #[must_use]
    pub fn generation(&self) -> Gen {
        // Acquire pairs with the owner's change: what the owner wrote before is visible.
        Public(self.public.load(Ordering::Acquire)).generation()
    }

    /// Raises signals; the owner sees them at its next push.
    pub fn raise(&self, bits: u32) {
        // AcqRel, both operations: see `Owner::answer`.
        self.polled.signal.fetch_or(bits, Ordering::AcqRel);
        self.polled.limit.swap(0, Ordering::AcqRel);
    }

    /// Returns the signals that were raised and that the owner has not answered yet.
    #[must_use]
    pub fn raised(&self) -> u32 {
        // Relaxed: an estimate.
        self.polled.signal.load(Ordering::Relaxed)
    }

    /// Makes the older half of the private tasks public without the owner's help. Returns whether
    /// any task became public.
    ///
    /// Needs the process-wide barrier, see [`barrier::heavy`]; without it, nothing happens.
    pub fn force_expose(&self) -> bool {
        // Acquire pairs with the Release below: two exposures of one deque never overlap.
        if self.thieves.expose.swap(true, Ordering::Acquire) {
            return false;
        }
        let exposed = self.expose_locked();
        // Release pairs with the Acquire above.
        self.thieves.expose.store(false, Ordering::Release);
        exposed
    }

    fn expose_locked(&self) -> bool {
        // Acquire pairs with the owner's update of P: the owner's earlier stores of `bot` are
        // visible to the loads below.
        let now = Public(self.public.load(Ordering::Acquire));
        if now.len() != 0 {
            return false;
        }
        // Relaxed: an estimate, to avoid an exposure without tasks, which would cost the owner
        // time.
        let bottom = self.owner.bot.load(Ordering::Relaxed);
        if bottom <= now.split_near(bottom) {
            return false;
        }
        let announced = now.announced();
        // AcqRel: we have acquired the slots through `bot`, and Release passes them on to the
        // thieves that read what is published below.
        let won =
            self.public
                .compare_exchange(now.0, announced.0, Ordering::AcqRel, Ordering::Relaxed);
        if won.is_err() {
            return false;
        }
        // Computed only now, because from here on the announcement keeps P from changing. By
        // now, a position that was read earlier may be so old that the packed index has wrapped
        // around. Acquire pairs with the owner's Release store: the slots below `bottom` are
        // filled.
        let bottom = self.owner.bot.load(Ordering::Acquire);
        let split = announced.split_near(bottom);
        if bottom <= split {
            return self.withdraw(announced, split);
        }
        let border = split + (bottom - split).div_ceil(2);
        // Relaxed: ordered against the owner's load by the pair of barriers. `fetch_max`, because
        // since our announcement the owner may have published more tasks and raised the guard
        // further.
        self.polled.guard.fetch_max(border, Ordering::Relaxed);
        if !barrier::heavy() {
            return self.withdraw(announced, split);
        }
        // Acquire: as at the first load of `bot` after the announcement.
        let bottom = self.owner.bot.load(Ordering::Acquire);
        let border = border.min(bottom).max(split);
        let published = announced.with_split(border);
        // Release: passes on to other thieves the slots that we acquired through the second load of
        // `bot`.
        let (old, new) = (announced.0, published.0);
        let won = self
            .public
            .compare_exchange(old, new, Ordering::Release, Ordering::Relaxed);
        won.is_ok() && border > split
    }

    /// Ends an exposure if there is nothing to expose, or if the barrier could not order it against
    /// the owner.
    fn withdraw(&self, announced: Public, split: u64) -> bool {
        let none = announced.with_split(split);
        // Relaxed: nothing is published. The guard stays raised, so the owner takes the cold path
        // once more.
        let (old, new) = (announced.0, none.0);
        let _ = self
            .public
            .compare_exchange(old, new, Ordering::Relaxed, Ordering::Relaxed);
        false
    }
}
