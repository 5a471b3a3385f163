//! The program's greeting: the versions that it was built from, and the chains that it can measure.

use serde_json::{Value, json};

use crate::chains::CHAINS;

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
        "chains": CHAINS,
    })
}
