//! The memory policy and the parameters of each order in which tasks get memory.

use super::{MemoryPolicy, SleepFunction};
use crate::tunable::{Basis, Tunable, bytes, choice, table, time};

const GUESSED: Basis = Basis::Guessed;
const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
/// No allocation can be larger than this.
const MOST: usize = isize::MAX as usize;

table! {
    SPACE: MemoryPolicy = choice("memory", MemoryPolicy::NAMES, MemoryPolicy::None).set_by("TIDEGATE_MEMORY"),
        "Which tasks may have memory, and which wait for it; what nobody has asked for is to cost nothing.", GUESSED;
    HYBRID_ALPHA: usize = bytes("hybrid.alpha", 0, MOST, MIB),
        "How many bytes a task may be granted in a row before it sleeps a round, whatever the number of workers.", GUESSED;
    HYBRID_BETA: usize = bytes("hybrid.beta", 0, MOST, 64 * KIB),
        "How many more of these bytes there are for each worker.", GUESSED;
    HYBRID_SLEEP: SleepFunction = choice("hybrid.sleep", SleepFunction::NAMES, SleepFunction::Linear),
        "How the rounds of a sleep grow with the bytes.", Basis::Published("slides on Narlikar and hybrid schedulers for Cilk");
    DEPTH_FIRST_K: usize = bytes("depth-first.k", 1, MOST, 64 * KIB),
        "Up to how many bytes a request does not wait for its turn. What the serial run declares at most is a good value; with less more is begun.", GUESSED;
    DFDEQUES_K: usize = bytes("dfdeques.k", 1, MOST, 64 * KIB),
        "How many bytes a worker may be granted from one theft to the next. What the serial run declares at most is a good value; with less more is begun.", GUESSED;
    BUDGET_BYTES: usize = bytes("budget.bytes", 0, MOST, 0),
        "The most memory that may be declared at a time; a budget names it.", GUESSED;
    BUDGET_SERIAL: usize = bytes("budget.serial", 0, MOST, 0),
        "The most that the serial run declares at a time, which is kept for the leftmost path; a budget names it.", GUESSED;
    SPACE_STALL: u64 = time("memory.stall", 100 * 1_000_000, 3_600 * 1_000_000_000, 10 * 1_000_000_000),
        "After how long a task that waits for memory says so on standard error, and who holds it.", GUESSED;
}
