//! The costs of the simulated machine. The measured ones were measured with `tidegate-lab bench calibrate` on two processors
//! that share a third-level cache.

use crate::text::{GIB, MS, S, US};
use crate::tunable::{Basis, Tunable, bytes, count, table, time};

const GUESSED: Basis = Basis::Guessed;
const MEASURED: Basis = Basis::Measured;

table! {
    SIM_PROCESSORS: usize = count("sim.processors", "processors", 1, 65_536, 16),
        "How many processors the simulated machine has; as many as the machine of the published experiments.",
        Basis::Published("Sen 2004, chapter 7");
    SIM_CACHE: usize = bytes("sim.cache", 0, 1_024 * GIB as usize, 0),
        "How much data the cache of each place holds; with none all data are near everywhere, so that nothing but tasks and their costs takes time.",
        GUESSED;
    SIM_FORK: u64 = time("sim.fork", 0, MS, 1),
        "What a fork or spawn adds; with a join it is what both cost in the runtime beyond the serial program.", MEASURED;
    SIM_JOIN: u64 = time("sim.join", 0, MS, 1),
        "What a join adds.", MEASURED;
    SIM_ALLOCATE: u64 = time("sim.allocate", 0, MS, 50),
        "What it takes to declare memory and to give it back.", MEASURED;
    SIM_ATTEMPT: u64 = time("sim.attempt", 0, MS, 60),
        "How long a thief looks at a victim; a cache miss, where it has just worked.", MEASURED;
    SIM_LOOK: u64 = time("sim.look", 0, MS, 100),
        "What a thief's look costs the victim: its next push or pop fetches a cache line back, once for all looks since the last one.",
        MEASURED;
    SIM_DISTANCE: u64 = time("sim.distance", 0, MS, 100),
        "What a look takes longer for each further step to the victim.", GUESSED;
    SIM_MISS: u64 = time("sim.miss", 0, MS, 20),
        "What a KiB takes that is not in the cache of the place, where `--cache` says how large that is.", MEASURED;
    SIM_STEAL: u64 = time("sim.steal", 0, MS, 2_500),
        "What a steal that succeeds takes beyond the look, until the task runs with warm caches.", MEASURED;
    SIM_UNWIND: u64 = time("sim.unwind", 0, MS, 0),
        "What each stolen task takes of the victim; none in this runtime, whose thieves help themselves.", GUESSED;
    SIM_LOOK_AGAIN: u64 = time("sim.look-again", 0, MS, 500),
        "Pause between two sweeps of a thief that does not rest.", MEASURED;
    SIM_YIELD: u64 = time("sim.yield", 0, MS, 400),
        "What a yield takes where nobody else wants the processor.", MEASURED;
    SIM_SLEEP: u64 = time("sim.sleep", 0, MS, 3_500),
        "How long it takes to fall asleep; who is woken earlier sleeps so long all the same.", MEASURED;
    SIM_WAKE: u64 = time("sim.wake", 0, 10 * MS, 20 * US),
        "From a wake-up until the woken worker looks for work; twice as much where processors doze.",
        MEASURED;
    SIM_WAKE_CALL: u64 = time("sim.wake-call", 0, MS, 8 * US),
        "What a wake-up takes of the one who wakes.", MEASURED;
    SIM_SLACK: u64 = time("sim.slack", 0, 10 * MS, 50 * US),
        "How much later than asked the system ends a sleep, beyond what a wake-up takes; it gathers timers so.", MEASURED;
    SIM_HANDOVER: u64 = time("sim.handover", 0, MS, 2 * US),
        "How long a processor takes to go from one worker to another that waits for it.", MEASURED;
    SIM_SLICE: u64 = time("sim.slice", 10 * US, S, 4 * MS),
        "How long a worker keeps its processor where more are awake than there are processors; about that of Linux.",
        MEASURED;
    SIM_ESTIMATE: u64 = time("sim.estimate", 0, 50 * US, 20 * US),
        "What an estimate of a job's desire takes of a processor; at most half of the shortest est-cycle, so that work goes on.",
        MEASURED;
}
