//! Solves random systems of equations and finds their singular values with faer: `faer SIDE
//! REPETITIONS`.

use faer::Mat;
use faer::linalg::solvers::Solve;

mod common;

fn main() {
    let [side, repetitions] = common::arguments("faer SIDE REPETITIONS");
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..repetitions {
        let matrix = Mat::from_fn(side, side, |_, _| random.f64());
        let solution = matrix.partial_piv_lu().solve(matrix.transpose());
        let values = matrix.singular_values().expect("the matrix is finite");
        // The last digits depend on how faer splits sums among threads.
        let numbers = [solution.sum(), values[0], values[side / 2]];
        common::print_checksum(numbers.map(|number| (number * 1e3).round() as u64));
    }
}
