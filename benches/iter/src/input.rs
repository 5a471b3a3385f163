//! The input of the chains: the same pseudorandom items in every process.

use std::sync::OnceLock;

const SEED: u64 = 0x7464_6761_7465;

/// The range of a word's length. Its end is excluded.
const LETTERS: (usize, usize) = (4, 20);

/// The first `items` items of each kind. The items of a kind are created when a chain first uses
/// them.
pub struct Input {
    items: usize,
    numbers: OnceLock<Vec<u64>>,
    smalls: OnceLock<Vec<u32>>,
    words: OnceLock<Vec<&'static str>>,
}

impl Input {
    pub fn new(items: usize) -> Self {
        Self {
            items,
            numbers: OnceLock::new(),
            smalls: OnceLock::new(),
            words: OnceLock::new(),
        }
    }

    pub fn numbers(&self) -> &[u64] {
        self.numbers
            .get_or_init(|| (0..self.items).map(number).collect())
    }

    pub fn smalls(&self) -> &[u32] {
        let small = |index| (number(index) >> 32) as u32;
        self.smalls
            .get_or_init(|| (0..self.items).map(small).collect())
    }

    /// Returns the words, whose text is never freed.
    pub fn words(&self) -> &[&'static str] {
        self.words.get_or_init(|| words(self.items))
    }
}

/// Returns the pseudorandom number at `index`: splitmix64, whose state is the seed plus a multiple
/// of the index.
fn number(index: usize) -> u64 {
    let state = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut mixed = SEED.wrapping_add(state);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn words(items: usize) -> Vec<&'static str> {
    let (least, most) = LETTERS;
    let length = |word: usize| least + (number(word * most) % (most - least) as u64) as usize;
    let letter = |index: usize| char::from(b'a' + (number(index) >> 32) as u8 % 26);
    let mut text = String::new();
    for word in 0..items {
        text.extend((word * most..word * most + length(word)).map(letter));
    }
    let mut rest: &'static str = Box::leak(text.into_boxed_str());
    let cut = |word| {
        let (word, after) = rest.split_at(length(word));
        rest = after;
        word
    };
    (0..items).map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_input_begins_with_shorter_one() {
        let [short, long] = [10, 1000].map(Input::new);
        assert_eq!(short.numbers(), &long.numbers()[..10]);
        assert_eq!(short.smalls(), &long.smalls()[..10]);
        assert_eq!(short.words(), &long.words()[..10]);
    }

    #[test]
    fn input_numbers_have_no_pattern() {
        let input = Input::new(10_000);
        let odd = input.numbers().iter().filter(|item| *item % 2 == 1);
        assert!((4_800..5_200).contains(&odd.count()));
    }

    #[test]
    fn words_differ_in_length_and_beginning() {
        let input = Input::new(10_000);
        let words = input.words();
        assert!(words.iter().all(|word| (4..20).contains(&word.len())));
        let begin_with_a = words.iter().filter(|word| word.starts_with('a')).count();
        assert!((300..500).contains(&begin_with_a), "{begin_with_a}");
    }
}
