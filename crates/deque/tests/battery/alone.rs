//! Tests in which one thread works at both ends.

use super::{Cursor, End, Miss, Owner, Promise, Queue, Task, Tasks, many};
use std::collections::VecDeque;
use tidegate_deque::{Duplicating, Multiplicity};

/// Puts three tasks and takes them out at each end.
pub fn ends<Q: Queue<Task> + Default>(promise: Promise) {
    let (queue, tasks) = (Q::default(), Tasks::new(3));
    let (owner, mut cursor) = (Owner(&queue), Cursor::default());
    assert_eq!(owner.take(), None);
    assert_eq!(queue.steal(&mut cursor), Err(Miss::Empty));
    for index in 0..3 {
        assert!(owner.put(tasks.at(index)));
    }
    let taken = tasks.index(owner.take().expect("there are three"));
    assert_eq!(taken, if promise.take == End::Oldest { 0 } else { 2 });
    if !promise.private {
        let stolen = tasks.index(queue.steal(&mut cursor).expect("there are two"));
        let left = [0, 1, 2].into_iter().filter(|index| *index != taken);
        let expected = match promise.steal {
            End::Oldest => left.min(),
            End::Youngest => left.max(),
        };
        assert_eq!(Some(stolen), expected);
        assert!(owner.take().is_some());
    }
    while owner.take().is_some() {}
    assert_eq!(queue.steal(&mut cursor), Err(Miss::Empty));
}

enum Step {
    Put,
    Take,
    Steal,
}

/// Compares random sequences of steps with a plain deque. A slice is a quarter of the sequences.
pub fn model<Q: Queue<Task> + Default>(promise: Promise) {
    for seed in tidegate_testkit::seeds(50, "sequences of steps") {
        println!("sequence {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let steps = (0..random.usize(..2_000)).map(|_| match random.u8(..6) {
            0..3 => Step::Put,
            3..5 => Step::Take,
            _ => Step::Steal,
        });
        follow::<Q>(&steps.collect::<Vec<_>>(), promise);
    }
}

fn follow<Q: Queue<Task> + Default>(steps: &[Step], promise: Promise) {
    let (queue, tasks) = (Q::default(), Tasks::new(steps.len()));
    let (owner, mut cursor) = (Owner(&queue), Cursor::default());
    let mut model = VecDeque::new();
    let mut next = 0;
    let at = |model: &mut VecDeque<usize>, end| match end {
        End::Oldest => model.pop_front(),
        End::Youngest => model.pop_back(),
    };
    for step in steps {
        if promise.exact && !promise.private {
            assert_eq!(queue.offers(), !model.is_empty());
        }
        match step {
            Step::Put => {
                if owner.put(tasks.at(next)) {
                    model.push_back(next);
                    next += 1;
                }
            }
            Step::Take => {
                let taken = owner.take().map(|task| tasks.index(task));
                assert_eq!(taken, at(&mut model, promise.take));
            }
            Step::Steal => match queue.steal(&mut cursor).map(|task| tasks.index(task)) {
                // The thief got a copy, so the task stays in the queue.
                Ok(stolen) if promise.private && !promise.exact => {
                    assert_eq!(Some(&stolen), model.front());
                    empty_after_copy(&owner, &mut model, &tasks);
                }
                Ok(stolen) => assert_eq!(Some(stolen), at(&mut model, promise.steal)),
                Err(Miss::Empty) => assert!(model.is_empty() || promise.private),
                Err(Miss::Lost) => panic!("lost to nobody"),
            },
        }
    }
}

/// Empties the queue after a steal that may have returned a copy, so the oldest task may still be
/// there.
fn empty_after_copy<Q: Queue<Task>>(
    owner: &Owner<'_, Q>,
    model: &mut VecDeque<usize>,
    tasks: &Tasks,
) {
    let oldest = model.pop_front();
    while let Some(youngest) = model.pop_back() {
        assert_eq!(owner.take().map(|task| tasks.index(task)), Some(youngest));
    }
    let left = owner.take().map(|task| tasks.index(task));
    assert!(left.is_none() || left == oldest);
}

/// Below the border, a thief takes tasks, and the owner can no longer get them. Above the border, a
/// thief only copies tasks.
#[test]
fn thief_takes_what_duplicating_queue_promised() {
    let (queue, tasks) = (Duplicating::default(), Tasks::new(4));
    let (owner, mut cursor) = (Owner(&queue), Cursor::default());
    let steal = |cursor: &mut Cursor| queue.steal(cursor).map(|task| tasks.index(task));
    (0..3).for_each(|index| assert!(owner.put(tasks.at(index))));
    assert_eq!(steal(&mut cursor), Ok(0), "a copy");
    assert!(!queue.offers(), "the owner has not promised anything yet");
    // The owner notices that a thief wants more, and lets thieves take the two older tasks.
    assert!(owner.put(tasks.at(3)));
    assert!(queue.offers());
    assert_eq!((steal(&mut cursor), steal(&mut cursor)), (Ok(0), Ok(1)));
    let left: Vec<_> = std::iter::from_fn(|| owner.take()).collect();
    let left: Vec<_> = left.into_iter().map(|task| tasks.index(task)).collect();
    assert_eq!(left, [3, 2]);
}

/// A thief's cursor keeps track of its position in each queue.
#[test]
fn multiplicity_thief_tracks_each_queue() {
    let (one, other, tasks) = (
        Multiplicity::default(),
        Multiplicity::default(),
        Tasks::new(4),
    );
    let mut cursor = Cursor::default();
    for index in 0..3 {
        assert!(Owner(&one).put(tasks.at(index)));
        assert_eq!(one.steal(&mut cursor), Ok(tasks.at(index)));
    }
    assert_eq!(other.steal(&mut cursor), Err(Miss::Empty));
    assert!(Owner(&other).put(tasks.at(3)));
    assert_eq!(other.steal(&mut cursor), Ok(tasks.at(3)));
}

/// Repeatedly puts more tasks than the queue initially has room for, and takes them out.
pub fn waves<Q: Queue<Task> + Default>() {
    let (queue, tasks) = (Q::default(), Tasks::new(many(3_000).max(30)));
    let owner = Owner(&queue);
    for wave in 1..=5 {
        let mut inside = 0;
        for index in 0..tasks.0.len() / wave {
            inside += usize::from(owner.put(tasks.at(index)));
        }
        assert!(inside > 4, "there is hardly any room");
        let mut outside = 0;
        while owner.take().is_some() {
            outside += 1;
        }
        assert_eq!(outside, inside);
    }
}
