//! Follows real programs beside other jobs of a table.

use super::roles::{Actor, mask, masks, two_processors, watcher_in_test};
use crate::How;
use crate::follow::cgroups::Cgroups;
use crate::follow::confinement::{Confinement, Watch};
use crate::follow::tree::Tree;
use crate::follow::{Bounds, Means, chosen, order, quota, usage};
use crate::outside::Look;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidegate_share::{CpuMask, Job, Location, Name, Observer, Portion, Report, Seat};
use tidegate_testkit::eventually;

/// A table of its own for a test.
pub(super) struct Table(TempDir);

impl Table {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn path(&self) -> PathBuf {
        self.0.path().join("table.v1")
    }

    pub(super) fn location(&self) -> Location {
        Location::at(self.path())
    }

    /// Whether there is no record beside the table.
    pub(super) fn is_alone(&self) -> bool {
        let files = fs::read_dir(self.0.path()).unwrap().flatten();
        files.filter(|file| file.path().is_file()).count() == 1
    }

    /// Takes a seat for a job that desires all of these processors, until it is dropped.
    pub(super) fn rival(&self, processors: &[usize]) -> Rival {
        let mut seat = Seat::take(&self.location(), &Name::new("rival")).unwrap();
        let mut report = Report::new(CpuMask::from_cpus(processors.iter().copied()));
        report.desire = processors.len();
        seat.publish(&report).unwrap();
        let ended = Arc::new(AtomicBool::new(false));
        let is_over = ended.clone();
        let beats = move || {
            while !is_over.load(Ordering::Relaxed) {
                seat.publish(&report).unwrap();
                thread::sleep(Duration::from_millis(50));
            }
        };
        Rival {
            ended,
            thread: Some(thread::spawn(beats)),
        }
    }

    /// Makes the table, and leaves no job in it.
    fn made() -> Self {
        let table = Self::new();
        drop(table.rival(&[0]));
        table
    }

    /// Waits until the program has a row, for which this holds.
    fn wait_for(&self, what: &str, holds: impl Fn(&Job) -> bool) {
        eventually(what, || self.program().is_some_and(|row| holds(&row)));
    }

    pub(super) fn program(&self) -> Option<Job> {
        let observer = Observer::open(&self.location()).unwrap();
        let jobs = observer.unwrap().jobs().unwrap();
        jobs.into_iter()
            .find(|job| job.name == Name::new("program"))
    }
}

/// A job that desires all processors.
pub(super) struct Rival {
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Rival {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let _ = self.thread.take().unwrap().join();
    }
}

#[test]
fn program_makes_room_while_rival_works() {
    let Some(own) = two_processors() else { return };
    let table = Table::new();
    let mut actor = Actor::command(&table.path());
    actor.order("thread");
    actor.order("spin 1");
    table.wait_for("the row shows the program", |row| {
        row.desire == 1 && row.cpu_time > 0
    });
    assert!(
        masks(actor.program).iter().all(|mask| *mask == own),
        "it is alone"
    );
    let rival = table.rival(&own);
    eventually("the rival gets room", || {
        masks(actor.program).iter().all(|mask| mask.len() == 1)
    });
    table.wait_for("its row says so", |row| row.allotment == 1);
    drop(rival);
    eventually("the program gets all back", || {
        masks(actor.program).iter().all(|mask| *mask == own)
    });
    actor.kill();
    assert!(table.program().is_none() && table.is_alone());
    assert_eq!(actor.messages(), "");
}

#[test]
fn command_moves_to_a_new_table() {
    let Some(own) = two_processors() else { return };
    let table = Table::new();
    let mut actor = Actor::command(&table.path());
    actor.order("spin 1");
    eventually("it has a row", || table.program().is_some());
    fs::remove_file(table.path()).unwrap();
    let _rival = table.rival(&own);
    // On a busy machine, the estimate may be one too many for as long as both use all they get.
    table.wait_for("it has a new row", |row| row.desire >= 1);
    eventually("the rival gets room", || mask(actor.program).len() == 1);
    actor.kill();
    assert!(table.program().is_none() && table.is_alone());
    assert_eq!(actor.messages(), "");
}

/// Nothing could restore the threads if the command died.
#[test]
fn program_is_freed_if_its_record_is_removed() {
    let Some(own) = two_processors() else { return };
    let table = Table::new();
    let mut actor = Actor::command(&table.path());
    let _rival = table.rival(&own);
    actor.order("spin 1");
    eventually("it is confined", || mask(actor.program).len() == 1);
    for file in fs::read_dir(table.0.path()).unwrap().flatten() {
        fs::remove_file(file.path()).unwrap();
    }
    let message = "tidegate exec: the program is not confined any more: its record was removed\n";
    eventually("it says so", || actor.messages() == message);
    let _rival = table.rival(&own);
    table.wait_for("it has a new row", |row| row.desire >= 1);
    assert_eq!(mask(actor.program), own);
}

#[test]
fn program_is_freed_if_no_table_can_be_used() {
    let Some(own) = two_processors() else { return };
    let table = Table::new();
    let mut actor = Actor::command(&table.path());
    let rival = table.rival(&own);
    actor.order("spin 1");
    eventually("it is confined", || mask(actor.program).len() == 1);
    drop(rival);
    fs::remove_dir_all(table.0.path()).unwrap();
    eventually("it says so", || actor.messages().ends_with('\n'));
    let message = "tidegate exec: the program is not confined any more: ";
    assert!(actor.messages().starts_with(message));
    assert_eq!(mask(actor.program), own);
    actor.kill();
    assert_eq!(actor.messages().lines().count(), 1);
}

#[test]
fn two_busy_threads_desire_two_processors() {
    if two_processors().is_none() {
        return;
    }
    let table = Table::new();
    let mut actor = Actor::command(&table.path());
    actor.order("spin 2");
    table.wait_for("the row says two", |row| row.desire == 2);
}

/// What lives longer than the program's first process is restored as well.
#[test]
fn orphan_is_restored_at_the_end() {
    let Some(own) = two_processors() else { return };
    let table = Table::new();
    let _rival = table.rival(&own);
    let mut actor = Actor::command(&table.path());
    let orphan = actor.order("fork");
    actor.order("spin 1");
    eventually("the orphan is confined", || mask(orphan).len() == 1);
    actor.kill();
    assert_eq!(mask(orphan), own);
    assert!(table.is_alone());
}

#[test]
fn sleeping_program_desires_nothing() {
    let Some(own) = two_processors() else { return };
    let table = Table::new();
    let _rival = table.rival(&own);
    let mut actor = Actor::command(&table.path());
    let orphan = actor.order("fork");
    table.wait_for("the row desires nothing", |row| row.desire == 0);
    eventually("it is not confined", || mask(orphan) == own);
    assert_eq!(mask(actor.program), own);
    actor.end();
    assert!(table.is_alone());
}

/// The two may share a processor for a cycle, which is at most half a second long, and here for as
/// long as a busy machine lets them wait.
#[test]
fn two_programs_share_no_processor() {
    let Some(own) = two_processors() else { return };
    let table = Table::new();
    let mut actors = [0, 1].map(|_| Actor::command(&table.path()));
    for actor in &mut actors {
        actor.order("spin 1");
    }
    let share = || {
        let [one, other] = [0, 1].map(|at: usize| mask(actors[at].program));
        one.iter().any(|cpu| other.contains(cpu))
    };
    eventually("they have parted", || !share());
    let mut apart = Instant::now();
    for _ in 0..200 {
        thread::sleep(Duration::from_millis(5));
        if !share() {
            apart = Instant::now();
        }
        assert!(
            apart.elapsed() < Duration::from_secs(10),
            "they share a processor"
        );
    }
    let [one, other] = &mut actors;
    one.kill();
    eventually("the other one gets all", || mask(other.program) == own);
    assert_eq!(one.messages() + &other.messages(), "");
}

#[test]
fn quota_follows_and_is_lifted() {
    let Some(own) = two_processors() else { return };
    for is_killed in [false, true] {
        let table = Table::new();
        let mut actor = Actor::quota(&table.path());
        let cgroups = Cgroups::new(&table.0.path().join("machine"), actor.child.id());
        let quota = || cgroups.text(&cgroups.leaf("cpu.max"));
        let cpus = || cgroups.text(&cgroups.leaf("cpuset.cpus"));
        actor.order("spin 1");
        let _rival = table.rival(&own);
        let one = quota::text(1, own.len());
        eventually("the program has a quota", || quota() == one);
        eventually("and a processor", || {
            cpus().parse().is_ok_and(|cpu: usize| own.contains(&cpu))
        });
        assert_eq!(mask(actor.program), own);
        if is_killed {
            actor.child.kill().unwrap();
            actor.child.wait().unwrap();
        } else {
            actor.kill();
        }
        eventually("nothing is left", || {
            quota() == "max" && cpus().is_empty() && table.is_alone()
        });
    }
}

#[test]
fn means_say_what_they_are() {
    let table = Table::made();
    let none = table.0.path().join("no machine");
    let reason = |how| {
        let means = Means::prepare_with(how, &table.location(), &none, watcher_in_test);
        (means.may_confine(), means.reason().to_owned())
    };
    let start = "the program will not be confined: ";
    assert_eq!(reason(How::Count), (false, format!("{start}--how count")));
    let affinity = "the program will be confined by affinity";
    assert_eq!(reason(How::Affinity), (true, affinity.to_owned()));
    let (is_confined, of_auto) = reason(How::Auto);
    assert!(is_confined && of_auto.starts_with(affinity), "{of_auto}");
    let (is_confined, of_quota) = reason(How::Quota);
    assert!(!is_confined && of_quota.starts_with(start), "{of_quota}");
    assert!(
        of_quota.ends_with("; use --how affinity or auto"),
        "{of_quota}"
    );
    assert!(table.is_alone());
}

/// The kernel refuses to move the command into the leaf: the file of its processes is read-only.
#[test]
fn program_outside_the_leaf_has_no_quota() {
    let table = Table::made();
    for how in [How::Auto, How::Quota] {
        let root = table.0.path().join("machine");
        let cgroups = Cgroups::new(&root, std::process::id());
        cgroups.make("cpu", "");
        let procs = root.join(cgroups.leaf("cgroup.procs"));
        fs::remove_file(&procs).unwrap();
        symlink("/proc/version", &procs).unwrap();
        let mut means = Means::prepare_with(how, &table.location(), &root, watcher_in_test);
        assert!(means.reason().contains("quota"), "{}", means.reason());
        means.start(|| ());
        let (_, mut confinement) = means.of(1);
        assert_eq!(confinement.is_none(), how == How::Quota);
        assert_eq!(cgroups.text(&cgroups.group("cgroup.procs")), "0");
        assert_eq!(
            cgroups.text(&cgroups.group("cgroup.subtree_control")),
            "-cpu"
        );
        confine(&mut confinement).unwrap();
        assert_eq!(confinement.is_by_thread(), how == How::Auto);
        fs::remove_dir_all(root).unwrap();
    }
}

/// Confines a program without processes.
fn confine(confinement: &mut Confinement) -> Result<(), String> {
    let mut tree = Tree::new("/proc".into(), i32::MAX, vec![]);
    confinement.confine(&mut tree, vec![], Some(&[0]), 2)
}

fn by_affinity(table: &Table, watch: Watch) -> Confinement {
    Means::prepare_with(How::Affinity, &table.location(), "/".as_ref(), watch)
        .of(1)
        .1
}

/// A program that is never confined costs no watcher.
#[test]
fn first_confinement_creates_the_record() {
    let table = Table::made();
    let mut confinement = by_affinity(&table, watcher_in_test);
    assert!(table.is_alone());
    confine(&mut confinement).unwrap();
    assert!(!table.is_alone());
    let tree = Tree::new("/proc".into(), i32::MAX, vec![]);
    confinement.release(&tree).unwrap();
    assert!(table.is_alone());
}

#[test]
fn program_without_a_record_or_watcher_is_not_confined() {
    let table = Table::made();
    let mut confinement = by_affinity(&table, |_| Err(io::Error::other("no watcher")));
    let why = confine(&mut confinement).unwrap_err();
    assert_eq!(why, "cannot start its watcher: no watcher");
    assert!(table.is_alone());
    let elsewhere = Location::at(table.0.path().join("missing/table.v1"));
    let means = Means::prepare_with(How::Affinity, &elsewhere, "/".as_ref(), watcher_in_test);
    let why = confine(&mut means.of(1).1).unwrap_err();
    assert!(why.contains("missing/exec-"), "{why}");
}

/// The program's own processes may be as many as the user may have.
#[test]
fn program_is_confined_once_there_is_a_process() {
    static IS_FULL: AtomicBool = AtomicBool::new(true);
    let table = Table::made();
    let mut confinement = by_affinity(&table, |record| {
        if IS_FULL.load(Ordering::Relaxed) {
            Err(io::ErrorKind::WouldBlock.into())
        } else {
            watcher_in_test(record)
        }
    });
    confine(&mut confinement).unwrap();
    assert!(confinement.is_ready() && table.is_alone());
    IS_FULL.store(false, Ordering::Relaxed);
    confine(&mut confinement).unwrap();
    assert!(confinement.is_by_thread() && !table.is_alone());
}

/// As after a panic of the thread that follows the program.
#[test]
fn watcher_of_a_dropped_confinement_restores() {
    let table = Table::made();
    let mut confinement = by_affinity(&table, watcher_in_test);
    confine(&mut confinement).unwrap();
    drop(confinement);
    assert!(table.is_alone());
}

mod choice {
    use super::*;

    fn portion(cpus: &[usize], allotment: usize, is_own: bool) -> Portion {
        Portion {
            mask: CpuMask::from_cpus(cpus.iter().copied()),
            allotment,
            most: allotment,
            is_own,
        }
    }

    fn at_least(min: usize) -> Bounds {
        let max = usize::MAX;
        Bounds { min, max }
    }

    const ORDER: [usize; 4] = [0, 2, 1, 3];

    #[test]
    fn lonely_program_is_not_confined() {
        let [own, idle] = [1, 0].map(|allotment| portion(&ORDER, allotment, true));
        let [busy, other] = [4, 0].map(|allotment| portion(&ORDER, allotment, false));
        assert_eq!(chosen(&[own], &ORDER, at_least(0)), None);
        assert_eq!(chosen(&[other, own], &ORDER, at_least(0)), None);
        assert_eq!(chosen(&[busy, idle], &ORDER, at_least(3)), None);
        assert_eq!(chosen(&[busy], &ORDER, at_least(0)), None, "no own row");
    }

    /// Both compute the same, from the same rows.
    #[test]
    fn two_programs_choose_apart() {
        for (first, second) in [(1, 1), (1, 2), (1, 3), (2, 2), (3, 1)] {
            let rows = |own: usize| {
                let portion = |at, allotment| portion(&ORDER, allotment, at == own);
                [portion(0, first), portion(1, second)]
            };
            let [one, other] = [0, 1].map(|own| chosen(&rows(own), &ORDER, at_least(0)).unwrap());
            assert_eq!((one.len(), other.len()), (first, second));
            assert!(
                one.iter().all(|cpu| !other.contains(cpu)),
                "{one:?} {other:?}"
            );
        }
    }

    #[test]
    fn least_count_is_kept() {
        let rows = [portion(&ORDER, 3, false), portion(&ORDER, 1, true)];
        assert_eq!(chosen(&rows, &ORDER, at_least(0)).unwrap(), [3]);
        assert_eq!(chosen(&rows, &ORDER, at_least(2)).unwrap(), [0, 3]);
        assert_eq!(chosen(&rows, &ORDER, at_least(9)), None);
    }

    /// The program may use what no other job desires, before it has shown that it could.
    #[test]
    fn desire_does_not_narrow_a_program() {
        let own = Portion {
            most: 3,
            ..portion(&ORDER, 1, true)
        };
        let rows = [own, portion(&ORDER, 1, false)];
        assert_eq!(chosen(&rows, &ORDER, at_least(0)).unwrap(), [0, 1, 3]);
    }

    /// The other job knows nothing of the minimum.
    #[test]
    fn minimum_takes_no_processor_of_others() {
        let rows = |own| [0, 1].map(|at| portion(&ORDER, 1, at == own));
        assert_eq!(chosen(&rows(0), &ORDER, at_least(2)).unwrap(), [0, 1]);
        assert_eq!(chosen(&rows(1), &ORDER, at_least(0)).unwrap(), [2]);
    }

    #[test]
    fn maximum_holds_for_a_lonely_program() {
        let bounds = Bounds { min: 3, max: 2 };
        for allotment in [0, 4] {
            let own = portion(&ORDER, allotment, true);
            assert_eq!(chosen(&[own], &ORDER, bounds).unwrap(), [0, 2]);
        }
        let rows = [portion(&ORDER, 1, false), portion(&ORDER, 3, true)];
        assert_eq!(chosen(&rows, &ORDER, bounds).unwrap(), [2, 1]);
    }

    #[test]
    fn order_keeps_neighbours_together() {
        let order = |text: &str| order(&text.parse().unwrap());
        assert_eq!(order("cpus 0-3"), [0, 1, 2, 3]);
        assert_eq!(
            order("cpus 0-7\nL2 0,4 1,5 2,6 3,7\nL3 0,2,4,6 1,3,5,7"),
            [0, 4, 2, 6, 1, 5, 3, 7]
        );
    }

    #[test]
    fn usage_is_rounded() {
        let look = |at, ran| Look {
            at,
            ran,
            ..Look::default()
        };
        let since = |at, ran| usage(&look(100, 50), &look(at, ran));
        assert_eq!(
            [since(200, 51), since(200, 190), since(200, 250)],
            [1, 1, 2]
        );
        assert_eq!(since(100, 50), 0);
    }
}
