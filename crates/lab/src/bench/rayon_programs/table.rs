//! The table of programs that `bench rayon-programs` compares.

/// The folder of the checkout that holds the manifests, the lock files and the drivers.
pub const SOURCES: &str = "benches/rayon-programs";

/// A program, and how to build, run and check it.
pub struct Program {
    /// The program's name on the command line.
    pub name: &'static str,
    /// The published package that is measured. The manifests pin its version.
    pub package: &'static str,
    pub source: Source,
    pub arguments: &'static str,
    pub answer: Answer,
}

#[derive(Clone, Copy)]
pub enum Source {
    /// The package's program with this name. Among its arguments are the folders of the packages
    /// that it is built from if `reads_packages`. They hold many files and, unlike other folders on
    /// the machine, change only with the lock file.
    Published {
        program: &'static str,
        reads_packages: bool,
    },
    /// The driver with this name, which exercises the package.
    Driver(&'static str),
}

#[derive(Clone, Copy)]
pub enum Answer {
    Text,
    /// The lines must be equal after sorting, because the program prints them in any order.
    Lines,
}

impl Answer {
    /// Returns the text without what may differ from run to run.
    pub fn comparable(self, text: &str) -> String {
        match self {
            Self::Text => text.to_owned(),
            Self::Lines => {
                let mut lines: Vec<&str> = text.lines().collect();
                lines.sort_unstable();
                lines.join("\n")
            }
        }
    }
}

impl Program {
    /// Returns the arguments that make cargo build the program without the other programs.
    pub fn target(&self) -> Vec<&'static str> {
        match self.source {
            Source::Published { program, .. } => vec!["-p", self.package, "--bin", program],
            Source::Driver(name) => {
                vec!["--bin", name, "--no-default-features", "--features", name]
            }
        }
    }
}

use Answer::{Lines, Text};
use Source::{Driver, Published};

// Without `--cache`, fclones hashes every file in every run.
#[rustfmt::skip]
pub const PROGRAMS: &[Program] = &[
    Program { name: "du-dust", package: "du-dust", source: Published { program: "dust", reads_packages: false },
        arguments: "--no-progress --no-colors --no-percent-bars -n 200 -w 120 /usr", answer: Text },
    Program { name: "fclones", package: "fclones", source: Published { program: "fclones", reads_packages: true },
        arguments: "group --format csv --hidden --no-ignore", answer: Lines },
    Program { name: "tokenizers", package: "tokenizers", source: Driver("tokenizers"), arguments: "20000 2000", answer: Text },
    Program { name: "forust-ml", package: "forust-ml", source: Driver("forust"), arguments: "20000 20 60", answer: Text },
    Program { name: "fft-small", package: "ark-poly", source: Driver("fft"), arguments: "12 300", answer: Text },
    Program { name: "fft-large", package: "ark-poly", source: Driver("fft"), arguments: "18 4", answer: Text },
    Program { name: "indexmap", package: "indexmap", source: Driver("indexmap"), arguments: "200000 10", answer: Text },
    Program { name: "ndarray", package: "ndarray", source: Driver("arrays"), arguments: "1000 80", answer: Text },
    Program { name: "rav1e", package: "rav1e", source: Driver("rav1e"), arguments: "6 9", answer: Text },
    Program { name: "exr", package: "exr", source: Driver("exr"), arguments: "2000 8", answer: Text },
    Program { name: "oxipng", package: "oxipng", source: Driver("oxipng"), arguments: "800 5", answer: Text },
    Program { name: "blake3", package: "blake3", source: Driver("blake3"), arguments: "64 100", answer: Text },
    Program { name: "tokei", package: "tokei", source: Published { program: "tokei", reads_packages: true },
        arguments: "--no-ignore --hidden", answer: Text },
    Program { name: "petgraph", package: "petgraph", source: Driver("petgraph"), arguments: "2000 20000", answer: Text },
    Program { name: "geo", package: "geo", source: Driver("geo"), arguments: "10000 40", answer: Text },
    Program { name: "faer", package: "faer", source: Driver("faer"), arguments: "1600 1", answer: Text },
    Program { name: "nucleo", package: "nucleo", source: Driver("nucleo"), arguments: "300000 4", answer: Text },
    Program { name: "radix-sort", package: "voracious_radix_sort", source: Driver("radix"), arguments: "8000000 12", answer: Text },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::super::run::{SIDES, manifest, version};
    use super::*;

    #[test]
    fn only_lines_may_come_in_any_order() {
        for (other, is_same) in [
            ("a\nb\n", [true; 2]),
            ("b\na\n", [false, true]),
            ("a\nb\nb\n", [false; 2]),
        ] {
            let same = |answer: Answer| answer.comparable("a\nb\n") == answer.comparable(other);
            assert_eq!([Text, Lines].map(same), is_same, "{other:?}");
        }
    }

    /// A program without a row would never run, and a row without a driver could not be built.
    #[test]
    fn manifests_hold_the_same_programs() {
        let manifests = SIDES.map(|side| {
            let text = fs::read_to_string(manifest(side).unwrap()).unwrap();
            let mut table: toml::Table = text.parse().unwrap();
            table.remove("package");
            table.remove("patch");
            table
        });
        assert_eq!(manifests[0], manifests[1]);
        let drivers = manifests[0]["bin"].as_array().unwrap().iter();
        let drivers = drivers.map(|driver| driver["name"].as_str().unwrap());
        let rows = PROGRAMS.iter().filter_map(|program| match program.source {
            Source::Driver(name) => Some(name),
            Source::Published { .. } => None,
        });
        assert_eq!(drivers.collect::<BTreeSet<_>>(), rows.collect());
        let mut names = BTreeSet::new();
        for program in PROGRAMS {
            assert!(version(program.package).is_ok(), "{}", program.package);
            assert!(names.insert(program.name), "{}", program.name);
        }
    }
}
