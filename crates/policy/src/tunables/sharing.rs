//! How jobs divide the machine.

use super::{Basis, Row, Tunable, choice, count, ratio, table, time};
use crate::share::Share;
use crate::text::{MS, S, US};
use alloc::vec;
use alloc::vec::Vec;

const GUESSED: Basis = Basis::Guessed;

table! {
    SHARE: Share = choice("share", Share::NAMES, Share::Auto).set_by("TIDEGATE_SHARE"),
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
    NEIGHBOUR_LOAD: f64 = ratio("neighbour-load", 0.0, 1.0, 0.75),
        "From which part on a processor that programs outside of the table keep busy is left to them.", GUESSED;
}
