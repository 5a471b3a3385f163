//! Compresses an image losslessly with oxipng: `oxipng SIDE PRESET`.

use oxipng::{BitDepth, ColorType, Options, RawImage};

mod common;

fn main() {
    let [side, preset] = common::arguments("oxipng SIDE PRESET");
    let mut random = fastrand::Rng::with_seed(1);
    // A gradient with some noise.
    let sample = |at: usize| (at / side + at % side) as u8 ^ random.u8(..4);
    let samples = (0..side * side * 4).map(sample).collect();
    let (width, height) = (side as u32, side as u32);
    let image = RawImage::new(width, height, ColorType::RGBA, BitDepth::Eight, samples);
    let options = Options::from_preset(preset as u8);
    let png = image.and_then(|image| image.create_optimized_png(&options));
    common::print_checksum(png.expect("the image is in order"));
}
