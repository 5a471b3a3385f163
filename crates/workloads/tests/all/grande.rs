//! Checks the Java Grande kernels. The serial versions must reproduce the published figures, and
//! runs that execute the parts in another order must agree with the serial versions.
//!
//! At the test size, each kernel is checked against a property that holds regardless of its figure.
//! With optimization, all kernels also run at the benchmark's size A; without it, only the kernels
//! that take less than about 2 s do.

use std::ops::Range;
use std::sync::RwLock;

use tidegate_workloads::grande::crypt::{BLOCK, crypt};
use tidegate_workloads::grande::lufact::{eliminate, pivot, solve};
use tidegate_workloads::grande::moldyn::{Forces, STEPS, kick, kinetic, rescale};
use tidegate_workloads::grande::montecarlo::path;
use tidegate_workloads::grande::raytracer::{Scene, Sphere, Vector, row};
use tidegate_workloads::grande::series::coefficients;
use tidegate_workloads::grande::sor::{SWEEPS, relax};
use tidegate_workloads::grande::{
    Crypt, Kernel, LuFact, MolDyn, MonteCarlo, RayTracer, Series, Size, Sor,
};

/// The size for kernels that would take too long at size A without optimization.
const A_IF_OPTIMISED: Size = if cfg!(debug_assertions) {
    Size::Test
} else {
    Size::A
};

fn serial_is_right<K: Kernel>(size: Size) {
    let mut kernel = K::new(size);
    let figure = kernel.serial();
    let right = kernel.check(&figure);
    assert!(right.is_ok(), "{} {figure:?}: {right:?}", K::NAME);
}

#[test]
fn serial_versions_match_reference_figures() {
    serial_is_right::<Crypt>(Size::A);
    serial_is_right::<Series>(Size::A);
    serial_is_right::<LuFact>(A_IF_OPTIMISED);
    serial_is_right::<Sor>(A_IF_OPTIMISED);
    serial_is_right::<MolDyn>(A_IF_OPTIMISED);
    serial_is_right::<MonteCarlo>(A_IF_OPTIMISED);
    serial_is_right::<RayTracer>(A_IF_OPTIMISED);
}

/// The test takes about 10 s with optimization, and would take minutes without.
#[test]
#[cfg(not(debug_assertions))]
fn largest_size_reaches_the_published_figures() {
    serial_is_right::<Crypt>(Size::C);
    serial_is_right::<Sor>(Size::C);
}

#[test]
#[should_panic(expected = "no size C")]
fn kernel_without_size_c_rejects_it() {
    let _ = MolDyn::new(Size::C);
}

fn reset_is_right<K: Kernel>()
where
    K::Figure: PartialEq,
{
    let mut kernel = K::new(Size::Test);
    let figure = kernel.serial();
    kernel.reset();
    assert_eq!(kernel.serial(), figure, "{}", K::NAME);
}

#[test]
fn reset_run_gives_equal_figures() {
    reset_is_right::<Crypt>();
    reset_is_right::<Series>();
    reset_is_right::<LuFact>();
    reset_is_right::<Sor>();
    reset_is_right::<MolDyn>();
    reset_is_right::<MonteCarlo>();
    reset_is_right::<RayTracer>();
}

/// A separate thread encrypts and decrypts each piece. Encryption must change every block.
#[test]
fn threaded_crypt_restores_the_text() {
    let mut kernel = Crypt::new(Size::Test);
    let Crypt {
        plain,
        cipher,
        restored,
        encryption,
        decryption,
    } = &mut kernel;
    let piece = 5 * BLOCK;
    std::thread::scope(|scope| {
        let texts = plain.chunks(piece).zip(cipher.chunks_mut(piece));
        for ((plain, cipher), restored) in texts.zip(restored.chunks_mut(piece)) {
            let (encryption, decryption) = (&*encryption, &*decryption);
            scope.spawn(move || {
                crypt(encryption, plain, cipher);
                crypt(decryption, cipher, restored);
            });
        }
    });
    let figure = kernel.figure();
    kernel.check(&figure).unwrap();
    let blocks = kernel.plain.chunks(BLOCK).zip(kernel.cipher.chunks(BLOCK));
    assert!(blocks.into_iter().all(|(plain, cipher)| plain != cipher));
}

#[test]
fn lufact_recovers_its_known_solution() {
    let mut kernel = LuFact::new(Size::Test);
    kernel.serial();
    let wrong = kernel.right.iter().map(|entry| (entry - 1.0).abs());
    assert!(wrong.fold(0.0, f64::max) < 1e-10);
}

#[test]
fn locked_column_lufact_matches_serial() {
    let mut serial = LuFact::new(Size::Test);
    let wanted = serial.serial();
    let mut kernel = LuFact::new(Size::Test);
    let columns: Vec<_> = kernel.columns.iter_mut().map(RwLock::new).collect();
    for (number, column) in columns.iter().enumerate() {
        let mut column = column.write().unwrap();
        for (k, multipliers) in columns[..number].iter().enumerate() {
            let multipliers = multipliers.read().unwrap();
            eliminate(k, kernel.pivots[k], &multipliers, &mut column);
        }
        kernel.pivots[number] = pivot(number, &mut column);
    }
    solve(&kernel.columns, &kernel.pivots, &mut kernel.right);
    assert_eq!(kernel.columns, serial.columns);
    assert_eq!(kernel.figure(), wanted);
}

#[test]
fn sor_goes_towards_the_solution() {
    // In the exact solution, every cell is the mean of its neighbours.
    let wrong = |kernel: &Sor| {
        let cell = |i: usize, j: usize| kernel.colours[(i + j) % 2][i][j / 2];
        let inner =
            (1..kernel.length() - 1).flat_map(|i| (1..kernel.length() - 1).map(move |j| (i, j)));
        let wrong = inner.map(|(i, j)| {
            let neighbours = cell(i - 1, j) + cell(i + 1, j) + cell(i, j - 1) + cell(i, j + 1);
            (neighbours / 4.0 - cell(i, j)).abs()
        });
        wrong.fold(0.0, f64::max)
    };
    let mut kernel = Sor::new(Size::Test);
    let before = wrong(&kernel);
    kernel.serial();
    let after = wrong(&kernel);
    assert!(after < before / 100.0, "{before} {after}");
}

/// Relaxes each row in each sweep as early as possible, so that rows at the top are many sweeps
/// ahead of rows at the bottom.
#[test]
fn reordered_sor_gives_identical_bits() {
    let mut serial = Sor::new(A_IF_OPTIMISED);
    let wanted = serial.serial();
    let mut kernel = Sor::new(A_IF_OPTIMISED);
    let length = kernel.length();
    let locked = kernel
        .colours
        .each_mut()
        .map(|rows| rows.iter_mut().map(RwLock::new).collect::<Vec<_>>());
    let mut order: Vec<_> = (0..SWEEPS)
        .flat_map(|sweep| (1..length - 1).map(move |row| (sweep, row)))
        .collect();
    order.sort_by_key(|&(sweep, row)| (2 * sweep + row, row));
    for (sweep, row) in order {
        let (written, read) = (&locked[sweep % 2], &locked[1 - sweep % 2]);
        let neighbours = [row - 1, row, row + 1].map(|row| read[row].read().unwrap());
        let neighbours = neighbours.each_ref().map(|cells| &cells[..]);
        relax((sweep, row), &mut written[row].write().unwrap(), neighbours);
    }
    drop(locked);
    assert_eq!(kernel.colours, serial.colours);
    assert_eq!(kernel.figure(), wanted);
}

#[test]
fn series_approximates_its_integrals() {
    let mut kernel = Series::new(Size::Test);
    let (front, back) = kernel.coefficients.split_at_mut(30);
    std::thread::scope(|scope| {
        scope.spawn(|| coefficients(0, front));
        scope.spawn(|| coefficients(30, back));
    });
    let function = |x: f64| (x + 1.0).powf(x);
    let steps = 20_000;
    for (number, &pair) in kernel.coefficients.iter().enumerate().step_by(7) {
        let frequency = std::f64::consts::PI * number as f64;
        for (found, wave) in pair.into_iter().zip([f64::cos as fn(f64) -> f64, f64::sin]) {
            let value = |x: f64| function(x) * wave(frequency * x);
            // The expected value is computed by Simpson's rule.
            let at = |step: i32| value(2.0 * f64::from(step) / f64::from(steps));
            let inner = (1..steps).map(|step| at(step) * f64::from(2 + step % 2 * 2));
            let inner: f64 = inner.sum();
            let integral = (at(0) + inner + at(steps)) * 2.0 / f64::from(steps) / 3.0;
            let mut wanted = integral - value(1.998) * 0.002;
            if number == 0 {
                wanted /= 2.0;
            }
            let allowed = 1e-5 * (number + 1) as f64;
            let wrong = (found - wanted).abs();
            assert!(wrong < allowed, "{number} {found} {wanted}");
        }
    }
}

#[test]
fn moldyn_conserves_momentum_and_is_reversible() {
    let mut kernel = MolDyn::new(Size::Test);
    let run = |kernel: &mut MolDyn, steps: Range<usize>| {
        for step in steps {
            kernel.step(step);
            for axis in 0..3 {
                let along = kernel.velocities.iter().map(|velocity| velocity[axis]);
                let momentum: f64 = along.sum();
                assert!(momentum.abs() < 1e-10, "{step} {momentum}");
            }
        }
    };
    // The velocities are corrected only in the first 20 steps, and a correction can't be reversed.
    run(&mut kernel, 0..20);
    let (positions, velocities) = (kernel.positions.clone(), kernel.velocities.clone());
    run(&mut kernel, 20..STEPS);
    assert!(apart(&positions, &kernel.positions) > 0.1);
    rescale(&mut kernel.velocities, -1.0);
    run(&mut kernel, 20..STEPS);
    rescale(&mut kernel.velocities, -1.0);
    assert!(apart(&positions, &kernel.positions) < 1e-9);
    assert!(apart(&velocities, &kernel.velocities) < 1e-9);
}

fn apart(some: &[[f64; 3]], others: &[[f64; 3]]) -> f64 {
    let pairs = some.as_flattened().iter().zip(others.as_flattened());
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Runs a step as a parallel version does: in parts, each of which has its own forces.
fn step_by_parts(kernel: &mut MolDyn, step: usize, private: &mut [Forces]) {
    let MolDyn {
        cell,
        positions,
        velocities,
        forces,
        kinetic: energy,
        ..
    } = kernel;
    let piece = positions.len().div_ceil(private.len());
    let moved = positions
        .chunks_mut(piece)
        .zip(velocities.chunks_mut(piece));
    for ((positions, velocities), forces) in moved.zip(forces.each.chunks(piece)) {
        cell.advance(positions, velocities, forces);
    }
    std::thread::scope(|scope| {
        let (cell, positions) = (&*cell, &*positions);
        for (part, forces) in private.iter_mut().enumerate() {
            let range = part * piece..positions.len().min((part + 1) * piece);
            scope.spawn(move || {
                forces.clear();
                cell.interact(positions, range, forces);
            });
        }
    });
    forces.clear();
    for (number, total) in forces.each.chunks_mut(piece).enumerate() {
        private
            .iter()
            .for_each(|forces| forces.add_to(number * piece, total));
    }
    let pieces = velocities
        .chunks_mut(piece)
        .zip(forces.each.chunks_mut(piece));
    let kicked = pieces.map(|(velocities, forces)| kick(velocities, forces));
    *energy = kinetic(kicked.sum());
    if let Some(factor) = cell.correction(step, energy) {
        velocities
            .chunks_mut(piece)
            .for_each(|velocities| rescale(velocities, factor));
    }
}

#[test]
fn moldyn_by_parts_reaches_the_reference() {
    for parts in [2, 8] {
        let mut kernel = MolDyn::new(A_IF_OPTIMISED);
        let mut private = vec![Forces::new(kernel.positions.len()); parts];
        for step in 0..STEPS {
            step_by_parts(&mut kernel, step, &mut private);
        }
        kernel.check(&kernel.figure()).unwrap();
    }
}

#[test]
fn montecarlo_recovers_its_drift() {
    let mut kernel = MonteCarlo::new(Size::Test);
    for (number, rate) in kernel.rates.iter_mut().enumerate().rev() {
        *rate = path(kernel.market, number);
    }
    kernel.check(&kernel.figure()).unwrap();
    // The standard error of the mean drift is the volatility divided by the square root of the
    // total number of simulated years.
    let years = 999.0 / 365.0 * kernel.rates.len() as f64;
    let error = kernel.market.volatility / f64::sqrt(years);
    let off = kernel.figure() - kernel.market.drift;
    assert!(off.abs() < 3.0 * error, "{off} {error}");
}

#[test]
fn reversed_raytracer_rows_match_serial() {
    let mut kernel = RayTracer::new(Size::Test);
    let rows = kernel.checksums.len();
    std::thread::scope(|scope| {
        for (y, checksum) in kernel.checksums.iter_mut().enumerate().rev() {
            let scene = &kernel.scene;
            scope.spawn(move || *checksum = row(scene, y, rows));
        }
    });
    kernel.check(&kernel.figure()).unwrap();
}

#[test]
fn raytracer_draws_sphere_true_to_size() {
    let mut scene = Scene::benchmark();
    scene.spheres = vec![Sphere {
        centre: scene.view.at,
        radius: 3.0,
        colour: Vector::new(1.0, 1.0, 1.0),
    }];
    // The only lamp is at the eye, so everything visible is lit.
    scene.lights = vec![scene.view.from];
    let rows = 200;
    let pixels = (0..rows).flat_map(|y| scene.row(y, rows));
    let seen = pixels.filter(|&pixel| pixel != [0; 3]).count() as f64;
    let distance = f64::hypot(20.0, 30.0);
    let radius = (3.0 / distance).asin().tan() / scene.view.angle.tan();
    let wanted = std::f64::consts::PI * (radius * f64::from(rows as u32) / 2.0).powi(2);
    assert!((seen / wanted - 1.0).abs() < 0.03, "{seen} {wanted}");
}
