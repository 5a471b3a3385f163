//! The parameters of the idle policies.

use super::{Inefficient, Randomness};
use crate::text::{MS, S, US};
use crate::tunable::{Basis, SWITCH, Tunable, choice, count, ratio, table, time};

const GUESSED: Basis = Basis::Guessed;
const LINEAR: Basis = Basis::Published("Haselsteiner 2015, table 4.1");
const EXPONENTIAL: Basis = Basis::Published("Haselsteiner 2015, table 4.2");
const COMBINED: Basis = Basis::Published("Haselsteiner 2015, table 4.3");
const MIXED: Basis = Basis::Published("Haselsteiner 2015, section 4.4, linear combination");
const PHEET: Basis = Basis::Published("Haselsteiner 2015, section 4.2");
const QUANTA: Basis = Basis::Published("Haselsteiner 2015, table 5.3");
const LONG_QUANTA: Basis = Basis::Published("Haselsteiner 2015, table 5.4");
const FIGURE: Basis = Basis::Published("derived from Haselsteiner 2015, figure 5.11");

/// The longest reasonable sleep or step.
pub(super) const LONGEST: u64 = S;
/// A larger growth factor would reach any limit in a few steps.
const STEEPEST: f64 = 16.0;

table! {
    ELASTIC_SEARCH: u64 = time("elastic.search", 0, LONGEST, 100 * US),
        "How long an idle worker searches before it parks; about the cost of parking and waking a \
        thread.", GUESSED;

    LINEAR_MIN: u64 = time("linear.min", 0, LONGEST, 10 * US),
        "The first sleep of a search.", LINEAR;
    LINEAR_STEP: u64 = time("linear.step", 0, LONGEST, 50 * US),
        "How much longer each further sleep is; 10us to 100us were equally good.", LINEAR;
    LINEAR_MAX: u64 = time("linear.max", 1, LONGEST, 500 * US),
        "The longest sleep; a limit of 100us or more made no difference.", LINEAR;
    LINEAR_RANDOMNESS: Randomness = choice("linear.randomness", Randomness::NAMES, Randomness::None),
        "How randomness affects the sleeps; it made no difference.", LINEAR;
    LINEAR_SLOW_RESET: bool = choice("linear.slow-reset", SWITCH, false),
        "Whether a success takes one step off instead of starting over; it made no difference.", LINEAR;

    EXPONENTIAL_MIN: u64 = time("exponential.min", 1, LONGEST, 10 * US),
        "The first sleep of a search.", EXPONENTIAL;
    EXPONENTIAL_R: f64 = ratio("exponential.r", 1.0, STEEPEST, 1.3),
        "Factor from each sleep to the next; 1.1 to 2 were reasonable.", EXPONENTIAL;
    EXPONENTIAL_MAX: u64 = time("exponential.max", 1, LONGEST, 500 * US),
        "The longest sleep; values above 100ms hurt when programs shared the machine.", EXPONENTIAL;
    EXPONENTIAL_RANDOMNESS: Randomness = choice("exponential.randomness", Randomness::NAMES, Randomness::None),
        "How randomness affects the sleeps; it made no difference.", EXPONENTIAL;
    EXPONENTIAL_SLOW_RESET: bool = choice("exponential.slow-reset", SWITCH, false),
        "Whether a success takes one step off instead of starting over; it made no difference.", EXPONENTIAL;

    PHEET_ORIGINAL_MIN: u64 = time("pheet-original.min", 1, LONGEST, 100),
        "Limit on the first sleep of a search.", PHEET;
    PHEET_ORIGINAL_R: f64 = ratio("pheet-original.r", 1.0, STEEPEST, 2.0),
        "Factor from the limit on each sleep to the limit on the next.", PHEET;
    PHEET_ORIGINAL_MAX: u64 = time("pheet-original.max", 1, LONGEST, 100 * US),
        "The longest sleep.", PHEET;

    EXPONENTIAL_LINEAR_MIN: u64 = time("exponential-linear.min", 1, LONGEST, 10 * US),
        "The first sleep of a search.", COMBINED;
    EXPONENTIAL_LINEAR_R: f64 = ratio("exponential-linear.r", 1.0, STEEPEST, 2.0),
        "Factor from each sleep to the next, up to the threshold.", COMBINED;
    EXPONENTIAL_LINEAR_THRESHOLD: u64 = time("exponential-linear.threshold", 1, LONGEST, 200 * US),
        "The longest sleep of the exponential part; 50us and 400us were as good.", COMBINED;
    EXPONENTIAL_LINEAR_RESUME: u64 =
        time("exponential-linear.resume", 1, LONGEST, EXPONENTIAL_LINEAR_THRESHOLD.default),
        "Start of the linear part; the default is the threshold.", COMBINED;
    EXPONENTIAL_LINEAR_STEP: u64 = time("exponential-linear.step", 0, LONGEST, 50 * US),
        "How much longer each further sleep beyond the threshold is.", COMBINED;
    EXPONENTIAL_LINEAR_MAX: u64 = time("exponential-linear.max", 1, LONGEST, 500 * US),
        "The longest sleep.", COMBINED;

    LINEAR_EXPONENTIAL_MIN: u64 = time("linear-exponential.min", 0, LONGEST, 10 * US),
        "The first sleep of a search.", COMBINED;
    LINEAR_EXPONENTIAL_STEP: u64 = time("linear-exponential.step", 0, LONGEST, 25 * US),
        "How much longer each further sleep is, up to the threshold.", COMBINED;
    LINEAR_EXPONENTIAL_THRESHOLD: u64 = time("linear-exponential.threshold", 1, LONGEST, 100 * US),
        "The longest sleep of the linear part; 50us and 400us were as good.", COMBINED;
    LINEAR_EXPONENTIAL_RESUME: u64 =
        time("linear-exponential.resume", 1, LONGEST, LINEAR_EXPONENTIAL_THRESHOLD.default),
        "Start of the exponential part; the default is the threshold.", COMBINED;
    LINEAR_EXPONENTIAL_R: f64 = ratio("linear-exponential.r", 1.0, STEEPEST, 1.3),
        "Factor from each sleep beyond the threshold to the next.", COMBINED;
    LINEAR_EXPONENTIAL_MAX: u64 = time("linear-exponential.max", 1, LONGEST, 500 * US),
        "The longest sleep.", COMBINED;

    COMBINATION_T: f64 = ratio("combination.t", 0.0, 1.0, 0.75),
        "Weight of the linear part; more of it was slightly better when programs shared the \
        machine.", MIXED;
    COMBINATION_MIN: u64 = time("combination.min", 0, LONGEST, LINEAR_MIN.default),
        "The first sleep of a search, for both parts.", MIXED;
    COMBINATION_STEP: u64 = time("combination.step", 0, LONGEST, LINEAR_STEP.default),
        "How much longer each further sleep of the linear part is.", MIXED;
    COMBINATION_R: f64 = ratio("combination.r", 1.0, STEEPEST, EXPONENTIAL_R.default),
        "Factor from each sleep of the exponential part to the next.", MIXED;
    COMBINATION_MAX: u64 = time("combination.max", 1, LONGEST, LINEAR_MAX.default),
        "The longest sleep, for both parts.", MIXED;

    QUANTA_LENGTH: u64 = time("quanta.length", US, LONGEST, 75 * US),
        "Minimum length of a quantum; shorter quanta than 75us cost some programs time, longer \
        ones reacted late.", QUANTA;
    QUANTA_THRESHOLD: f64 = ratio("quanta.threshold", 0.0, 1.0, 0.5),
        "Share spent stealing above which a quantum is inefficient; 0.3 to 0.7 made no difference.",
        QUANTA;
    QUANTA_S1: f64 = ratio("quanta.s1", 0.0, 100.0, 0.4),
        "How much a sleep grows with the share spent stealing.", QUANTA;
    QUANTA_S2: f64 = ratio("quanta.s2", 0.0, 100.0, 0.8),
        "How much a sleep grows with each inefficient quantum before it.", QUANTA;
    QUANTA_C: f64 = ratio("quanta.c", 0.0, 100.0, 2.0),
        "How much the next quantum shrinks with each inefficient one before it; 0.2 to 20 made no \
        difference.", QUANTA;
    QUANTA_MAX: u64 = time("quanta.max", 1, LONGEST, 1_500 * US),
        "The longest sleep; values below 500us hurt.", QUANTA;
    QUANTA_INSERT: usize = count("quanta.insert", "quanta", 1, 1_000_000, 20),
        "Number of inefficient quanta in a row after which a quantum of normal length gives the \
        thief a real chance again.", FIGURE;

    LONG_QUANTA_LENGTH: u64 = time("long-quanta.length", US, LONGEST, 75 * US),
        "Minimum length of a short quantum.", LONG_QUANTA;
    LONG_QUANTA_LONG: u64 = time("long-quanta.long", US, 10 * LONGEST, 3 * MS),
        "Minimum length of a long quantum.", LONG_QUANTA;
    LONG_QUANTA_THRESHOLD: f64 = ratio("long-quanta.threshold", 0.0, 1.0, 0.6),
        "Share spent stealing above which a quantum is inefficient.", LONG_QUANTA;
    LONG_QUANTA_INEFFICIENT: Inefficient = choice("long-quanta.inefficient", Inefficient::NAMES, Inefficient::Either),
        "Which share counts: that of the short quantum, that of either quantum, both, or their \
        mean.", LONG_QUANTA;
    LONG_QUANTA_S1: f64 = ratio("long-quanta.s1", 0.0, 100.0, 0.8),
        "How much a sleep grows with the product of both shares.", LONG_QUANTA;
    LONG_QUANTA_S2: f64 = ratio("long-quanta.s2", 0.0, 100.0, 0.8),
        "How much a sleep grows with each inefficient quantum before it.", LONG_QUANTA;
    LONG_QUANTA_C: f64 = ratio("long-quanta.c", 0.0, 100.0, 2.0),
        "How much the next quantum shrinks with each inefficient one before it.", LONG_QUANTA;
    LONG_QUANTA_MAX: u64 = time("long-quanta.max", 1, LONGEST, 1_500 * US),
        "The longest sleep.", LONG_QUANTA;
    LONG_QUANTA_INSERT: usize = count("long-quanta.insert", "quanta", 1, 1_000_000, QUANTA_INSERT.default),
        "Number of inefficient quanta in a row after which a quantum of normal length gives the \
        thief a real chance again.", FIGURE;
}
