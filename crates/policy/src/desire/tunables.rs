//! How often desires are estimated, and the parameters of the estimators.

use crate::text::{MS, US};
use crate::tunable::{Basis, Tunable, count, ratio, table, time};

const GUESSED: Basis = Basis::Guessed;
const WSAP: Basis = Basis::Published("Sen 2004, section 6.1");
const A_STEAL: Basis = Basis::Published("Haselsteiner 2015, section 2.3");
const A_DEQUE: Basis = Basis::Published("Haselsteiner 2015, table 2.3");
const DWS: Basis = Basis::Published("Haselsteiner 2015, section 2.7");

table! {
    EST_CYCLE: u64 = time("est-cycle", 100 * US, 100 * MS, 5 * MS).set_by("TIDEGATE_EST_CYCLE"),
        "Time between two estimates of a job's desire; at 5ms or more, adaptivity costs less \
        than 5 percent.", Basis::Published("Sen 2004, section 7.1");
    ATTEMPT_TIME: u64 = time("attempt-time", 10, MS, US),
        "How long an attempt to steal takes; a thief parked for lack of work counts as making \
        failed attempts at this rate.", GUESSED;

    STEADY_HIGH: f64 = ratio("steady.high", 0.5, 1.0, 0.9),
        "Share of the allotment from which all of it counts as used; a little is always lost \
        between two tasks.", GUESSED;
    STEADY_TARGET: f64 = ratio("steady.target", 0.05, 1.0, 0.5),
        "Least efficiency at which a desire is kept for work that comes and goes.", GUESSED;
    STEADY_MEMORY: usize = count("steady.memory", "cycles", 1, 1_000, 4),
        "Number of cycles that are remembered: shorter dips do not lower the desire, and a lasting \
        fall takes as long to show.", GUESSED;

    WSAP_ETA: f64 = ratio("wsap.eta", 0.05, 0.99, 0.5),
        "Target efficiency; use 0.75 to save processors. At 1, a desire would never grow.", WSAP;

    A_STEAL_DELTA: f64 = ratio("a-steal.delta", 0.05, 0.99, 0.9),
        "Share of the allotment spent working from which a cycle is efficient; 0.8 to 0.95 are \
        usual. At 1, a moment between two tasks makes a cycle inefficient, so that a desire hardly \
        grows.", A_STEAL;
    A_STEAL_RHO: f64 = ratio("a-steal.rho", 1.05, 16.0, 2.0),
        "Factor by which the desire is multiplied or divided.", A_STEAL;

    A_DEQUE_BETA: f64 = ratio("a-deque.beta", 0.0, 100.0, 2.0),
        "How many processors a waiting task is worth.", A_DEQUE;

    PALIRRIA_THRESHOLD: usize = count("palirria.threshold", "tasks", 0, 65_536, 1),
        "Number of tasks above which a deque counts as long.", GUESSED;

    DWS_T_SLEEP: usize = count("dws.t-sleep", "attempts", 1, 1_000_000, 32),
        "Failures in a row after which a worker gives its processor back; the source advises once \
        or twice the number of processors, which was 16. Thieves that park, as under the idle \
        policy elastic, give it back sooner.", DWS;
}
