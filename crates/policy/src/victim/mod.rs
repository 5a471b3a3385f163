//! Whom a thief robs next.
//!
//! A *sweep* is one round of attempts after which the thief may rest. [`VictimState::next`] names one victim after the
//! other and says when the sweep is over; [`VictimState::stolen_from`] ends it early with a success.
//!
//! * `random` asks every candidate once, from a random one on round the circle.
//! * `last-victim` first asks the victim of the thief's last success again; then it goes on as `random` does, but when a
//!   victim chosen that way had nothing, it asks that victim's own last victim besides.
//! * `hierarchical` does the same with another choice: one random victim among those at the smallest distance, then one
//!   at the next larger, up to the top. A sweep asks at every distance, not everybody; over many sweeps it asks all.
//!
//! The last two are the rules of the Pheet framework (Haselsteiner, "Adaptive work-stealing", 2015, section 2.2). What the
//! source leaves open: a last victim that was just asked is not chosen again in the same sweep, and distances at which
//! nobody is are skipped.
//!
//! Candidates may come and go between any two calls, nothing is allocated, and nobody is remembered who is not asked.
//! Whether a victim has work is for the thief to find out; this module never looks.

mod census;
mod sweep;

pub use census::{Candidates, Census, PlaceOrder};
pub use sweep::VictimState;

use crate::error::ParseError;
use crate::text;
use crate::tunable::{Basis, Tunable, choice, choices, table};
use core::fmt;
use core::str::FromStr;

/// A rule for choosing victims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Victim {
    /// At random.
    Random,
    /// The last victim and the victims' last victims first, else at random.
    LastVictim,
    /// The last victim and the victims' last victims first, else near ones before far ones.
    Hierarchical,
}

impl Victim {
    pub(crate) const NAMES: &'static [&'static str] = &["random", "last-victim", "hierarchical"];
}

table! {
    VICTIM: Victim = choice("victim", Victim::NAMES, Victim::Hierarchical).set_by("TIDEGATE_VICTIM"),
        "Whom a thief robs; near victims first keeps tasks close to the caches that hold their data.", Basis::Published("Haselsteiner 2015, section 2.2");
}

choices!(Victim);

impl Default for Victim {
    /// [`VICTIM`].
    fn default() -> Self {
        VICTIM.default
    }
}

impl fmt::Display for Victim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Random => "random",
            Self::LastVictim => "last-victim",
            Self::Hierarchical => "hierarchical",
        })
    }
}

impl FromStr for Victim {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "random" => Ok(Self::Random),
            "last-victim" => Ok(Self::LastVictim),
            "hierarchical" => Ok(Self::Hierarchical),
            _ => Err(text::unknown("rule for victims", text, Self::NAMES)),
        }
    }
}

/// What a thief sees of the others. Workers are numbers below [`count`](Self::count); the thief itself may be among them.
pub trait Peers {
    /// One more than the largest number that a worker has.
    fn count(&self) -> usize;

    /// Whether this worker may be robbed now. Cheap: it is asked about several workers per attempt.
    fn is_candidate(&self, worker: usize) -> bool;

    /// How far `victim` is from `thief`, at least 1: see [`PlaceTree::distance`](crate::PlaceTree::distance).
    fn distance(&self, thief: usize, victim: usize) -> u32;

    /// The last victim of this worker's own successful steals, if there was one.
    fn last_victim(&self, worker: usize) -> Option<usize>;

    /// Whether every worker is a candidate and at distance 1 from every other. Who knows that spares a hierarchical thief
    /// the look at all of them; it chooses the same victims.
    fn are_alike(&self) -> bool {
        false
    }

    /// The candidates, counted. Who counts them spares a thief the look at every worker. It asks each with the same probability; where every group of
    /// the tree has consecutive numbers, it asks the same one as after looking.
    fn census(&self) -> Option<Census<'_>> {
        None
    }
}
