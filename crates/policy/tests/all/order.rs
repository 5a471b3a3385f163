//! Compares the order-maintenance list with a plain list.

use tidegate_policy::Rng;
use tidegate_policy::memory::order::{Item, Order};

/// Given a random number and the number of items, returns where to insert a new item: the index of
/// a neighbour, and whether to insert after it.
type Place = fn(u64, usize) -> (usize, bool);

fn check(order: &Order, plain: &[Item]) {
    let all = std::iter::successors(order.first(), |item| order.next(*item));
    assert!(all.eq(plain.iter().copied()));
    for pair in plain.windows(2) {
        assert!(order.rank(pair[0]) < order.rank(pair[1]));
    }
    for (step, item) in plain.iter().enumerate().step_by(97) {
        for (other_step, other) in plain.iter().enumerate().step_by(89) {
            assert_eq!(
                order.rank(*item).cmp(&order.rank(*other)),
                step.cmp(&other_step)
            );
        }
    }
}

/// Builds a list by `items` insertions. On average, one in `removals` steps also removes an item.
fn build(items: usize, removals: u64, place: Place) -> (Order, Vec<Item>) {
    let mut rng = Rng::new(7);
    let mut order = Order::new();
    let mut plain = vec![order.push_last()];
    while plain.len() < items {
        if removals > 0 && rng.below(removals) == 0 && plain.len() > 1 {
            let at = rng.below(plain.len() as u64) as usize;
            order.remove(plain.remove(at));
        }
        let (at, behind) = place(rng.draw(), plain.len());
        if behind {
            plain.insert(at + 1, order.insert_after(plain[at]));
        } else {
            plain.insert(at, order.insert_before(plain[at]));
        }
    }
    (order, plain)
}

const PLACES: [Place; 6] = [
    |_, _| (0, false),
    |_, length| (length - 1, true),
    |_, length| (length / 2, true),
    |_, length| (length / 3, false),
    |random, length| ((random >> 1) as usize % length, random & 1 == 0),
    |random, length| {
        (
            length - 1 - (random >> 1) as usize % length.min(3),
            random & 1 == 0,
        )
    },
];

#[test]
fn items_compare_by_list_position() {
    for place in PLACES {
        for removals in [0, 2, 5] {
            let (order, plain) = build(3_000, removals, place);
            check(&order, &plain);
        }
    }
}

#[test]
fn emptied_list_starts_over() {
    let (mut order, mut plain) = build(500, 0, PLACES[4]);
    while let Some(item) = plain.pop() {
        order.remove(item);
        check(&order, &plain);
    }
    let first = order.push_last();
    let last = order.push_last();
    let middle = order.insert_before(last);
    check(&order, &[first, middle, last]);
}
