//! The tunables of sharing: the policy, the weights, and the times that the share controller uses.

use super::SharePolicy;
use crate::text::{MS, S, US};
use crate::tunable::{Basis, Tunable, choice, count, ratio, table, time};

const GUESSED: Basis = Basis::Guessed;

table! {
    SHARE: SharePolicy = choice("share", SharePolicy::NAMES, SharePolicy::Auto).set_by("TIDEGATE_SHARE"),
        "Whether a pool shares the processors with other jobs of the same user; `auto` changes \
        nothing while the pool is alone.", GUESSED;
    WEIGHT: usize = count("weight", "parts", 1, 10_000, 100).set_by("TIDEGATE_WEIGHT"),
        "Weight of a job relative to other jobs; the scale is that of the kernel's `cpu.weight`.",
        GUESSED;
    TABLE_LOOK: u64 = time("table-look", 10 * MS, 60 * S, S),
        "How often a job checks whether the table, its own quotas and processors, or the load of \
        other programs have changed. A pool that does not share and follows its quotas and \
        processors checks only these.", GUESSED;
    TABLE_STALL: u64 = time("table-stall", 10 * MS, 60 * S, S),
        "How long a job that desires processors may go without a beat before other jobs treat it \
        as stalled.", GUESSED;
    CHANGE_GAP: u64 = time("change-gap", 0, 100 * MS, 500 * US),
        "Minimum time between two reads of the table caused by changes of other jobs, so that many \
        jobs do not keep each other awake.", GUESSED;
    ALONE_CYCLE: u64 = time("alone-cycle", MS, S, 100 * MS),
        "How often a job that shares the machine with no other job checks itself; other jobs wake \
        it when they start.", GUESSED;
    CALM_CYCLES: usize = count("calm-cycles", "cycles", 1, 1_000, 4),
        "Number of cycles without changes after which cycles get longer: each cycle briefly takes \
        a processor away from a worker or another program.", GUESSED;
    STUCK_PATIENCE: u64 = time("stuck-patience", MS, 10 * S, 100 * MS),
        "How long a thread with a slot may poll nothing and hardly use its processor before its \
        slot is lent to another thread: it is stuck, and may wait for that thread. In a pool that \
        does not share and follows its quotas and processors, a thread is stuck after this time in \
        one task, even if it polls or computes.", GUESSED;
    STARVED_PATIENCE: u64 = time("starved-patience", 10 * MS, 60 * S, S),
        "How long a thread may wait for a slot before one is lent for a cycle, even if all slot \
        holders poll: they may poll only to see whether they can continue. A pool that does not \
        share and follows its quotas and processors lends one more slot for a cycle whenever work \
        has waited this long.", GUESSED;
    TURN: u64 = time("turn", MS, 10 * S, S),
        "How long a thread that has lost its slot waits before slot holders take turns with it: \
        they may be waiting for it.", GUESSED;
    PREEMPTED_GRACE_MAX: u64 = time("preempted-grace-max", 10 * MS, 60 * S, 1_280 * MS),
        "The longest wait of a thread that is preempted again and again; then it runs for a while, \
        in case other threads wait for it.", GUESSED;
    CONTROLLER_SLICE: u64 = time("controller-slice", 100 * US, 100 * MS, 100 * US),
        "Scheduler time slice that a share controller requests: a shorter slice lets it run sooner \
        after a wake-up, and it needs only some 20 us.", Basis::Measured;
    NEIGHBOUR_LOAD: f64 = ratio("neighbour-load", 0.0, 1.0, 0.75),
        "If programs outside the table keep at least this share of a processor busy, the processor \
        is left to them.", GUESSED;
}
