//! Runs random programs on rayon's interface.

use crate::oracle::{CAUGHT, Ledger, Panic, Returned, Spawned, mix};
use crate::pools;
use crate::program::{Kind, Step, Task};
use rayon_core::{BroadcastContext, Scope, ScopeFifo, ThreadPool};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The pools and the ledger, which all tasks of a caller share.
#[derive(Clone)]
pub struct World {
    pub ledger: Arc<Ledger>,
    pub pools: Arc<[Arc<ThreadPool>]>,
}

/// A scope around the current step.
#[derive(Clone)]
pub struct Around<'a, 'env> {
    scope: AnyScope<'a, 'env>,
    returned: Arc<Returned>,
}

#[derive(Clone, Copy)]
enum AnyScope<'a, 'env> {
    Lifo(&'a Scope<'env>),
    Fifo(&'a ScopeFifo<'env>),
}

impl<'env> AnyScope<'_, 'env> {
    fn spawn(self, task: impl FnOnce(AnyScope<'_, 'env>) + Send + 'env) {
        match self {
            Self::Lifo(scope) => scope.spawn(|scope| task(AnyScope::Lifo(scope))),
            Self::Fifo(scope) => scope.spawn_fifo(|scope| task(AnyScope::Fifo(scope))),
        }
    }

    fn spawn_broadcast(self, part: impl Fn(BroadcastContext<'_>) + Send + Sync + 'env) {
        match self {
            Self::Lifo(scope) => scope.spawn_broadcast(move |_, context| part(context)),
            Self::Fifo(scope) => scope.spawn_broadcast(move |_, context| part(context)),
        }
    }
}

/// Returns a closure that runs the task.
pub fn call<'a, 'env>(
    world: &'env World,
    task: &'env Task,
    scopes: &'a [Around<'a, 'env>],
) -> impl FnOnce() -> u64 + Send + use<'a, 'env> {
    let token = world.ledger.token(task.number);
    move || token.run(|| steps(world, &task.steps, scopes))
}

/// Runs steps inside `scopes`. The last scope is the innermost.
fn steps<'env>(world: &'env World, steps: &'env [Step], scopes: &[Around<'_, 'env>]) -> u64 {
    let values = steps.iter().map(|next| step(world, next, scopes));
    values.fold(0, mix)
}

fn step<'env>(world: &'env World, step: &'env Step, scopes: &[Around<'_, 'env>]) -> u64 {
    match step {
        Step::Spin(count) => (0..*count).for_each(|turn| _ = std::hint::black_box(turn)),
        Step::YieldNow => _ = rayon_core::yield_now(),
        Step::YieldLocal => _ = rayon_core::yield_local(),
        Step::Broadcast(panic) => broadcast(world, *panic),
        Step::Join {
            with_context,
            halves,
        } => {
            let [a, b] = &**halves;
            let _waits = world.ledger.waits_for([a.number, b.number]);
            let (a, b) = (call(world, a, scopes), call(world, b, scopes));
            let (a, b) = if *with_context {
                rayon_core::join_context(|_| a(), |_| b())
            } else {
                rayon_core::join(a, b)
            };
            return mix(a, b);
        }
        Step::Scope { kind, steps } => return scope(world, *kind, steps, scopes),
        Step::Spawn { outward, task } => spawn(world, task, &scopes[scopes.len() - 1 - outward]),
        Step::SpawnBroadcast { outward, panic } => {
            spawn_broadcast(world, *panic, &scopes[scopes.len() - 1 - outward]);
        }
        Step::Detached { pool, fifo, task } => detached(world, *pool, *fifo, task),
        Step::Install { pool, task } => {
            let _waits = world.ledger.waits_for([task.number]);
            return some_pool(world, *pool).install(call(world, task, scopes));
        }
        Step::OwnPool { threads, task } => {
            let _waits = world.ledger.waits_for([task.number]);
            let pool = pools::pool(*threads, &world.ledger);
            return pool.install(call(world, task, scopes));
        }
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

fn some_pool(world: &World, number: usize) -> &ThreadPool {
    &world.pools[number % world.pools.len()]
}

/// Runs one thread's part of a broadcast.
fn part(world: &World, panic: Option<Panic>, context: &BroadcastContext<'_>) {
    if context.index() >= context.num_threads() {
        world.ledger.mistake(format!("part of {context:?}"));
    }
    if let Some(panic) = panic.filter(|_| context.index() == 0) {
        world.ledger.panic(panic);
    }
}

fn broadcast(world: &World, panic: Option<Panic>) {
    let parts = AtomicUsize::new(0);
    let numbers = rayon_core::broadcast(|context| {
        parts.fetch_add(1, Ordering::Relaxed);
        part(world, panic, &context);
        context.index()
    });
    let right = numbers.iter().copied().eq(0..parts.into_inner());
    if !right || numbers.len() != rayon_core::current_num_threads() {
        let mistake = format!("a broadcast returned {numbers:?}");
        world.ledger.mistake(mistake);
    }
}

fn scope<'env>(
    world: &'env World,
    kind: Kind,
    inside: &'env [Step],
    scopes: &[Around<'_, 'env>],
) -> u64 {
    let returned = Arc::new(Returned::default());
    let _waits = world.ledger.waits_for_all(&returned);
    let body = |scope: AnyScope<'_, 'env>| {
        let mut scopes = scopes.to_vec();
        let returned = Arc::clone(&returned);
        scopes.push(Around { scope, returned });
        steps(world, inside, &scopes)
    };
    let pool = kind.pool.map(|number| some_pool(world, number));
    let lifo = |scope: &Scope<'env>| body(AnyScope::Lifo(scope));
    let fifo = |scope: &ScopeFifo<'env>| body(AnyScope::Fifo(scope));
    let value = match (pool, kind.in_place, kind.fifo) {
        (None, false, false) => rayon_core::scope(lifo),
        (None, false, true) => rayon_core::scope_fifo(fifo),
        (None, true, false) => rayon_core::in_place_scope(lifo),
        (None, true, true) => rayon_core::in_place_scope_fifo(fifo),
        (Some(pool), false, false) => pool.scope(lifo),
        (Some(pool), false, true) => pool.scope_fifo(fifo),
        (Some(pool), true, false) => pool.in_place_scope(lifo),
        (Some(pool), true, true) => pool.in_place_scope_fifo(fifo),
    };
    mix(value, returned.value())
}

/// Spawns a task. It can spawn only into the scope that it was spawned in.
fn spawn<'env>(world: &'env World, task: &'env Task, around: &Around<'_, 'env>) {
    let (token, spawned) = (world.ledger.token(task.number), around.returned.spawned());
    around.scope.spawn(move |scope| {
        spawned.run(|returned| {
            let returned = Arc::clone(returned);
            token.run(|| steps(world, &task.steps, &[Around { scope, returned }]))
        });
    });
}

/// Spawns a task on each thread. The scope waits for all of them.
fn spawn_broadcast<'env>(world: &'env World, panic: Option<Panic>, around: &Around<'_, 'env>) {
    let parts: Spawned = around.returned.spawned();
    around.scope.spawn_broadcast(move |context| {
        let _part = &parts;
        part(world, panic, &context);
    });
}

fn detached(world: &World, pool: Option<usize>, fifo: bool, task: &Arc<Task>) {
    let (own, task) = (world.clone(), Arc::clone(task));
    let token = own.ledger.token(task.number);
    let task = move || _ = token.run(|| steps(&own, &task.steps, &[]));
    match (pool.map(|number| some_pool(world, number)), fifo) {
        (None, false) => rayon_core::spawn(task),
        (None, true) => rayon_core::spawn_fifo(task),
        (Some(pool), false) => pool.spawn(task),
        (Some(pool), true) => pool.spawn_fifo(task),
    }
}
