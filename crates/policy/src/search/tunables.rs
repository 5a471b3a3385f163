//! The tunables of the search for work: retries, pauses, flags and grace periods.

use crate::text::{MS, S, US};
use crate::tunable::{Basis, Tunable, count, table, time};

const GUESSED: Basis = Basis::Guessed;

table! {
    STEAL_RETRIES: usize = count("steal-retries", "attempts", 0, 64, 2),
        "How often a thief retries a steal that it lost to another thief before it tries the next \
        victim.", GUESSED;
    SPINS_PER_RETRY: usize = count("spins-per-retry", "spins", 0, 1024, 16),
        "Number of pause instructions between two looks of a thief, so that it leaves the shared \
        cache lines to their owners.", GUESSED;
    REVERSE_SEARCH: usize = count("reverse-search", "searches", 2, 10_000, 61),
        "Every how many searches a worker checks its sources in reverse order, so that tasks that \
        keep arriving in one source never starve another; the interval of tokio and Go.", GUESSED;
    JOINER_POLLS: usize = count("joiner-polls", "polls", 1, 10_000, 64),
        "How often in a row the joiner of a future that wakes itself polls it, before it leaves the \
        future to other threads.", GUESSED;
    WAIT_SPIN: u64 = time("wait-spin", 0, MS, 10 * US),
        "How long a waiter that finds nothing to rob spins; about the cost of handing a slot over \
        and back.", GUESSED;
    WAIT_SEARCH: u64 = time("wait-search", 0, 10 * MS, 50 * US),
        "How long a waiter searches before it gives up its slot, if no other thread wants the \
        slot, and how long a caller outside the pool yields before it sleeps; about the cost of \
        parking and waking a thread.", GUESSED;
    FLAG_PATIENCE: u64 = time("flag-patience", US, MS, 30 * US),
        "How long a thief waits for an answer to its flag before it exposes the victim's work \
        itself.", GUESSED;
    FLAG_GAP_MIN: u64 = time("flag-gap-min", 1, MS, US),
        "Minimum time between two flags of one thief while its stolen tasks are worth their \
        steals.", GUESSED;
    STEAL_WORTH: u64 = time("steal-worth", 0, MS, 2 * US),
        "How long a stolen task must run to be worth its steal; about the cost of a steal.",
        GUESSED;
    REGRETTED_STEAL_WORTH: u64 = time("regretted-steal-worth", 0, MS, 50 * US),
        "Like steal-worth, for a task whose joiner waited for it longer than the joiner itself had \
        worked.", GUESSED;
    FLAG_GAP_MAX: u64 = time("flag-gap-max", 1, 10 * MS, 500 * US),
        "Maximum of the time between two flags of one thief; it is reached if stolen tasks keep \
        running shorter than a steal costs.", GUESSED;
    LONG_YIELD: u64 = time("long-yield", 1, S, 200 * US),
        "How long a yield of a bound searcher must last, or a caller outside see its event late, to \
        show that the processor is shared.", GUESSED;
    SHARED_FOR: u64 = time("shared-for", 0, S, 100 * MS),
        "For how long after a long yield a bound worker does not count as searching while it \
        yields, and a caller outside the pool sleeps at once.", GUESSED;
    EXPOSURE_GAP: u64 = time("exposure-gap", 0, 10 * MS, 20 * US),
        "Minimum time between two forced exposures in a pool; each interrupts every running thread \
        of the process.", GUESSED;
    PARK_LOOK: u64 = time("park-look", US, 10 * MS, 50 * US),
        "Length of the one timed sleep before a thief parks for good, if the system has no \
        process-wide barrier.", GUESSED;
    OWED_GRACE: u64 = time("owed-grace", 0, S, 2 * MS),
        "How long a ready thread with frames waits for a slot before it runs without one: it may \
        hold a lock that all other threads wait for.", GUESSED;
    PREEMPTED_GRACE: u64 = time("preempted-grace", 0, S, 10 * MS),
        "Like `owed-grace`, for a thread that lost its slot because the pool's allotment fell.",
        GUESSED;
}
