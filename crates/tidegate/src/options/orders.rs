//! The options that decide which task comes next and how many a thief takes, unless one breaks what
//! another promises.

use super::environment::Environment;
use super::{BuildError, Source, label};
use std::fmt::Display;
use tidegate_policy::tunables;
use tidegate_policy::{Amount, Queue, Space, Wait};

/// Options that fit together.
pub(super) struct Orders {
    pub(super) amount: Amount,
    pub(super) wait: Wait,
    pub(super) queue: Queue,
    pub(super) space: Space,
}

/// What the builder has of them.
type Given = (Option<Amount>, Option<Wait>, Option<Queue>, Option<Space>);

impl Orders {
    pub(super) fn of(
        (amount, wait, queue, space): Given,
        is_closed: bool,
        environment: Environment,
    ) -> Result<Self, BuildError> {
        let amount = environment.option("Builder::steal", amount, &tunables::STEAL)?;
        let wait = environment.option("Builder::wait", wait, &tunables::WAIT)?;
        let queue = environment.option("Builder::queue", queue, &tunables::QUEUE)?;
        // A closed pool promises so much about its threads that none may wait for memory.
        let space = match is_closed {
            true => (Space::None, Source::Default),
            false => environment.option("Builder::space", space, &tunables::SPACE)?,
        };
        let checked = space.0.check();
        checked.map_err(|error| error.within("Builder::space"))?;
        let (wait, queue) = beside_space(space, wait, queue, environment)?;
        Ok(Self {
            amount: steal_amount(amount, queue, space, environment)?,
            wait,
            queue: queue.0,
            space: space.0,
        })
    }
}

/// How to wait and which queue to use beside a memory policy, which has an order of its own. The
/// policy wins over variables that break it, where these are forgiven.
fn beside_space(
    (space, space_from): (Space, Source),
    (wait, wait_from): (Wait, Source),
    (queue, queue_from): (Queue, Source),
    environment: Environment,
) -> Result<(Wait, (Queue, Source)), BuildError> {
    if space == Space::None {
        return Ok((wait, (queue, queue_from)));
    }
    let by_space = label(space_from, "Builder::space", &tunables::SPACE);
    let refuse = |option: &str, value: &dyn Display, allowed: &dyn Display| {
        let error = BuildError::new(format!(
            "{option}: {value} beside {by_space}, {space}, which has an order of its own; allowed: {allowed}"
        ));
        environment.forgive(
            error,
            &format_args!("{by_space}, and with {allowed} for {option}"),
        )
    };
    if wait != Wait::Descendants {
        let option = label(wait_from, "Builder::wait", &tunables::WAIT);
        refuse(option, &wait, &Wait::Descendants)?;
    }
    if queue == Queue::Split || !space.keeps_order() {
        return Ok((Wait::Descendants, (queue, queue_from)));
    }
    let option = label(queue_from, "Builder::queue", &tunables::QUEUE);
    refuse(option, &queue, &Queue::Split)?;
    Ok((Wait::Descendants, (Queue::Split, queue_from)))
}

/// How many tasks a steal takes. Only the split deque gives a thief several at once; other queues
/// and a pool that keeps the order of its tasks give one.
fn steal_amount(
    (amount, from): (Amount, Source),
    (queue, queue_from): (Queue, Source),
    (space, space_from): (Space, Source),
    environment: Environment,
) -> Result<Amount, BuildError> {
    let amount = amount
        .check()
        .map_err(|error| error.within("Builder::steal"))?;
    let gives_several = queue == Queue::Split && !space.keeps_order();
    if amount == Amount::One || gives_several {
        return Ok(amount);
    }
    let steal = label(from, "Builder::steal", &tunables::STEAL);
    let (beside, beside_from) = match queue {
        Queue::Split => {
            let option = label(space_from, "Builder::space", &tunables::SPACE);
            (format!("{option}, {space}, under which"), space_from)
        }
        _ => {
            let option = label(queue_from, "Builder::queue", &tunables::QUEUE);
            (format!("{option}, {queue}, from which"), queue_from)
        }
    };
    let error = BuildError::new(format!(
        "{steal}: {amount} beside {beside} a thief takes one task at a time; allowed: {}",
        Amount::One
    ));
    if [from, beside_from].contains(&Source::Variable) {
        environment.forgive(error, &Amount::One)?;
        return Ok(Amount::One);
    }
    Err(error)
}
