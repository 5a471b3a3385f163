//! The table of programs that `bench rayon-programs` compares.

/// The folder of the checkout that contains the drivers.
pub const DRIVERS: &str = "benches/rayon-programs";

/// A program, and how to build, run and check it.
pub struct Program {
    /// The program's name on the command line.
    pub name: &'static str,
    pub source: Source,
    /// What cargo builds of the package.
    pub target: Target,
    /// The arguments of each executable.
    pub arguments: &'static str,
    /// Further arguments that name the program's input.
    pub input: Input,
    /// How many times each copy runs the program in one sample.
    pub repetitions: u32,
    pub answer: Answer,
}

/// Where the source of a program comes from.
#[derive(Clone, Copy)]
pub enum Source {
    /// A package and its version, from the registry.
    Registry(&'static str, &'static str),
    /// A folder below [`DRIVERS`], and the package that its driver exercises.
    Driver(&'static str, &'static str),
}

impl Source {
    /// Returns the name of the folder that holds the source. The name contains the version, so
    /// files of an older version cannot remain in it.
    pub fn folder(self) -> String {
        match self {
            Self::Registry(package, version) => format!("{package}-{version}"),
            Self::Driver(folder, _) => folder.to_owned(),
        }
    }
}

/// What cargo builds of a package.
#[derive(Clone, Copy)]
pub enum Target {
    /// The binary with this name.
    Program(&'static str),
    /// The package's tests, with this feature enabled.
    Tests(&'static str),
}

/// What a program reads, in addition to its arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Input {
    None,
    /// The folders of the packages that the program is built from. They hold many files and, unlike
    /// other folders on the machine, change only with the lock file.
    Packages,
}

/// How answers are compared.
#[derive(Clone, Copy)]
pub enum Answer {
    /// The texts must be equal.
    Text,
    /// The lines must be equal after sorting, because the program prints them in any order.
    Lines,
    /// The result of each test must be equal; other lines are ignored.
    Tests,
}

pub const PROGRAMS: &[Program] = &[
    Program {
        name: "du-dust",
        source: Source::Registry("du-dust", "1.2.7"),
        target: Target::Program("dust"),
        arguments: "--no-progress --no-colors --no-percent-bars -n 200 -w 120 /usr",
        input: Input::None,
        repetitions: 1,
        answer: Answer::Text,
    },
    Program {
        name: "fclones",
        source: Source::Registry("fclones", "0.35.0"),
        target: Target::Program("fclones"),
        // Without `--cache`, the program hashes every file in every run.
        arguments: "group --format csv --hidden --no-ignore",
        input: Input::Packages,
        repetitions: 1,
        answer: Answer::Lines,
    },
    Program {
        name: "tokenizers",
        source: Source::Driver("tokenizers", "tokenizers"),
        target: Target::Program("rayon-program-tokenizers"),
        arguments: "20000 2000",
        input: Input::None,
        repetitions: 1,
        answer: Answer::Text,
    },
    Program {
        name: "forust-ml",
        source: Source::Driver("forust", "forust-ml"),
        target: Target::Program("rayon-program-forust"),
        arguments: "20000 20 60",
        input: Input::None,
        repetitions: 1,
        answer: Answer::Text,
    },
    Program {
        name: "fft-small",
        source: Source::Driver("fft", "ark-poly"),
        target: Target::Program("rayon-program-fft"),
        arguments: "12 300",
        input: Input::None,
        repetitions: 1,
        answer: Answer::Text,
    },
    Program {
        name: "fft-large",
        source: Source::Driver("fft", "ark-poly"),
        target: Target::Program("rayon-program-fft"),
        arguments: "18 4",
        input: Input::None,
        repetitions: 1,
        answer: Answer::Text,
    },
    Program {
        name: "indexmap",
        source: Source::Registry("indexmap", "2.14.2"),
        target: Target::Tests("rayon"),
        arguments: "",
        input: Input::None,
        repetitions: 3,
        answer: Answer::Tests,
    },
    Program {
        name: "ndarray",
        source: Source::Driver("arrays", "ndarray"),
        target: Target::Program("rayon-program-arrays"),
        arguments: "1000 80",
        input: Input::None,
        repetitions: 1,
        answer: Answer::Text,
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::{fs, io};

    use super::*;
    use crate::cargo;

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<_> = PROGRAMS.iter().map(|program| program.name).collect();
        assert_eq!(names.len(), PROGRAMS.len());
    }

    /// A driver without a row would never run, and a row without a driver could not be built.
    #[test]
    fn every_driver_has_a_row() {
        let drivers = fs::read_dir(cargo::checkout(DRIVERS).unwrap()).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string();
        let folders: BTreeSet<String> = drivers.map(|entry| name(entry).unwrap()).collect();
        let driver = |program: &Program| match program.source {
            Source::Driver(folder, _) => Some(folder.to_owned()),
            Source::Registry(..) => None,
        };
        assert_eq!(folders, PROGRAMS.iter().filter_map(driver).collect());
    }
}
