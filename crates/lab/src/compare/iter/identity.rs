//! A program's greeting, which states its runtime and the chains that it can measure.

use serde_json::Value;

use tidegate_command::failure::Failure;

pub struct Identity {
    program: String,
    rayon: String,
    orx: String,
    rayon_core: String,
    source: String,
    tidegate: bool,
    compiler: String,
    pub chains: Vec<Chain>,
}

/// A library of parallel iterators, which each program runs on a different runtime.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Library {
    Rayon,
    Orx,
}

/// A chain that a program can measure.
#[derive(Clone)]
pub struct Chain {
    pub name: String,
    /// The library of the chain's iterators.
    pub library: Library,
    /// The numbers of items on which the chain is measured.
    pub sizes: Vec<u64>,
    /// Where the chain is called from: `inside`, `outside` or `install`.
    pub places: Vec<String>,
}

impl Identity {
    /// Parses a greeting. Returns `None` if the message is not a greeting.
    pub fn read(greeting: &Value) -> Option<Self> {
        let text = |name: &str| greeting[name].as_str().map(str::to_owned);
        Some(Self {
            program: text("program")?,
            rayon: text("rayon")?,
            orx: text("orx")?,
            rayon_core: text("rayon_core")?,
            source: text("source")?,
            tidegate: greeting["tidegate"].is_string(),
            compiler: text("compiler")?,
            chains: all(&greeting["chains"], chain)?,
        })
    }

    /// Fails if the program has the wrong rayon-core. `tidegate` states whether it should have
    /// Tidegate's.
    pub fn check(&self, tidegate: bool) -> Result<(), Failure> {
        if self.tidegate == tidegate {
            return Ok(());
        }
        let (found, promised) = if tidegate {
            ("is not Tidegate", "crates/rayon-core of this repository")
        } else {
            ("is Tidegate", "the published one")
        };
        Err(Failure::Impossible(format!(
            "{} is linked with rayon-core {} from {}, which {found}: expected {promised}; look for a \
             [patch.crates-io] that replaces it, in its manifest and in cargo's configuration",
            self.program, self.rayon_core, self.source
        )))
    }

    /// Returns the versions of the runtime, of the library of iterators, and of the compiler.
    pub fn version(&self, library: Library) -> String {
        let Self {
            rayon,
            orx,
            source,
            compiler,
            ..
        } = self;
        let tidegate = env!("CARGO_PKG_VERSION");
        let rayon_core = format!("rayon-core {} from {source}", self.rayon_core);
        match (library, self.tidegate) {
            (Library::Rayon, true) => {
                format!("{tidegate} as {rayon_core} below rayon {rayon}, {compiler}")
            }
            (Library::Rayon, false) => format!("{rayon} on {rayon_core}, {compiler}"),
            (Library::Orx, true) => {
                format!("{tidegate} as tidegate-orx below orx-parallel {orx}, {compiler}")
            }
            (Library::Orx, false) => format!("{orx} on its own pool, {compiler}"),
        }
    }
}

impl Library {
    fn named(name: &str) -> Option<Self> {
        match name {
            "rayon" => Some(Self::Rayon),
            "orx" => Some(Self::Orx),
            _ => None,
        }
    }
}

fn chain(found: &Value) -> Option<Chain> {
    Some(Chain {
        name: found["name"].as_str()?.to_owned(),
        library: Library::named(found["library"].as_str()?)?,
        sizes: all(&found["sizes"], Value::as_u64)?,
        places: all(&found["places"], |place| Some(place.as_str()?.to_owned()))?,
    })
}

/// Parses all elements of a list. Returns `None` if any element is invalid.
fn all<T>(list: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    list.as_array()?.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn greeting(tidegate: Option<&str>) -> Value {
        json!({
            "program": "iter", "rayon": "1.2", "orx": "4.1", "rayon_core": "1.3",
            "source": "the registry", "tidegate": tidegate, "compiler": "rustc 1", "chains":
            [{ "name": "zip", "library": "rayon", "sizes": [10, 20], "places": ["inside"] }],
        })
    }

    /// Stock rayon must be rejected as Tidegate's side, and vice versa.
    #[test]
    fn each_side_must_identify_itself() {
        let [stock, ours] = [None, Some("1.3")].map(|t| Identity::read(&greeting(t)).unwrap());
        assert!(stock.check(false).is_ok() && ours.check(true).is_ok());
        let told = ours.check(false).unwrap_err().to_string();
        assert!(told.contains("which is Tidegate"), "{told}");
        let told = stock.check(true).unwrap_err().to_string();
        assert!(told.contains("which is not Tidegate"), "{told}");
        assert_eq!(
            stock.version(Library::Rayon),
            "1.2 on rayon-core 1.3 from the registry, rustc 1"
        );
        assert_eq!(stock.version(Library::Orx), "4.1 on its own pool, rustc 1");
        let Chain { sizes, places, .. } = &stock.chains[0];
        assert_eq!(
            (&sizes[..], &places[..]),
            (&[10, 20][..], &["inside".to_owned()][..])
        );
    }

    #[test]
    fn incomplete_greeting_is_rejected() {
        for part in ["program", "orx", "source", "compiler", "chains"] {
            let mut greeting = greeting(None);
            greeting[part] = Value::Null;
            assert!(Identity::read(&greeting).is_none(), "{part}");
        }
        let mut greeting = greeting(None);
        greeting["chains"][0]["sizes"] = json!(["many"]);
        assert!(Identity::read(&greeting).is_none());
        greeting["chains"][0]["sizes"] = json!([10]);
        assert!(Identity::read(&greeting).is_some());
        greeting["chains"][0]["library"] = json!("other");
        assert!(Identity::read(&greeting).is_none());
    }
}
