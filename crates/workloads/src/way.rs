//! Lets the same code serve as both the serial version and the parallel body: a [`Way`] handles the
//! parts of a task by calls, joins or spawns.
//!
//! A scope passes no fork to its tasks, so a spawned task can only create tasks by further spawns.

use crate::program::Form;
use crate::runtime::Runtime;

/// How a task handles its parts.
pub enum Way<'a, 'f, R: Runtime> {
    /// With plain calls in order, like the serial version.
    Call,
    /// With joins that repeatedly halve the range of parts.
    Join(&'a mut R::Fork<'f>),
    /// With one spawn per part, in a scope.
    Spawn,
}

impl<'a, 'f, R: Runtime> Way<'a, 'f, R> {
    pub(crate) fn new(form: Form, fork: &'a mut R::Fork<'f>) -> Self {
        match form {
            Form::Join => Self::Join(fork),
            Form::Spawn => Self::Spawn,
        }
    }

    pub(crate) fn again(&mut self) -> Way<'_, 'f, R> {
        match self {
            Self::Call => Way::Call,
            Self::Join(fork) => Way::Join(&mut **fork),
            Self::Spawn => Way::Spawn,
        }
    }
}

/// Splits `values` into parts of `size` elements, and calls `body` with the index of each part and
/// the part itself. [`Way::Call`] handles the parts in order.
pub(crate) fn each<R: Runtime, T: Send>(
    way: Way<'_, '_, R>,
    values: &mut [T],
    size: usize,
    body: &(impl Fn(Way<'_, '_, R>, usize, &mut [T]) + Sync),
) {
    let parts = values.chunks_mut(size).enumerate();
    match way {
        Way::Call => parts.for_each(|(number, part)| body(Way::Call, number, part)),
        Way::Join(fork) => halving::<R, T>(fork, (0, values), size, body),
        Way::Spawn => R::scope(|scope| {
            for (number, part) in parts {
                R::spawn(scope, move |_| body(Way::Spawn, number, part));
            }
        }),
    }
}

/// Implements [`each`] with joins. `first` is the index of the first part in `values`.
fn halving<R: Runtime, T: Send>(
    fork: &mut R::Fork<'_>,
    (first, values): (usize, &mut [T]),
    size: usize,
    body: &(impl Fn(Way<'_, '_, R>, usize, &mut [T]) + Sync),
) {
    let half = match values.len().div_ceil(size) {
        0 => return,
        1 => return body(Way::Join(fork), first, values),
        parts => parts / 2,
    };
    let (left, right) = values.split_at_mut(half * size);
    R::join(
        fork,
        move |fork| halving::<R, T>(fork, (first, left), size, body),
        move |fork| halving::<R, T>(fork, (first + half, right), size, body),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Serial, Threads, Tidegate};

    /// Runs a body that fills each part with its index and length, and returns the elements of all
    /// parts.
    fn told<R: Runtime>(form: Form, length: usize, size: usize) -> Vec<(usize, usize)> {
        let mut values = vec![(0, 0); length];
        let runtime = R::with_workers(2).unwrap();
        runtime.install(|fork| {
            let way = Way::<R>::new(form, fork);
            each(way, &mut values, size, &|_, number, part| {
                let length = part.len();
                part.fill((number, length));
            });
        });
        values
    }

    /// All parts but the last must have the requested size.
    #[test]
    fn parts_are_numbered_and_equally_long() {
        for (length, size) in [(1, 1), (7, 1), (8, 2), (9, 4), (3, 5)] {
            let mut expected = vec![(0, 0); length];
            each::<Serial, _>(Way::Call, &mut expected, size, &|_, number, part| {
                let length = part.len();
                part.fill((number, length));
            });
            let last = (length - 1) / size;
            assert_eq!(expected[0], (0, size.min(length)));
            assert_eq!(expected[length - 1], (last, length - last * size));
            assert_eq!(told::<Threads>(Form::Join, length, size), expected);
            for form in [Form::Join, Form::Spawn] {
                assert_eq!(told::<Tidegate>(form, length, size), expected);
            }
        }
    }

    #[test]
    fn no_values_give_no_parts() {
        let none: &mut [u8] = &mut [];
        let fail = |_: Way<'_, '_, Tidegate>, _: usize, _: &mut [u8]| panic!("there is no part");
        each(Way::Call, none, 2, &fail);
        for form in [Form::Join, Form::Spawn] {
            each(Way::new(form, &mut ()), none, 2, &fail);
        }
    }
}
