//! Every policy, alone and combined with others, computes the same results as serial code.

use crate::support::{AMOUNTS, Tally, built, fib, soak, watched};
use std::sync::{Barrier, Mutex};
use tidegate::{
    Pool, Scope,
    policy::{Choose, IdlePolicy, QueueKind, SharePolicy, StealAmount, VictimPolicy, WaitPolicy},
};

const VICTIMS: [VictimPolicy; 4] = [
    VictimPolicy::Random,
    VictimPolicy::RoundRobin,
    VictimPolicy::LastVictim,
    VictimPolicy::Hierarchical,
];
const WAITS: [WaitPolicy; 2] = [WaitPolicy::Descendants, WaitPolicy::HelpAny];
const BACKOFFS: [&str; 6] = [
    "linear",
    "exponential",
    "pheet-original",
    "exponential-linear",
    "linear-exponential",
    "combination",
];

/// Returns every idle policy with its default parameters, and some policies with other parameters.
fn idles() -> Vec<IdlePolicy> {
    #[rustfmt::skip]
    let plain = [
        "elastic", "none", "yield", "abp-yield", "quanta", "long-quanta",
    ];
    let mut names: Vec<String> = plain
        .iter()
        .chain(&BACKOFFS)
        .map(|s| (*s).to_owned())
        .collect();
    names.extend(BACKOFFS.iter().map(|name| format!("yield-then-{name}")));
    names.push("linear:min=10us,step=50us,max=500us".into());
    names.push("elastic:search=0ns".into());
    let parse = |name: &String| name.parse().unwrap_or_else(|error| panic!("{error}"));
    names.iter().map(parse).collect()
}

#[test]
fn every_documented_policy_is_tried() {
    let tried: Vec<_> = idles().iter().map(IdlePolicy::to_string).collect();
    for name in IdlePolicy::names() {
        let name = name.trim_end_matches("BACKOFF");
        assert!(tried.iter().any(|t| t.starts_with(name)), "{name}");
    }
}

/// Checks a fork-join tree, a scope tree, a loop, a reduction and handles.
#[track_caller]
fn everything_is_right(pool: &Pool, what: &dyn Fn() -> String) {
    assert_eq!(pool.install(|| fib(11)), 89, "{}", what());
    fn tree<'s>(s: &Scope<'s>, ran: &'s Tally, depth: usize) {
        ran.come();
        if depth > 0 {
            s.spawn(move |s| tree(s, ran, depth - 1));
            s.spawn(move |s| tree(s, ran, depth - 1));
        }
    }
    let ran = Tally::new();
    pool.scope(|s| tree(s, &ran, 6));
    assert_eq!(ran.get(), 127, "{}", what());
    let mut squares = vec![0; 300];
    let sum = pool.install(|| {
        let numbers: Vec<usize> = (0..300).collect();
        tidegate::for_each(&mut squares[..], |s| *s += 1);
        tidegate::map_reduce(0..300, |i| numbers[i], |a, b| a + b)
    });
    assert_eq!((sum, squares), (Some(44_850), vec![1; 300]), "{}", what());
    let handles: Vec<_> = (0..5).map(|i| pool.spawn(move || i)).collect();
    let joined: Vec<_> = handles.into_iter().map(|handle| handle.join()).collect();
    assert_eq!(joined, [0, 1, 2, 3, 4], "{}", what());
}

#[test]
fn policy_combinations_compute_equal_results() {
    watched(|| {
        for idle in idles() {
            for amount in AMOUNTS {
                for victim in VICTIMS {
                    for wait in WAITS {
                        let builder = Pool::builder().workers(2).idle(idle).steal(amount);
                        let pool = built(builder.victim(victim).wait(wait));
                        everything_is_right(&pool, &|| format!("{idle} {amount} {victim} {wait}"));
                    }
                }
            }
        }
    });
}

#[test]
fn worker_counts_compute_equal_results() {
    watched(|| {
        for workers in 1..=4 {
            for spares in [0, 1, 5] {
                for amount in [StealAmount::One, StealAmount::Half, StealAmount::Fixed(3)] {
                    let builder = Pool::builder()
                        .workers(workers)
                        .max_threads(workers + spares);
                    let pool = built(builder.steal(amount));
                    everything_is_right(&pool, &|| format!("{workers}+{spares} {amount}"));
                }
            }
        }
    });
}

#[test]
fn every_queue_computes_the_same() {
    let rounds = soak(5, "rounds on each queue");
    watched(move || {
        for queue in QueueKind::ALL {
            for workers in [1, 2, 4] {
                for (spares, wait) in [(0, WAITS[0]), (5, WAITS[0]), (5, WAITS[1])] {
                    let builder = Pool::builder()
                        .workers(workers)
                        .max_threads(workers + spares);
                    let pool = built(builder.queue(*queue).wait(wait));
                    for _ in 0..rounds {
                        everything_is_right(&pool, &|| {
                            format!("{queue} {workers}+{spares} {wait}")
                        });
                    }
                }
            }
        }
    });
}

#[test]
fn shared_queue_yields_youngest_first() {
    watched(|| {
        let builder = Pool::builder().workers(1).max_threads(1);
        let pool = built(builder.queue(QueueKind::Shared));
        let order = Mutex::new(Vec::new());
        pool.scope(|scope| {
            for number in 0..4 {
                let order = &order;
                scope.spawn(move |_| order.lock().unwrap().push(number));
            }
        });
        assert_eq!(order.into_inner().unwrap(), [3, 2, 1, 0]);
    });
}

#[test]
fn stack_size_and_name_reach_threads() {
    watched(|| {
        let builder = Pool::builder().workers(2).max_threads(2);
        let pool = built(builder.stack_size(64 << 10).name("reef"));
        let names = pool.broadcast(|_| std::thread::current().name().map(str::to_owned));
        assert_eq!(names, [Some("reef-0".into()), Some("reef-1".into())]);
    });
}

#[test]
fn out_of_range_values_are_rejected() {
    #[rustfmt::skip]
    let refused = [
        (Pool::builder().workers(0), ["Builder::workers", "1 to "]),
        (Pool::builder().workers(1 << 20), ["Builder::workers", "1 to "]),
        (Pool::builder().steal(StealAmount::Fixed(0)), ["Builder::steal", "1 to "]),
        (Pool::builder().max_threads(0), ["Builder::max_threads", "1 to "]),
        (Pool::builder().max_threads(usize::MAX), ["Builder::max_threads", "1 to "]),
        (Pool::builder().stack_size(1), ["Builder::stack_size", "64KiB to "]),
        (Pool::builder().stack_size(usize::MAX), ["Builder::stack_size", "64KiB to "]),
    ];
    for (builder, words) in refused {
        let Err(error) = builder.build() else {
            panic!("{words:?}: taken");
        };
        let message = error.to_string();
        for word in words {
            assert!(message.contains(word), "{message}: not a word of {word}");
        }
    }
}

/// Thieves take one task at a time from all queues except the split deque, and under memory
/// policies that order the tasks.
mod several_tasks_a_steal {
    use super::*;

    #[test]
    fn need_the_split_deque() {
        for queue in QueueKind::ALL {
            for amount in [StealAmount::Half, StealAmount::Fixed(2)] {
                let builder = Pool::builder().workers(1).queue(*queue).steal(amount);
                let error = builder
                    .build()
                    .map(drop)
                    .err()
                    .map(|error| error.to_string());
                let expected = (*queue != QueueKind::Split).then(|| {
                    format!(
                        "Builder::steal: {amount} beside Builder::queue, {queue}, from which a \
                         thief takes one task at a time: expected one"
                    )
                });
                assert_eq!(error, expected);
            }
            let builder = Pool::builder().workers(1).queue(*queue);
            builder.steal(StealAmount::One).build().unwrap();
        }
    }

    #[test]
    fn are_rejected_under_task_orders() {
        for (memory, allowed) in [
            ("none", true),
            ("hybrid", true),
            ("depth-first:k=50", false),
            ("dfdeques:k=50", false),
            ("budget:bytes=400,serial=300", false),
        ] {
            let builder = Pool::builder().workers(1).memory(memory.parse().unwrap());
            match builder.steal(StealAmount::Half).build() {
                Ok(_) => assert!(allowed, "{memory}"),
                Err(error) => {
                    let error = error.to_string();
                    assert!(!allowed, "{error}");
                    let words = ["Builder::steal: half", "Builder::memory", "expected one"];
                    assert!(words.iter().all(|word| error.contains(word)), "{error}");
                }
            }
        }
    }
}

#[test]
fn idle_pool_wakes_for_work() {
    watched(|| {
        for idle in idles() {
            // If the pool shared the machine, it might have only one slot while another job works.
            // Each meeting would then have to wait some 300 ms for two lent slots.
            let builder = Pool::builder().workers(3).share(SharePolicy::Off);
            let pool = built(builder.idle(idle));
            for _ in 0..20 {
                // However the workers rest, all of them wake up, so the closures meet.
                let meeting = Barrier::new(3);
                pool.scope(|s| {
                    for _ in 0..3 {
                        s.spawn(|_| {
                            meeting.wait();
                        });
                    }
                });
            }
        }
    });
}
