//! The faults, each with the test that must catch it.

use super::{Fault, Tool};

/// Every fault. The code asks `cfg!(tidegate_fault = "name")` where it would go wrong.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "no-owner-fence",
        what: "pop stores bottom and reads guard without the light barrier between them",
        package: "tidegate-deque",
        test: "split::models::loom_owner_pops_while_a_thief_exposes_by_force",
        tool: Tool::Loom(2),
    },
    Fault {
        name: "no-thief-fence",
        what: "a thief that exposes raises guard and reads bottom without the heavy barrier between them",
        package: "tidegate-deque",
        test: "split::models::loom_owner_pops_while_a_thief_exposes_by_force",
        tool: Tool::Loom(2),
    },
    Fault {
        name: "no-second-look",
        what: "a thief that exposes publishes up to the bottom that it saw first",
        package: "tidegate-deque",
        test: "split::models::loom_owner_pops_while_a_thief_exposes_by_force",
        tool: Tool::Loom(2),
    },
    Fault {
        name: "guard-after-cas",
        what: "the owner moves guard after the swap that takes public tasks back",
        package: "tidegate-deque",
        test: "split::models::loom_an_exposure_that_follows_a_take_back_keeps_its_guard",
        tool: Tool::Loom(2),
    },
    Fault {
        name: "x-not-cleared",
        what: "the owner's cold exit leaves an exposure in flight alive",
        package: "tidegate-deque",
        test: "split::models::loom_an_exposure_in_flight_is_cancelled_by_the_owner",
        tool: Tool::Loom(2),
    },
    Fault {
        name: "slot-before-cas",
        what: "a thief reads the slot before its compare-and-swap has made it its own",
        package: "tidegate-deque",
        test: "split::models::loom_owner_exposes_and_takes_back_against_two_thieves",
        tool: Tool::Loom(2),
    },
    Fault {
        name: "ring-reused-before-read",
        what: "the owner fills a stolen position that its thief has not read yet",
        package: "tidegate-deque",
        test: "split::models::loom_a_ring_position_is_reused_only_after_its_thief_has_read_it",
        tool: Tool::Loom(2),
    },
    Fault {
        name: "publish-without-release",
        what: "tasks are made public without being released to those who steal them",
        package: "tidegate-deque",
        test: "split::models::loom_what_the_owner_publishes_is_released_to_the_thief",
        tool: Tool::Loom(2),
    },
    Fault {
        name: "last-item-twice",
        what: "the owner takes the last public task back and a thief takes it too",
        package: "tidegate-deque",
        test: "split::models::loom_owner_exposes_and_takes_back_against_two_thieves",
        tool: Tool::Loom(2),
    },
    Fault {
        name: "rob-old-generation",
        what: "a robber takes a task although the one it waits for is no longer at the base",
        package: "tidegate-deque",
        test: "split::models::loom_a_robber_with_an_old_generation_gets_nothing",
        tool: Tool::Loom(2),
    },
    Fault {
        name: "hungry-after-look",
        what: "a worker tells the others that it is hungry after its last look instead of before",
        package: "tidegate",
        test: "models::loom_a_push_is_not_missed_by_a_worker_that_goes_to_sleep",
        tool: Tool::Loom(1),
    },
    Fault {
        name: "latch-touched-after-swap",
        what: "a thief looks at the latch once more after the swap that lets the joiner's frame end",
        package: "tidegate",
        test: "a_stolen_half_leaves_its_result_in_the_frame_that_waits_for_it",
        tool: Tool::Miri("small"),
    },
    Fault {
        name: "rouse-looks-first",
        what: "one who leaves a slot free looks for work before it raises hunger, and not after",
        package: "tidegate",
        test: "models::loom_calls_a_push_is_not_missed_by_one_who_gives_its_slot_up",
        tool: Tool::Loom(2),
    },
];
