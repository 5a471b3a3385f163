//! The tunables of `tidegate exec`.

use crate::text::{MS, S};
use crate::tunable::{Basis, Tunable, count, ratio, table, time};

const GUESSED: Basis = Basis::Guessed;
const MEASURED: Basis = Basis::Measured;

table! {
    EXEC_CYCLE: u64 = time("exec.cycle", MS, 100 * MS, 20 * MS),
        "Least time between two looks at a program that does not use Tidegate; several of the \
        kernel's ticks, because a running thread's time is counted once per tick.", GUESSED;
    EXEC_IDLE_CYCLE: u64 = time("exec.idle-cycle", MS, 500 * MS, 100 * MS),
        "Least time between two looks while there is nothing to follow, because all threads of the \
        program sleep.", GUESSED;
    EXEC_CYCLE_MAX: u64 = time("exec.cycle-max", 100 * MS, 500 * MS, 500 * MS),
        "Most time between two looks, whatever they cost; well below table-stall.", GUESSED;
    EXEC_LOOK_SHARE: f64 = ratio("exec.look-share", 0.001, 1.0, 0.01),
        "Most of one processor that the looks may cost; if a program has many threads, its cycles \
        get longer.", GUESSED;
    EXEC_PART: f64 = ratio("exec.part", 0.0, 1.0, 0.1),
        "Part of a processor that does not count as one more; a timer or an idle shell uses less.",
        GUESSED;
    EXEC_WAIT_FACTOR: usize = count("exec.wait-factor", "times", 0, 1_000, 8),
        "How many times as long as threads ran their waits for a processor count; on a busy \
        machine, a thread that computes waits about that long, and a timer 50 times as long.", MEASURED;
    EXEC_UNBOOKED: u64 = time("exec.unbooked", 0, 10 * S, 100 * MS),
        "How much time of each runnable thread counts before the kernel's counters show it; the \
        kernel counts a wait when it ends, and on a busy machine a wait may take 50ms.", MEASURED;
    EXEC_GUARD_WINDOW: u64 = time("exec.guard-window", 100 * MS, 10 * S, S),
        "How long a confined program must look collapsed before it is widened for good.", GUESSED;
    EXEC_GUARD_INVOLUNTARY: usize = count("exec.guard-involuntary", "switches", 0, 10_000, 20),
        "Involuntary switches per thread and second above which a confined program may have \
        collapsed; one with libgomp had 100 to 160.", MEASURED;
    EXEC_GUARD_VOLUNTARY: usize = count("exec.guard-voluntary", "switches", 1, 10_000, 10),
        "Voluntary switches per thread and second below which a confined program may have \
        collapsed; one with libgomp had 2 to 5.", MEASURED;
}
