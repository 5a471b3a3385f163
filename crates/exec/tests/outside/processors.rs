use std::collections::BTreeSet;
use tidegate_exec::outside::{Row, assign, assign_more};

/// Returns all masks of a machine, as processors in ascending order.
fn masks(processors: usize) -> Vec<Vec<usize>> {
    let of = |bits: u32| (0..processors).filter(|cpu| bits >> cpu & 1 == 1).collect();
    (0..1 << processors).map(of).collect()
}

fn row(mask: &[usize], allotment: usize) -> Row<'_> {
    Row { mask, allotment }
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
        let in_order = row.mask.iter().filter(|cpu| mine.contains(cpu));
        assert!(mine.iter().eq(in_order), "{rows:?}");

        let takers = |cpu: &usize| {
            let is_taker = |other: &usize| {
                chooses_before(rows, *other, index) && assigned[*other].contains(cpu)
            };
            (0..rows.len()).filter(is_taker).count()
        };
        let mut fewest: Vec<usize> = row.mask.iter().map(takers).collect();
        fewest.sort_unstable();
        let least: usize = fewest[..mine.len()].iter().sum();
        assert_eq!(mine.iter().map(takers).sum::<usize>(), least, "{rows:?}");
    }
    check_that_later_rows_move_none(rows, &assigned);
    check_that_nested_rows_share_nothing(rows, &assigned);
}

/// Whether the row `one` chooses its processors before the row `other`.
fn chooses_before(rows: &[Row<'_>], one: usize, other: usize) -> bool {
    (rows[one].mask.len(), one) < (rows[other].mask.len(), other)
}

fn check_that_later_rows_move_none(rows: &[Row<'_>], assigned: &[Vec<usize>]) {
    for gone in 0..rows.len() {
        let mut rest = rows.to_vec();
        rest.remove(gone);
        let mut left = assign(&rest);
        left.insert(gone, Vec::new());
        for index in 0..rows.len() {
            let is_earlier = chooses_before(rows, index, gone);
            let is_none = rows[gone].allotment == 0;
            let is_kept = left[index] == assigned[index];
            assert!(is_kept || !(is_earlier || is_none), "{rows:?}");
        }
    }
}

/// Each two masks are disjoint or nested, so the allotments fit if those within each mask do.
fn check_that_nested_rows_share_nothing(rows: &[Row<'_>], assigned: &[Vec<usize>]) {
    let lies_within = |one: &Row<'_>, other: &Row<'_>| {
        let is_in = |cpu| other.mask.contains(cpu);
        one.mask.iter().all(is_in)
    };
    let are_nested = |one: &Row<'_>, other: &Row<'_>| {
        let is_in = |cpu| other.mask.contains(cpu);
        !one.mask.iter().any(is_in) || lies_within(one, other) || lies_within(other, one)
    };
    let fits = |row: &Row<'_>| {
        let within = rows.iter().filter(|other| lies_within(other, row));
        within.map(|other| other.allotment).sum::<usize>() <= row.mask.len()
    };
    let is_nested = |row| rows.iter().all(|other| are_nested(row, other));
    if rows.iter().all(|row| fits(row) && is_nested(row)) {
        let all = assigned.concat();
        let distinct: BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len(), "{rows:?}: {assigned:?}");
    }
}

#[test]
fn rows_get_the_least_taken_of_their_mask() {
    each(&masks(3), 3, &check_each_row);
    each(&masks(4), 2, &check_each_row);
}

/// On a machine of four processors, a job that may use all arrives before others that may not.
#[test]
fn narrow_rows_choose_before_wide_ones() {
    let (all, low, one) = ([0, 1, 2, 3], [0, 1], [2]);
    let expected: [&[usize]; 2] = [&[2, 3], &[0, 1]];
    assert_eq!(assign(&[row(&all, 2), row(&low, 2)]), expected);
    let rows = [row(&all, 1), row(&low, 1), row(&one, 1), row(&low, 1)];
    let expected: [&[usize]; 4] = [&[3], &[0], &[2], &[1]];
    assert_eq!(assign(&rows), expected, "equal masks go by arrival");
}

/// With masks that overlap in part, a row does not spare what only another one could use.
#[test]
fn partly_overlapping_masks_may_share() {
    let expected: [&[usize]; 2] = [&[1], &[0, 1]];
    assert_eq!(assign(&[row(&[1, 2], 1), row(&[0, 1], 2)]), expected);
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
        let (most, least) = (counts.iter().max().unwrap(), counts.iter().min().unwrap());
        assert!(most - least <= 1, "{rows:?}");
        if rows.iter().map(|row| row.allotment).sum::<usize>() <= mask.len() {
            // The mask has no processor twice, so no two rows share one.
            assert_eq!(all, mask[..all.len()], "{rows:?}");
        }
    });
}

#[test]
fn consecutive_processors_are_preferred() {
    let (all, second, even) = ([0, 1, 2, 3, 4, 5], [1], [0, 2, 4]);
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
    let rows = [1, 0, 1].map(|allotment| row(&[0, 1], allotment));
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
