//! The kernels whose parts are independent: each piece is an interval, and the inline interval
//! around the pieces serves as the join.
//!
//! In `crypt`, each piece has two intervals: the second decrypts the output of the first as soon as
//! the first has ended.

use super::{Composed, piece};
use crate::grande::crypt::{BLOCK, crypt};
use crate::grande::montecarlo::paths;
use crate::grande::raytracer::row;
use crate::grande::series::coefficients;
use crate::grande::{Crypt, MonteCarlo, RayTracer, Series, Size};
use crate::parameter::Words;
use crate::runtime::Runtime;

impl Composed for Crypt {
    const SUMMARY: &'static str = "Java Grande: IDEA encryption and decryption";

    const PROBLEMS: &'static [&'static str] = Size::NAMES;

    fn run<R: Runtime>(&mut self, fork: &mut R::Fork<'_>, pieces: usize) {
        let piece = piece(self.plain.len() / BLOCK, pieces) * BLOCK;
        let (encryption, decryption) = (&self.encryption, &self.decryption);
        let texts = self.plain.chunks(piece).zip(self.cipher.chunks_mut(piece));
        let texts = texts.zip(self.restored.chunks_mut(piece));
        R::intervals(fork, |body| {
            for (number, ((plain, cipher), restored)) in texts.enumerate() {
                let encrypted = body.interval(move |_| {
                    crypt(encryption, plain, cipher);
                    &*cipher
                });
                let encrypted = R::named(encrypted, || format!("encrypt {number}"));
                let decrypted =
                    encrypted.then(body, |_, cipher| crypt(decryption, cipher, restored));
                let decrypted = decrypted.expect("both lie in one body");
                encrypted.schedule();
                R::named(decrypted, || format!("decrypt {number}")).schedule();
            }
        });
    }
}

impl Composed for Series {
    const SUMMARY: &'static str = "Java Grande: Fourier coefficients of (x + 1)^x";

    const PROBLEMS: &'static [&'static str] = Size::NAMES;

    fn run<R: Runtime>(&mut self, fork: &mut R::Fork<'_>, pieces: usize) {
        each_piece::<R, _>(fork, &mut self.coefficients, pieces, coefficients);
    }
}

impl Composed for MonteCarlo {
    const SUMMARY: &'static str = "Java Grande: Monte Carlo simulation of stock returns";

    fn run<R: Runtime>(&mut self, fork: &mut R::Fork<'_>, pieces: usize) {
        let market = self.market;
        each_piece::<R, _>(fork, &mut self.rates, pieces, |first, rates| {
            paths(market, first, rates);
        });
    }
}

impl Composed for RayTracer {
    const SUMMARY: &'static str = "Java Grande: ray tracing of 64 reflective spheres";

    fn run<R: Runtime>(&mut self, fork: &mut R::Fork<'_>, pieces: usize) {
        let (scene, rows) = (&self.scene, self.checksums.len());
        each_piece::<R, _>(fork, &mut self.checksums, pieces, |first, checksums| {
            for (y, checksum) in (first..).zip(checksums) {
                *checksum = row(scene, y, rows);
            }
        });
    }
}

/// Calls `body` for each piece of `items` with the piece and the index of its first item.
fn each_piece<R: Runtime, T: Send>(
    fork: &mut R::Fork<'_>,
    items: &mut [T],
    pieces: usize,
    part: impl Fn(usize, &mut [T]) + Send + Sync,
) {
    let piece = piece(items.len(), pieces);
    let part = &part;
    R::intervals(fork, |body| {
        for (number, items) in items.chunks_mut(piece).enumerate() {
            let next = body.interval(move |_| part(number * piece, items));
            R::named(next, || format!("piece {number}")).schedule();
        }
    });
}
