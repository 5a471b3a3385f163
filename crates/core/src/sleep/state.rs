//! What a pool needs to put threads to sleep and wake them: the ledger of slots, and mirrors of it
//! for threads that must not lock it.

use crate::cells::Hint;
use crate::controller_handle::{Agreement, ControllerHandle};
use std::ops::{Deref, DerefMut};
use tidegate_policy::search::{max_searchers, wakes_another};
use tidegate_policy::slots::Ledger;
use tidegate_sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tidegate_sync::barrier;
use tidegate_sync::lock::{Mutex, MutexGuard};

pub(crate) struct Sleep {
    /// All moves of slots go through the ledger. Threads lock it only when they go to sleep or
    /// wake.
    ledger: Mutex<Guarded>,
    /// Mirror of `Ledger::has_vacancy`: whether a slot is free, and a thread could be woken or
    /// started for it.
    vacancy: AtomicBool,
    /// Mirror of `Ledger::owes`, also set while too many slots are held.
    is_short: Hint<bool>,
    searching: AtomicUsize,
    /// The number of slots. This is less than the wanted number if other processes have a share of
    /// the machine.
    slots: Hint<usize>,
}

struct Guarded {
    ledger: Ledger,
    agreement: Agreement,
}

/// The locked ledger. Before it is unlocked, those that must not lock it learn of the change.
pub(crate) struct Change<'a> {
    sleep: &'a Sleep,
    controller: Option<&'a ControllerHandle>,
    /// There until the change is published.
    guarded: Option<MutexGuard<'a, Guarded>>,
}

/// The locked ledger, for a look at it.
pub(crate) struct Look<'a>(MutexGuard<'a, Guarded>);

impl Look<'_> {
    /// Returns the ledger and, to be changed, what the pool agrees upon with its share controller.
    pub(crate) fn with_agreement(&mut self) -> (&Ledger, &mut Agreement) {
        let guarded = &mut *self.0;
        (&guarded.ledger, &mut guarded.agreement)
    }
}

impl Deref for Look<'_> {
    type Target = Ledger;

    fn deref(&self) -> &Ledger {
        &self.0.ledger
    }
}

impl<'a> Change<'a> {
    /// Publishes the change while the ledger stays locked. A caller that raises signals because of
    /// the change does that afterwards: a worker that sees the signal must see the mirrors, too.
    pub(crate) fn publish(mut self) -> Look<'a> {
        let mut guarded = self.guarded.take().expect("published once");
        self.mirror(&mut guarded);
        Look(guarded)
    }

    pub(crate) fn agreement(&self) -> &Agreement {
        &self.guarded.as_ref().expect("not published yet").agreement
    }

    fn mirror(&self, Guarded { ledger, agreement }: &mut Guarded) {
        // Relaxed: ordered by the full fences in `must_wake` and before each last look.
        let vacancy = &self.sleep.vacancy;
        vacancy.store(ledger.has_vacancy(), Ordering::Relaxed);
        // A worker that sees the change late runs one more task first.
        let is_short = ledger.owes() || ledger.excess() > 0;
        self.sleep.is_short.set(is_short);
        if ledger.is_active() && agreement.pool_acts() {
            self.controller.iter().for_each(|it| _ = it.parker.unpark());
        }
    }
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        if let Some(mut guarded) = self.guarded.take() {
            self.mirror(&mut guarded);
        }
    }
}

impl Deref for Change<'_> {
    type Target = Ledger;

    fn deref(&self) -> &Ledger {
        &self.guarded.as_ref().expect("not published yet").ledger
    }
}

impl DerefMut for Change<'_> {
    fn deref_mut(&mut self) -> &mut Ledger {
        &mut self.guarded.as_mut().expect("not published yet").ledger
    }
}

impl Sleep {
    pub(crate) fn new(ledger: Ledger, slots: usize) -> Self {
        Self {
            ledger: Mutex::new(Guarded {
                ledger,
                agreement: Agreement::new(),
            }),
            vacancy: AtomicBool::new(true),
            is_short: Hint::default(),
            searching: AtomicUsize::new(0),
            slots: Hint::new(slots),
        }
    }

    /// Locks the ledger for a look at it.
    pub(crate) fn lock(&self) -> Look<'_> {
        Look(self.ledger.lock())
    }

    /// Locks the ledger for a change. If the pool is active afterwards, its share `controller` is
    /// woken.
    pub(crate) fn change<'a>(&'a self, controller: Option<&'a ControllerHandle>) -> Change<'a> {
        Change {
            sleep: self,
            controller,
            guarded: Some(self.ledger.lock()),
        }
    }

    pub(crate) fn has_vacancy(&self) -> bool {
        // Relaxed: as in `Change::publish`.
        self.vacancy.load(Ordering::Relaxed)
    }

    /// Whether a thread is owed a slot, or too many slots are held. Then a worker between two tasks
    /// must leave its slot.
    pub(super) fn is_short(&self) -> bool {
        self.is_short.get()
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots.get()
    }

    pub(super) fn set_slots(&self, slots: usize) {
        self.slots.set(slots);
    }

    pub(crate) fn searching(&self) -> usize {
        // Relaxed: a hint, for the share controller and for callers outside.
        self.searching.load(Ordering::Relaxed)
    }

    /// Counts the caller as a searcher. If `limited` is set and enough workers are searching
    /// already, returns `false` instead: the caller then goes to sleep after one look.
    pub(crate) fn begin_search(&self, limited: bool) -> bool {
        let most = if limited {
            max_searchers(self.slots())
        } else {
            usize::MAX
        };
        let one_more = |searching| (searching < most).then_some(searching + 1);
        // AcqRel read-modify-writes here and in `end_search`: if a publisher reads the count from
        // before a searcher decrements it, the full fences on both sides make the published work
        // visible to that searcher's last look. Relaxed on failure: then the count is only read.
        self.searching
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, one_more)
            .is_ok()
    }

    /// Called when a searcher stops, for a while at least. Returns whether it must wake another
    /// thread, for work that the searcher did not look at. If `hands_over` is not set, it looks for
    /// such work itself afterwards.
    #[must_use]
    pub(crate) fn end_search(&self, hands_over: bool) -> bool {
        // AcqRel: see `begin_search`.
        let searching = self.searching.fetch_sub(1, Ordering::AcqRel) - 1;
        // Pairs with the full fence in `must_wake`. If a publisher left the waking to us, we see
        // here what it published; any other publisher sees that we no longer search.
        hands_over && {
            barrier::full();
            wakes_another(searching, usize::from(self.has_vacancy()))
        }
    }

    /// Called when a worker has made work visible. Returns whether a thread must be woken, which is
    /// the case if a thread sleeps and no searcher will find the work anyway.
    pub(super) fn must_wake(&self) -> bool {
        // Pairs with the heavy barrier (which contains a full fence) before a sleeper's last look.
        barrier::full();
        // Relaxed: ordered by the fence.
        let searching = self.searching.load(Ordering::Relaxed);
        wakes_another(searching, usize::from(self.has_vacancy()))
    }
}
