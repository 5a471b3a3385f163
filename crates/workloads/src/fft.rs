//! The fast Fourier transform of complex numbers by Cooley and Tukey: the elements at even and at
//! odd indices are transformed separately, in parallel, and then combined.
//!
//! The algorithm is from James Cooley and John Tukey, An Algorithm for the Machine Calculation of
//! Complex Fourier Series, Mathematics of Computation 19, 1965; the radix is 2. Yasir Adnan and
//! Mitsuhisa Sato use it with 32 M numbers in Dynamic Multiple Work Stealing Strategy for Flexible
//! Load Balancing, 2012.
//!
//! Each level of the recursion passes over the numbers twice. The first pass splits them into a
//! second array, where the halves are transformed; the second combines the halves back into the
//! first array. Both passes are parallel, too, because otherwise they would be the critical path.
//! Neither pass uses long strides.
//!
//! The serial version and the parallel body share the passes and, below the cutoff, the recursion.
//! Both compute each number in the same way, so their results are identical to the last bit. The
//! roots of unity are computed with the input.
//!
//! The program doesn't use a higher radix or transform in place, and it is slower than a tuned
//! library.

use std::f64::consts::TAU;
use std::io;
use std::ops::{Add, Mul, Sub};

use crate::parameter::{Kind::Integer, ParameterError, named, positional, seed};
use crate::program::{Program, parameters, result};
use crate::runtime::Runtime;
use crate::steps::{checksum, uniform};

/// A complex number in double precision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// The real part.
    pub re: f64,
    /// The imaginary part.
    pub im: f64,
}

impl Complex {
    const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }
}

impl Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::new(self.re + other.re, self.im + other.im)
    }
}

impl Sub for Complex {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::new(self.re - other.re, self.im - other.im)
    }
}

impl Mul for Complex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self::new(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
        )
    }
}

/// The program `fft`, which computes a discrete Fourier transform.
#[derive(Clone, Copy, Debug)]
pub struct Fft {
    /// How many numbers to transform, a power of two.
    pub n: usize,
    /// Up to this many numbers are transformed, split or combined without forks.
    pub cutoff: usize,
    /// The seed for the numbers.
    pub seed: u64,
}

/// The numbers to transform, with scratch space and the roots of unity.
#[derive(Debug)]
pub struct Input {
    numbers: Vec<Complex>,
    scratch: Vec<Complex>,
    roots: Vec<Complex>,
}

/// Returns the roots of unity for all levels. Indices `h..2h` hold the roots for combining two
/// halves of `h` numbers, so each level reads its roots sequentially.
fn roots(n: usize) -> Vec<Complex> {
    let mut roots = vec![Complex::default(); n];
    let half = n / 2;
    for (k, root) in roots[half..].iter_mut().enumerate() {
        let (sin, cos) = (TAU * k as f64 / n as f64).sin_cos();
        *root = Complex::new(cos, -sin);
    }
    for index in (1..half).rev() {
        roots[index] = roots[2 * index];
    }
    roots
}

/// Copies the elements at even indices to `even` and those at odd indices to `odd`.
fn part(all: &[Complex], even: &mut [Complex], odd: &mut [Complex]) {
    for ((pair, even), odd) in all.chunks_exact(2).zip(even).zip(odd) {
        *even = pair[0];
        *odd = pair[1];
    }
}

/// Combines the transforms of the even and odd elements into both halves of the whole transform.
/// The arguments may also be corresponding parts of these slices.
fn combine(halves: [&mut [Complex]; 2], [even, odd]: [&[Complex]; 2], roots: &[Complex]) {
    let [first, second] = halves;
    let into = first.iter_mut().zip(second);
    let from = even.iter().zip(odd).zip(roots);
    for ((first, second), ((even, odd), root)) in into.zip(from) {
        let odd = *odd * *root;
        *first = *even + odd;
        *second = *even - odd;
    }
}

/// Runs the serial version. `scratch` must be as long as `numbers` and is overwritten.
fn serial(numbers: &mut [Complex], scratch: &mut [Complex], roots: &[Complex]) {
    match numbers {
        [] | [_] => {}
        [a, b] => (*a, *b) = (*a + *b, *a - *b),
        _ => {
            let half = numbers.len() / 2;
            let (even, odd) = scratch.split_at_mut(half);
            part(numbers, even, odd);
            let (first, second) = numbers.split_at_mut(half);
            serial(even, first, roots);
            serial(odd, second, roots);
            combine([first, second], [even, odd], &roots[half..]);
        }
    }
}

fn parallel<R: Runtime>(
    fork: &mut R::Fork<'_>,
    numbers: &mut [Complex],
    scratch: &mut [Complex],
    roots: &[Complex],
    cutoff: usize,
) {
    if numbers.len() <= cutoff {
        return serial(numbers, scratch, roots);
    }
    let half = numbers.len() / 2;
    let (even, odd) = scratch.split_at_mut(half);
    part_halving::<R>(fork, numbers, [even, odd], cutoff);
    let (first, second) = numbers.split_at_mut(half);
    R::join(
        fork,
        |fork| parallel::<R>(fork, even, first, roots, cutoff),
        |fork| parallel::<R>(fork, odd, second, roots, cutoff),
    );
    combine_halving::<R>(fork, [first, second], [even, odd], &roots[half..], cutoff);
}

/// Like [`part`], but in parallel.
fn part_halving<R: Runtime>(
    fork: &mut R::Fork<'_>,
    all: &[Complex],
    [even, odd]: [&mut [Complex]; 2],
    cutoff: usize,
) {
    if all.len() <= cutoff {
        return part(all, even, odd);
    }
    let half = all.len() / 2;
    let (all, all_after) = all.split_at(half);
    let (even, even_after) = even.split_at_mut(half / 2);
    let (odd, odd_after) = odd.split_at_mut(half / 2);
    R::join(
        fork,
        |fork| part_halving::<R>(fork, all, [even, odd], cutoff),
        |fork| part_halving::<R>(fork, all_after, [even_after, odd_after], cutoff),
    );
}

/// Like [`combine`], but in parallel.
fn combine_halving<R: Runtime>(
    fork: &mut R::Fork<'_>,
    [first, second]: [&mut [Complex]; 2],
    [even, odd]: [&[Complex]; 2],
    roots: &[Complex],
    cutoff: usize,
) {
    if 2 * first.len() <= cutoff {
        return combine([first, second], [even, odd], roots);
    }
    let half = first.len() / 2;
    let (first, first_after) = first.split_at_mut(half);
    let (second, second_after) = second.split_at_mut(half);
    let (from, after) = ([&even[..half], &odd[..half]], [&even[half..], &odd[half..]]);
    R::join(
        fork,
        |fork| combine_halving::<R>(fork, [first, second], from, roots, cutoff),
        |fork| {
            let into = [first_after, second_after];
            combine_halving::<R>(fork, into, after, &roots[half..], cutoff);
        },
    );
}

impl Fft {
    /// Returns the input number at `index`. Its real and imaginary parts are between -1 and 1.
    fn number(&self, index: usize) -> Complex {
        let first = 2 * index as u64;
        Complex::new(uniform(self.seed, first), uniform(self.seed, first + 1))
    }

    /// Whether the coefficient `k` equals its definition as a sum, up to rounding.
    fn is_right(&self, input: &Input, k: usize) -> bool {
        let half = self.n / 2;
        // The roots in the second half of the circle are the negatives of those in the first half.
        let root = |power: usize| {
            if power < half {
                input.roots[half + power]
            } else {
                Complex::default() - input.roots[power]
            }
        };
        let sum = (0..self.n)
            .map(|index| self.number(index) * root(index * k % self.n))
            .fold(Complex::default(), Complex::add);
        let difference = sum - input.numbers[k];
        // The bound is scaled, because a sum of n random numbers grows like the square root of n.
        difference.re.hypot(difference.im) < 1e-9 * (self.n as f64).sqrt()
    }
}

impl Program for Fft {
    const NAME: &'static str = "fft";
    const SUMMARY: &'static str = "recursive radix-2 fast Fourier transform";
    parameters! {
        n = positional("n", Integer(2, 1 << 30), ["2048", "4194304", "33554432"],
            "number of complex values (16 bytes each), a power of two");
        cutoff = named("cutoff", Integer(2, 1 << 30), ["64", "4096", "4096"],
            "values that are processed without forking");
        seed = seed("seed of the input");
    }
    result! { self, input, () =>
        right "whether three coefficients match their definition" =
            [1, self.n / 3, self.n - 1].into_iter().all(|k| self.is_right(input, k));
        checksum "hash of the coefficients" = {
            let parts = input.numbers.iter().flat_map(|number| [number.re, number.im]);
            checksum(parts.map(f64::to_bits))
        };
    }

    type Input = Input;
    type Output = ();

    fn check(&self) -> Result<(), ParameterError> {
        ParameterError::unless_power_of_two(self.n, "n")
    }

    fn prepare(&self) -> io::Result<Input> {
        Ok(Input {
            numbers: (0..self.n).map(|index| self.number(index)).collect(),
            scratch: vec![Complex::default(); self.n],
            roots: roots(self.n),
        })
    }

    fn reset(&self, input: &mut Input) {
        // This generates the numbers again, because keeping a copy would take another 512 MB.
        for (index, number) in input.numbers.iter_mut().enumerate() {
            *number = self.number(index);
        }
    }

    fn serial(&self, input: &mut Input) {
        serial(&mut input.numbers, &mut input.scratch, &input.roots);
    }

    fn parallel<R: Runtime>(&self, input: &mut Input, fork: &mut R::Fork<'_>) {
        let (numbers, scratch) = (&mut input.numbers, &mut input.scratch);
        parallel::<R>(fork, numbers, scratch, &input.roots, self.cutoff);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tidegate;

    fn program(n: usize, cutoff: usize) -> Fft {
        Fft { n, cutoff, seed: 1 }
    }

    #[test]
    fn every_coefficient_matches_its_definition() {
        for n in (1..10).map(|power| 1 << power) {
            let fft = program(n, 2);
            let mut input = fft.prepare().unwrap();
            assert!(!fft.is_right(&input, 1), "it has not been transformed yet");
            fft.serial(&mut input);
            assert!((0..n).all(|k| fft.is_right(&input, k)), "{n}");
        }
    }

    #[test]
    fn unit_impulse_gives_roots_of_unity() {
        let fft = program(64, 2);
        let mut input = fft.prepare().unwrap();
        input.numbers.fill(Complex::default());
        input.numbers[3] = Complex::new(1.0, 0.0);
        fft.serial(&mut input);
        for (k, number) in input.numbers.iter().enumerate() {
            let (sin, cos) = (TAU * 3.0 * k as f64 / 64.0).sin_cos();
            let difference = *number - Complex::new(cos, -sin);
            assert!(difference.re.hypot(difference.im) < 1e-14, "{k}");
        }
    }

    #[test]
    fn cutoff_does_not_change_any_bit() {
        let pool = Tidegate::with_workers(2).unwrap();
        let mut expected = program(512, 2).prepare().unwrap();
        program(512, 2).serial(&mut expected);
        for cutoff in [2, 4, 100, 512] {
            let fft = program(512, cutoff);
            let mut input = fft.prepare().unwrap();
            pool.install(|fork| fft.parallel::<Tidegate>(&mut input, fork));
            assert!(input.numbers == expected.numbers, "{cutoff}");
        }
    }

    #[test]
    fn inverse_transform_restores_the_numbers() {
        let fft = program(1024, 2);
        let mut input = fft.prepare().unwrap();
        let original = input.numbers.clone();
        // Conjugating before and after a transform inverts it, except for a factor of n.
        for _ in 0..2 {
            fft.serial(&mut input);
            for number in &mut input.numbers {
                number.im = -number.im;
            }
        }
        for (number, original) in input.numbers.iter().zip(original) {
            let difference = Complex::new(number.re / 1024.0, number.im / 1024.0) - original;
            assert!(difference.re.hypot(difference.im) < 1e-12);
        }
    }
}
