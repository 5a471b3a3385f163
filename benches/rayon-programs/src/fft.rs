//! Repeatedly transforms a polynomial forward and back with ark-poly: `fft LOG2_OF_SIZE
//! REPETITIONS`.
//!
//! Each stage of a transform is one parallel loop, so with small sizes the program forks often and
//! does little work between forks.

use std::env;

use ark_bls12_381::Fr;
use ark_ff::PrimeField;
use ark_poly::{EvaluationDomain, Radix2EvaluationDomain};

fn main() {
    let mut arguments = env::args().skip(1).map(|text| text.parse::<u32>());
    let (Some(Ok(log2)), Some(Ok(repetitions))) = (arguments.next(), arguments.next()) else {
        panic!("usage: fft LOG2_OF_SIZE REPETITIONS");
    };
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
    let limbs = numbers.flat_map(|number| number.0);
    let fold = |hash: u64, limb: u64| (hash ^ limb).wrapping_mul(0x0100_0000_01b3);
    println!("checksum {:016x}", limbs.fold(0, fold));
}
