//! Which victim a thief steals from next.
//!
//! A *round* is a series of attempts after which the thief may rest. [`VictimState::next`] returns
//! one victim after another, and `None` at the end of the round; [`VictimState::stolen_from`] ends
//! the round early, after a successful steal. (The idle policies call an unsuccessful round a
//! failed sweep: [`IdleState::sweep_failed`](crate::IdleState::sweep_failed).)
//!
//! * `random` tries every candidate once, in numerical order, starting from a random candidate.
//! * `round-robin` tries every candidate once, in numerical order, starting after the last victim
//!   of the previous round. (Asynchronous round robin: Kumar, Grama and Vempaty, "Scalable load
//!   balancing techniques for parallel computers", Journal of Parallel and Distributed Computing
//!   22(1), 1994.)
//! * `last-victim` first tries the victim of the thief's last successful steal, then continues like
//!   `random`. If a victim chosen as under `random` has no task, the thief next tries that victim's
//!   own last victim.
//! * `hierarchical` is like `last-victim`, but chooses one random victim at the smallest distance,
//!   then one at the next larger distance, up to the root of the tree. A round tries every distance
//!   but not every worker; over many rounds it tries all of them.
//!
//! `last-victim` and `hierarchical` are the rules of the Pheet framework (Haselsteiner, "Adaptive
//! Work-Stealing Techniques", 2015, section 2.2). The source leaves two points open. Here, a last
//! victim that was just tried is not chosen again in the same round, and distances without
//! candidates are skipped.
//!
//! The set of candidates may change between two calls. The functions allocate no memory. This
//! module never checks whether a victim has work: the thief finds out.

mod victim_round;

pub use victim_round::VictimState;

use crate::tunable::{Basis, Tunable, choice, table, words};

/// A rule that chooses victims. Default: [`Hierarchical`](Self::Hierarchical).
///
/// ```
/// use tidegate_policy::VictimPolicy;
///
/// assert_eq!(VictimPolicy::default(), VictimPolicy::Hierarchical);
/// assert_eq!("last-victim".parse(), Ok(VictimPolicy::LastVictim));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VictimPolicy {
    /// Tries candidates in numerical order, starting from a random candidate.
    Random,
    /// Tries candidates in numerical order, starting after the last victim tried.
    RoundRobin,
    /// First tries the thief's last victim and the victims' own last victims, then continues like
    /// `Random`.
    LastVictim,
    /// First tries the thief's last victim and the victims' own last victims, then near victims
    /// before far ones (the default).
    Hierarchical,
}

table! {
    VICTIM: VictimPolicy = choice("victim", VictimPolicy::NAMES, VictimPolicy::Hierarchical).set_by("TIDEGATE_VICTIM"),
        "Which victims a thief tries. Trying near victims first keeps tasks close to the caches that hold their data.", Basis::Published("Haselsteiner 2015, section 2.2");
}

words!(
    VictimPolicy,
    "victim policy",
    Random = "random",
    RoundRobin = "round-robin",
    LastVictim = "last-victim",
    Hierarchical = "hierarchical"
);

impl Default for VictimPolicy {
    fn default() -> Self {
        VICTIM.default
    }
}

/// A thief's view of the other workers. Each worker has a number below [`count`](Self::count); the
/// thief may be one of them.
pub trait Peers {
    /// Returns the largest worker number plus one.
    fn count(&self) -> usize;

    /// Returns whether this worker may be a victim now. This must be cheap, because an attempt
    /// calls it for several workers.
    fn is_candidate(&self, worker: usize) -> bool;

    /// Returns the distance from `thief` to `victim`, at least 1; see
    /// [`PlaceTree::distance`](crate::PlaceTree::distance).
    fn distance(&self, thief: usize, victim: usize) -> u32;

    /// Returns the victim of this worker's own last successful steal, if any.
    fn last_victim(&self, worker: usize) -> Option<usize>;

    /// Returns whether every worker is a candidate at distance 1 from every other. If so, a
    /// hierarchical thief does not have to look at all of them, and still chooses the same victims.
    fn are_alike(&self) -> bool {
        false
    }

    /// Returns an index of the candidates, if any. With an index, a thief does not have to look at
    /// every worker, and tries each candidate with the same probability as without one. If the
    /// workers of every group of the tree have consecutive numbers, it even tries the same
    /// candidates.
    fn census(&self) -> Option<&dyn Census> {
        None
    }
}

/// An index of the candidates by their distance from a thief. It pays off with thousands of
/// workers, as in the simulator.
pub trait Census {
    /// Returns the smallest distance from `thief` above `distance` at which there are candidates
    /// other than `asked`, and the number of these candidates.
    fn beyond(&self, thief: usize, distance: u32, asked: Option<usize>) -> Option<(u32, usize)>;

    /// Returns the `nth` candidate at this distance from `thief`, counted from 0 and excluding
    /// `asked`. The candidate must exist.
    fn nth(&self, thief: usize, distance: u32, asked: Option<usize>, nth: usize) -> usize;

    /// Returns the first candidate whose number is at least `worker`.
    fn first_from(&self, worker: usize) -> Option<usize>;
}
