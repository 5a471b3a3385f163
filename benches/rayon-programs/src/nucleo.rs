//! Filters made-up lines with nucleo, as a user who types a word: `nucleo LINES WORDS`.

use std::sync::Arc;

use nucleo::pattern::{CaseMatching, Normalization};
use nucleo::{Config, Nucleo};

mod common;

fn main() {
    let [lines, words] = common::arguments("nucleo LINES WORDS");
    let mut random = fastrand::Rng::with_seed(1);
    let threads = Some(rayon::current_num_threads());
    let mut search = Nucleo::<u64>::new(Config::DEFAULT, Arc::new(|| ()), threads, 1);
    let injector = search.injector();
    for number in 0..lines as u64 {
        let line: String = (0..64).map(|_| random.lowercase()).collect();
        injector.push(number, |_, columns| columns[0] = line.into());
    }
    for _ in 0..words {
        let word: String = (0..4).map(|_| random.lowercase()).collect();
        for length in 1..=word.len() {
            let (case, normal) = (CaseMatching::Smart, Normalization::Smart);
            let pattern = &mut search.pattern;
            pattern.reparse(0, &word[..length], case, normal, length > 1);
            while search.tick(10).running {}
        }
        let found = search.snapshot().matched_items(..);
        common::print_checksum(found.map(|line| *line.data));
    }
}
