//! Carries requests out: times chains, checks their results, and keeps what one sample leaves to the next.

use std::collections::HashMap;
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::chains::{Chain, Output};
use crate::depth;
use crate::input::Input;
use crate::pools::Pools;
use crate::request::{Order, Place, Request};
use crate::trouble::Trouble;
use crate::usage::Usage;

/// Inputs, right results and pools.
#[derive(Default)]
pub struct Bench {
    input: Input,
    pools: Pools,
    /// What the serial version made of so many items.
    right: HashMap<(&'static str, usize), u64>,
}

impl Bench {
    /// The answer to a request.
    pub fn carry_out(&mut self, request: &Request) -> Result<Value, Trouble> {
        match *request {
            Request::Sample(ref order) => self.sample(order),
            Request::Idle(millis) => {
                let (used, ()) = Usage::of(|| thread::sleep(Duration::from_millis(millis)));
                Ok(used.to_json())
            }
            Request::Depth {
                levels,
                workers,
                stack,
            } => depth::measure(levels, workers, stack),
        }
    }

    /// Times a chain and checks the last call's result, outside of the time.
    fn sample(&mut self, order: &Order) -> Result<Value, Trouble> {
        let Order { chain, items, .. } = *order;
        let right = self.right(chain, items);
        let mut calls = Calls::prepare(&mut self.input, order);
        let (used, (took, output)) = match order.place {
            Place::Serial => Usage::of(|| calls.time(chain.serial)),
            Place::Inside => {
                let pool = self.pools.with(order.workers)?;
                Usage::of(|| pool.install(|| calls.time(chain.parallel)))
            }
            Place::Outside => {
                let pool = self.pools.with(order.workers)?;
                Usage::of(|| calls.time(|items| pool.install(|| (chain.parallel)(items))))
            }
        };
        if output.digest(calls.last()) != right {
            return Err(Trouble::Wrong(format!(
                "{} of {items} items by {} workers differs from its serial version",
                chain.name, order.workers
            )));
        }
        let mut answer = used.to_json();
        answer["nanos"] = (took.as_nanos() as f64 / order.times as f64).into();
        Ok(answer)
    }

    fn right(&mut self, chain: &'static Chain, items: usize) -> u64 {
        let input = &mut self.input;
        let find = || {
            let items = input.copies(items, 1);
            (chain.serial)(items).digest(items)
        };
        *self.right.entry((chain.name, items)).or_insert_with(find)
    }
}

/// The calls of one sample, with the items of each.
struct Calls<'a> {
    memory: &'a mut [u64],
    items: usize,
    times: usize,
    /// From the items of one call to those of the next.
    stride: usize,
}

impl<'a> Calls<'a> {
    /// All calls get the same items, or each a copy where the chain spoils them.
    fn prepare(input: &'a mut Input, order: &Order) -> Self {
        let Order { items, times, .. } = *order;
        let (memory, stride) = match order.chain.spoils {
            true => (input.copies(items, times), items),
            false => (input.first(items), 0),
        };
        Self {
            memory,
            items,
            times,
            stride,
        }
    }

    /// How long all calls take together, and what the last one gives.
    fn time(&mut self, call: impl Fn(&mut [u64]) -> Output) -> (Duration, Output) {
        let mut last = Output::InPlace;
        let start = Instant::now();
        for turn in 0..self.times {
            let items = &mut self.memory[turn * self.stride..][..self.items];
            last = black_box(call(black_box(items)));
        }
        (start.elapsed(), last)
    }

    /// The items of the last call.
    fn last(&self) -> &[u64] {
        &self.memory[(self.times - 1) * self.stride..][..self.items]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chains::CHAINS;

    #[test]
    fn every_chain_gives_what_its_serial_version_gives() {
        let mut bench = Bench::default();
        for chain in &CHAINS {
            for items in [1, 2, 63, 1000, 5000] {
                for workers in [1, 2, 3] {
                    for place in [Place::Serial, Place::Inside, Place::Outside] {
                        let order = Order {
                            chain,
                            items,
                            times: 2,
                            workers,
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
    fn a_wrong_result_is_told() {
        static LIAR: Chain = Chain {
            name: "liar",
            forks: false,
            spoils: false,
            sizes: &[],
            serial: |_| Output::Number(0),
            parallel: |_| Output::Number(1),
        };
        let order = Order {
            chain: &LIAR,
            items: 1,
            times: 1,
            workers: 1,
            place: Place::Inside,
        };
        let told = Bench::default().sample(&order);
        assert!(matches!(told, Err(Trouble::Wrong(what)) if what.contains("liar of 1 items")));
    }
}
