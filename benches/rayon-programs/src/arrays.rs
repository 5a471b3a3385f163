//! Runs ndarray's parallel operations on square arrays: `arrays SIDE REPETITIONS`.
//!
//! No operation adds numbers across pieces of an array, so the result does not depend on where
//! rayon splits the array.

use ndarray::parallel::prelude::*;
use ndarray::{Array1, Array2, Axis, Zip};

mod common;

fn main() {
    let [side, repetitions] = common::arguments("arrays SIDE REPETITIONS");
    let mut random = fastrand::Rng::with_seed(1);
    let weights = Array2::from_shape_simple_fn((side, side), || random.f64());
    let mut values = Array2::from_shape_simple_fn((side, side), || random.f64());
    let mut rows = Array1::zeros(side);
    for _ in 0..repetitions {
        values.par_map_inplace(|value| *value = (*value + 1.0).sqrt());
        Zip::from(&mut values)
            .and(&weights)
            .and_broadcast(&rows)
            .par_for_each(|value, weight, row| *value = value.mul_add(*weight, *row));
        let sums: Vec<f64> = values
            .axis_iter(Axis(0))
            .into_par_iter()
            .map(|row| row.sum() / row.len() as f64)
            .collect();
        rows = Zip::from(&Array1::from(sums)).par_map_collect(|sum| sum.fract());
    }
    common::print_checksum(values.iter().map(|value| value.to_bits()));
}
