//! The scene: spheres, lights and the eye.

use super::vector::Vector;

#[expect(
    clippy::approx_constant,
    reason = "the published checksums depend on these digits of pi"
)]
const ANGLE: f64 = 35.0 * 3.141_592_65 / 180.0;

/// The spheres and lights, and the eye that looks at them.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The objects that rays can hit.
    pub spheres: Vec<Sphere>,
    /// The positions of the lights.
    pub lights: Vec<Vector>,
    /// The position and direction of the eye.
    pub view: View,
}

/// A sphere, half mirror and half glass with the refractive index of air.
#[derive(Clone, Copy, Debug)]
pub struct Sphere {
    /// The position of the sphere's centre.
    pub centre: Vector,
    /// The distance from the centre to the surface.
    pub radius: f64,
    /// The red, green and blue components of the sphere's colour, from 0 to 1.
    pub colour: Vector,
}

/// The eye's position, its direction and its angle of view.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The position of the eye.
    pub from: Vector,
    /// The point at which the eye looks, in the middle of the picture.
    pub at: Vector,
    /// Half the angle of view, in radians.
    pub angle: f64,
}

/// A ray with its origin and its direction, which is a unit vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ray {
    pub(super) from: Vector,
    pub(super) towards: Vector,
}

impl Ray {
    pub(super) fn at(&self, distance: f64) -> Vector {
        self.from + self.towards * distance
    }
}

impl Scene {
    /// Returns the benchmark's scene: a cube of spheres, and five lights.
    pub fn benchmark() -> Self {
        const EACH_WAY: usize = 4;
        let place = |number: usize| 20.0 / (EACH_WAY - 1) as f64 * number as f64 - 10.0;
        let sphere = |number: usize| {
            let [i, j, k] = [
                number / EACH_WAY / EACH_WAY,
                number / EACH_WAY % EACH_WAY,
                number % EACH_WAY,
            ];
            Sphere {
                centre: Vector::new(place(i), place(j), place(k)),
                radius: 3.0,
                colour: Vector::new(0.0, 0.0, (i + j) as f64 / (2 * EACH_WAY - 2) as f64),
            }
        };
        Self {
            spheres: (0..EACH_WAY.pow(3)).map(sphere).collect(),
            lights: vec![
                Vector::new(100.0, 100.0, -50.0),
                Vector::new(-100.0, 100.0, -50.0),
                Vector::new(100.0, -100.0, -50.0),
                Vector::new(-100.0, -100.0, -50.0),
                Vector::new(200.0, 200.0, 0.0),
            ],
            view: View {
                from: Vector::new(0.0, 20.0, -30.0),
                at: Vector::new(0.0, 0.0, 0.0),
                angle: ANGLE,
            },
        }
    }

    /// Returns the first sphere that a ray hits, and the sphere's distance.
    pub(super) fn first_hit(&self, ray: &Ray) -> Option<(f64, &Sphere)> {
        let hits = self
            .spheres
            .iter()
            .filter_map(|sphere| Some((sphere.hit(ray)?, sphere)));
        hits.reduce(|first, hit| if hit.0 < first.0 { hit } else { first })
    }

    /// Whether a ray hits any sphere. Like the benchmark, this determines the first hit instead of
    /// stopping at any hit.
    pub(super) fn is_hit(&self, ray: &Ray) -> bool {
        self.first_hit(ray).is_some()
    }
}

impl Sphere {
    /// Returns the distance at which a ray hits the surface, from outside or inside. Returns `None`
    /// if the ray misses the sphere.
    fn hit(&self, ray: &Ray) -> Option<f64> {
        /// A closer hit is ignored, because it is the surface from which the ray starts.
        const NEAR: f64 = 1e-6;
        let to_centre = self.centre - ray.from;
        let along = to_centre.dot(ray.towards);
        let square = along * along - to_centre.dot(to_centre) + self.radius * self.radius;
        if square < 0.0 {
            return None;
        }
        let half = square.sqrt();
        let in_front = along - half;
        let distance = if in_front < NEAR {
            along + half
        } else {
            in_front
        };
        (distance >= NEAR).then_some(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPHERE: Sphere = Sphere {
        centre: Vector::new(0.0, 0.0, 5.0),
        radius: 2.0,
        colour: Vector::new(1.0, 1.0, 1.0),
    };

    /// A ray hits a sphere that is in front of it or that contains its origin, but not a sphere
    /// behind it.
    #[test]
    fn sphere_hit_depends_on_ray_start() {
        let along_z = |z: f64| Ray {
            from: Vector::new(0.0, 0.0, z),
            towards: Vector::new(0.0, 0.0, 1.0),
        };
        assert_eq!(SPHERE.hit(&along_z(0.0)), Some(3.0));
        assert_eq!(
            SPHERE.hit(&along_z(3.0)),
            Some(4.0),
            "starts on the surface"
        );
        assert_eq!(SPHERE.hit(&along_z(5.0)), Some(2.0));
        assert_eq!(SPHERE.hit(&along_z(7.0)), None, "leaves from the surface");
        assert_eq!(SPHERE.hit(&along_z(8.0)), None);
    }

    #[test]
    fn distant_ray_misses_the_sphere() {
        let passing = |x: f64| Ray {
            from: Vector::new(x, 0.0, 0.0),
            towards: Vector::new(0.0, 0.0, 1.0),
        };
        assert!(SPHERE.hit(&passing(1.999)).is_some());
        assert!(SPHERE.hit(&passing(2.001)).is_none());
    }

    #[test]
    fn nearest_sphere_is_hit_first() {
        let mut scene = Scene::benchmark();
        scene.spheres.push(Sphere {
            centre: Vector::new(0.0, 15.0, -22.0),
            radius: 1.0,
            ..SPHERE
        });
        let ray = Ray {
            from: scene.view.from,
            towards: (Vector::new(0.0, 15.0, -22.0) - scene.view.from).unit(),
        };
        let (_, sphere) = scene.first_hit(&ray).unwrap();
        assert_eq!(sphere.radius, 1.0);
    }
}
