//! Grows made-up polygons and unites them with geo: `geo POLYGONS CORNERS`.

use std::f64::consts::TAU;

use geo::algorithm::{Area, Buffer, unary_union};
use geo::{LineString, MultiPolygon, Polygon};
use rayon::prelude::*;

mod common;

fn main() {
    let [polygons, corners] = common::arguments("geo POLYGONS CORNERS");
    let mut random = fastrand::Rng::with_seed(1);
    let side = (polygons as f64).sqrt();
    let polygon = |_| {
        let (x, y) = (random.f64() * side, random.f64() * side);
        let mut corner = |number: usize| {
            let radius = 0.5 + random.f64() / 2.0;
            let (sine, cosine) = (number as f64 / corners as f64 * TAU).sin_cos();
            (x + radius * cosine, y + radius * sine)
        };
        let ring: LineString = (0..corners).map(&mut corner).collect();
        Polygon::new(ring, vec![])
    };
    let polygons: MultiPolygon = (0..polygons).map(polygon).collect();
    let grow = |polygon: &Polygon| polygon.buffer(0.1);
    let grown: Vec<MultiPolygon> = polygons.par_iter().map(grow).collect();
    let united = unary_union(&grown);
    common::print_checksum([united.0.len() as u64, united.unsigned_area().to_bits()]);
}
