//! Counts the instructions of the programs in `benches/costs` with callgrind, which do not depend on
//! what else the machine does: `cargo run -p xtask -- costs`. ARCHITECTURE.md limits each.

use anyhow::{Context, Result, anyhow, ensure};

use crate::command::Cmd;
use crate::house;
use crate::step::{Skipped, Tally};
use crate::workspace::scratch;

pub fn run(tally: &mut Tally) {
    let mut programs = Vec::new();
    tally.run("costs", || {
        let valgrind = Cmd::new("valgrind").args(["--version"]).succeed();
        valgrind.map_err(|_| anyhow!(Skipped("valgrind is not installed".to_string())))?;
        let line = "build --release --locked --manifest-path benches/costs/Cargo.toml";
        let cargo = Cmd::cargo(line).env("CARGO_TARGET_DIR", scratch("beside"));
        cargo.succeed()?;
        let listed = Cmd::new(&program()).succeed()?;
        // The first line is the command.
        let lines = listed.lines().skip(1);
        let lines = lines.filter_map(|line| line.split_once(' '));
        programs.extend(lines.map(|(calls, name)| (calls.to_string(), name.to_string())));
        Ok(format!("{} programs", programs.len()))
    });
    for (calls, name) in programs {
        tally.run(&format!("cost {name}"), || {
            let more = instructions(&name, "with")? - instructions(&name, "without")?;
            let cost = more / calls.parse::<f64>()?;
            let measure = format!("instructions: {name}");
            let most = house::most(&measure)?
                .with_context(|| format!("{cost:.0}, but no row {measure:?} in {}", house::PAGE))?;
            let found = format!("{cost:.0} instructions a call, at most {most}");
            ensure!(cost.round() <= most as f64, "{found}");
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
    let valgrind = Cmd::new("valgrind");
    let callgrind = valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    let output = callgrind
        .args([program().as_str(), name, calls])
        .succeed()?;
    let collected = output
        .lines()
        .find_map(|line| line.split_once("Collected : "));
    let (_, count) = collected.with_context(|| output.clone())?;
    Ok(count.trim().parse()?)
}
