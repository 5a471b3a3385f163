//! Carries out requests: times chains, checks their results, and keeps inputs and correct results
//! for later samples.

use std::collections::HashMap;
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};
use serde_json::Value;

use crate::chains::{Chain, Library, Output};
use crate::depth;
use crate::input::Input;
use crate::native;
use crate::pools;
use crate::request::{Order, Place, Request};
use crate::trouble::Trouble;
use crate::usage::Usage;

/// Warm-up calls take at least 1/`WARM_UP` of a sample's time. They wake the workers, and show how
/// long a call takes.
const WARM_UP: u32 = 4;

pub struct Bench {
    pool: ThreadPool,
    inputs: HashMap<usize, Input>,
    /// The digests of the serial results, keyed by chain and number of items.
    right: HashMap<(&'static str, usize), u64>,
}

impl Bench {
    /// Creates a bench with a private pool of this many workers.
    pub fn new(workers: usize) -> Result<Self, Trouble> {
        Ok(Self {
            pool: pools::start(ThreadPoolBuilder::new(), workers)?,
            inputs: HashMap::new(),
            right: HashMap::new(),
        })
    }

    /// Carries out a request and returns the answer.
    pub fn carry_out(&mut self, request: &Request) -> Result<Value, Trouble> {
        match *request {
            Request::Sample(ref order) => self.sample(order),
            Request::Idle { millis } => {
                let length = Duration::from_millis(millis.get());
                let (used, ()) = Usage::of(|| thread::sleep(length));
                Ok(used.to_json())
            }
            Request::Depth {
                levels,
                workers,
                stack,
            } => depth::measure(levels.get(), workers.get(), stack.get()),
        }
    }

    /// Times a chain. Checks the result of the last call outside the measured time.
    fn sample(&mut self, order: &Order) -> Result<Value, Trouble> {
        let Order {
            chain,
            items,
            micros,
            place,
        } = *order;
        let length = Duration::from_micros(micros.get());
        let pool = &self.pool;
        let input = &*self
            .inputs
            .entry(items)
            .or_insert_with(|| Input::new(items));
        let right = || (chain.serial)(input).digest();
        let right = *self.right.entry((chain.name, items)).or_insert_with(right);
        let call = || (chain.parallel)(input);
        let timed = match place {
            Place::Inside if chain.library == Library::Native => {
                native::install(pool, || Timed::take(length, call))
            }
            Place::Inside => pool.install(|| Timed::take(length, call)),
            Place::Outside => Timed::take(length, call),
            Place::Install => Timed::take(length, || pool.install(call)),
        };
        if timed.last.digest() != right {
            return Err(Trouble::Wrong(wrong(chain, items, place)));
        }
        let mut answer = timed.used.to_json();
        answer["nanos"] = timed.nanos.into();
        Ok(answer)
    }
}

fn wrong(chain: &Chain, items: usize, place: Place) -> String {
    let name = chain.name;
    format!("{name} of {items} items, {place:?}, differs from its serial version")
}

struct Timed {
    nanos: f64,
    /// The resources that all timed calls together used.
    used: Usage,
    last: Output,
}

impl Timed {
    /// Times consecutive calls for about `length`. If one call takes longer than that, times one
    /// call.
    fn take(length: Duration, call: impl Fn() -> Output) -> Self {
        let start = Instant::now();
        let mut last = black_box(call());
        let mut calls = 1;
        while start.elapsed() < length / WARM_UP {
            last = black_box(call());
            calls += 1;
        }
        let each = (start.elapsed() / calls).max(Duration::from_nanos(1));
        let times = (length.as_nanos() / each.as_nanos()).max(1);
        let (used, took) = Usage::of(|| {
            let start = Instant::now();
            for _ in 0..times {
                last = black_box(call());
            }
            start.elapsed()
        });
        Self {
            nanos: took.as_nanos() as f64 / times as f64,
            used,
            last,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;
    use crate::chains::CHAINS;

    /// Where a test may call it. rayon's chains can be called from anywhere.
    fn places(chain: &Chain) -> Vec<Place> {
        match chain.library {
            Library::Rayon => vec![Place::Inside, Place::Outside, Place::Install],
            Library::Orx | Library::Native => chain.places.into(),
        }
    }

    #[test]
    fn every_chain_gives_its_serial_result() {
        for workers in [1, 2, 3] {
            let mut bench = Bench::new(workers).unwrap();
            for chain in &CHAINS {
                for items in [0, 1, 2, 63, 1000, 5000] {
                    for place in places(chain) {
                        let order = Order {
                            chain,
                            items,
                            micros: NonZero::<u64>::MIN,
                            place,
                        };
                        let answer = bench.sample(&order).unwrap();
                        assert!(answer["nanos"].as_f64().unwrap() >= 0.0, "{}", chain.name);
                    }
                }
            }
        }
    }

    #[test]
    fn each_place_is_where_it_says() {
        static WHERE: Chain = Chain {
            name: "where",
            library: Library::Rayon,
            sizes: &[0],
            places: &[],
            serial: |_| Output::Number(1),
            parallel: |_| Output::Number(rayon::current_thread_index().map_or(0, |_| 1)),
        };
        let mut bench = Bench::new(1).unwrap();
        let mut is_in_a_pool = |place| {
            let order = Order {
                chain: &WHERE,
                items: 1,
                micros: NonZero::<u64>::MIN,
                place,
            };
            bench.sample(&order).is_ok()
        };
        assert!(is_in_a_pool(Place::Inside) && is_in_a_pool(Place::Install));
        assert!(!is_in_a_pool(Place::Outside));
    }

    #[test]
    fn wrong_result_is_reported() {
        static LIAR: Chain = Chain {
            name: "liar",
            library: Library::Rayon,
            sizes: &[1],
            places: &[Place::Inside],
            serial: |_| Output::Number(0),
            parallel: |_| Output::Number(1),
        };
        let order = Order {
            chain: &LIAR,
            items: 1,
            micros: NonZero::<u64>::MIN,
            place: Place::Inside,
        };
        let told = Bench::new(1).unwrap().sample(&order);
        assert!(
            matches!(told, Err(Trouble::Wrong(what)) if what.starts_with("liar of 1 items, Inside,"))
        );
    }

    #[test]
    fn sample_fills_its_time_with_calls() {
        let calls = std::cell::Cell::new(0);
        let timed = Timed::take(Duration::from_millis(20), || {
            calls.set(calls.get() + 1);
            thread::sleep(Duration::from_millis(1));
            Output::Nothing
        });
        // Even on a slow machine, at least one call warms up and one is timed.
        assert!(calls.get() >= 2 && timed.nanos >= 1e6, "{}", timed.nanos);
    }
}
