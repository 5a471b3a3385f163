//! The settings of the runtime that belong to no policy.

use crate::limits::MOST_THREADS;
use crate::text::{GIB, KIB, MIB, MS, S, US};
use crate::tunable::{Basis, SWITCH, Tunable, bytes, choice, count, table, time};

const GUESSED: Basis = Basis::Guessed;

/// The largest reasonable address space for a stack, in bytes.
const MOST_STACK: usize = if usize::BITS > 32 { 64 } else { 1 } * GIB as usize;

table! {
    BIND: bool = choice("bind", SWITCH, false).set_by("TIDEGATE_BIND"),
        "Whether to pin each worker to one processor; off by default, so that the kernel can move \
        threads away from processors that other programs need.", GUESSED;
    MAX_THREADS: Option<usize> =
        count("max-threads", "threads", Some(1), Some(MOST_THREADS), None).set_by("TIDEGATE_MAX_THREADS"),
        "Maximum number of threads in a pool; derived: threads-per-slot times the number of slots.",
        GUESSED;
    MAX_BLOCKING_THREADS: usize = count("max-blocking-threads", "threads", 0, MOST_THREADS / 2, 512)
        .set_by("TIDEGATE_MAX_BLOCKING_THREADS"),
        "Number of threads in blocking calls that do not count towards max-threads; the default is \
        that of tokio.", GUESSED;
    SURPLUS_KEEP_ALIVE: u64 = time("surplus-keep-alive", 0, 100 * S, S),
        "How long a thread that was started because others blocked stays idle before it ends.",
        GUESSED;
    THREADS_PER_SLOT: usize = count("threads-per-slot", "threads", 1, 64, 4),
        "Threads per slot if max-threads is not set; more threads would only pile up waiting \
        frames.", GUESSED;
    STACK_SIZE: usize = bytes("stack-size", 64 * KIB as usize, MOST_STACK, 16 * MIB as usize)
        .set_by("TIDEGATE_STACK_SIZE"),
        "Address space of a worker's stack; deep recursion needs much of it, and only touched \
        pages cost memory.", GUESSED;
    GLOBAL: bool = choice("global", SWITCH, true).set_by("TIDEGATE_GLOBAL"),
        "Whether the global pool may be created; if off, a call that would create it panics, so that \
        a library's tests find such calls.", GUESSED;
    EXPLAIN: usize = count("explain", "lines", 0, 1, 0).set_by("TIDEGATE_EXPLAIN"),
        "Whether a pool prints a line about its workers and options when it is first used, and one \
        about each unknown variable.", GUESSED;
    TRACE_BYTES: usize = bytes("trace.bytes", 64 * KIB as usize, GIB as usize, 16 * MIB as usize),
        "Size limit of a trace, separately for each worker, the share controller and the memory \
        plan; later decisions are not recorded.", GUESSED;
    SPAWN_INLINE_LENGTH: usize = count("spawn-inline-length", "tasks", 1, 1 << 24, 1 << 16),
        "Number of unstarted tasks of a scope above which a spawn may run one of them on the spot, \
        so that endless spawning needs bounded memory.", GUESSED;
    QUEUE_WAIT_SAMPLE: usize = count("queue-wait-sample", "tasks", 1, 1 << 20, 64),
        "Of the tasks that enter a pool's queue, one in this many is timed for the statistics; \
        the others read no clock.", GUESSED;
    SIMULATED_WORKERS: usize = count("simulated-workers", "workers", 1, 4096, 4),
        "Number of workers of a simulated pool whose builder sets none; fixed, so that a seed means \
        the same run on every machine.", GUESSED;
    SIMULATED_STEPS: usize = count("simulated-steps", "steps", 1000, 1 << 30, 1_000_000),
        "Number of steps after which a simulated run stops, because it may never end.", GUESSED;
    SIMULATION_PATIENCE: u64 = time("simulation-patience", 100 * MS, 86_400 * S, 10 * S)
        .set_by("TIDEGATE_SIMULATION_PATIENCE"),
        "How long a thread of a simulated pool may run, by the wall clock, before the run stops: \
        the thread may wait for something that the simulation does not know. Raise it to stop a \
        simulated pool in a debugger.", GUESSED;
    MAP_REDUCE_BLOCKS: usize = count("map-reduce-blocks", "blocks", 1024, 1024, 1024),
        "Maximum number of blocks that map_reduce cuts its items into, and a quarter of it the \
        number for few items; fixed, because the shape of the reduction depends on it.", GUESSED;
    FOLD_REDUCE_BLOCKS: usize = count("fold-reduce-blocks", "blocks", 32, 32, 32),
        "Number of blocks that fold_reduce cuts its items into; fixed, because the result may \
        depend on it. Each block has an accumulator, such as a map, that is merged with the others.",
        GUESSED;
    STREAM_WINDOW: usize = count("stream-window", "items", 1, 1 << 16, 32),
        "Items per worker that a stream holds at most, unless the program sets its window.",
        GUESSED;
    STREAM_TURN: u64 = time("stream-turn", 0, S, 50 * US),
        "How long a task runs items of a stream before the pool's other queued tasks get their turn.",
        GUESSED;
}
