//! Sets the masks of real threads.

use super::roles::{Actor, mask, masks, two_processors};
use crate::follow::affinity::Affinity;
use crate::follow::tree::Tree;
use std::fs;
use tempfile::TempDir;
use tidegate_share::confinement::Record;
use tidegate_share::{CpuMask, Location, Name, Seat};

/// A program, and this process in the place of its command.
struct Scene {
    actor: Actor,
    tree: Tree,
    affinity: Affinity,
    /// The folder of the table and the record.
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::at(folder.path().join("table.v1"));
        drop(Seat::take(&location, &Name::new("makes the table")).unwrap());
        let actor = Actor::parent();
        Self {
            tree: Tree::new("/proc".into(), actor.pid(), vec![]),
            affinity: Affinity::new(Record::create(&location).unwrap(), actor.program),
            actor,
            folder,
        }
    }

    fn confine(&mut self, chosen: &[usize]) {
        self.set(Some(&CpuMask::from_cpus(chosen.iter().copied())));
    }

    /// Like [`confine`](Self::confine), but a walk misses the program.
    fn miss(&mut self, chosen: &[usize]) {
        let set = CpuMask::from_cpus(chosen.iter().copied());
        let missed = self.affinity.confine(&self.tree, vec![], Some(&set));
        missed.unwrap();
    }

    fn free(&mut self) {
        self.set(None);
    }

    fn set(&mut self, chosen: Option<&CpuMask>) {
        let members = self.tree.walk().unwrap();
        self.affinity.confine(&self.tree, members, chosen).unwrap();
    }

    /// Returns the masks of the program's first process, without repetitions.
    fn masks(&self) -> Vec<Vec<usize>> {
        let mut masks = masks(self.actor.program);
        masks.sort();
        masks.dedup();
        masks
    }

    fn release(self) -> Actor {
        self.affinity.release(&self.tree).unwrap();
        let files = fs::read_dir(self.folder.path()).unwrap();
        assert_eq!(files.count(), 1, "only the table is left");
        self.actor
    }
}

#[test]
fn all_threads_are_narrowed_and_widened() {
    let Some(own) = two_processors() else { return };
    let mut scene = Scene::new();
    scene.actor.order("thread");
    for chosen in [&own[..1], &own[1..2], &own[..2], &own[..1]] {
        scene.confine(chosen);
        assert_eq!(scene.masks(), [chosen]);
    }
    scene.free();
    assert_eq!(scene.masks(), std::slice::from_ref(&own));
    scene.confine(&own[1..2]);
    assert_eq!(scene.masks(), [&own[1..2]]);
    let actor = scene.release();
    assert!(masks(actor.program).iter().all(|mask| *mask == own));
}

/// Threads and processes that come later inherit a confined mask, but get the original one back.
#[test]
fn newcomers_are_confined_and_restored() {
    let Some(own) = two_processors() else { return };
    let mut scene = Scene::new();
    let early = scene.actor.order("fork");
    scene.confine(&own[..1]);
    let late = [scene.actor.order("thread"), scene.actor.order("fork")];
    scene.confine(&own[1..2]);
    let later = [scene.actor.order("thread"), scene.actor.order("fork")];
    let all = || [early].into_iter().chain(late).chain(later);
    scene.confine(&own[1..2]);
    assert!(all().all(|tid| mask(tid) == own[1..2]));
    let last = [scene.actor.order("thread"), scene.actor.order("fork")];
    let actor = scene.release();
    assert!(all().chain(last).all(|tid| mask(tid) == own));
    assert!(masks(actor.program).iter().all(|mask| *mask == own));
}

/// A mask that a thread had before is respected, and is no sign of its creator's confinement.
#[test]
fn earlier_own_mask_is_given_back() {
    let Some(own) = two_processors() else { return };
    let mut scene = Scene::new();
    let pinned = [0, 1].map(|at| scene.actor.order(&format!("pinned {}", own[at])));
    let now = || pinned.map(mask);
    for at in [0, 1, 0] {
        scene.confine(&own[at..=at]);
        assert_eq!(now(), [[own[0]], [own[1]]]);
        scene.free();
        assert_eq!(now(), [[own[0]], [own[1]]]);
    }
    scene.confine(&own[..1]);
    let _actor = scene.release();
    assert_eq!(now(), [[own[0]], [own[1]]]);
}

/// Neither this process nor one that restores changes the mask of a thread that has set it itself,
/// even if the same processors are chosen later.
#[test]
fn later_own_mask_is_left_alone() {
    let Some(own) = two_processors() else { return };
    let mut scene = Scene::new();
    let thread = scene.actor.order("thread");
    scene.confine(&own[1..2]);
    scene.confine(&own[..1]);
    scene.actor.order(&format!("pin {thread} {}", own[1]));
    scene.confine(&own[..1]);
    scene.miss(&own[..1]);
    scene.confine(&own[..1]);
    assert_eq!(mask(thread), own[1..2]);
    scene.confine(&own[1..2]);
    scene.free();
    assert_eq!(mask(thread), own[1..2]);
    scene.confine(&own[1..2]);
    let actor = scene.release();
    assert_eq!(mask(thread), own[1..2]);
    assert_eq!(mask(actor.program), own);
}
