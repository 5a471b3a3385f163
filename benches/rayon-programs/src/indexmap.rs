//! Runs indexmap's parallel operations on a map of numbers: `indexmap ENTRIES REPETITIONS`.
//!
//! Such a map keeps the order of insertion, so the result does not depend on where rayon splits it.

use indexmap::IndexMap;
use rayon::prelude::*;

mod common;

fn main() {
    let numbers = common::arguments("indexmap ENTRIES REPETITIONS");
    let [entries, repetitions] = numbers.map(|number| number as u64);
    let mix = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let mut values: IndexMap<u64, u64> =
        (0..entries).into_par_iter().map(|n| (mix(n), n)).collect();
    for repetition in 0..repetitions {
        values
            .par_values_mut()
            .for_each(|value| *value = mix(*value));
        // Half of these keys are new.
        let more = (0..entries).into_par_iter();
        values.par_extend(more.map(|n| (mix(2 * n), n + repetition)));
        let inverse: IndexMap<u64, u64> = values
            .par_iter()
            .map(|(key, value)| (*value, *key))
            .collect();
        values.par_sort_by(|_, first, _, second| first.cmp(second));
        assert!(!values.par_eq(&inverse), "no map is its inverse");
    }
    common::print_checksum(values.iter().map(|(key, value)| key ^ value));
}
