//! A deque in a list of small arrays instead of one cyclic array. Empty arrays are reused, and
//! nothing is ever copied. See `docs/queues.md`.

use crate::own::Own;
use crate::queue::{Cursor, Full, Miss, Queue, Sealed};
use crate::store::{Id, Store};
use std::ptr::NonNull;
use tidegate_sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use tidegate_sync::{Line, barrier};

/// Slots per node.
const PIECE: u64 = if cfg!(any(loom, miri)) { 2 } else { 512 };

/// A deque after Hendler, Lev, Moir and Shavit, "A dynamic-sized nonblocking work stealing deque"
/// (2005). Their deque compares the nodes and offsets of both ends to detect that it is empty. This
/// one compares positions that only grow, as the deque of Chase and Lev does.
pub struct Dynamic<T> {
    top: Line<AtomicU64>,
    owner: Line<Young>,
    nodes: Store<Node<T>>,
}

struct Young {
    /// The position of the next put.
    bottom: Own,
    /// The node that holds the slot of `bottom`.
    node: Own,
}

struct Node<T> {
    slots: Box<[AtomicPtr<T>]>,
    older: Own,
    /// The next node; meaningless while this node is not in use.
    newer: Own,
}

impl<T> Default for Node<T> {
    fn default() -> Self {
        let null = |_| AtomicPtr::new(std::ptr::null_mut());
        Self {
            slots: (0..PIECE).map(null).collect(),
            older: Own::default(),
            newer: Own::default(),
        }
    }
}

impl<T> Node<T> {
    fn slot(&self, position: u64) -> &AtomicPtr<T> {
        &self.slots[(position % PIECE) as usize]
    }

    /// Returns the word in the slot of this position. The caller must find out whether that word
    /// was this position's task.
    fn peek(&self, position: u64) -> Option<NonNull<T>> {
        // Relaxed: the reader has acquired the put through `bottom`.
        NonNull::new(self.slot(position).load(Ordering::Relaxed))
    }
}

/// The position of the oldest task and the node that holds its slot, packed into a word. The
/// position only grows.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Top(u64);

impl Top {
    const NODE: u32 = 24;
    /// Positions wrap at this value.
    const AROUND: u64 = 1 << (64 - Self::NODE);

    fn new(position: u64, node: Id) -> Self {
        Self(position << Self::NODE | u64::from(node))
    }

    fn node(self) -> Id {
        (self.0 & ((1 << Self::NODE) - 1)) as Id
    }

    /// Returns the number of tasks below `bottom`. It is -1 while the owner takes from an empty
    /// deque.
    fn distance(self, bottom: u64) -> i64 {
        let position = self.0 >> Self::NODE;
        let ahead = bottom.wrapping_sub(position) % Self::AROUND;
        let back = ahead >= Self::AROUND / 2;
        ahead as i64 - if back { Self::AROUND as i64 } else { 0 }
    }

    fn position(self) -> u64 {
        self.0 >> Self::NODE
    }
}

impl<T> Default for Dynamic<T> {
    fn default() -> Self {
        let nodes = Store::default();
        let first = nodes.get().unwrap_or_else(|| unreachable!("the first"));
        Self {
            // Starts at 1 for the same reason as in `ChaseLev`.
            top: Line(AtomicU64::new(Top::new(1, first).0)),
            owner: Line(Young {
                bottom: Own::new(1),
                node: Own::new(first.into()),
            }),
            nodes,
        }
    }
}

impl<T> Dynamic<T> {
    /// Tries to win the task at `top`. Returns whether the caller has won it. A thread that wins a
    /// node's last task gives the node back.
    fn wins(&self, top: Top) -> bool {
        let (node, position) = (top.node(), top.position());
        let leaves = (position + 1) % PIECE == 0;
        let next = if leaves {
            self.nodes.at(node).newer.get() as Id
        } else {
            node
        };
        let new = Top::new(position.wrapping_add(1), next);
        // SeqCst and Relaxed: as in `ChaseLev`.
        let won = self
            .top
            .compare_exchange(top.0, new.0, Ordering::SeqCst, Ordering::Relaxed);
        if won.is_ok() && leaves {
            self.nodes.give_back(node);
        }
        won.is_ok()
    }
}

impl<T> Sealed for Dynamic<T> {}

impl<T> Queue<T> for Dynamic<T> {
    fn put(&self, task: NonNull<T>) -> Result<(), Full> {
        let young = &*self.owner;
        let bottom = young.bottom.get();
        let node = young.node.get() as Id;
        let next = bottom + 1;
        if next % PIECE == 0 {
            // Linked before the task is published, because the thief that takes the task moves on
            // to the next node.
            let newer = self.nodes.get().ok_or(Full)?;
            if newer >> Top::NODE != 0 {
                self.nodes.keep(newer);
                return Err(Full);
            }
            self.nodes.at(node).newer.set(newer.into());
            self.nodes.at(newer).older.set(node.into());
            young.node.set(newer.into());
        }
        let slot = self.nodes.at(node).slot(bottom);
        // Relaxed: the store of `bottom` releases the slot.
        slot.store(task.as_ptr(), Ordering::Relaxed);
        young.bottom.publish(next);
        Ok(())
    }

    fn take(&self) -> Option<NonNull<T>> {
        let young = &*self.owner;
        let bottom = young.bottom.get();
        // Relaxed: `top` only grows, so if the deque is empty according to a stale value, it really
        // is empty.
        if Top(self.top.load(Ordering::Relaxed)).distance(bottom) <= 0 {
            return None;
        }
        let node = young.node.get() as Id;
        let crosses = bottom % PIECE == 0;
        let from = if crosses {
            self.nodes.at(node).older.get() as Id
        } else {
            node
        };
        // Release: as in `ChaseLev`.
        young.bottom.publish(bottom - 1);
        // Pairs with the fence in `steal`.
        barrier::full();
        // Relaxed: ordered by the fence.
        let top = Top(self.top.load(Ordering::Relaxed));
        let left = top.distance(bottom - 1);
        let task = self.nodes.at(from).peek(bottom - 1);
        if left > 0 {
            young.node.set(from.into());
            if crosses {
                self.nodes.keep(node);
            }
            return task;
        }
        let won = left == 0 && self.wins(top);
        young.bottom.publish(bottom);
        task.filter(|_| won)
    }

    fn steal(&self, _: &mut Cursor) -> Result<NonNull<T>, Miss> {
        // Acquire: the thefts that moved `top` to this position happen before ours.
        let top = Top(self.top.load(Ordering::Acquire));
        // Pairs with the fence in `take`.
        barrier::full();
        if top.distance(self.owner.bottom.acquire()) <= 0 {
            return Err(Miss::Empty);
        }
        let task = self.nodes.at(top.node()).peek(top.position());
        if self.wins(top) {
            Ok(task.unwrap_or_else(|| unreachable!("won a slot that was never filled")))
        } else {
            Err(Miss::Lost)
        }
    }

    fn offers(&self) -> bool {
        // Relaxed: a hint.
        Top(self.top.load(Ordering::Relaxed)).distance(self.owner.bottom.get()) > 0
    }
}
