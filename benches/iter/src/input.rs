//! What the chains work on: the same pseudo-random numbers in every process.

/// Where the sequence begins.
const SEED: u64 = 0x7464_6761_7465;

/// The beginning of one sequence, as long as anybody has asked for, and room for copies of it.
#[derive(Default)]
pub struct Input {
    numbers: Vec<u64>,
    copies: Vec<u64>,
}

impl Input {
    /// The first `items` numbers.
    pub fn first(&mut self, items: usize) -> &mut [u64] {
        let have = self.numbers.len();
        self.numbers.extend((have..items).map(number));
        &mut self.numbers[..items]
    }

    /// The first `items` numbers, `times` in a row.
    pub fn copies(&mut self, items: usize, times: usize) -> &mut [u64] {
        self.first(items);
        self.copies.clear();
        for _ in 0..times {
            self.copies.extend_from_slice(&self.numbers[..items]);
        }
        &mut self.copies
    }
}

/// The number at `index` of the sequence: splitmix64, whose state is the index times a constant.
fn number(index: usize) -> u64 {
    let state = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut mixed = SEED.wrapping_add(state);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_input_begins_with_the_shorter_one() {
        let mut input = Input::default();
        let short = input.first(10).to_vec();
        assert_eq!(input.first(1000)[..10], short);
        assert_eq!(input.first(10), short);
        assert_eq!(input.copies(10, 3), [&short[..]; 3].concat());
    }

    #[test]
    fn the_numbers_have_no_pattern_that_a_chain_would_notice() {
        let mut input = Input::default();
        let odd = input.first(10_000).iter().filter(|item| *item % 2 == 1);
        assert!((4_800..5_200).contains(&odd.count()));
    }
}
