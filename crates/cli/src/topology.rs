//! Reads topology files, which may describe hypothetical machines.

use std::path::Path;

use tidegate::machine::Topology;

use tidegate_command::failure::Failure;
use tidegate_command::input;
use tidegate_command::standard::shown_input;

pub fn read(file: &Path) -> Result<Topology, Failure> {
    let topology = input::text(file)?.parse();
    topology.map_err(|error| Failure::Usage(format!("{}: {error}", shown_input(file))))
}
