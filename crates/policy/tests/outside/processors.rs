use std::collections::BTreeSet;
use tidegate_policy::outside::{Row, assign, assign_more};

/// Returns all masks of a machine, as processors in ascending order.
fn masks(processors: usize) -> Vec<Vec<usize>> {
    let of = |bits: u32| (0..processors).filter(|cpu| bits >> cpu & 1 == 1).collect();
    (0..1 << processors).map(of).collect()
}

/// Calls `check` with all rows of this number that are possible with these masks.
fn each(masks: &[Vec<usize>], rows: usize, check: &impl Fn(&[Row<'_>])) {
    fn extend<'a>(
        masks: &'a [Vec<usize>],
        count: usize,
        rows: &mut Vec<Row<'a>>,
        check: &impl Fn(&[Row<'_>]),
    ) {
        if rows.len() == count {
            return check(rows);
        }
        for mask in masks {
            for allotment in 0..=mask.len() + 1 {
                rows.push(Row { mask, allotment });
                extend(masks, count, rows, check);
                rows.pop();
            }
        }
    }
    extend(masks, rows, &mut Vec::new(), check);
}

fn check_each_row(rows: &[Row<'_>]) {
    let assigned = assign(rows);
    assert_eq!(assigned.len(), rows.len());
    for (index, row) in rows.iter().enumerate() {
        let mine = &assigned[index];
        assert_eq!(mine.len(), row.allotment.min(row.mask.len()), "{rows:?}");
        let in_order: Vec<usize> = row
            .mask
            .iter()
            .copied()
            .filter(|cpu| mine.contains(cpu))
            .collect();
        assert_eq!(*mine, in_order, "{rows:?}");

        let takers = |cpu: &usize| {
            assigned[..index]
                .iter()
                .filter(|other| other.contains(cpu))
                .count()
        };
        let mut fewest: Vec<usize> = row.mask.iter().map(takers).collect();
        fewest.sort_unstable();
        let least: usize = fewest[..mine.len()].iter().sum();
        assert_eq!(mine.iter().map(takers).sum::<usize>(), least, "{rows:?}");
    }
    for count in 0..rows.len() {
        assert_eq!(assign(&rows[..count]), assigned[..count], "{rows:?}");
    }
}

#[test]
fn rows_get_the_least_taken_of_their_mask() {
    each(&masks(3), 3, &check_each_row);
    each(&masks(4), 2, &check_each_row);
}

/// Also checks that the processors are consecutive and equally taken.
#[test]
fn equal_masks_share_nothing_while_all_fit() {
    let mask = [4, 0, 5, 1, 3];
    each(&[mask.to_vec()], 4, &|rows| {
        let assigned = assign(rows);
        let all: Vec<usize> = assigned.concat();
        let taken = |cpu: &usize| all.iter().filter(|other| *other == cpu).count();
        let counts: Vec<usize> = mask.iter().map(taken).collect();
        assert!(
            counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1,
            "{rows:?}"
        );
        if rows.iter().map(|row| row.allotment).sum::<usize>() <= mask.len() {
            assert_eq!(
                all.iter().collect::<BTreeSet<_>>().len(),
                all.len(),
                "{rows:?}"
            );
            assert_eq!(all, mask[..all.len()], "{rows:?}");
        }
    });
}

#[test]
fn consecutive_processors_are_preferred() {
    let (all, second, even) = ([0, 1, 2, 3, 4, 5], [1], [0, 2, 4]);
    let row = |mask, allotment| Row { mask, allotment };
    let expected: [&[usize]; 2] = [&[1], &[2, 3]];
    assert_eq!(assign(&[row(&second, 1), row(&all, 2)]), expected);
    let expected: [&[usize]; 2] = [&[0, 2, 4], &[1, 3, 5]];
    assert_eq!(
        assign(&[row(&even, 3), row(&all, 3)]),
        expected,
        "sharing nothing counts more"
    );
    let expected: [&[usize]; 2] = [&[2], &[0, 2]];
    assert_eq!(assign(&[row(&[2], 1), row(&[0, 2], 2)]), expected);
}

#[test]
fn two_jobs_on_two_processors_share_none() {
    let mask = [0, 1];
    let rows = [1, 0, 1].map(|allotment| Row {
        mask: &mask,
        allotment,
    });
    let expected: [&[usize]; 3] = [&[0], &[], &[1]];
    assert_eq!(assign(&rows), expected);
}

/// More than the allotment contains it, and shares a processor only if none is free.
#[test]
fn surplus_comes_from_free_processors() {
    each(&[vec![2, 0, 1, 3]], 3, &|rows| {
        let assigned = assign(rows);
        for (own, row) in rows.iter().enumerate() {
            let others: Vec<usize> = (0..rows.len())
                .filter(|other| *other != own)
                .flat_map(|other| assigned[other].clone())
                .collect();
            for size in row.allotment..=row.mask.len() {
                let more = assign_more(rows, own, size);
                assert_eq!(more.len(), size, "{rows:?}");
                assert!(assigned[own].iter().all(|cpu| more.contains(cpu)));
                let surplus = |cpu: &&usize| !assigned[own].contains(cpu);
                let is_free = |cpu: &usize| !others.contains(cpu);
                let shares = more.iter().filter(surplus).any(|cpu| !is_free(cpu));
                let left = row.mask.iter().filter(|cpu| !more.contains(cpu));
                assert!(!shares || !left.into_iter().any(is_free), "{rows:?}");
            }
        }
    });
}
