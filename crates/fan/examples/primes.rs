//! Counts the primes below a number, in pieces: the smallest program that can be split.
//!
//! `cargo run --example primes -- run --below 10000000` runs the pieces on this machine, and
//! `run --engine hq` on the workers of a HyperQueue server.
//!
//! The page `docs/guide/many-machines.md` explains it.

use std::fmt;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use tidegate_fan::{Budget, Done, Error, Split, Weighted, main as fan};

/// Counts the primes below a number.
#[derive(clap::Args, Serialize, Deserialize)]
struct Primes {
    /// Count the primes below this number
    #[arg(long, value_name = "N")]
    below: u64,
}

#[derive(Serialize)]
struct Count {
    below: u64,
    primes: u64,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} primes below {}", self.primes, self.below)
    }
}

impl Split for Primes {
    const NAME: &'static str = "primes";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    type Item = (u64, u64);
    type Out = u64;
    type Report = Count;

    fn plan(&self, pieces: usize) -> Result<Vec<Weighted<Self::Item>>, Error> {
        let each = self.below.div_ceil(pieces as u64).max(1);
        let starts = (0..self.below).step_by(each as usize);
        let ends = starts.map(|start| (start, self.below.min(start + each)));
        Ok(ends.map(weighted).collect())
    }

    fn run(
        &self,
        (start, end): Self::Item,
        budget: &Budget,
    ) -> Result<Done<Self::Item, u64>, Error> {
        let mut primes = 0;
        for number in start..end {
            if number.is_multiple_of(1024) && number > start && budget.is_spent() {
                let rest = vec![weighted((number, end))];
                return Ok(Done { out: primes, rest });
            }
            primes += u64::from(is_prime(number));
        }
        Ok(Done::whole(primes))
    }

    fn merge(&self, outs: Vec<u64>) -> Result<Count, Error> {
        let (below, primes) = (self.below, outs.iter().sum());
        Ok(Count { below, primes })
    }
}

fn weighted(item: (u64, u64)) -> Weighted<(u64, u64)> {
    let weight = item.1 - item.0;
    Weighted { item, weight }
}

fn is_prime(number: u64) -> bool {
    let mut divisors = (2..).take_while(|divisor| divisor * divisor <= number);
    number > 1 && divisors.all(|divisor| !number.is_multiple_of(divisor))
}

fn main() -> ExitCode {
    fan::<Primes>()
}
