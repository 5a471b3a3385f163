//! Runs random programs on a simulated machine that follows the plan. They must end, in the right
//! order and within their bounds.

use crate::machine::{Machine, State};
use crate::programs::{Step, body, serial, span, with_unrelated, without_reservations};
use tidegate_policy::Rng;
use tidegate_testkit::soak;

/// Runs random programs on a machine and returns their peak of declared memory, in bytes.
fn run(memory: &str, slots: usize, most: usize, programs: Vec<Vec<Step>>, rng: &mut Rng) -> u64 {
    let mut machine = Machine::new(memory.parse().unwrap(), slots, most, programs);
    let mut steps = 0;
    while machine.step(rng) {
        steps += 1;
        assert!(steps < 1_000_000, "{memory} on {slots}: it does not end");
    }
    for (number, thread) in machine.threads.iter().enumerate() {
        let State::Idle = thread.state else {
            panic!("thread {number} is left: {:?}", thread.state);
        };
    }
    for (reservation, bytes) in machine.kept.drain(..) {
        machine.plan.give_back(None, reservation, bytes);
    }
    assert_eq!(machine.plan.book().declared(), 0);
    machine.peak
}

#[test]
fn random_plans_stay_within_bounds() {
    let slots = [1, 2, 4, 16, 64];
    let seeds = soak(
        50,
        "random programs with reservations, each on 1 to 64 slots under each policy",
    );
    for seed in 0..seeds {
        let mut rng = Rng::new(seed);
        let program = body(&mut rng, 5);
        // A budget must be at least one byte.
        let s1 = serial(&program).max(1);
        for slots in slots {
            let k = [20, 60, 200][rng.below(3) as usize];
            let budget = s1 + [0, 1, s1 / 10, s1][rng.below(4) as usize];
            for (rule, budget) in [
                (format!("budget:bytes={budget},serial={s1}"), Some(budget)),
                (format!("depth-first:k={k}"), None),
                (format!("dfdeques:k={k}"), None),
            ] {
                let most = [usize::MAX, slots, 4 * slots][rng.below(3) as usize];
                let mut program = program.clone();
                if rng.below(2) == 0 {
                    program = with_unrelated(&mut rng, program);
                }
                let premature = || k * slots as u64 * span(&program, k);
                let bound = budget.unwrap_or_else(|| s1 + premature());
                let mut programs = vec![program];
                if rng.below(2) == 0 {
                    let other = without_reservations(body(&mut rng, 3));
                    programs.insert(rng.below(2) as usize, other);
                }
                let peak = run(&rule, slots, most, programs, &mut rng);
                assert!(
                    peak <= bound,
                    "seed {seed}, {slots} slots, {rule}: {peak} > {bound}"
                );
            }
        }
    }
}

/// Even if every task has a huge request, no task waits for another.
#[test]
fn huge_requests_of_all_tasks_finish() {
    let huge = || vec![Step::Reservation(1 << 50)];
    for policy in ["depth-first:k=1024", "dfdeques:k=1024"] {
        let program = vec![Step::Join(huge(), huge())];
        run(policy, 2, usize::MAX, vec![program], &mut Rng::new(1));
    }
}
