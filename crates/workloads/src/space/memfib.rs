//! Fibonacci numbers by double recursion, where each call holds memory: for as long as it lasts, or until it calls others.
//!
//! With `hold call` the serial run holds the memory of one path, `n` blocks, and a run that begins calls in another order more. With `hold itself` it holds one block, and a parallel one as many as
//! calls are written at once. From the slides "Narlikar and hybrid
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
    /// For how long.
    pub hold: Hold,
}

/// For how long a call holds its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// For as long as it lasts.
    Call,
    /// Until it calls others.
    Itself,
}

impl Hold {
    const NAMES: &'static [&'static str] = &["call", "itself"];
}

/// Writes so many bytes, and holds them over `inside` or not so long.
fn holding<R: Runtime>(memfib: Memfib, inside: impl FnOnce() -> u64) -> u64 {
    let mut held = block::<R, u8>(1, memfib.bytes);
    black_box(&mut held.values);
    let held = (memfib.hold == Hold::Call).then_some(held);
    let value = inside();
    black_box(&held);
    value
}

impl Memfib {
    /// A call with another number.
    const fn with(self, n: u32) -> Self {
        Self { n, ..self }
    }
}

/// The serial version.
fn serial(memfib: Memfib) -> u64 {
    holding::<Serial>(memfib, || match memfib.n {
        n @ 0..2 => n.into(),
        n => serial(memfib.with(n - 1)) + serial(memfib.with(n - 2)),
    })
}

/// The parallel body: a fork a call.
fn parallel<R: Runtime>(fork: &mut R::Fork<'_>, memfib: Memfib) -> u64 {
    holding::<R>(memfib, || {
        let n = memfib.n;
        if n < 2 {
            return n.into();
        }
        let (a, b) = R::join(
            fork,
            move |fork| parallel::<R>(fork, memfib.with(n - 1)),
            move |fork| parallel::<R>(fork, memfib.with(n - 2)),
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
        Parameter {
            name: "hold",
            positional: false,
            kind: Kind::Choice(Hold::NAMES),
            preset: Preset::Sizes(["call"; 3]),
            meaning: "for how long: the whole call, or itself, until it calls others",
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
            hold: match values.choice("hold")? {
                "itself" => Hold::Itself,
                _ => Hold::Call,
            },
        })
    }

    fn parameters(&self) -> Answer {
        answer([
            ("n", self.n.into()),
            ("bytes", self.bytes.into()),
            ("hold", Hold::NAMES[self.hold as usize].into()),
        ])
    }

    fn prepare(&self) -> io::Result<()> {
        Ok(())
    }

    fn serial(&self, (): &mut ()) -> u64 {
        serial(*self)
    }

    fn parallel<R: Runtime>(&self, (): &mut (), fork: &mut R::Fork<'_>) -> u64 {
        parallel::<R>(fork, *self)
    }

    fn answer(&self, (): &(), output: &u64) -> Answer {
        answer([("value", Value::from(*output))])
    }
}
