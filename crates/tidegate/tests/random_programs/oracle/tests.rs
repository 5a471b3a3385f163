//! Checks that the oracle reports each kind of mistake.

use super::attempt::attempt;
use super::expected::{Expected, Fate, Panic, Sizes};
use super::ledger::Ledger;
use super::waits::Returned;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

const SIZES: Sizes = Sizes {
    tasks: 1,
    catches: 1,
    payloads: 1,
};

const PANIC: Panic = Panic {
    payload: 0,
    drop_panics: true,
};

fn ledger() -> Arc<Ledger> {
    Arc::new(Ledger::new(SIZES))
}

fn expected(fate: Fate) -> Expected {
    Expected {
        fates: vec![fate],
        ..Expected::new(SIZES)
    }
}

#[track_caller]
fn reports(ledger: &Ledger, fate: Fate, mistake: &str) {
    let report = ledger.check(&expected(fate)).unwrap_err();
    assert!(report.contains(mistake), "{report}");
}

#[test]
fn accepts_a_single_run() {
    let ledger = ledger();
    ledger.token(0).run(|| ());
    assert_eq!(ledger.check(&expected(Fate::Once)), Ok(()));
    reports(&ledger, Fate::Never, "ran 1");
}

#[test]
fn reports_a_doubled_task() {
    let ledger = ledger();
    let token = ledger.token(0);
    // This is as if a thief and the owner had both taken the task.
    let double = token.duplicate();
    token.run(|| ());
    double.run(|| ());
    reports(&ledger, Fate::Once, "made 1, ran 2, dropped 2");
}

#[test]
fn reports_a_dropped_task() {
    let ledger = ledger();
    drop(ledger.token(0));
    reports(&ledger, Fate::Once, "ran 0, dropped 1");
    assert_eq!(ledger.check(&expected(Fate::AtMostOnce)), Ok(()));
}

#[test]
fn reports_a_leaked_task() {
    let ledger = ledger();
    std::mem::forget(ledger.token(0));
    reports(&ledger, Fate::AtMostOnce, "dropped 0");
    assert_eq!(ledger.live(), 1);
}

#[test]
fn reports_a_panic_nobody_saw() {
    let ledger = ledger();
    let panic = || ledger.panic(PANIC);
    let payload = catch_unwind(AssertUnwindSafe(panic)).unwrap_err();
    let bite = catch_unwind(AssertUnwindSafe(|| drop(payload)));
    assert!(bite.is_err());
    reports(&ledger, Fate::Never, "payload 0: made 1, reported 0");
}

#[test]
fn reports_a_misplaced_panic() {
    let ledger = ledger();
    let panic = || ledger.panic(PANIC);
    let payload = catch_unwind(AssertUnwindSafe(panic)).unwrap_err();
    ledger.caught(0, payload);
    reports(&ledger, Fate::Never, "catch 0 caught payload 0");
}

#[test]
fn reports_a_call_that_left_early() {
    let ledger = ledger();
    let token = ledger.token(0);
    drop(ledger.waits_for([0]));
    token.run(|| ());
    drop(ledger.waits_for([0]));
    reports(&ledger, Fate::Once, "a call has not waited for tasks [0]");
    assert_eq!(ledger.check(&expected(Fate::Once)), Ok(()), "reported once");
}

#[test]
fn reports_a_scope_that_left_early() {
    let (ledger, returned) = (ledger(), Arc::new(Returned::default()));
    let task = returned.spawned();
    drop(ledger.waits_for_all(&returned));
    task.run(|_| 7);
    drop(ledger.waits_for_all(&returned));
    assert_eq!(returned.value(), 7);
    reports(&ledger, Fate::Never, "not waited for 1 of its tasks");
}

#[test]
#[should_panic(expected = "seed 7: twice")]
fn reports_the_seed() {
    attempt(7, "a program", |_| Err("twice".into()));
}
