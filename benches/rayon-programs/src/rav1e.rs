//! Encodes a video of moving stripes with rav1e: `rav1e FRAMES SPEED`.

use rav1e::prelude::*;

mod common;

fn main() {
    let [frames, speed] = common::arguments("rav1e FRAMES SPEED");
    let mut encoder = EncoderConfig::with_speed_preset(speed as u8);
    // The result depends on this number, so it must not depend on the number of threads.
    encoder.tiles = 8;
    let config = Config::new().with_encoder_config(encoder);
    let mut context = config.new_context::<u8>().expect("the settings are valid");
    let mut random = fastrand::Rng::with_seed(1);
    for number in 0..frames {
        let mut frame = context.new_frame();
        for plane in &mut frame.planes {
            let stride = plane.cfg.stride;
            for (at, sample) in plane.data_origin_mut().iter_mut().enumerate() {
                *sample = ((at % stride + 3 * number) ^ (at / stride)) as u8 / 2 + random.u8(..8);
            }
        }
        context.send_frame(frame).expect("the encoder takes frames");
    }
    context.flush();
    loop {
        match context.receive_packet() {
            Ok(packet) => common::print_checksum(packet.data),
            Err(EncoderStatus::Encoded) => {}
            Err(EncoderStatus::LimitReached) => break,
            Err(other) => panic!("{other}"),
        }
    }
}
