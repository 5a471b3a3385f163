//! The options that decide which task runs next and how many tasks a steal takes. Some combinations
//! contradict each other and are rejected.

use super::environment::Environment;
use super::{BuildError, Settings, Source, label};
use std::fmt::Display;
use tidegate_policy::tunables;
use tidegate_policy::{MemoryPolicy, QueueKind, StealAmount, WaitPolicy};

/// The values of these options after they were checked against each other.
pub(super) struct Orders {
    pub(super) amount: StealAmount,
    pub(super) wait: WaitPolicy,
    pub(super) queue: QueueKind,
    pub(super) memory: MemoryPolicy,
}

impl Orders {
    pub(super) fn of(given: &Settings, environment: Environment) -> Result<Self, BuildError> {
        let amount = environment.option("Builder::steal", given.amount, &tunables::STEAL)?;
        let wait = environment.option("Builder::wait", given.wait, &tunables::WAIT)?;
        let queue = environment.option("Builder::queue", given.queue, &tunables::QUEUE)?;
        // A closed pool guarantees that all its threads run, so its tasks must not wait for memory.
        let memory = match given.closed {
            Some(_) => (MemoryPolicy::None, Source::Default),
            None => environment.option("Builder::memory", given.memory, &tunables::SPACE)?,
        };
        let checked = memory.0.check();
        checked.map_err(|error| error.within("Builder::memory"))?;
        let (wait, queue) = beside_space(memory, wait, queue, environment)?;
        Ok(Self {
            amount: steal_amount(amount, queue, memory, environment)?,
            wait,
            queue: queue.0,
            memory: memory.0,
        })
    }
}

/// Returns the wait policy and the queue kind to use with a memory policy, which imposes its own
/// order. If an environment variable contradicts the memory policy and errors are forgiven, the
/// memory policy wins.
fn beside_space(
    (memory, space_from): (MemoryPolicy, Source),
    (wait, wait_from): (WaitPolicy, Source),
    (queue, queue_from): (QueueKind, Source),
    environment: Environment,
) -> Result<(WaitPolicy, (QueueKind, Source)), BuildError> {
    if memory == MemoryPolicy::None {
        return Ok((wait, (queue, queue_from)));
    }
    let by_space = label(space_from, "Builder::memory", &tunables::SPACE);
    let refuse = |option: &str, value: &dyn Display, allowed: &dyn Display| {
        let error = BuildError::new(format!(
            "{option}: {value} beside {by_space}, {memory}, which has an order of its own: expected {allowed}"
        ));
        environment.forgive(
            error,
            &format_args!("{by_space}, and {allowed} for {option}"),
        )
    };
    if wait != WaitPolicy::Descendants {
        let option = label(wait_from, "Builder::wait", &tunables::WAIT);
        refuse(option, &wait, &WaitPolicy::Descendants)?;
    }
    if queue == QueueKind::Split || !memory.keeps_order() {
        return Ok((WaitPolicy::Descendants, (queue, queue_from)));
    }
    let option = label(queue_from, "Builder::queue", &tunables::QUEUE);
    refuse(option, &queue, &QueueKind::Split)?;
    Ok((WaitPolicy::Descendants, (QueueKind::Split, queue_from)))
}

/// Returns how many tasks a steal takes. A thief takes several tasks at once only from a split
/// deque, and only if the memory policy does not keep the order of the serial run.
fn steal_amount(
    (amount, from): (StealAmount, Source),
    (queue, queue_from): (QueueKind, Source),
    (memory, space_from): (MemoryPolicy, Source),
    environment: Environment,
) -> Result<StealAmount, BuildError> {
    let amount = amount
        .check()
        .map_err(|error| error.within("Builder::steal"))?;
    let gives_several = queue == QueueKind::Split && !memory.keeps_order();
    if amount == StealAmount::One || gives_several {
        return Ok(amount);
    }
    let steal = label(from, "Builder::steal", &tunables::STEAL);
    let (beside, beside_from) = match queue {
        QueueKind::Split => {
            let option = label(space_from, "Builder::memory", &tunables::SPACE);
            (format!("{option}, {memory}, under which"), space_from)
        }
        _ => {
            let option = label(queue_from, "Builder::queue", &tunables::QUEUE);
            (format!("{option}, {queue}, from which"), queue_from)
        }
    };
    let error = BuildError::new(format!(
        "{steal}: {amount} beside {beside} a thief takes one task at a time: expected {}",
        StealAmount::One
    ));
    if [from, beside_from].contains(&Source::Variable) {
        environment.forgive(error, &StealAmount::One)?;
        return Ok(StealAmount::One);
    }
    Err(error)
}
