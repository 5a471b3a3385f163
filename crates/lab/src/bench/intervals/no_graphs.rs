//! What a build without the feature `dagrs` has in place of `graphs.rs`.

use std::io;

use super::costs::Pattern;

pub const NAME: &str = "dagrs";

pub enum Graphs {}

impl Graphs {
    pub fn with_workers(_: usize) -> io::Result<Self> {
        Err(io::Error::other(
            "this build cannot compare with dagrs: build it with `--features dagrs`, as in \
            `cargo run --release -p tidegate-lab --features dagrs -- bench intervals`",
        ))
    }

    pub fn batch(&self, _: Pattern) {
        match *self {}
    }
}
