//! Programs whose tasks share data, with hints about where to run them.
//!
//! From Thomas Weibel, An Advanced Scheduler for Intervals (ETH Zurich, 2010), chapters 3 to 5:
//! [`cachestress`], [`mergesort`] and [`blockmatmul`], each in five localities. A *place*
//! ([`Runtime::places`]) is a cache domain. The locality determines the place into which a task is
//! put, given where the tasks before it touched the same data:
//!
//! | locality | a task's place |
//! |---|---|
//! | `best` | the place of the tasks before it |
//! | `ignorant` | none: the runtime chooses |
//! | `in-turn` | the next place after that of the task before it in the program's order |
//! | `random` | drawn at random |
//! | `worst` | always a different place from that of the task before it |
//!
//! The tasks are the same in all localities. A task that becomes ready and may run in the current
//! place runs immediately; a task for another place goes through that place's queue. So tasks must
//! take long compared with a queue operation; otherwise `random` and `worst` also measure the cost
//! of the queue.
//!
//! Places are not strict: an idle worker takes tasks of other places, as in the thesis.

pub mod blockmatmul;
pub mod cachestress;
pub mod mergesort;

use tidegate::PlaceId;
use tidegate_sim::Put;

use crate::parameter::{Kind, Parameter, ParameterError, Words, named, seed};
use crate::runtime::Runtime;
use crate::steps::random;

/// Where a task runs relative to the data that it touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locality {
    /// In the place where the previous tasks touched the data.
    Best,
    /// In any place; the runtime chooses.
    Ignorant,
    /// In each place in turn (section 4.2.2).
    InTurn,
    /// In a randomly drawn place.
    Random,
    /// Always in a different place from the previous task.
    Worst,
}

impl Words for Locality {
    const ALL: &'static [Self] = &Self::ALL;
    const NAMES: &'static [&'static str] = &["best", "ignorant", "in-turn", "random", "worst"];
}

impl Locality {
    /// All localities, in the order of the parameter's values.
    pub const ALL: [Self; 5] = [
        Self::Best,
        Self::Ignorant,
        Self::InTurn,
        Self::Random,
        Self::Worst,
    ];

    const PARAMETER: Parameter = named(
        "locality",
        Kind::Choice(Self::NAMES),
        ["ignorant"; 3],
        "where a task runs: in the place of its data (best), anywhere (ignorant), in each place in turn (in-turn), in a random place, or always in another place (worst)",
    );

    const SEED: Parameter = seed("seed of the data and of random places");

    /// Returns the locality's name as a parameter value.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Returns where the simulator puts a task; the parameters are those of [`Hints::place`].
    pub(crate) fn put(
        self,
        seed: u64,
        (part, parts): (usize, usize),
        turn: usize,
        number: u64,
    ) -> Option<Put> {
        let drawn = || (random(!seed, number) >> u32::BITS) as u32;
        let (part, parts, turn) = match self {
            Self::Ignorant => return None,
            Self::Best => (part as u32, parts as u32, 0),
            Self::InTurn => (0, 1, number as u32),
            Self::Worst => (part as u32, parts as u32, turn as u32),
            Self::Random => (drawn(), u32::MAX, 0),
        };
        Some(Put { part, parts, turn })
    }

    /// Returns the minimum number of places for this locality.
    fn places(self) -> usize {
        match self {
            Self::Ignorant => 0,
            Self::Best | Self::InTurn | Self::Random => 1,
            Self::Worst => 2,
        }
    }

    /// Returns an error if the runtime has too few places.
    fn fits<R: Runtime>(self, runtime: &R) -> Result<(), ParameterError> {
        if self == Self::Ignorant {
            return Ok(());
        }
        let found = runtime.install(|_| R::places().len());
        self.enough::<R>(found)
    }

    fn enough<R: Runtime>(self, found: usize) -> Result<(), ParameterError> {
        let (name, needed) = (self.name(), self.places());
        match found {
            _ if found >= needed => Ok(()),
            0 => {
                let expected = format!("\"ignorant\", because {} has no places", R::NAME);
                let name = format!("{name:?}");
                Err(ParameterError::invalid(name, "locality", expected))
            }
            _ => Err(ParameterError::new(format!(
                "locality {name:?} requires {needed} places, but this pool has {found}: see TIDEGATE_PLACES"
            ))),
        }
    }
}

/// Chooses the place of each task in a run.
#[derive(Debug)]
struct Hints {
    locality: Locality,
    seed: u64,
    places: Vec<PlaceId>,
}

impl Hints {
    /// Creates the hints for a run. Must be called inside the run, because it queries the runtime's
    /// places.
    ///
    /// # Panics
    /// If the runtime has too few places; see [`Program::fits`](crate::Program::fits).
    fn new<R: Runtime>(locality: Locality, seed: u64) -> Self {
        let places = R::places();
        if let Err(refusal) = locality.enough::<R>(places.len()) {
            panic!("{refusal}");
        }
        Self {
            locality,
            seed,
            places,
        }
    }

    /// Returns the place of the task with the index `number`, or `None` if it may run in any place.
    ///
    /// The task's data is part `part` of `parts`, and the parts are divided evenly among the
    /// places. `turn` is the number of tasks that have touched that data before.
    fn place(&self, (part, parts): (usize, usize), turn: usize, number: usize) -> Option<PlaceId> {
        let count = self.places.len();
        let chosen = match self.locality {
            Locality::Ignorant => return None,
            Locality::Best => part * count / parts,
            Locality::InTurn => number % count,
            Locality::Worst => (part * count / parts + turn) % count,
            // The seed differs from the data's, so that places and data are independent.
            Locality::Random => (random(!self.seed, number as u64) % count as u64) as usize,
        };
        Some(self.places[chosen])
    }

    /// Whether a task for `place` may run in the current place.
    fn is_here<R: Runtime>(place: Option<PlaceId>) -> bool {
        place.is_none_or(|place| R::place() == Some(place))
    }

    fn spawn<'scope, R: Runtime>(
        scope: &R::Scope<'scope>,
        place: Option<PlaceId>,
        body: impl FnOnce(&R::Scope<'scope>) + Send + 'scope,
    ) {
        match place {
            None => R::spawn(scope, body),
            Some(place) => R::spawn_at(scope, place, body),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Serial, Tidegate};

    fn hints(locality: Locality) -> (Vec<PlaceId>, Vec<Option<PlaceId>>) {
        let pool = tidegate::Pool::builder()
            .workers(3)
            .places("each:1".parse().unwrap());
        let pool = Tidegate::new(pool.build().unwrap());
        pool.install(|_| {
            let hints = Hints::new::<Tidegate>(locality, 7);
            let chain = |turn| hints.place((1, 2), turn, turn);
            (Tidegate::places(), (0..60).map(chain).collect())
        })
    }

    #[test]
    fn best_never_moves_worst_always_does() {
        let (places, best) = hints(Locality::Best);
        assert!(best.iter().all(|place| *place == Some(places[1])));
        let (_, worst) = hints(Locality::Worst);
        assert!(worst.windows(2).all(|two| two[0] != two[1]));
    }

    #[test]
    fn random_uses_every_place_ignorant_none() {
        let (places, random) = hints(Locality::Random);
        let drawn = |place| random.iter().filter(|one| **one == Some(place)).count();
        assert!(places.into_iter().all(|place| drawn(place) > 5));
        let (_, ignorant) = hints(Locality::Ignorant);
        assert!(ignorant.iter().all(Option::is_none));
    }

    #[test]
    fn simulated_tasks_get_real_places() {
        for locality in [Locality::Best, Locality::InTurn, Locality::Worst] {
            let (places, hints) = hints(locality);
            for (turn, hint) in hints.into_iter().enumerate() {
                let put = locality.put(7, (1, 2), turn, turn as u64).unwrap();
                assert_eq!(hint, Some(places[put.of(3)]), "{locality:?} {turn}");
            }
        }
        assert_eq!(Locality::Ignorant.put(7, (1, 2), 0, 0), None);
        let drawn = |place| {
            let put = |number| Locality::Random.put(7, (1, 2), 0, number);
            (0..60).filter(|&n| put(n).unwrap().of(3) == place).count()
        };
        assert!((0..3).all(|place| drawn(place) > 5));
    }

    /// Every hint requires a place, and `worst` requires two places.
    #[test]
    fn hints_need_places() {
        let told = |refusal: Result<(), ParameterError>| refusal.unwrap_err().to_string();
        let serial = |locality: Locality| locality.fits(&Serial);
        assert_eq!(serial(Locality::Ignorant), Ok(()));
        for locality in [Locality::Best, Locality::Random, Locality::Worst] {
            assert!(
                told(serial(locality))
                    .contains("expected \"ignorant\", because serial has no places")
            );
        }
        let one = Tidegate::with_workers(1).unwrap();
        assert_eq!(Locality::Best.fits(&one), Ok(()));
        let refusal = told(Locality::Worst.fits(&one));
        assert!(
            refusal.contains("requires 2 places, but this pool has 1"),
            "{refusal}"
        );
    }

    #[test]
    #[should_panic(expected = "serial has no places")]
    fn placeless_runtime_panics_on_hints() {
        Serial.install(|_| Hints::new::<Serial>(Locality::Best, 1));
    }
}
