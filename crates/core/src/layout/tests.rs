use super::*;

/// Two packages with two cores each, and two hardware threads per core. As on most machines, the
/// two hardware threads of a core do not have adjacent numbers.
const PACKAGES: &str = "cpus 0-7\ncore 0,4 1,5 2,6 3,7\nL2 0,4 1,5 2,6 3,7\nL3 0-1,4-5 2-3,6-7\npackage 0-1,4-5 2-3,6-7";
/// Large cores that share a cache, and small cores that have no cache of that level.
const MIXED: &str = "cpus 0-7\nL2 0 1 2 3 4-5 6-7\nL3 0-3";

fn layout(machine: &str, workers: usize, by: PlaceBy) -> Layout {
    let topology: Topology = machine.parse().unwrap();
    let usable = topology.cpus().clone();
    Layout::on(&topology, &usable, workers, by)
}

fn leaves(layout: &Layout) -> Vec<String> {
    let groups = 0..layout.leaves();
    groups
        .map(|group| layout.cpus_of(group).to_string())
        .collect()
}

#[test]
fn workers_fill_cores_before_sharing() {
    let all = layout(PACKAGES, 8, PlaceBy::Cache);
    assert_eq!(
        (0..8).map(|s| all.cpu(s).unwrap()).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4, 5, 6, 7]
    );
    let apart = "cpus 0-3\ncore 0-1 2-3";
    let two = layout(apart, 2, PlaceBy::Machine);
    assert_eq!([two.cpu(0), two.cpu(1)], [Some(0), Some(2)]);
    let more = layout(apart, 6, PlaceBy::Core);
    assert_eq!(
        [4, 5].map(|cpu_slot| more.cpu(cpu_slot)),
        [Some(0), Some(2)],
        "round again"
    );
    assert_eq!([0, 1].map(|group| more.workers_in(group)), [3, 3]);
}

/// The workers that share the named unit of the machine form a place.
#[test]
fn places_follow_the_named_unit() {
    for (by, expected) in [
        (PlaceBy::Cache, vec!["0-1,4-5", "2-3,6-7"]),
        (PlaceBy::Core, vec!["0,4", "1,5", "2,6", "3,7"]),
        (PlaceBy::Package, vec!["0-1,4-5", "2-3,6-7"]),
        (PlaceBy::Node, vec!["0-7"]),
        (PlaceBy::Machine, vec!["0-7"]),
        (PlaceBy::Each(3), vec!["0-2", "3-5", "6-7"]),
    ] {
        assert_eq!(leaves(&layout(PACKAGES, 8, by)), expected, "{by}");
    }
    assert_eq!(
        leaves(&layout("cpus 0-3", 4, PlaceBy::Cache)),
        ["0-3"],
        "nothing is known"
    );
    assert_eq!(
        leaves(&layout(MIXED, 8, PlaceBy::Cache)),
        ["0-3", "4-5", "6-7"]
    );
}

#[test]
fn places_nest_up_to_the_machine() {
    let layout = layout(PACKAGES, 8, PlaceBy::Core);
    let up = |group| std::iter::successors(Some(group), |g| layout.parent(*g));
    for group in 0..4 {
        let sizes: Vec<usize> = up(group).map(|g| layout.workers_in(g)).collect();
        assert_eq!(sizes, [2, 4, 8]);
    }
    assert_eq!(layout.groups(), 4 + 2 + 1);
    // The fifth worker shares a core with the first.
    assert_eq!(layout.smallest(Some(4)), layout.smallest(Some(0)));
    assert_eq!(layout.smallest(None), layout.groups() - 1);
}

#[test]
fn others_come_by_distance() {
    let layout = layout(PACKAGES, 8, PlaceBy::Core);
    let beyond = layout.beyond(Some(0));
    // First the other core of the package, then the other package with its two cores.
    assert_eq!(layout.cpus_of(beyond[0]).to_string(), "1,5");
    assert_eq!(beyond.len(), 4);
    assert!(layout.distance(Some(0), Some(4)) < layout.distance(Some(0), Some(1)));
    assert!(layout.distance(Some(0), Some(1)) < layout.distance(Some(0), Some(2)));
    assert_eq!(layout.distance(None, Some(2)), 1);
    let numbers = super::tests::layout("cpus 0-3", 4, PlaceBy::Each(2));
    assert_eq!(
        [1, 2, 3].map(|b| numbers.distance(Some(0), Some(b))),
        [1, 2, 2]
    );
}

#[test]
fn unknown_machine_is_one_place() {
    let nowhere = Layout::nowhere(3);
    assert_eq!(
        (nowhere.leaves(), nowhere.groups(), nowhere.workers_in(0)),
        (1, 1, 3)
    );
    assert!(nowhere.cpus_of(0).is_empty());
}
