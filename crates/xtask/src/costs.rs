//! Counts the instructions of the programs in `benches/costs` with callgrind, which hardly depend
//! on what else the machine does: `cargo run -p xtask -- ci costs`. ARCHITECTURE.md limits each.

use anyhow::{Context, Result, ensure};

use crate::command::Cmd;
use crate::step::Tally;
use crate::workspace::scratch;
use crate::{beside, house};

/// Loops read the clock to decide how far to split, so their counts depend a little on the machine:
/// the least of so many runs counts.
const TRIES: usize = 5;

pub fn run(tally: &mut Tally) {
    let mut listed = String::new();
    tally.run("costs", || {
        let valgrind = Cmd::new("valgrind").args(["--version"]);
        beside::need(valgrind, "valgrind is not installed")?;
        let line = "build --release --locked --manifest-path benches/costs/Cargo.toml";
        beside::shared(line).succeed()?;
        listed = Cmd::new(&program()).succeed()?;
        Ok(String::new())
    });
    // The first line is the command.
    let lines = listed.lines().skip(1);
    for (calls, name) in lines.filter_map(|line| line.split_once(' ')) {
        tally.run(&format!("cost {name}"), || {
            let measure = format!("instructions: {name}");
            let most = house::most(&measure)?
                .with_context(|| format!("no row {measure:?} in {}", house::PAGE))?;
            let mut cost = f64::INFINITY;
            for _ in 0..TRIES {
                let more = instructions(name, "with")? - instructions(name, "without")?;
                cost = cost.min((more / calls.parse::<f64>()?).round());
                if cost <= most as f64 {
                    break;
                }
            }
            let found = format!("{cost} instructions a call, at most {most}");
            ensure!(cost <= most as f64, "{found}");
            ensure!(
                cost * 4.0 > most as f64 * 3.0,
                "{found}: write what it costs now"
            );
            Ok(found)
        });
    }
}

fn program() -> String {
    format!("{}/release/costs", scratch("beside").display())
}

fn instructions(name: &str, calls: &str) -> Result<f64> {
    let options = "--tool=callgrind --callgrind-out-file=/dev/null".split(' ');
    let callgrind = Cmd::new("valgrind").args(options);
    let output = callgrind.args([&program(), name, calls]).succeed()?;
    let mut lines = output.lines();
    let count = lines.find_map(|line| Some(line.split_once("Collected : ")?.1.trim()));
    Ok(count.with_context(|| output.clone())?.parse()?)
}
