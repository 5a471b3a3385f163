//! The numbers of the search for work: retries, pauses, flags and grace periods.

use crate::text::{MS, S, US};
use crate::tunable::{Basis, Tunable, count, table, time};

const GUESSED: Basis = Basis::Guessed;

table! {
    STEAL_RETRIES: usize = count("steal-retries", "attempts", 0, 64, 2),
        "Times a thief repeats a steal that it lost to another thief before it asks the next victim.", GUESSED;
    SPINS_PER_RETRY: usize = count("spins-per-retry", "spins", 0, 1024, 16),
        "Pause instructions between two looks of a thief, so that it leaves the shared cache lines to their owners.",
        GUESSED;
    WAIT_SPIN: u64 = time("wait-spin", 0, MS, 10 * US),
        "How long a waiter that can rob no worker looks again at once; about the price of handing a slot over and back.",
        GUESSED;
    WAIT_SEARCH: u64 = time("wait-search", 0, 10 * MS, 50 * US),
        "How long it looks before it gives its slot up while no other thread wants that; about the price of parking and \
         waking a thread.", GUESSED;
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
