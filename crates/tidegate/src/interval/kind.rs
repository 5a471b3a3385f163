//! The closure and the value of an interval. Their types are known only to the code that creates
//! the interval.
//!
//! The closure belongs to its creator until the interval is scheduled, then to the worker that runs
//! it. That worker replaces the closure with the value before the end occurs; the value never
//! changes afterwards.

use super::Scope;
use super::failure::BoxError;
use super::life;
use super::node::{Core, CreatedAt, mark};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use tidegate_core::door::{ScopeCore, Scoped, WorkerThread, blocks};
use tidegate_sync::UnsafeCell;

/// Functions that handle a node's closure and value.
pub(super) struct Kind {
    /// Runs the closure; the second argument is its [`Scope`].
    pub(super) run: unsafe fn(NonNull<Core>, NonNull<()>) -> Result<(), BoxError>,
    pub(super) drop_body: unsafe fn(NonNull<Core>),
    pub(super) value: unsafe fn(NonNull<Core>) -> NonNull<()>,
    pub(super) drop_value: unsafe fn(NonNull<Core>),
    pub(super) release: unsafe fn(NonNull<Core>, Option<WorkerThread<'_>>),
}

#[repr(C)]
struct Node<'scope, 'env, F, T> {
    core: Core,
    slot: UnsafeCell<Slot<F, T>>,
    marker: PhantomData<fn(&Scope<'scope, 'env>)>,
}

/// Space for either the closure or the value; both lie at the beginning of the slot.
#[repr(C)]
union Slot<F, T> {
    body: ManuallyDrop<F>,
    _value: ManuallyDrop<T>,
}

impl<'scope, 'env, F, T> Node<'scope, 'env, F, T>
where
    F: FnOnce(&Scope<'scope, 'env>) -> Result<T, BoxError>,
{
    const KIND: Kind = Kind {
        run: Self::run,
        drop_body: Self::drop_body,
        value: Self::value,
        drop_value: Self::drop_value,
        release: Self::release,
    };

    unsafe fn run(core: NonNull<Core>, body: NonNull<()>) -> Result<(), BoxError> {
        // SAFETY: the scope is in the runner's frame; its lifetimes are those of the call that
        // created this node.
        let body = unsafe { body.cast::<Scope<'scope, 'env>>().as_ref() };
        // SAFETY: `core` is part of a node of this type, which is alive while it runs.
        let node: &Self = unsafe { core.cast().as_ref() };
        // SAFETY: the slot belongs to the runner, and holds the closure until this read.
        let closure = node
            .slot
            .with_mut(|slot| unsafe { slot.cast::<F>().read() });
        let value = closure(body)?;
        // SAFETY: the slot belongs to the runner, and is empty now that the closure has run.
        node.slot
            .with_mut(|slot| unsafe { slot.cast::<T>().write(value) });
        node.core.mark(mark::VALUE);
        Ok(())
    }

    unsafe fn drop_body(core: NonNull<Core>) {
        // SAFETY: `core` is part of a node of this type, which is alive while it is processed.
        let node: &Self = unsafe { core.cast().as_ref() };
        // SAFETY: the slot belongs to the runner, and holds the closure, which will not run.
        node.slot
            .with_mut(|slot| unsafe { slot.cast::<F>().drop_in_place() });
    }

    unsafe fn value(core: NonNull<Core>) -> NonNull<()> {
        // SAFETY: `core` is part of a node of this type, and the caller has a reference to it.
        let node: &Self = unsafe { core.cast().as_ref() };
        let slot = node.slot.with(<*const Slot<F, T>>::cast_mut);
        // A value lies at the beginning of its slot.
        NonNull::new(slot).map_or(NonNull::dangling(), NonNull::cast)
    }

    unsafe fn drop_value(core: NonNull<Core>) {
        // SAFETY: `core` is part of a node of this type, and the caller has the last reference to
        // it.
        let node: &Self = unsafe { core.cast().as_ref() };
        // SAFETY: the slot holds a value, and no other thread can access it any more.
        node.slot
            .with_mut(|slot| unsafe { slot.cast::<T>().drop_in_place() });
    }

    unsafe fn release(core: NonNull<Core>, current: Option<WorkerThread<'_>>) {
        // SAFETY: 1. `create` has placed the node, and the caller has the last reference; 2.
        // closure and value are gone, and the other fields need no drop.
        unsafe { blocks::release(core.cast::<Self>(), current.map(WorkerThread::blocks)) };
    }
}

/// Creates a draft of an interval under `parent`. Its node has one reference for the draft and one
/// for the runtime.
///
/// # Safety
/// 1. The scope lasts until the interval has ended. 2. Everything that `body` borrows lasts as
///    long. 3. The caller is the body of `parent`.
#[inline]
pub(super) unsafe fn create<'scope, 'env: 'scope, F, T>(
    scope: NonNull<ScopeCore>,
    parent: Option<NonNull<Core>>,
    number: u32,
    created_at: CreatedAt,
    body: F,
    current: Option<WorkerThread<'_>>,
) -> NonNull<Core>
where
    F: FnOnce(&Scope<'scope, 'env>) -> Result<T, BoxError>,
{
    // SAFETY: 1. guaranteed by the caller (1); 2. a ready interval is spawned once.
    let scoped = unsafe { Scoped::new(scope, &life::TASK) };
    let kind = const { &Node::<'scope, 'env, F, T>::KIND };
    let core = Core::new(scoped, kind, parent, number, created_at);
    let slot = UnsafeCell::new(Slot {
        body: ManuallyDrop::new(body),
    });
    let marker = PhantomData;
    let node = Node::<'scope, 'env, F, T> { core, slot, marker };
    blocks::place(node, current.map(WorkerThread::blocks)).cast()
}
