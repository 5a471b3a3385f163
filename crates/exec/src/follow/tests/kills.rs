//! Kills the command, its watcher, or both, at any moment.

use super::following::Table;
use super::roles::{Actor, kill_process, mask, masks, two_processors, watcher_in_test};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use procfs::process::Process;
use std::thread;
use std::time::Duration;
use tidegate_policy::Rng;
use tidegate_share::confinement::restore_abandoned;
use tidegate_testkit::{eventually, seeds, soak};

#[test]
fn stopped_watcher_does_not_hold_up_the_end() {
    let table = Table::new();
    let watcher = watcher_in_test(&table.path()).unwrap();
    kill(Pid::from_raw(watcher.identity().pid), Signal::SIGSTOP).unwrap();
    drop(watcher);
}

/// What is killed.
#[derive(Clone, Copy, Debug)]
enum Victim {
    Command,
    Watcher,
    Both,
}

/// Kills the victim, either when the program is confined, or at about the time when it becomes so.
/// The program has this many threads that sleep.
fn round(victim: Victim, own: &[usize], threads: usize, is_early: bool, delay: Duration) {
    let table = Table::new();
    let _rival = table.rival(own);
    let mut actor = Actor::command(&table.path());
    (0..threads).for_each(|_| _ = actor.order("thread"));
    actor.order("spin 1");
    let is_confined = || {
        masks(actor.program)
            .iter()
            .all(|mask| mask.len() < own.len())
    };
    if !is_early {
        eventually("the program is confined", is_confined);
    }
    thread::sleep(delay);
    // The command may be about to start its watcher.
    let command = Pid::from_raw(actor.pid());
    kill(command, Signal::SIGSTOP).unwrap();
    eventually("all its threads have stopped", || has_stopped(actor.pid()));
    let watcher = actor.watcher();
    if matches!(victim, Victim::Command) {
        // A supervisor may send a signal to all processes first.
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            if let Some(watcher) = watcher {
                kill(Pid::from_raw(watcher), signal).unwrap();
            }
        }
    } else {
        watcher.into_iter().for_each(kill_process);
    }
    if !matches!(victim, Victim::Watcher) {
        actor.child.kill().unwrap();
        actor.child.wait().unwrap();
    }
    let is_restored = || masks(actor.program).iter().all(|mask| mask == own);
    match victim {
        // It died before it started its watcher.
        Victim::Command if watcher.is_none() => {
            let is_abandoned = !table.is_alone();
            let restored = restore_abandoned(&table.location());
            assert_eq!(restored, usize::from(is_abandoned));
            assert!(is_early && is_restored());
        }
        Victim::Command => {
            eventually("the watcher restores", || is_restored() && table.is_alone());
        }
        Victim::Watcher => {
            kill(command, Signal::SIGCONT).unwrap();
            eventually("the command lives on", is_confined);
            actor.kill();
        }
        Victim::Both => {
            let is_abandoned = !table.is_alone();
            assert!(is_early || (is_abandoned && !is_restored()));
            let restored = restore_abandoned(&table.location());
            assert_eq!(restored, usize::from(is_abandoned));
            assert!(is_restored(), "{:?}", masks(actor.program));
        }
    }
    assert!(
        table.is_alone(),
        "after the death of {victim:?}, a record is left"
    );
}

/// Returns whether all threads of a process have ended.
fn has_ended(pid: &i32) -> bool {
    let stat = Process::new(*pid).and_then(|process| process.stat());
    stat.map_or(true, |stat| stat.state == 'Z' && stat.num_threads < 2)
}

/// Returns whether all threads of a process have stopped. One that starts a process stops once that
/// has its own program.
fn has_stopped(pid: i32) -> bool {
    let tasks = Process::new(pid).unwrap().tasks().unwrap();
    let mut states = tasks.filter_map(|task| Some(task.ok()?.stat().ok()?.state));
    states.all(|state| state == 'T')
}

#[test]
fn killed_commands_leave_no_confined_thread() {
    let Some(own) = two_processors() else { return };
    for number in 0..soak(
        1,
        "rounds of two deaths of the command, its watcher, and both",
    ) {
        for victim in [Victim::Command, Victim::Watcher, Victim::Both] {
            for is_early in [false, true] {
                let delay = Duration::from_micros(number * 3_970 % 50_000);
                round(victim, &own, 1, is_early, delay);
            }
        }
    }
}

#[test]
fn thousands_of_threads_are_restored() {
    let Some(own) = two_processors() else { return };
    let threads = soak(300, "threads");
    for victim in [Victim::Command, Victim::Both] {
        round(victim, &own, threads, false, Duration::ZERO);
    }
}

/// At least two of two commands and their watchers are killed, in any order.
#[test]
fn survivors_of_two_commands_restore_their_program() {
    let Some(own) = two_processors() else { return };
    for seed in seeds(4, "rounds of two commands") {
        println!("seed {seed}");
        let random = &mut Rng::new(seed);
        let table = Table::new();
        let mut actors = [0, 1].map(|_| Actor::command(&table.path()));
        for actor in &mut actors {
            actor.order("spin 1");
        }
        let [one, other] = actors.each_ref().map(|actor| actor.program);
        eventually("both are confined", || {
            [one, other].iter().all(|pid| mask(*pid).len() == 1)
        });
        let watchers = actors.each_ref().map(|actor| actor.watcher().unwrap());
        let mut victims = vec![(0, false), (0, true), (1, false), (1, true)];
        for _ in 0..random.below(3) + 2 {
            let victim = random.below(victims.len() as u64) as usize;
            match victims.swap_remove(victim) {
                (at, true) => kill_process(watchers[at]),
                (at, false) => actors[at].child.kill().unwrap(),
            }
            thread::sleep(Duration::from_micros(random.below(5_000)));
        }
        for (at, actor) in actors.iter_mut().enumerate() {
            if victims.contains(&(at, false)) {
                actor.kill();
                continue;
            }
            actor.child.wait().unwrap();
            let is_restored = || mask(actor.program) == own;
            if victims.contains(&(at, true)) {
                eventually("the watcher restores", is_restored);
            } else {
                // Until then, it may hold the lock on the record.
                eventually("the watcher has ended", || has_ended(&watchers[at]));
                restore_abandoned(&table.location());
                assert!(is_restored());
            }
        }
        eventually("no record or watcher is left", || {
            table.is_alone() && watchers.iter().all(has_ended)
        });
        assert!(table.program().is_none());
    }
}
