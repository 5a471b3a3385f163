//! The memory policy and the parameters of each policy.

use super::{MemoryPolicy, SleepFunction};
use crate::tunable::{Basis, Tunable, bytes, choice, table};

const GUESSED: Basis = Basis::Guessed;
const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
/// The largest size of an allocation in Rust, in bytes.
const MOST: usize = isize::MAX as usize;

table! {
    SPACE: MemoryPolicy = choice("memory", MemoryPolicy::NAMES, MemoryPolicy::None).set_by("TIDEGATE_MEMORY"),
        "Memory policy: which tasks may reserve memory, and which must wait; none by default, \
        because it costs nothing for programs without reservations.", GUESSED;
    HYBRID_ALPHA: usize = bytes("hybrid.alpha", 0, MOST, MIB),
        "Bytes that a task may be granted in a row before it sleeps a round, regardless of the \
        number of workers.", GUESSED;
    HYBRID_BETA: usize = bytes("hybrid.beta", 0, MOST, 64 * KIB),
        "Bytes added to `hybrid.alpha` for each worker.", GUESSED;
    HYBRID_SLEEP: SleepFunction = choice("hybrid.sleep", SleepFunction::NAMES, SleepFunction::Linear),
        "How the number of rounds of a sleep grows with the requested bytes.",
        Basis::Published("slides on Narlikar and hybrid schedulers for Cilk");
    DEPTH_FIRST_K: usize = bytes("depth-first.k", 1, MOST, 64 * KIB),
        "Largest request in bytes that does not wait for its turn. The serial run's peak is a good \
        value; with a smaller one, more tasks begin.", GUESSED;
    DFDEQUES_K: usize = bytes("dfdeques.k", 1, MOST, 64 * KIB),
        "Bytes that a worker may be granted from one theft to the next. The serial run's peak is a \
        good value; with a smaller one, more tasks begin.", GUESSED;
    BUDGET_BYTES: usize = bytes("budget.bytes", 0, MOST, 0),
        "Maximum memory that may be declared at a time; a budget must set it.", GUESSED;
    BUDGET_SERIAL: usize = bytes("budget.serial", 0, MOST, 0),
        "Peak of the serial run's declared memory, which is kept for the leftmost path; a budget \
        must set it.", GUESSED;
}
