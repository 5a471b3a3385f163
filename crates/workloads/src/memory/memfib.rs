//! Fibonacci numbers by double recursion, in which each call holds memory until it returns or until
//! it makes further calls.
//!
//! With `hold call`, the serial run holds the memory of one path, `n` blocks; a run that begins
//! calls in another order holds more. With `hold itself`, the serial run holds one block, and a
//! parallel run as many blocks as there are calls that write at the same time. If `mix` is less
//! than 1, only that fraction of the calls holds memory. The other calls write as many bytes into a
//! small buffer, and a scheduler may prefer them while memory is scarce. Only a call's position in
//! the recursion determines whether it holds memory.
//!
//! From the slides "Narlikar and hybrid schedulers for Cilk", which use such a function as their
//! benchmark ("modified fib") but don't show its code; the sizes are our own.

use super::block;
use crate::parameter::{
    Kind::{Choice, Integer, Number},
    Words, named, positional,
};
use crate::program::{Program, parameters, result, without_input};
use crate::runtime::{Runtime, Serial};
use crate::steps::uniform;
use std::hint::black_box;

/// The program `memfib`, whose calls hold memory.
#[derive(Clone, Copy, Debug)]
pub struct Memfib {
    /// The index of the Fibonacci number.
    pub n: u32,
    /// The size of the memory that each call holds, in bytes.
    pub bytes: usize,
    /// How long each call holds its memory.
    pub hold: Hold,
    /// The fraction of the calls that hold memory, from 0 to 1.
    pub mix: f64,
}

/// A call and its position in the recursion: the first call is 1, and call `p` makes calls `2p` and
/// `2p + 1`.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub(crate) n: u32,
    position: u64,
}

impl Call {
    pub(crate) const fn first(n: u32) -> Self {
        Self { n, position: 1 }
    }

    /// Returns the two calls that this call makes.
    pub(crate) const fn calls(self) -> [Self; 2] {
        let position = 2 * self.position;
        [
            Self {
                n: self.n - 1,
                position,
            },
            Self {
                n: self.n - 2,
                position: position + 1,
            },
        ]
    }

    /// Whether this call holds memory. `mix` is the fraction of calls that do.
    pub(crate) fn holds(self, mix: f64) -> bool {
        uniform(0, self.position) < 2.0 * mix - 1.0
    }
}

/// How long a call holds its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Until the call returns.
    Call,
    /// Until it makes further calls.
    Itself,
}

impl Words for Hold {
    const ALL: &'static [Self] = &[Self::Call, Self::Itself];
    const NAMES: &'static [&'static str] = &["call", "itself"];
}

/// The size in bytes of the buffer to which a call without memory writes.
const BUFFER: usize = 4 << 10;

/// Writes the call's bytes, then calls `inside`. Keeps the memory during that call if the parameter
/// `hold` requires it.
fn holding<R: Runtime>(memfib: &Memfib, call: Call, inside: impl FnOnce() -> u64) -> u64 {
    if !call.holds(memfib.mix) {
        write_again(memfib.bytes);
        return inside();
    }
    let mut held = block::<R, u8>(1, memfib.bytes);
    black_box(&mut held.values);
    let held = (memfib.hold == Hold::Call).then_some(held);
    let value = inside();
    black_box(&held);
    value
}

/// Writes `bytes` bytes to a small buffer, which is overwritten as often as necessary.
// This must not be inlined, because the buffer would then be in the frame of every call.
#[inline(never)]
fn write_again(bytes: usize) {
    let mut buffer = [0_u8; BUFFER];
    for begin in (0..bytes).step_by(BUFFER) {
        buffer[..BUFFER.min(bytes - begin)].fill(1);
        black_box(&mut buffer);
    }
}

fn serial(memfib: &Memfib, call: Call) -> u64 {
    holding::<Serial>(memfib, call, || {
        if call.n < 2 {
            return call.n.into();
        }
        let [a, b] = call.calls();
        serial(memfib, a) + serial(memfib, b)
    })
}

/// Runs the parallel body. Each call forks, except at the leaves.
fn parallel<R: Runtime>(fork: &mut R::Fork<'_>, memfib: &Memfib, call: Call) -> u64 {
    holding::<R>(memfib, call, || {
        if call.n < 2 {
            return call.n.into();
        }
        let [a, b] = call.calls();
        let (a, b) = R::join(
            fork,
            move |fork| parallel::<R>(fork, memfib, a),
            move |fork| parallel::<R>(fork, memfib, b),
        );
        a + b
    })
}

impl Program for Memfib {
    const NAME: &'static str = "memfib";
    const SUMMARY: &'static str = "recursive Fibonacci in which each call holds memory";
    parameters! {
        n = positional("n", Integer(0, 50), ["10", "18", "16"],
            "the index of the Fibonacci number");
        bytes = named("bytes", Integer(0, 1 << 40), ["1024", "1048576", "41943040"],
            "bytes that each call holds");
        hold = named("hold", Choice(Hold::NAMES), ["call"; 3],
            "how long: during the whole call, or until it makes further calls");
        mix = named("mix", Number(0.0, 1.0), ["1"; 3],
            "fraction of calls that hold memory; the others compute instead");
    }
    result! { self, (), output =>
        value "the n-th Fibonacci number" = *output;
    }

    without_input! {}
    type Output = u64;

    fn serial(&self, (): &mut ()) -> u64 {
        serial(self, Call::first(self.n))
    }

    fn parallel<R: Runtime>(&self, (): &mut (), fork: &mut R::Fork<'_>) -> u64 {
        parallel::<R>(fork, self, Call::first(self.n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of calls that hold memory and the number of all calls, from this call
    /// down.
    fn counted(call: Call, mix: f64) -> [u32; 2] {
        let own = [call.holds(mix).into(), 1];
        if call.n < 2 {
            return own;
        }
        let inner = call.calls().map(|call| counted(call, mix));
        [0, 1].map(|i| own[i] + inner[0][i] + inner[1][i])
    }

    #[test]
    fn mix_is_fraction_holding_memory() {
        for (mix, least, most) in [(0.0, 0.0, 0.0), (0.25, 0.23, 0.27), (1.0, 1.0, 1.0)] {
            let [holding, all] = counted(Call::first(20), mix);
            let part = f64::from(holding) / f64::from(all);
            assert!((least..=most).contains(&part), "{mix}: {part}");
        }
    }
}
