//! Sorts numbers with voracious_radix_sort: `radix NUMBERS REPETITIONS`.

use voracious_radix_sort::RadixSort;

mod common;

fn main() {
    let [length, repetitions] = common::arguments("radix NUMBERS REPETITIONS");
    let mut random = fastrand::Rng::with_seed(1);
    let mut numbers: Vec<u64> = (0..length).map(|_| random.u64(..)).collect();
    for _ in 0..repetitions {
        numbers.voracious_mt_sort(rayon::current_num_threads());
        // Without this change, all but the first repetition would sort sorted numbers.
        let mix = |number: &mut u64| *number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        numbers.iter_mut().for_each(mix);
    }
    common::print_checksum(numbers);
}
