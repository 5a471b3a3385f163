//! The costs of the simulated machine. The measured costs come from `tidegate-lab bench calibrate`
//! on two processors that share a third-level cache.

use crate::text::{GIB, MS, S, US};
use crate::tunable::{Basis, Tunable, bytes, count, table, time};

/// One tebibyte, or what a smaller address space can hold.
const MOST_CACHE: usize = if usize::BITS < 64 {
    usize::MAX
} else {
    (1_024 * GIB) as usize
};

const GUESSED: Basis = Basis::Guessed;
const MEASURED: Basis = Basis::Measured;

table! {
    SIM_PROCESSORS: usize = count("sim.processors", "processors", 1, 65_536, 16),
        "Number of processors of the simulated machine; the default is that of the machine in the \
        published experiments.", Basis::Published("Sen 2004, chapter 7");
    SIM_CACHE: usize = bytes("sim.cache", 0, MOST_CACHE, 0),
        "How much data the cache of each place holds; with 0, access to data takes no time, only \
        tasks and scheduling do.", GUESSED;
    SIM_FORK: u64 = time("sim.fork", 0, MS, 1),
        "Cost of a fork or spawn; a fork and its join together cost what they cost in the runtime \
        beyond the serial program.", MEASURED;
    SIM_JOIN: u64 = time("sim.join", 0, MS, 1),
        "Cost of a join.", MEASURED;
    SIM_ALLOCATE: u64 = time("sim.allocate", 0, MS, 50),
        "Cost of reserving memory and releasing it.", MEASURED;
    SIM_ATTEMPT: u64 = time("sim.attempt", 0, MS, 60),
        "Cost of looking for a task at a victim; one cache miss if the victim has just worked.",
        MEASURED;
    SIM_LOOK: u64 = time("sim.look", 0, MS, 100),
        "Cost of a thief's look for the victim: its next push or pop must fetch a cache line back, \
        once for all looks since the last one.", MEASURED;
    SIM_DISTANCE: u64 = time("sim.distance", 0, MS, 100),
        "Additional cost of a look for each further step to the victim.", GUESSED;
    SIM_MISS: u64 = time("sim.miss", 0, MS, 20),
        "Cost per KiB of data that is not in the cache of the place; --cache sets the size of the \
        cache.", MEASURED;
    SIM_STEAL: u64 = time("sim.steal", 0, MS, 2_500),
        "Cost of a successful steal beyond the look, until the task runs with warm caches.",
        MEASURED;
    SIM_UNWIND: u64 = time("sim.unwind", 0, MS, 0),
        "Cost of a steal for its victim and its thief, for each task in the victim's deque; none in \
        this runtime, because its thieves take tasks without the victim's help.", GUESSED;
    SIM_LOOK_AGAIN: u64 = time("sim.look-again", 0, MS, 500),
        "Pause between two sweeps of a thief that does not rest.", MEASURED;
    SIM_YIELD: u64 = time("sim.yield", 0, MS, 400),
        "Cost of a yield if no other thread wants the processor.", MEASURED;
    SIM_FORFEIT: u64 = time("sim.forfeit", 0, S, 4 * MS),
        "Processor time that a yield counts as if another worker waits; by default a slice, as on \
        today's Linux.", GUESSED;
    SIM_CALL: u64 = time("sim.call", 0, MS, 0),
        "Time that each worker that runs a task loses for each microsecond that an idle worker \
        spends in the system, to yield or to fall asleep and wake up; none by default, because it \
        is known of no machine.", GUESSED;
    SIM_SLEEP: u64 = time("sim.sleep", 0, MS, 3_500),
        "Time to fall asleep; a thread that is woken earlier still needs this long.", MEASURED;
    SIM_WAKE: u64 = time("sim.wake", 0, 10 * MS, 20 * US),
        "Time from a wake-up until the woken worker looks for work; twice as long on processors in \
        a deeper idle state.", MEASURED;
    SIM_WAKE_CALL: u64 = time("sim.wake-call", 0, MS, 8 * US),
        "Cost of a wake-up for the thread that wakes another.", MEASURED;
    SIM_WAKE_SERIES: u64 = time("sim.wake-series", 0, 100 * MS, 0),
        "Time between two wake-ups of a job that gets several processors; none by default, because \
        a call that wakes a worker takes microseconds in this runtime.", GUESSED;
    SIM_SLACK: u64 = time("sim.slack", 0, 10 * MS, 50 * US),
        "How much later than requested the system ends a sleep, not counting the wake-up, because \
        it coalesces timers.", MEASURED;
    SIM_HANDOVER: u64 = time("sim.handover", 0, MS, 2 * US),
        "Time for a processor to switch from one worker to another that waits for it.", MEASURED;
    SIM_SLICE: u64 = time("sim.slice", 10 * US, S, 4 * MS),
        "How long a worker keeps its processor if more workers are awake than there are \
        processors; about that of Linux.", MEASURED;
    SIM_ESTIMATE: u64 = time("sim.estimate", 0, 50 * US, 20 * US),
        "Processor time for one estimate of a job's desire; at most half of the shortest \
        est-cycle, so that the job still makes progress.", MEASURED;
    SIM_SCHEDULER: u64 = time("sim.scheduler", 0, 100 * MS, 0),
        "Time in which a single thread that schedules a job in depth-first order handles a spawn, \
        a return or a start; none in this runtime, whose workers share the plan under a lock.",
        GUESSED;
}
