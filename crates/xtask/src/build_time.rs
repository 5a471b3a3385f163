//! Measures what users pay to build the libraries as dependencies, in release, from nothing:
//! `cargo run -p xtask -- build-time`. ARCHITECTURE.md limits each in relation to rayon.

use std::fs;

use crate::command::Cmd;
use crate::house;
use crate::step::{Outcome, Tally};
use crate::workspace::Workspace;

/// What a program depends on: the name of the check, and the end of the program's manifest.
const SUBJECTS: [(&str, &str); 3] = [
    ("rayon", "rayon = \"1.12\""),
    (
        "rayon on the drop-in",
        "rayon = \"1.12\"\n[patch.crates-io]\nrayon-core = { path = \"{crates}/rayon-core\" }",
    ),
    ("tidegate", "tidegate = { path = \"{crates}/tidegate\" }"),
];

pub fn run(workspace: &Workspace, tally: &mut Tally) {
    let mut rayons = None;
    for (name, dependencies) in SUBJECTS {
        tally.run(&format!("build {name}"), || {
            let seconds = build(workspace, name, dependencies)?;
            let rayons = *rayons.get_or_insert(seconds);
            judge(workspace, name, seconds, seconds * 100.0 / rayons)
        });
    }
}

fn judge(workspace: &Workspace, name: &str, seconds: f64, percent: f64) -> Outcome {
    let found = format!("{seconds:.1} CPU seconds, {percent:.0} % of rayon's");
    let measure = format!("CPU seconds to build {name}, in percent of rayon's");
    match house::limit(&workspace.read(house::PAGE)?, &measure) {
        Some((_, most)) if percent > most as f64 => {
            Err(format!("{found}, and at most {most} % may be").into())
        }
        _ => Ok(found),
    }
}

/// Builds a program with these dependencies, and returns the CPU seconds.
fn build(workspace: &Workspace, name: &str, dependencies: &str) -> Result<f64, String> {
    let folder = workspace.scratch("build-time").join(name.replace(' ', "-"));
    let crates = workspace.root.join("crates").display().to_string();
    let dependencies = dependencies.replace("{crates}", &crates);
    let manifest = format!(
        "[package]\nname = \"dependent\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n{dependencies}\n"
    );
    let _ = fs::remove_dir_all(folder.join("target"));
    fs::create_dir_all(folder.join("src"))
        .and_then(|()| fs::write(folder.join("Cargo.toml"), manifest))
        .and_then(|()| fs::write(folder.join("src/main.rs"), "fn main() {}\n"))
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    let cargo = |line: &str| {
        let manifest = folder.join("Cargo.toml");
        let cargo = Cmd::cargo(workspace, "build time", line);
        cargo.args(["--manifest-path".as_ref(), manifest.as_os_str()])
    };
    // Downloads are not part of building.
    cargo("fetch").succeed()?;
    let before = cpu_seconds_of_children()?;
    let target = folder.join("target");
    cargo("build --release")
        .env("CARGO_TARGET_DIR", target)
        .succeed()?;
    Ok(cpu_seconds_of_children()? - before)
}

/// Returns the CPU seconds of the processes that this one has started and that have ended.
fn cpu_seconds_of_children() -> Result<f64, String> {
    const FILE: &str = "/proc/self/stat";
    /// The kernel shows times to programs in this unit on every architecture.
    const TICKS_PER_SECOND: f64 = 100.0;
    let text = fs::read_to_string(FILE).map_err(|error| format!("{FILE}: {error}"))?;
    // The second field, the program's name in parentheses, may contain blanks.
    let fields = text.rsplit(')').next().unwrap_or_default();
    let times = fields.split_whitespace().skip(13).take(2);
    let ticks: Option<f64> = times.map(|time| time.parse::<f64>().ok()).sum();
    let ticks = ticks.ok_or_else(|| format!("{FILE} has no times of children: {text}"))?;
    Ok(ticks / TICKS_PER_SECOND)
}
