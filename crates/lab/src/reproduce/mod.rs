//! `tidegate-lab reproduce`: the experiments of published work again, on simulated machines of the sizes that it had and on this one.
//!
//! An experiment makes a [`Page`](page::Page), which is printed as text or as JSON; `tidegate-lab report` makes one document of several.

mod adaptive;
mod grid;
mod intervals;
mod multi_steal;
mod observed;
pub mod page;
mod print;
mod real;
mod sample;
mod scaling;
mod simulated;
mod slowed;
mod space;
mod two_level;

use crate::arguments::{Experiments, ReproduceArguments};
use tidegate_command::failure::Failure;
use tidegate_command::output::{print_json, to_stdout};

/// Makes the experiment again and prints what came of it.
pub fn reproduce(arguments: &ReproduceArguments) -> Result<(), Failure> {
    let page = match arguments.experiment {
        Experiments::Adaptive => adaptive::page(arguments)?,
        Experiments::TwoLevel => two_level::page(arguments)?,
        Experiments::MultiSteal => multi_steal::page(arguments)?,
        Experiments::Space => space::page(arguments)?,
        Experiments::Intervals => intervals::page(arguments)?,
        Experiments::Scaling => scaling::page(arguments)?,
    };
    if arguments.format.json {
        let value = serde_json::to_value(&page).expect("a page is JSON");
        return print_json(&value);
    }
    to_stdout(|out| print::page(out, &page))
}
