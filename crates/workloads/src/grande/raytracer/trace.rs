//! Computes the colour that a ray sees.
//!
//! If a ray hits a sphere, its colour is the diffuse and mirrored light of each lamp visible from
//! that point, plus half of the colour that a reflected ray sees and half of the colour that a
//! refracted ray sees, down to a maximum depth.
//!
//! The benchmark uses one ray object at all depths. So the refracted ray starts at the last point
//! that the reflected rays reached, which is a bug. The published checksums depend on this bug, so
//! [`Tracer::start`] reproduces it.

use super::scene::{Ray, Scene, Sphere};
use super::vector::Vector;

/// The maximum depth of a ray. A ray from the eye has depth 0.
const DEEPEST: u32 = 6;
/// The fraction of its colour that a reflected or refracted ray contributes.
const SHARE: f64 = 0.5;
/// The exponent of specular reflection: the greater it is, the smaller the highlights.
const SHINE: f64 = 15.0;
/// Specular reflection is ignored unless the cosine of the angle between the mirrored ray and the
/// lamp exceeds this value.
const FAINT: f64 = 1e-6;

/// The state for computing one pixel.
pub(super) struct Tracer<'a> {
    scene: &'a Scene,
    /// The last point that any ray hit for this pixel.
    start: Vector,
}

impl<'a> Tracer<'a> {
    pub(super) fn new(scene: &'a Scene) -> Self {
        let start = Vector::default();
        Self { scene, start }
    }

    /// Returns the colour that a ray sees; 1 or more is full intensity.
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

    /// Returns the direct light of the lamps at a point of a sphere.
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

/// Returns the direction of a refracted ray in a sphere. The refractive index is that of air, so
/// the direction doesn't change.
fn refracted(towards: Vector, normal: Vector) -> Vector {
    let cosine = -towards.dot(normal);
    let inside = (1.0 - (1.0 - cosine * cosine)).sqrt();
    (towards + normal * (cosine - inside)).unit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reflection_preserves_the_angle() {
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
    fn ray_that_hits_nothing_is_black() {
        let scene = Scene::benchmark();
        let ray = Ray {
            from: scene.view.from,
            towards: Vector::new(0.0, 1.0, 0.0),
        };
        assert_eq!(Tracer::new(&scene).trace(0, &ray), Vector::default());
    }
}
