//! The settings of the runtime that belong to no policy.

use crate::limits::MOST_THREADS;
use crate::text::{GIB, KIB, MIB, S};
use crate::tunable::{Basis, SWITCH, Tunable, bytes, choice, count, table, time};

const GUESSED: Basis = Basis::Guessed;

/// The most address space that makes sense for a stack.
const MOST_STACK: usize = if usize::BITS > 32 { 64 } else { 1 } * GIB as usize;

table! {
    BIND: bool = choice("bind", SWITCH, false).set_by("TIDEGATE_BIND"),
        "Whether each worker stays on one processor; off, because the kernel moves threads off processors that others need.",
        GUESSED;
    SPARE_THREADS: Option<usize> =
        count("spare-threads", "threads", Some(0), Some(MOST_THREADS), None).set_by("TIDEGATE_SPARE_THREADS"),
        "Threads beyond one per worker that may be made for workers that wait; derived: up to the limit on threads.",
        GUESSED;
    MAX_THREADS: Option<usize> =
        count("max-threads", "threads", Some(1), Some(MOST_THREADS), None).set_by("TIDEGATE_MAX_THREADS"),
        "Limit on the threads of a pool; derived: so many per slot as threads-per-slot says.", GUESSED;
    MAX_BLOCKING_THREADS: usize = count("max-blocking-threads", "threads", 0, MOST_THREADS / 2, 512)
        .set_by("TIDEGATE_MAX_BLOCKING_THREADS"),
        "Threads in blocking calls that do not count towards max-threads; the default is that of tokio.", GUESSED;
    SURPLUS_KEEP_ALIVE: u64 = time("surplus-keep-alive", 0, 100 * S, S),
        "How long a thread that was started because others blocked stays idle before it ends.", GUESSED;
    THREADS_PER_SLOT: usize = count("threads-per-slot", "threads", 1, 64, 4),
        "Threads per slot where no limit is set; more only pile up waiting frames.", GUESSED;
    STACK_SIZE: usize = bytes("stack-size", 64 * KIB as usize, MOST_STACK, 16 * MIB as usize)
        .set_by("TIDEGATE_STACK_SIZE"),
        "Address space of a worker's stack; only touched pages cost memory, deep recursion needs them.", GUESSED;
    TRACE_BYTES: usize = bytes("trace.bytes", 64 * KIB as usize, GIB as usize, 16 * MIB as usize),
        "How much each worker, the share controller and the plan for memory may note of what they ask; what comes later is left out.", GUESSED;
    SPAWN_INLINE_LENGTH: usize = count("spawn-inline-length", "tasks", 1, 1 << 24, 1 << 16),
        "Unstarted tasks of a scope beyond which a spawn may run one of them on the spot, so that endless spawning needs \
         bounded memory.", GUESSED;
    MAP_REDUCE_BLOCKS: usize = count("map-reduce-blocks", "blocks", 1024, 1024, 1024),
        "Blocks that map_reduce cuts a range into; part of the interface, because the shape of the reduction follows from \
         it.", GUESSED;
}
