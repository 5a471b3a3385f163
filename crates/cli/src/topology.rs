//! Reads topology files, which may describe hypothetical machines.

use std::path::Path;

use tidegate::machine::Topology;

use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::input;
use tidegate_cli_support::standard::shown_input;

pub fn read(file: &Path) -> Result<Topology, Failure> {
    let topology = input::text(file)?.parse();
    topology.map_err(|error| Failure::Usage(format!("{}: {error}", shown_input(file))))
}
