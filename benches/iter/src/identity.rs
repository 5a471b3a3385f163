//! The program's greeting: the versions that it was built from, and the chains that it can measure.

use serde_json::{Value, json};

use crate::chains::{CHAINS, Chain};
use crate::request::Place;

pub fn greeting() -> Value {
    let tidegate = Some(env!("TIDEGATE_LINKED")).filter(|version| !version.is_empty());
    json!({
        "program": env!("CARGO_PKG_NAME"),
        "rayon": env!("VERSION_OF_RAYON"),
        "orx": env!("VERSION_OF_ORX"),
        "rayon_core": env!("VERSION_OF_RAYON_CORE"),
        "source": env!("SOURCE_OF_RAYON_CORE"),
        "tidegate": tidegate,
        "compiler": env!("COMPILER"),
        "chains": CHAINS.iter().map(chain).collect::<Vec<_>>(),
    })
}

fn chain(chain: &Chain) -> Value {
    let places = chain.places.iter().copied().map(Place::name);
    json!({
        "name": chain.name,
        "library": chain.library.name(),
        "sizes": chain.sizes,
        "places": places.collect::<Vec<_>>(),
    })
}
