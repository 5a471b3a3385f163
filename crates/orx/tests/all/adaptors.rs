//! The adaptors of orx-parallel give the results of their serial counterparts, with each runner, on
//! pools of one to three workers and on the pool of the calling task.

use orx_parallel::*;
use tidegate::Pool;
use tidegate_orx::{OnTidegate, TidegatePool};

/// Pulls more than one chunk for each worker.
const ITEMS: usize = 5000;

/// A prime, so that the numbers are in no order and repeat.
fn number(index: usize) -> usize {
    index * 37 % 1009
}

fn numbers() -> Vec<usize> {
    (0..ITEMS).map(number).collect()
}

fn is_even(n: &usize) -> bool {
    n.is_multiple_of(2)
}

/// Calls `$check` with both runners on each pool. It is compiled for each runner, so it must not be
/// generic over the closures as well.
macro_rules! everywhere {
    ($check:ident) => {
        for workers in 1..=3 {
            let pool = Pool::builder().workers(workers).build().unwrap();
            let named = TidegatePool::new(&pool);
            $check(&|| Runner::adaptive_with_pool(named));
            $check(&|| Runner::fixed_with_pool(named));
            pool.install(|| $check(&|| Runner::adaptive_with_pool(TidegatePool::current())));
        }
        $check(&|| Runner::adaptive_with_pool(TidegatePool::current()));
    };
}

#[test]
fn short_forms_choose_the_pool() {
    let pool = Pool::builder().workers(3).build().unwrap();
    let workers = |_| tidegate::current_num_workers();
    let named: Vec<usize> = (0..9).par().on(&pool).map(workers).collect();
    assert_eq!(named, [3; 9]);
    let here: Vec<usize> = pool.install(|| (0..9).par().on_tidegate().map(workers).collect());
    assert_eq!(here, [3; 9]);
}

#[test]
fn collections_equal_serial_ones() {
    fn check<R: ParRunner>(runner: &dyn Fn() -> R) {
        let numbers = numbers();
        let serial = || numbers.iter().copied();
        let parallel = || numbers.par().copied().runner(runner());

        let kept: Vec<usize> = parallel().filter(is_even).collect();
        assert_eq!(kept, serial().filter(is_even).collect::<Vec<_>>());
        let few = |n: usize| 0..n % 4;
        let flat: Vec<usize> = parallel().flat_map(few).collect();
        assert_eq!(flat, serial().flat_map(few).collect::<Vec<_>>());
        let half = |n: usize| is_even(&n).then_some(n / 2);
        let halves: Vec<usize> = parallel().filter_map(half).collect();
        assert_eq!(halves, serial().filter_map(half).collect::<Vec<_>>());
        let mut text: Vec<String> = vec!["first".into()];
        parallel().map(|n| n.to_string()).collect_into(&mut text);
        assert_eq!(text.len(), numbers.len() + 1);
        assert_eq!(text[1 + 7], number(7).to_string());
    }
    everywhere!(check);
}

#[test]
fn reductions_equal_serial_ones() {
    fn check<R: ParRunner>(runner: &dyn Fn() -> R) {
        let numbers = numbers();
        let serial = || numbers.iter().copied();
        let parallel = || numbers.par().copied().runner(runner());

        let sum: usize = parallel().sum();
        assert_eq!(sum, serial().sum::<usize>());
        assert_eq!(parallel().max(), serial().max());
        assert_eq!(parallel().min(), serial().min());
        assert_eq!(
            parallel().filter(is_even).count(),
            serial().filter(is_even).count()
        );
        assert_eq!(
            parallel().reduce(|a, b| a ^ b),
            serial().reduce(|a, b| a ^ b)
        );
        let parts = parallel().fold(|| 0_usize, |part, n| *part += n);
        assert_eq!(parts.into_iter().sum::<usize>(), sum);
    }
    everywhere!(check);
}

#[test]
fn searches_equal_serial_ones() {
    fn check<R: ParRunner>(runner: &dyn Fn() -> R) {
        let numbers = numbers();
        let serial = || numbers.iter().copied();
        let parallel = || numbers.par().copied().runner(runner());

        let large = |n: &usize| *n > 1000;
        assert_eq!(parallel().find(large), serial().find(large));
        assert_eq!(parallel().first(), serial().next());
        assert!(parallel().any(large) && !parallel().all(large));
        assert_eq!(parallel().find(|n| *n == 1009), None);
    }
    everywhere!(check);
}

#[test]
fn fallible_chains_equal_serial_ones() {
    fn check<R: ParRunner>(runner: &dyn Fn() -> R) {
        let texts: Vec<String> = numbers().iter().map(usize::to_string).collect();
        let parse = |texts: &[String]| -> Result<usize, _> {
            let parsed = texts
                .par()
                .runner(runner())
                .map(|text| text.parse::<usize>());
            parsed.into_fallible().sum()
        };
        assert_eq!(parse(&texts).unwrap(), numbers().iter().sum::<usize>());
        let mut bad = texts.clone();
        bad[4321] = "none".into();
        assert_eq!(parse(&bad), Err("none".parse::<usize>().unwrap_err()));

        let below = |bound: usize| {
            let numbers = numbers();
            let parallel = numbers.par().copied().runner(runner());
            let found = parallel.map(move |n| (n < bound).then_some(n));
            found.into_optional().max()
        };
        assert_eq!((below(1009), below(1008)), (Some(Some(1008)), None));
    }
    everywhere!(check);
}

#[test]
fn other_inputs_equal_serial_ones() {
    fn check<R: ParRunner>(runner: &dyn Fn() -> R) {
        let serial: Vec<usize> = (0..ITEMS).map(number).collect();

        let range: Vec<usize> = (0..ITEMS).par().runner(runner()).map(number).collect();
        assert_eq!(range, serial);
        let iterator = (0..ITEMS).map(number).iter_into_par().runner(runner());
        assert_eq!(iterator.collect::<Vec<_>>(), serial);
        let mut changed: Vec<usize> = (0..ITEMS).collect();
        changed
            .par_mut()
            .runner(runner())
            .for_each(|n| *n = number(*n));
        assert_eq!(changed, serial);
        let drained: Vec<usize> = changed.par_drain(..).runner(runner()).collect();
        assert_eq!((drained, changed), (serial, Vec::new()));
        // A binary tree of the numbers below `ITEMS`, whose root is 0.
        let children = |n: &usize| [2 * n + 1, 2 * n + 2].into_iter().filter(|n| *n < ITEMS);
        let tree = par_recursive([0], children).runner(runner());
        assert_eq!(tree.collect::<Vec<_>>(), (0..ITEMS).collect::<Vec<_>>());
    }
    everywhere!(check);
}
