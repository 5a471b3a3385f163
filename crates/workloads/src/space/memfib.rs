//! Fibonacci numbers by double recursion, where each call holds memory for as long as it lasts.
//!
//! The serial run holds the memory of one path, `n` blocks; a run that begins calls in another order holds more. From the slides "Narlikar and hybrid
//! schedulers for Cilk", which give such a function as their benchmark ("modified fib") without its text; sizes are our own.

use std::hint::black_box;
use std::io;

use serde_json::Value;

use super::block;
use crate::parameter::{Kind, Parameter, ParameterError, Preset, Values};
use crate::program::{Answer, Field, Program, answer};
use crate::runtime::{Runtime, Serial};

/// The program `memfib`.
#[derive(Clone, Copy, Debug)]
pub struct Memfib {
    /// Which number.
    pub n: u32,
    /// How much each call holds.
    pub bytes: usize,
}

/// Holds so many bytes over `inside`, and writes each of them before.
fn holding<R: Runtime>(bytes: usize, inside: impl FnOnce() -> u64) -> u64 {
    let mut held = block::<R, u8>(1, bytes);
    black_box(&mut held.values);
    let value = inside();
    black_box(&held.values);
    value
}

/// The serial version.
fn serial(n: u32, bytes: usize) -> u64 {
    holding::<Serial>(bytes, || match n {
        0 | 1 => n.into(),
        _ => serial(n - 1, bytes) + serial(n - 2, bytes),
    })
}

/// The parallel body: a fork a call.
fn parallel<R: Runtime>(fork: &mut R::Fork<'_>, n: u32, bytes: usize) -> u64 {
    holding::<R>(bytes, || {
        if n < 2 {
            return n.into();
        }
        let (a, b) = R::join(
            fork,
            move |fork| parallel::<R>(fork, n - 1, bytes),
            move |fork| parallel::<R>(fork, n - 2, bytes),
        );
        a + b
    })
}

impl Program for Memfib {
    const NAME: &'static str = "memfib";
    const SUMMARY: &'static str = "Fibonacci number by calls that hold memory";
    const PARAMETERS: &'static [Parameter] = &[
        Parameter {
            name: "n",
            positional: true,
            kind: Kind::Integer(0, 50),
            preset: Preset::Sizes(["10", "18", "16"]),
            meaning: "which number",
        },
        Parameter {
            name: "bytes",
            positional: false,
            kind: Kind::Integer(0, 1 << 40),
            preset: Preset::Sizes(["1024", "1048576", "41943040"]),
            meaning: "how many bytes each call holds",
        },
    ];
    const RESULT: &'static [Field] = &[Field {
        name: "value",
        meaning: "the n-th Fibonacci number",
    }];

    type Input = ();
    type Output = u64;

    fn from_values(values: &Values) -> Result<Self, ParameterError> {
        Ok(Self {
            n: values.integer("n")? as u32,
            bytes: values.integer("bytes")? as usize,
        })
    }

    fn parameters(&self) -> Answer {
        answer([("n", self.n.into()), ("bytes", self.bytes.into())])
    }

    fn prepare(&self) -> io::Result<()> {
        Ok(())
    }

    fn serial(&self, (): &mut ()) -> u64 {
        serial(self.n, self.bytes)
    }

    fn parallel<R: Runtime>(&self, (): &mut (), fork: &mut R::Fork<'_>) -> u64 {
        parallel::<R>(fork, self.n, self.bytes)
    }

    fn answer(&self, (): &(), output: &u64) -> Answer {
        answer([("value", Value::from(*output))])
    }
}
