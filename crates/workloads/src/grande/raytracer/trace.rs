//! Which colour a ray brings back.
//!
//! A ray that hits a sphere brings the light of each lamp that is seen from there, diffuse and
//! mirrored, and half of what a reflected and half of what a refracted ray bring, down to a depth.
//!
//! The benchmark keeps one ray that all depths use, so when the refracted ray is traced it starts where
//! the rays of the reflection got to, not where it should. The published checksums depend on it, so
//! [`Tracer::start`] is that ray's start.

use super::scene::{Ray, Scene, Sphere};
use super::vector::Vector;

/// The deepest ray that is followed, that from the eye having depth 0.
const DEEPEST: u32 = 6;
/// What reflection and refraction have of the light each.
const SHARE: f64 = 0.5;
/// How narrow the mirrored image of a lamp is.
const SHINE: f64 = 15.0;
/// Less than this of a mirrored lamp is not seen.
const FAINT: f64 = 1e-6;

/// A picture's state while a pixel is computed.
pub(super) struct Tracer<'a> {
    scene: &'a Scene,
    /// The last point where a ray hit, of those that were followed for this pixel.
    start: Vector,
}

impl<'a> Tracer<'a> {
    pub(super) fn new(scene: &'a Scene) -> Self {
        let start = Vector::default();
        Self { scene, start }
    }

    /// The colour that a ray brings back, with 1 for full light of each colour or more.
    pub(super) fn trace(&mut self, depth: u32, ray: &Ray) -> Vector {
        if depth > DEEPEST {
            return Vector::default();
        }
        let Some((distance, sphere)) = self.scene.first_hit(ray) else {
            return Vector::default();
        };
        let point = ray.at(distance);
        let outwards = (point - sphere.centre).unit();
        let normal = if ray.towards.dot(outwards) >= 0.0 {
            -outwards
        } else {
            outwards
        };
        let mirrored = reflected(ray.towards, normal);
        let mut colour = self.lit(sphere, point, normal, mirrored);
        self.start = point;
        for towards in [mirrored, refracted(ray.towards, normal)] {
            let from = self.start;
            colour = colour + self.trace(depth + 1, &Ray { from, towards }) * SHARE;
        }
        colour
    }

    /// The light of the lamps.
    fn lit(&self, sphere: &Sphere, point: Vector, normal: Vector, mirrored: Vector) -> Vector {
        let mut colour = Vector::default();
        for &lamp in &self.scene.lights {
            let to_lamp = lamp - point;
            if normal.dot(to_lamp) < 0.0 {
                continue;
            }
            let ray = Ray {
                from: point,
                towards: to_lamp.unit(),
            };
            if self.scene.is_hit(&ray) {
                continue;
            }
            colour = colour + sphere.colour * normal.dot(ray.towards);
            let seen = mirrored.dot(ray.towards);
            if seen > FAINT {
                let white = seen.powf(SHINE);
                colour = colour + Vector::new(white, white, white);
            }
        }
        colour
    }
}

fn reflected(towards: Vector, normal: Vector) -> Vector {
    (towards * (1.0 / towards.dot(normal).abs()) + normal * 2.0).unit()
}

/// Where a ray goes on to inside a sphere whose glass refracts as air does: straight on.
fn refracted(towards: Vector, normal: Vector) -> Vector {
    let cosine = -towards.dot(normal);
    let inside = (1.0 - (1.0 - cosine * cosine)).sqrt();
    (towards + normal * (cosine - inside)).unit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reflected_ray_leaves_at_the_angle_at_which_it_came() {
        let normal = Vector::new(0.0, 1.0, 0.0);
        for x in [0.0, 0.1, 0.5, 3.0] {
            let towards = Vector::new(x, -1.0, 0.5).unit();
            let away = reflected(towards, normal);
            let wanted = towards - normal * (2.0 * towards.dot(normal));
            assert!((away - wanted).dot(away - wanted) < 1e-24, "{away:?}");
            let on = refracted(towards, normal);
            assert!((on - towards).dot(on - towards) < 1e-24, "{on:?}");
        }
    }

    #[test]
    fn a_ray_that_hits_nothing_is_black() {
        let scene = Scene::benchmark();
        let ray = Ray {
            from: scene.view.from,
            towards: Vector::new(0.0, 1.0, 0.0),
        };
        assert_eq!(Tracer::new(&scene).trace(0, &ray), Vector::default());
    }
}
