//! Repeatedly compresses an image with exr and decompresses it: `exr SIDE REPETITIONS`.

use std::io::Cursor;

use exr::prelude::*;

mod common;

fn main() -> Result<()> {
    let [side, repetitions] = common::arguments("exr SIDE REPETITIONS");
    let sample = |at: usize| (at as f32).sqrt().fract();
    let samples = FlatSamples::F32((0..side * side).map(sample).collect());
    let channels = AnyChannels::sort([AnyChannel::new("Y", samples)].into_iter().collect());
    let encoding = Encoding::SMALL_FAST_LOSSLESS;
    let mut image = Image::from_encoded_channels((side, side), encoding, channels);
    for _ in 0..repetitions {
        let mut file = Cursor::new(Vec::new());
        image.write().to_buffered(&mut file)?;
        file.set_position(0);
        let reader = read().no_deep_data().largest_resolution_level();
        let reader = reader.all_channels().first_valid_layer().all_attributes();
        image = reader.from_buffered(file)?;
    }
    let samples = &image.layer_data.channel_data.list[0].sample_data;
    common::print_checksum(samples.values_as_f32().map(f32::to_bits));
    Ok(())
}
