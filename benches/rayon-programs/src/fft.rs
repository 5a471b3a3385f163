//! Repeatedly transforms a polynomial forward and back with ark-poly: `fft LOG2_OF_SIZE
//! REPETITIONS`.
//!
//! Each stage of a transform is one parallel loop, so with small sizes the program forks often and
//! does little work between forks.

use ark_bls12_381::Fr;
use ark_ff::PrimeField;
use ark_poly::{EvaluationDomain, Radix2EvaluationDomain};

mod common;

fn main() {
    let [log2, repetitions] = common::arguments("fft LOG2_OF_SIZE REPETITIONS");
    let size = 1_usize << log2;
    let domain = Radix2EvaluationDomain::<Fr>::new(size).expect("the field has such a domain");
    let mut values: Vec<Fr> = (1..=size as u64).map(|n| Fr::from(n * n)).collect();
    for _ in 0..repetitions {
        domain.fft_in_place(&mut values);
        // Without this change, every repetition would transform the same values.
        values[0] += Fr::from(1_u64);
        domain.ifft_in_place(&mut values);
    }
    let numbers = values.iter().map(|value| value.into_bigint());
    common::print_checksum(numbers.flat_map(|number| number.0));
}
