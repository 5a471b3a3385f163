//! RayTracer: a picture of 64 spheres that reflect each other.
//!
//! Rows are independent ([`row`]), so [`RayTracer::checksums`] may be divided among tasks in any
//! way. Rows take different times, because rays that hit nothing are cheap.
//!
//! The kernel doesn't store the picture, because only the sum of its colours is needed.

use super::{Kernel, Mismatch, Size};
use scene::Ray;
use trace::Tracer;

mod scene;
mod trace;
mod vector;

pub use scene::{Scene, Sphere, View};
pub use vector::Vector;

/// The state of the kernel RayTracer.
#[derive(Clone, Debug)]
pub struct RayTracer {
    size: Size,
    /// The scene to draw.
    pub scene: Scene,
    /// For each row, the sum of its pixels' colour values. The picture has as many columns as rows.
    pub checksums: Vec<u64>,
}

impl Scene {
    /// Returns the red, green and blue values (0 to 255) of the pixels in row `y` of a picture with
    /// `rows` rows.
    pub fn row(&self, y: usize, rows: usize) -> impl Iterator<Item = [u8; 3]> {
        let View { from, at, angle } = self.view;
        let forward = (at - from).unit();
        let vertical = Vector::new(0.0, 1.0, 0.0);
        let up = (vertical - forward * vertical.dot(forward)).unit();
        let left = vertical.cross(forward).unit();
        let half = angle.tan();
        // Coordinates range from -1 to 1; rows go from top to bottom.
        let place = move |number: usize| 2.0 * number as f64 / rows as f64 - 1.0;
        let row = up * -half * place(y);
        let mut tracer = Tracer::new(self);
        (0..rows).map(move |x| {
            let towards = (left * half * place(x) + row + forward).unit();
            let colour = tracer.trace(0, &Ray { from, towards });
            // The cast saturates at 255, the brightest value.
            [colour.x, colour.y, colour.z].map(|part| (part * 255.0) as u8)
        })
    }
}

/// Draws row `y` of a picture with `rows` rows, and returns the sum of its colour values.
pub fn row(scene: &Scene, y: usize, rows: usize) -> u64 {
    let parts = scene.row(y, rows).flatten();
    parts.map(u64::from).sum()
}

impl Kernel for RayTracer {
    const NAME: &'static str = "raytracer";

    /// The sum of all colour values in the picture.
    type Figure = u64;

    fn new(size: Size) -> Self {
        Self {
            size,
            scene: Scene::benchmark(),
            checksums: vec![0; size.choose([16, 150, 500])],
        }
    }

    fn reset(&mut self) {
        self.checksums.fill(0);
    }

    fn serial(&mut self) -> u64 {
        let rows = self.checksums.len();
        for (y, checksum) in self.checksums.iter_mut().enumerate() {
            *checksum = row(&self.scene, y, rows);
        }
        self.figure()
    }

    fn figure(&self) -> u64 {
        self.checksums.iter().sum()
    }

    fn check(&self, figure: &u64) -> Result<(), Mismatch> {
        let reference = self.size.choose::<fn() -> u64, 3>([
            || Self::new(Size::Test).serial(),
            || 2_676_692,
            || 29_827_635,
        ]);
        Mismatch::unless_near("checksum", *figure as f64, reference() as f64, 0.0)
    }
}
