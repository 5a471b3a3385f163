//! Measures what users pay to build the libraries as dependencies, in release, from nothing:
//! `cargo run -p xtask -- ci "build time"`. ARCHITECTURE.md limits each in relation to rayon.

use std::fs;

use anyhow::{Result, ensure};

use crate::command::Cmd;
use crate::house;
use crate::step::Tally;
use crate::workspace::{WORKSPACE, scratch};

/// What a program depends on: the name of the check, and the end of the program's manifest.
#[rustfmt::skip]
const SUBJECTS: [(&str, &str); 3] = [
    ("rayon", "rayon = \"1.12\""),
    ("rayon on the drop-in", "rayon = \"1.12\"\n[patch.crates-io]\nrayon-core = { path = \"{crates}/rayon-core\" }"),
    ("tidegate", "tidegate = { path = \"{crates}/tidegate\" }"),
];

pub fn run(tally: &mut Tally) {
    let mut rayons = None;
    for (name, dependencies) in SUBJECTS {
        tally.run(&format!("build {name}"), || {
            let seconds = build(name, dependencies)?;
            let percent = seconds * 100.0 / *rayons.get_or_insert(seconds);
            let found = format!("{seconds:.1} CPU seconds, {percent:.0} % of rayon's");
            let measure = format!("CPU seconds to build {name}, in percent of rayon's");
            let most = house::most(&measure)?.unwrap_or(100);
            ensure!(percent <= most as f64, "{found}; at most {most} %");
            Ok(found)
        });
    }
}

/// Builds a program with these dependencies, and returns the CPU seconds.
fn build(name: &str, dependencies: &str) -> Result<f64> {
    let folder = scratch("build-time").join(name.replace(' ', "-"));
    let crates = WORKSPACE.workspace_root.join("crates");
    let dependencies = dependencies.replace("{crates}", crates.as_str());
    let manifest = format!(
        "[package]\nname = \"dependent\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n{dependencies}\n"
    );
    let _ = fs::remove_dir_all(folder.join("target"));
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::write(folder.join("src/main.rs"), "fn main() {}\n")?;
    let cargo = |line| Cmd::cargo(line).within(&folder);
    // Downloads are not part of building.
    cargo("fetch").succeed()?;
    let before = cpu_seconds_of_children()?;
    cargo("build --release --target-dir target").succeed()?;
    Ok(cpu_seconds_of_children()? - before)
}

/// Returns the CPU seconds of the processes that this one has started and that have ended.
fn cpu_seconds_of_children() -> Result<f64> {
    #[cfg(not(target_os = "linux"))]
    anyhow::bail!("build times are read from /proc, which only Linux has");
    #[cfg(target_os = "linux")]
    {
        let stat = procfs::process::Process::myself()?.stat()?;
        Ok((stat.cutime + stat.cstime) as f64 / procfs::ticks_per_second() as f64)
    }
}
