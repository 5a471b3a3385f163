//! What things cost on the simulator's machine.

use super::{Basis, Row, Tunable, count, table, time};
use crate::text::{MS, S, US};
use alloc::vec;
use alloc::vec::Vec;

const GUESSED: Basis = Basis::Guessed;
const MEASURED: Basis = Basis::Measured;

table! {
    SIM_PROCESSORS: usize = count("sim.processors", "processors", 1, 65_536, 16),
        "How many processors the simulated machine has; as many as the machine of the published experiments.",
        Basis::Published("Sen 2004, chapter 7");
    SIM_FORK: u64 = time("sim.fork", 0, MS, 1),
        "What a fork or spawn adds; with a join it is what both cost in the runtime beyond the serial program.", MEASURED;
    SIM_JOIN: u64 = time("sim.join", 0, MS, 1),
        "What a join adds.", MEASURED;
    SIM_ATTEMPT: u64 = time("sim.attempt", 0, MS, 100),
        "How long a thief looks at a victim that shares its smallest cache; a few cache misses.", GUESSED;
    SIM_DISTANCE: u64 = time("sim.distance", 0, MS, 100),
        "What a look takes longer for each further step to the victim.", GUESSED;
    SIM_STEAL: u64 = time("sim.steal", 0, MS, 2 * US),
        "What a steal that succeeds takes beyond the look, until the task runs with warm caches.", GUESSED;
    SIM_LOOK_AGAIN: u64 = time("sim.look-again", 0, MS, 200),
        "Pause between two sweeps of a thief that does not rest.", GUESSED;
    SIM_YIELD: u64 = time("sim.yield", 0, MS, 500),
        "What a yield takes where nobody else wants the processor.", GUESSED;
    SIM_SLEEP: u64 = time("sim.sleep", 0, MS, 5 * US),
        "How long it takes to fall asleep; who is woken earlier sleeps so long all the same.", GUESSED;
    SIM_WAKE: u64 = time("sim.wake", 0, 10 * MS, 50 * US),
        "From a wake-up until the woken worker looks for work; some times more on a machine whose processors doze.",
        GUESSED;
    SIM_WAKE_CALL: u64 = time("sim.wake-call", 0, MS, 5 * US),
        "What a wake-up takes of the one who wakes.", GUESSED;
    SIM_HANDOVER: u64 = time("sim.handover", 0, MS, 5 * US),
        "How long a processor takes to go from one worker to another that waits for it.", GUESSED;
    SIM_SLICE: u64 = time("sim.slice", 10 * US, S, 4 * MS),
        "How long a worker keeps its processor where more are awake than there are processors; about that of Linux.",
        GUESSED;
}
