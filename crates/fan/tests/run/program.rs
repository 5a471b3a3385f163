//! The program that the tests split.

use std::fmt;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process;
use std::thread::sleep;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};
use tidegate_fan::{Budget, Done, Error, Split, Weighted};

#[derive(Args, Debug, Serialize, Deserialize)]
pub struct Program {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
enum What {
    /// Adds numbers
    Sum(Sum),
}

#[derive(Args, Debug, Serialize, Deserialize)]
struct Sum {
    /// Add the numbers below this one
    #[arg(long)]
    below: u64,
    /// From this number on, a piece creates the file NUMBER~PID in `hold`, and waits for the file
    /// `go` there
    #[arg(long)]
    from: Option<u64>,
    #[arg(long, default_value = "hold")]
    hold: PathBuf,
    /// Each number takes so many milliseconds
    #[arg(long, default_value_t = 0)]
    pause: u64,
    /// What happens to the piece that comes to the number `at`
    #[arg(long)]
    fault: Option<Fault>,
    #[arg(long, default_value_t = 0)]
    at: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum, Serialize, Deserialize)]
enum Fault {
    Panic,
    Never,
    Abort,
}

#[derive(Serialize)]
pub struct Report {
    sum: u64,
    /// The numbers in the order in which they were merged.
    ends: Vec<u64>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is printed ends with a line break all the same.
        write!(f, "sum {}", self.sum)
    }
}

type Range = (u64, u64);

impl Split for Program {
    const NAME: &'static str = "sums";
    const VERSION: &'static str = "1";
    type Item = Range;
    type Out = Vec<u64>;
    type Report = Report;

    fn plan(&self, pieces: usize) -> Result<Vec<Weighted<Range>>, Error> {
        let What::Sum(sum) = &self.what;
        let each = sum.below.div_ceil(pieces as u64).max(1);
        let starts = (0..sum.below).step_by(each as usize);
        let ranges = starts.map(|start| (start, sum.below.min(start + each)));
        Ok(ranges.map(weighted).collect())
    }

    /// Leaves two halves of the rest to others if the budget is spent.
    fn run(&self, (start, end): Range, budget: &Budget) -> Result<Done<Range, Vec<u64>>, Error> {
        let What::Sum(sum) = &self.what;
        let mut out = Vec::new();
        for number in start..end {
            if number > start && budget.is_spent() {
                let middle = number.midpoint(end);
                let halves = [(number, middle), (middle, end)].into_iter();
                let halves = halves.filter(|(start, end)| start < end);
                let rest = halves.map(weighted).collect();
                return Ok(Done { out, rest });
            }
            sum.meet(number)?;
            out.push(number);
        }
        Ok(Done::whole(out))
    }

    fn merge(&self, outs: Vec<Vec<u64>>) -> Result<Report, Error> {
        let ends = outs.iter().filter_map(|out| out.last().copied()).collect();
        let sum = outs.iter().flatten().sum();
        Ok(Report { sum, ends })
    }
}

impl Sum {
    fn meet(&self, number: u64) -> Result<(), Error> {
        if self.pause > 0 {
            sleep(Duration::from_millis(self.pause));
        }
        if self.from.is_some_and(|from| number >= from) {
            let go = self.hold.join("go");
            if !go.exists() {
                fs::create_dir_all(&self.hold).expect("a folder");
                let name = format!("{number}~{}", process::id());
                File::create(self.hold.join(name)).expect("a file");
            }
            while !go.exists() {
                assert!(self.hold.exists(), "the test has ended");
                sleep(Duration::from_millis(5));
            }
        }
        match self.fault {
            Some(Fault::Panic) if number == self.at => panic!("no luck with {number}"),
            Some(Fault::Never) if number == self.at => Err(Error::never(format!("bad {number}"))),
            Some(Fault::Abort) if number == self.at => {
                eprintln!("{number} is the end");
                process::abort()
            }
            _ => Ok(()),
        }
    }
}

fn weighted(item: Range) -> Weighted<Range> {
    let weight = item.1 - item.0;
    Weighted { item, weight }
}
