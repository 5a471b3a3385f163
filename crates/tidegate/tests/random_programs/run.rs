//! Runs random programs through the public interface.

use crate::handles::{End, Handle, Valued};
use crate::oracle::{CAUGHT, Panic, Returned, mix};
use crate::program::{Affine, Caller, Entry, Install, Order, Spawn, Step, Task, in_order_of_joins};
use crate::world::{World, context};
use crate::{graph, try_scope, values};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use tidegate::{PlaceId, Pool, Scope, memory};

/// A scope that surrounds a step.
#[derive(Clone)]
pub struct Around<'a, 'env> {
    scope: &'a Scope<'env>,
    returned: Arc<Returned>,
    /// The places of the scope's pool.
    places: Arc<[PlaceId]>,
}

/// The resources that a list of steps holds until its end.
#[derive(Default)]
struct Frame<'env> {
    reservations: Vec<memory::Reservation>,
    joined: Vec<(&'env Handle, tidegate::Handle<Valued>)>,
    aborted: Vec<tidegate::Handle<Valued>>,
}

impl Caller {
    /// Runs the caller's task in its pool and returns the task's value, or the handle to join
    /// later.
    pub fn call(&self, world: &World) -> Result<u64, tidegate::Handle<u64>> {
        let pools = world.pools.as_ref().expect("all of them");
        let pool = &pools[self.pool];
        let value = match self.entry {
            Entry::Install => pool.install(call(world, &self.task, &[])),
            Entry::Join => pool.join(call(world, &self.task, &[]), || ()).0,
            Entry::Scope => {
                let value = AtomicU64::new(0);
                let task = call(world, &self.task, &[]);
                pool.scope(|scope| scope.spawn(|_| value.store(task(), Ordering::Relaxed)));
                value.into_inner()
            }
            Entry::Spawn => self.spawn(world.clone(), pool).join(),
            Entry::Late => {
                let mut own = world.clone();
                own.pools = None;
                return Err(self.spawn(own, pool));
            }
        };
        Ok(value)
    }

    fn spawn(&self, world: World, pool: &Pool) -> tidegate::Handle<u64> {
        let token = world.ledger.token(self.task.number);
        let task = Arc::clone(&self.task);
        pool.spawn(move || token.run(|| task.call(&world, &[])))
    }
}

/// Returns a closure that runs the task and returns its value.
pub fn call<'a, 'env>(
    world: &'env World,
    task: &'env Task,
    scopes: &'a [Around<'a, 'env>],
) -> impl FnOnce() -> u64 + Send + use<'a, 'env> {
    let token = world.ledger.token(task.number);
    move || token.run(|| task.call(world, scopes))
}

impl Task {
    /// Runs the steps and returns their value. Checks that the task sees its context.
    pub fn call<'env>(&'env self, world: &'env World, scopes: &[Around<'_, 'env>]) -> u64 {
        let check = |when| {
            let (seen, expected) = (context(), self.context);
            if seen != expected {
                let values = format!("{seen:?}, expected {expected:?}");
                let mistake = format!("task {} sees {values} at its {when}", self.number);
                world.ledger.mistake(mistake);
            }
        };
        check("begin");
        let value = steps(world, &self.steps, scopes);
        check("end");
        value
    }
}

/// Runs steps inside `scopes`, of which the last is the innermost.
fn steps<'env>(world: &'env World, steps: &'env [Step], scopes: &[Around<'_, 'env>]) -> u64 {
    let (mut value, mut frame) = (0, Frame::default());
    for next in steps {
        value = mix(value, step(world, next, scopes, &mut frame));
    }
    for (handle, spawned) in in_order_of_joins(frame.joined) {
        value = mix(value, handle.join(world, spawned));
    }
    value
}

fn step<'env>(
    world: &'env World,
    step: &'env Step,
    scopes: &[Around<'_, 'env>],
    frame: &mut Frame<'env>,
) -> u64 {
    match step {
        Step::Spin(count) => (0..*count).for_each(|turn| _ = std::hint::black_box(turn)),
        Step::YieldPoint => tidegate::yield_point(),
        Step::Broadcast(panic) => broadcast(world, *panic),
        Step::Join(halves) => {
            let [a, b] = &**halves;
            let _waits = world.ledger.waits_for([a.number, b.number]);
            let (a, b) = tidegate::join(call(world, a, scopes), call(world, b, scopes));
            return mix(a, b);
        }
        Step::Scope(inside) => return scope(world, inside, scopes),
        Step::Spawn(spawned) => spawn(world, spawned, scopes),
        Step::Handle(handle) => {
            let spawned = handle.spawn(world);
            match handle.end {
                End::Joined(_) => frame.joined.push((handle, spawned)),
                End::Detached => drop(spawned),
                End::Aborted { at_once: true } => spawned.abort(),
                End::Aborted { at_once: false } => frame.aborted.push(spawned.abort_on_drop()),
            }
        }
        Step::Blocking(micros, inside) => {
            return tidegate::blocking(|| {
                if *micros > 0 {
                    thread::sleep(Duration::from_micros(*micros));
                }
                steps(world, inside, scopes)
            });
        }
        Step::Local(inside) => return local(world, inside, scopes),
        Step::Context(number, inside) => {
            let inside = || steps(world, inside, scopes);
            return world.store.in_context(*number, inside);
        }
        Step::Install(call) => return install(world, call, scopes),
        Step::ForEach(items) => return for_each(world, items, scopes),
        Step::MapReduce(items) => {
            let _waits = world.ledger.waits_for(items.iter().map(|item| item.number));
            let map = |item: usize| Affine::of(call(world, &items[item], scopes)());
            let value = tidegate::map_reduce(0..items.len(), map, Affine::then);
            return value.map_or(0, |Affine(a, b)| mix(a, b));
        }
        Step::ParMap(items) => return values::par_map(world, items, scopes),
        Step::Stream(inside) => return values::stream(world, inside),
        Step::Sort(inside) => return values::sort(world, inside, scopes),
        Step::TryScope(inside) => return try_scope::run(world, inside),
        Step::Graph(inside) => return graph::run(world, inside, None),
        Step::Reservation(wanted) => world.store.reserve(wanted, &mut frame.reservations),
        Step::Free => drop(frame.reservations.pop()),
        Step::Catch(number, inside) => {
            let body = AssertUnwindSafe(|| steps(world, inside, &[]));
            return catch_unwind(body).unwrap_or_else(|payload| {
                world.ledger.caught(*number, payload);
                CAUGHT
            });
        }
        Step::Panic(panic) => world.ledger.panic(*panic),
    }
    0
}

fn broadcast(world: &World, panic: Option<Panic>) {
    let (parts, here) = (AtomicUsize::new(0), context());
    let numbers = tidegate::broadcast(|number| {
        if context() != here {
            world
                .ledger
                .mistake("part of a broadcast sees another context");
        }
        parts.fetch_add(1, Ordering::Relaxed);
        if let Some(panic) = panic.filter(|_| number == 0) {
            world.ledger.panic(panic);
        }
        tidegate::join(|| number, || ()).0
    });
    let right = numbers.iter().copied().eq(0..parts.into_inner());
    if !right || numbers.is_empty() {
        let mistake = format!("a broadcast returned {numbers:?}");
        world.ledger.mistake(mistake);
    }
}

fn scope<'env>(world: &'env World, inside: &'env [Step], scopes: &[Around<'_, 'env>]) -> u64 {
    let returned = Arc::new(Returned::default());
    let _waits = world.ledger.waits_for_all(&returned);
    let value = tidegate::scope(|scope: &Scope<'env>| {
        let mut scopes = scopes.to_vec();
        scopes.push(Around {
            scope,
            returned: Arc::clone(&returned),
            places: tidegate::places().into(),
        });
        steps(world, inside, &scopes)
    });
    mix(value, returned.value())
}

/// A spawned task can spawn only into its own scope.
fn spawn<'env>(world: &'env World, spawn: &'env Spawn, scopes: &[Around<'_, 'env>]) {
    let around = &scopes[scopes.len() - 1 - spawn.outward];
    let Around { scope, places, .. } = around;
    let (token, spawned) = (
        world.ledger.token(spawn.task.number),
        around.returned.spawned(),
    );
    let own = Arc::clone(places);
    let task = move |scope: &Scope<'env>| {
        spawned.run(|returned| {
            let around = Around {
                scope,
                returned: Arc::clone(returned),
                places: own,
            };
            token.run(|| spawn.task.call(world, &[around]))
        });
    };
    let spawn_it = || match spawn.order {
        Order::Any => scope.spawn(task),
        Order::Priority(priority) => scope.spawn_in_order(priority, task),
        Order::At(spot) => scope.spawn_at(spot.of(places), task),
    };
    if spawn.foreign {
        thread::scope(|other| _ = other.spawn(spawn_it));
    } else {
        spawn_it();
    }
}

fn local<'env>(world: &'env World, inside: &'env [Step], scopes: &[Around<'_, 'env>]) -> u64 {
    let store = &world.store;
    store.local.with(|own| {
        let visit = || {
            own.set(own.get() + 1);
            store.visits.fetch_add(1, Ordering::Relaxed);
        };
        visit();
        let value = steps(world, inside, scopes);
        visit();
        value
    })
}

fn install<'env>(world: &'env World, install: &'env Install, scopes: &[Around<'_, 'env>]) -> u64 {
    let _waits = world.ledger.waits_for([install.task.number]);
    let task = call(world, &install.task, scopes);
    let Some(pools) = &world.pools else {
        return task();
    };
    let pool = &pools[install.pool % pools.len()];
    match install.spot {
        Some(spot) => pool.install_at(spot.of(&pool.places()), task),
        None => pool.install(task),
    }
}

fn for_each<'env>(world: &'env World, items: &'env [Task], scopes: &[Around<'_, 'env>]) -> u64 {
    let _waits = world.ledger.waits_for(items.iter().map(|item| item.number));
    let sum = AtomicU64::new(0);
    let calls = items.iter().map(|item| Some(call(world, item, scopes)));
    let mut calls: Vec<_> = calls.collect();
    tidegate::for_each(&mut calls[..], |call| match call.take() {
        Some(call) => _ = sum.fetch_add(call(), Ordering::Relaxed),
        None => world.ledger.mistake("a loop has visited an item twice"),
    });
    sum.into_inner()
}
