//! Sets the masks of real threads.

use super::roles::{Actor, in_role, mask, masks, two_processors};
use crate::follow::affinity::Affinity;
use crate::follow::tree::Tree;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;
use tidegate_share::confinement::{Record, own_name};
use tidegate_share::{CpuMask, Location, Name, Seat};

/// All records of this process have the same name, and restoring finds processes by that name. So
/// there is only one record at a time.
static TURN: Mutex<()> = Mutex::new(());

/// A program, and this process in the place of its command.
struct Scene {
    actor: Actor,
    tree: Tree,
    affinity: Affinity,
    /// The folder of the table and the record.
    folder: TempDir,
    turn: MutexGuard<'static, ()>,
}

/// What is left of a scene. The turn must not end before the actor, so it is dropped last.
struct Released {
    actor: Actor,
    _turn: MutexGuard<'static, ()>,
}

impl Scene {
    fn new() -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        let location = Location::at(folder.path().join("table.v1"));
        drop(Seat::take(&location, &Name::new("makes the table")).unwrap());
        let record = Record::create(&location).unwrap();
        let actor = Actor::parent(&own_name());
        Self {
            tree: Tree::new("/proc".into(), actor.pid(), vec![]),
            affinity: Affinity::new(record, actor.program),
            actor,
            folder,
            turn,
        }
    }

    fn confine(&mut self, chosen: &[usize]) {
        self.set(Some(&CpuMask::from_cpus(chosen.iter().copied())));
    }

    /// Like [`confine`](Self::confine), but a walk misses the program.
    fn miss(&mut self, chosen: &[usize]) {
        self.miss_set(Some(&CpuMask::from_cpus(chosen.iter().copied())));
    }

    fn miss_set(&mut self, chosen: Option<&CpuMask>) {
        let missed = self.affinity.confine(&self.tree, vec![], chosen);
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

    fn release(self) -> Released {
        self.affinity.release(&self.tree).unwrap();
        let files = fs::read_dir(self.folder.path()).unwrap();
        assert_eq!(files.count(), 1, "only the table is left");
        Released {
            actor: self.actor,
            _turn: self.turn,
        }
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
    let released = scene.release();
    let masks = masks(released.actor.program);
    assert!(masks.iter().all(|mask| *mask == own));
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
    let released = scene.release();
    assert!(all().chain(last).all(|tid| mask(tid) == own));
    let masks = masks(released.actor.program);
    assert!(masks.iter().all(|mask| *mask == own));
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
    let _released = scene.release();
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
    let released = scene.release();
    assert_eq!(mask(thread), own[1..2]);
    assert_eq!(mask(released.actor.program), own);
}

/// The first thread has set its mask itself, and then created a process of which no creator is known.
#[test]
fn own_mask_of_the_first_thread_is_inherited() {
    let Some(own) = two_processors() else { return };
    let mut scene = Scene::new();
    scene.confine(&own[..1]);
    scene.confine(&own[1..2]);
    let program = scene.actor.program;
    scene.actor.order(&format!("pin {program} {}", own[0]));
    scene.confine(&own[1..2]);
    // Another thread creates it, but it gets the mask that it would have inherited from the first.
    let orphan = scene.actor.order("fork");
    scene.actor.order(&format!("pin {orphan} {}", own[0]));
    scene.confine(&own[1..2]);
    let masks = || [mask(program), mask(orphan)];
    assert_eq!(masks(), [&own[..1], &own[..1]]);
    let _released = scene.release();
    assert_eq!(masks(), [&own[..1], &own[..1]]);
}

/// One look is not enough to say that no thread is confined.
#[test]
fn threads_missed_while_freeing_are_freed_later() {
    let Some(own) = two_processors() else { return };
    let mut scene = Scene::new();
    scene.confine(&own[..1]);
    let late = scene.actor.order("thread");
    scene.miss_set(None);
    scene.free();
    assert_eq!(mask(late), own);
    assert_eq!(scene.masks(), std::slice::from_ref(&own));
    // After two looks in a row that change nothing, such a mask is the choice of the thread.
    let pinned = scene.actor.order(&format!("pinned {}", own[0]));
    scene.miss_set(None);
    scene.miss_set(None);
    scene.free();
    assert_eq!(mask(pinned), own[..1]);
}

/// A thread may be freed even if the record cannot take it.
#[test]
fn freeing_needs_no_room_in_the_record() {
    if two_processors().is_some() {
        // By pipes, because the limit would also hold for a file.
        let played = in_role("free without writing").output().unwrap();
        assert!(played.status.success(), "{played:?}");
    }
}

/// The role of that test, because the limit holds for its whole process.
pub(super) fn free_without_writing() {
    let own = two_processors().unwrap();
    let mut scene = Scene::new();
    let early = scene.actor.order("thread");
    scene.confine(&own[..1]);
    let late = scene.actor.order("thread");
    scene.actor.order(&format!("pin {early} {}", own[1]));
    let length = fs::metadata(scene.affinity.record().path()).unwrap().len();
    let (_, most) = getrlimit(Resource::RLIMIT_FSIZE).unwrap();
    setrlimit(Resource::RLIMIT_FSIZE, length, most).unwrap();
    scene.free();
    assert_eq!([mask(early), mask(late)], [&own[1..2], &own]);
    // What the record does not list cannot be confined.
    let set = CpuMask::from_cpus([own[0]]);
    let members = scene.tree.walk().unwrap();
    assert!(
        scene
            .affinity
            .confine(&scene.tree, members, Some(&set))
            .is_err()
    );
    assert_eq!(mask(late), own);
    let _released = scene.release();
    assert_eq!([mask(early), mask(late)], [&own[1..2], &own]);
}
