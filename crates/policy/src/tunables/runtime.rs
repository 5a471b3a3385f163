//! What a user sets, and the numbers of the runtime.

use super::{Basis, Row, SWITCH, Tunable, bytes, choice, count, table, time};
use crate::desire::{Desire, Steady};
use crate::idle::{Elastic, Idle};
use crate::text::{GIB, KIB, MIB, MS, S, US};
use crate::{Amount, PlaceBy, Queue, Victim, Wait};
use alloc::vec;
use alloc::vec::Vec;

const GUESSED: Basis = Basis::Guessed;
const LAZY: Basis = Basis::Published("Adnan and Sato 2012");
const PHEET: Basis = Basis::Published("Haselsteiner 2015, section 2.2");

/// The most workers that anything here is made for.
pub(crate) const MOST_WORKERS: usize = 4_096;
/// The most threads that one pool may have.
pub(crate) const MOST_THREADS: usize = 32_768;

/// The most address space that is good for a stack.
const MOST_STACK: usize = if usize::BITS > 32 { 64 } else { 1 } * GIB as usize;

table! {
    WORKERS: Option<usize> = count("workers", "workers", Some(1), Some(MOST_WORKERS), None).set_by("TIDEGATE_WORKERS"),
        "How many workers a pool has; derived: as many as affinity and quotas let run at once.", GUESSED;
    IDLE: Idle = choice("idle", Idle::names(), Idle::Elastic(Elastic::DEFAULT)).set_by("TIDEGATE_IDLE"),
        "How a thief rests when there is nothing to steal; elastic thieves park, so that an idle pool costs nothing.",
        GUESSED;
    DESIRE: Desire = choice("desire", Desire::names(), Desire::Steady(Steady::DEFAULT)).set_by("TIDEGATE_DESIRE"),
        "How a job estimates how many processors it could use; steady comes to rest where the others go up and down.",
        GUESSED;
    STEAL: Amount = choice("steal", Amount::NAMES, Amount::One).set_by("TIDEGATE_STEAL"),
        "How many tasks a steal takes; after a steal of one the thief's deque holds descendants of that task alone, so a \
         join may rob it.", PHEET;
    STEAL_FIXED: usize = count("steal.fixed", "tasks", 1, 65_536, 2),
        "How many tasks a steal of a fixed number takes; the number must be given, 2 suited most programs.", LAZY;
    VICTIM: Victim = choice("victim", Victim::NAMES, Victim::Hierarchical).set_by("TIDEGATE_VICTIM"),
        "Whom a thief robs; near victims first keeps tasks close to the caches that hold their data.", PHEET;
    WAIT: Wait = choice("wait", Wait::NAMES, Wait::Descendants).set_by("TIDEGATE_WAIT"),
        "What a waiting join runs; descendants only, so that no unrelated lock is taken on top of a waiting frame.",
        GUESSED;
    QUEUE: Queue = choice("queue", Queue::NAMES, Queue::Split).set_by("TIDEGATE_QUEUE"),
        "In which queue a worker keeps its tasks; the owner of a split deque needs neither fence nor compare-and-swap for what nobody steals.",
        Basis::Measured;
    PLACES: PlaceBy = choice("places", PlaceBy::NAMES, PlaceBy::Cache).set_by("TIDEGATE_PLACES"),
        "What the workers of a place share; the last-level cache is the nearest in which a task's data outlives the task.",
        Basis::Published("Weibel 2010, section 4.2");
    PLACES_EACH: usize = count("places.each", "workers", 1, MOST_WORKERS, 1),
        "How many workers a place has where their number is given; that number must be given.", GUESSED;
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
        "How much each worker, the steward and the plan for memory may note of what they ask; what comes later is left out.", GUESSED;
    SPAWN_INLINE_LENGTH: usize = count("spawn-inline-length", "tasks", 1, 1 << 24, 1 << 16),
        "Unstarted tasks of a scope beyond which a spawn may run one of them on the spot, so that endless spawning needs \
         bounded memory.", GUESSED;
    MAP_REDUCE_BLOCKS: usize = count("map-reduce-blocks", "blocks", 1024, 1024, 1024),
        "Blocks that map_reduce cuts a range into; part of the interface, because the shape of the reduction follows from \
         it.", GUESSED;
    STEAL_RETRIES: usize = count("steal-retries", "attempts", 0, 64, 2),
        "Times a thief repeats a steal that it lost to another thief before it asks the next victim.", GUESSED;
    SPINS_PER_RETRY: usize = count("spins-per-retry", "spins", 0, 1024, 16),
        "Pause instructions between two looks of a thief, so that it leaves the shared cache lines to their owners.",
        GUESSED;
    WAIT_SPIN: u64 = time("wait-spin", 0, MS, 10 * US),
        "How long a waiter that can rob nobody looks again before it gives its slot up; about the price of handing a slot \
         over and back.", GUESSED;
    FLAG_PATIENCE: u64 = time("flag-patience", US, MS, 30 * US),
        "How long a thief waits for an answer to its flag before it exposes the victim's work itself.", GUESSED;
    FLAG_GAP_MIN: u64 = time("flag-gap-min", 1, MS, US),
        "Least time between two flags of one thief while its stolen tasks are worth their steals.", GUESSED;
    STEAL_WORTH: u64 = time("steal-worth", 0, MS, 2 * US),
        "How long a stolen task must run to be worth its steal; about the price of one.", GUESSED;
    REGRETTED_STEAL_WORTH: u64 = time("regretted-steal-worth", 0, MS, 50 * US),
        "The same if its joiner waited for it longer than it had worked itself.", GUESSED;
    FLAG_GAP_MAX: u64 = time("flag-gap-max", 1, 10 * MS, 500 * US),
        "Least time between two flags of one thief whose stolen tasks keep running shorter than a steal costs.", GUESSED;
    EXPOSURE_GAP: u64 = time("exposure-gap", 0, 10 * MS, 20 * US),
        "Least time between two forced exposures in a pool; each interrupts every running thread of the process.", GUESSED;
    PARK_LOOK: u64 = time("park-look", US, 10 * MS, 50 * US),
        "Length of the one timed sleep before a thief parks for good, where no process-wide barrier exists.", GUESSED;
    OWED_GRACE: u64 = time("owed-grace", 0, S, 2 * MS),
        "How long a ready thread with frames waits for a slot before it runs without one: it may hold a lock that \
         everybody else waits for.", GUESSED;
    PREEMPTED_GRACE: u64 = time("preempted-grace", 0, S, 10 * MS),
        "The same for a thread that lost its slot because the pool's allotment fell.", GUESSED;
}
