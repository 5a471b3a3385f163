//! Plans: what a program is asked for, and the items into which it was split.

use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::files::{self, sha256};
use crate::folder::Folder;
use crate::name::Name;
use crate::{Error, Split, Weighted, build};

/// The format of plans and results.
const FORMAT: u32 = 2;

/// What a program is asked for. It tells plans apart, because planning again may find another input.
#[derive(Debug, Serialize, Deserialize)]
pub struct Header<P> {
    format: u32,
    program: String,
    version: String,
    pieces: usize,
    arguments: P,
}

/// A plan. Planning again with the same build, arguments and input gives the same bytes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "P: Split", deserialize = "P: Split"))]
pub struct Plan<P: Split> {
    header: Header<P>,
    /// The build that has made the plan. Folders are not named after it, because the same command
    /// is to find the same folder.
    build: String,
    /// The items, in the order in which their results are merged.
    items: Vec<Weighted<P::Item>>,
    /// The digest of the plan's file.
    #[serde(skip)]
    digest: String,
}

/// What is known about a plan that may be of another program, version or build.
#[derive(Deserialize)]
struct Outline {
    header: Header<serde_json::Value>,
    #[serde(default)]
    build: String,
}

impl<A> Header<A> {
    /// Checks that this build can carry out the plan.
    fn check<P: Split>(&self) -> Result<(), String> {
        let (format, program, version) = (self.format, &*self.program, &*self.version);
        if (format, program, version) == (FORMAT, P::NAME, P::VERSION) {
            return Ok(());
        }
        let (its, ours) = if format == FORMAT {
            (String::new(), String::new())
        } else {
            (format!(", format {format}"), format!(", format {FORMAT}"))
        };
        let way_out = if program == P::NAME {
            "use that version, start over with `run --fresh`,"
        } else {
            "use that program,"
        };
        Err(format!(
            "is a plan of {program} {version}{its}, and this is {} {}{ours}: {way_out} or choose another --dir",
            P::NAME,
            P::VERSION
        ))
    }
}

impl<P: Split> Header<P> {
    /// Describes the plan of the program for about `pieces` items.
    pub fn new(arguments: P, pieces: usize) -> Self {
        Self {
            format: FORMAT,
            program: P::NAME.to_owned(),
            version: P::VERSION.to_owned(),
            pieces,
            arguments,
        }
    }

    /// Returns the digest of everything that a user may ask for.
    pub fn digest(&self) -> String {
        sha256(&serde_json::to_vec(self).expect("arguments are JSON"))
    }
}

impl<P: Split> Plan<P> {
    /// Splits the program.
    pub fn new(header: Header<P>) -> Result<Self, Error> {
        let items = header.arguments.plan(header.pieces)?;
        let mut plan = Self {
            header,
            build: build::build()?.to_owned(),
            items,
            digest: String::new(),
        };
        let text = plan.to_text();
        serde_json::from_str::<Self>(&text).map_err(|error| {
            Error::never(format!("the plan cannot be read back from JSON: {error}"))
        })?;
        plan.digest = sha256(text.as_bytes());
        Ok(plan)
    }

    /// Reads a plan, and refuses one that this build cannot carry out. `folder` is that of the
    /// results, which may accept other builds than the plan's; `accept` is one that the user
    /// accepts.
    pub fn read(path: &Path, folder: &Path, accept: Option<&str>) -> Result<Self, Error> {
        let text = files::read(path).map_err(|error| Error::at(path, &error))?;
        let digest = sha256(&text);
        let refused = |why: String| Error::never(format!("{} {why}", path.display()));
        let no_plan = |error| refused(format!("is not a plan: {error}"));
        let check_build = |build: &str| {
            if accept == Some(build) {
                return Ok(());
            }
            let useless = accept.map(|accept| {
                format!("was made by build {build}, not by {accept}: leave --accept-build out")
            });
            let why = build::refusal(build, &digest, folder)?.or(useless);
            why.map_or(Ok(()), |why| Err(refused(why)))
        };
        match serde_json::from_slice::<Self>(&text) {
            Ok(plan) => {
                plan.header.check::<P>().map_err(refused)?;
                check_build(&plan.build)?;
                Ok(Self { digest, ..plan })
            }
            Err(error) => {
                let outline: Outline = serde_json::from_slice(&text).map_err(no_plan)?;
                outline.header.check::<P>().map_err(refused)?;
                check_build(&outline.build)?;
                Err(no_plan(error))
            }
        }
    }

    /// Returns the text of the plan's file.
    pub fn to_text(&self) -> String {
        let text = serde_json::to_string(self);
        text.expect("items and arguments are JSON") + "\n"
    }

    /// Returns the digest that results of this plan carry.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Whether this build has made the plan.
    pub fn is_ours(&self) -> Result<bool, Error> {
        Ok(self.build == build::build()?)
    }

    /// Returns the header.
    pub fn header(&self) -> &Header<P> {
        &self.header
    }

    /// Returns what the program is asked for.
    pub fn arguments(&self) -> &P {
        &self.header.arguments
    }

    /// Returns the weights of the planned items.
    pub fn weights(&self) -> Vec<u64> {
        self.items.iter().map(|item| item.weight).collect()
    }

    /// Takes an item out of the plan, or out of the result of the piece that has left it.
    pub fn take(mut self, folder: &Folder, name: &Name) -> Result<(P, P::Item), Error> {
        let (parent, number) = name.origin();
        let mut items = match parent {
            None => std::mem::take(&mut self.items),
            Some(parent) => {
                let written = folder.read(&parent)?;
                let none = || Error::elsewhere(format!("item {name}: {parent} has no result yet"));
                written
                    .ok_or_else(none)?
                    .done::<P>(&folder.result(&parent))?
                    .rest
            }
        };
        let count = items.len();
        let none = || Error::never(format!("there is no item {name}: {number} of {count}"));
        let item = (number < count).then(|| items.swap_remove(number).item);
        Ok((self.header.arguments, item.ok_or_else(none)?))
    }
}

/// Returns the digest of the plan at `path`, if there is one. It must be of the program, but may be
/// of any version, build and arguments.
pub fn digest_at<P: Split>(path: &Path) -> Result<Option<String>, Error> {
    let text = match files::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| Error::at(path, &error))?,
    };
    let outline = serde_json::from_slice::<Outline>(&text);
    if outline.is_ok_and(|outline| outline.header.program == P::NAME) {
        Ok(Some(sha256(&text)))
    } else {
        Err(Error::never(format!(
            "{} is not a plan of {}: choose another --dir",
            path.display(),
            P::NAME
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Budget, Done, Retry};

    /// A program whose item is its argument.
    #[derive(Debug, clap::Args, Serialize, Deserialize)]
    struct Half {
        #[arg(long)]
        of: f64,
    }

    impl Split for Half {
        const NAME: &'static str = "half";
        const VERSION: &'static str = "1";
        type Item = f64;
        type Out = f64;
        type Report = String;

        fn plan(&self, _: usize) -> Result<Vec<Weighted<f64>>, Error> {
            let item = self.of;
            Ok(vec![Weighted { item, weight: 1 }])
        }

        fn run(&self, item: f64, _: &Budget) -> Result<Done<f64, f64>, Error> {
            Ok(Done::whole(item / 2.0))
        }

        fn merge(&self, outs: Vec<f64>) -> Result<String, Error> {
            Ok(outs[0].to_string())
        }
    }

    #[test]
    fn plans_are_read_back() {
        let plan = |of| Plan::new(Header::new(Half { of }, 1));
        plan(0.1).unwrap();
        let error = plan(f64::NAN).unwrap_err();
        assert_eq!(error.retry(), Retry::Never);
        let text = "the plan cannot be read back from JSON: ";
        assert!(error.to_string().starts_with(text), "{error}");
    }
}
