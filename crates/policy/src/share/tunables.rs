//! How jobs divide the machine: the switch, weights, and the times that the share controller works with.

use super::SharePolicy;
use crate::text::{MS, S, US};
use crate::tunable::{Basis, Tunable, choice, count, ratio, table, time};

const GUESSED: Basis = Basis::Guessed;

table! {
    SHARE: SharePolicy = choice("share", SharePolicy::NAMES, SharePolicy::Auto).set_by("TIDEGATE_SHARE"),
        "Whether a pool divides the processors with other jobs of the same user; auto changes nothing while it is alone.",
        GUESSED;
    WEIGHT: usize = count("weight", "parts", 1, 10_000, 100).set_by("TIDEGATE_WEIGHT"),
        "How much a job counts beside others; the scale is that of the kernel's cpu.weight.", GUESSED;
    TABLE_LOOK: u64 = time("table-look", 10 * MS, 60 * S, S),
        "How often a job looks whether the table, its own quotas and processors, and its neighbours are what they were.",
        GUESSED;
    TABLE_STALL: u64 = time("table-stall", 10 * MS, 60 * S, S),
        "After how long without a beat a job that desires processors counts as stopped.", GUESSED;
    CHANGE_GAP: u64 = time("change-gap", 0, 100 * MS, 500 * US),
        "Least time between two looks at the table that other jobs' changes cause, so that many jobs do not keep each other awake.",
        GUESSED;
    ALONE_CYCLE: u64 = time("alone-cycle", MS, S, 100 * MS),
        "How often a job that divides the machine with nobody looks at itself; others wake it when they come.", GUESSED;
    CALM_CYCLES: usize = count("calm-cycles", "cycles", 1, 1_000, 4),
        "After how many cycles that change nothing the next ones are longer: each takes a processor away from somebody for a moment.",
        GUESSED;
    STUCK_PATIENCE: u64 = time("stuck-patience", MS, 10 * S, 100 * MS),
        "How long who has a slot polls nothing and hardly uses the processor before the slot is lent to another: it is stuck, and may wait for that \
         one.", GUESSED;
    STARVED_PATIENCE: u64 = time("starved-patience", 10 * MS, 60 * S, S),
        "How long something waits for a slot before one is lent for a cycle, also where all who have one poll: they may only look whether \
         they can go on.", GUESSED;
    TURN: u64 = time("turn", MS, 10 * S, S),
        "How long who has lost its slot waits before others take turns with it: they may wait for it.", GUESSED;
    PREEMPTED_GRACE_MAX: u64 = time("preempted-grace-max", 10 * MS, 60 * S, 1_280 * MS),
        "The longest that a thread waits which is preempted again and again; it then runs for a while, in case that others wait for it.",
        GUESSED;
    STEWARD_SLICE: u64 = time("steward-slice", 100 * US, 100 * MS, 100 * US),
        "How long a share controller runs at a time beside others that want its processor: the shorter, the sooner after it is woken; it needs some 20 us.",
        Basis::Measured;
    NEIGHBOUR_LOAD: f64 = ratio("neighbour-load", 0.0, 1.0, 0.75),
        "From which part on a processor that programs outside of the table keep busy is left to them.", GUESSED;
}
