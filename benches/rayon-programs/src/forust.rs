//! Trains gradient-boosted trees with forust-ml: `forust ROWS COLUMNS TREES`.

use forust_ml::{GradientBooster, Matrix};

mod common;

fn main() {
    let [rows, columns, trees] = common::arguments("forust ROWS COLUMNS TREES");
    let mut random = fastrand::Rng::with_seed(1);
    // The library expects the values column by column.
    let data: Vec<f64> = (0..rows * columns).map(|_| random.f64()).collect();
    let label = |row: usize| {
        let value = |column: usize| data[column % columns * rows + row];
        let score = value(0) * value(1) + (6.0 * value(2)).sin() * value(3) + 0.2 * random.f64();
        f64::from(u8::from(score > 0.4))
    };
    let labels: Vec<f64> = (0..rows).map(label).collect();
    let data = Matrix::new(&data, rows, columns);
    let mut booster = GradientBooster::default().set_iterations(trees);
    booster
        .fit_unweighted(&data, &labels, None)
        .expect("the data are in order");
    let predictions = booster.predict(&data, true);
    common::print_checksum(predictions.into_iter().map(f64::to_bits));
}
