//! Evaluates a program serially, to determine what it must return and how often each task may run.

use crate::graph::{Graph, Node};
use crate::handles::End;
use crate::oracle::{CAUGHT, Expected, Fate, Outcome, Panic, Sum, mix};
use crate::program::{Affine, Program, Step, Task, in_order_of_joins};
use crate::try_scope::TryScope;
use crate::values::Stream;
use std::collections::BTreeSet;

/// Returns what may happen in the program, and what its callers must return.
pub fn evaluate(program: &Program) -> (Expected, Vec<u64>) {
    let mut serial = Serial {
        expected: Expected::new(program.sizes),
        graphs: 0,
    };
    let values = program.callers.iter().map(|caller| {
        let outcome = serial.task(&caller.task, Fate::Once, &mut []);
        outcome.expect("a caller never panics")
    });
    let values = values.collect();
    (serial.expected, values)
}

struct Serial {
    expected: Expected,
    /// How many graphs enclose the current step.
    graphs: usize,
}

/// Returns the sum of all values or, if there are panics, all payloads.
fn all(outcomes: Vec<Outcome>) -> Outcome {
    let (mut sum, mut payloads, mut panics) = (0_u64, BTreeSet::new(), false);
    for outcome in outcomes {
        match outcome {
            Ok(value) => sum = sum.wrapping_add(value),
            Err(more) => {
                payloads.extend(more);
                panics = true;
            }
        }
    }
    if panics { Err(payloads) } else { Ok(sum) }
}

impl Serial {
    fn task(&mut self, task: &Task, fate: Fate, scopes: &mut [Sum]) -> Outcome {
        self.expected.fates[task.number] = fate;
        self.steps(&task.steps, fate, scopes)
    }

    fn steps(&mut self, steps: &[Step], fate: Fate, scopes: &mut [Sum]) -> Outcome {
        let (mut value, mut handles) = (0, Vec::new());
        for step in steps {
            value = mix(value, self.step(step, fate, scopes, &mut handles)?);
        }
        for outcome in in_order_of_joins(handles) {
            value = mix(value, outcome?);
        }
        Ok(value)
    }

    fn step(
        &mut self,
        step: &Step,
        fate: Fate,
        scopes: &mut [Sum],
        handles: &mut Vec<Outcome>,
    ) -> Outcome {
        match step {
            Step::Spin(_)
            | Step::YieldPoint
            | Step::Broadcast(None)
            | Step::Reservation(_)
            | Step::Free => Ok(0),
            Step::Join(halves) => self.join(halves, fate, scopes),
            Step::Scope(steps) => Sum::scope(scopes, |inside| self.steps(steps, fate, inside)),
            Step::Spawn(spawn) => {
                let scope = Sum::outward(scopes, spawn.outward);
                let outcome = self.task(&spawn.task, fate, scope);
                scope[0].add(outcome);
                Ok(0)
            }
            Step::Handle(handle) => {
                let fate = match handle.end {
                    End::Aborted { .. } => fate.unless_prevented(),
                    _ => fate,
                };
                let outcome = if handle.is_lost() {
                    Ok(CAUGHT)
                } else {
                    self.task(&handle.task, fate, &mut [])
                };
                if handle.is_joined() {
                    handles.push(outcome);
                }
                Ok(0)
            }
            Step::Blocking(_, steps) | Step::Local(steps) | Step::Context(_, steps) => {
                self.steps(steps, fate, scopes)
            }
            Step::Install(install) => self.task(&install.task, fate, scopes),
            Step::ForEach(items) => all(self.items(items, fate, scopes)),
            Step::MapReduce(items) => {
                let outcomes = self.items(items, fate, scopes);
                all(outcomes.clone())?;
                let values = outcomes.into_iter().flatten().map(Affine::of);
                Ok(values
                    .reduce(Affine::then)
                    .map_or(0, |Affine(a, b)| mix(a, b)))
            }
            Step::ParMap(items) => {
                let outcomes = self.items(items, fate, scopes);
                all(outcomes.clone())?;
                Ok((outcomes.into_iter().flatten()).fold(items.len() as u64, mix))
            }
            Step::Stream(stream) => self.stream(stream, fate),
            Step::Sort(sort) => self.task(&sort.task, fate, scopes),
            Step::TryScope(inside) => Ok(self.try_scope(inside, fate)),
            Step::Graph(graph) => Ok(self.graph(graph, fate)),
            Step::Catch(number, steps) => {
                let outcome = self.steps(steps, fate, &mut []);
                Ok(self.catch(*number, outcome))
            }
            Step::Broadcast(Some(panic)) | Step::Panic(panic) => self.panic(*panic),
        }
    }

    fn panic(&mut self, Panic { payload, .. }: Panic) -> Outcome {
        if self.graphs > 0 {
            self.expected.unreported.insert(payload);
        }
        Err(BTreeSet::from([payload]))
    }

    fn catch(&mut self, number: usize, outcome: Outcome) -> u64 {
        outcome.unwrap_or_else(|payloads| {
            self.expected.catches[number] = payloads;
            CAUGHT
        })
    }

    /// If the first half panics, the second half is dropped unless it has already started.
    fn join(&mut self, [a, b]: &[Task; 2], fate: Fate, scopes: &mut [Sum]) -> Outcome {
        match self.task(a, fate, scopes) {
            Ok(a) => Ok(mix(a, self.task(b, fate, scopes)?)),
            Err(payloads) => {
                let _ = self.task(b, fate.unless_prevented(), scopes);
                Err(payloads)
            }
        }
    }

    /// If an item panics, other items may be skipped. In that case, evaluates the items again, with
    /// a fate that permits them to be skipped. That adds to the scopes' sums twice, which does no
    /// harm, because these scopes also panic.
    fn items(&mut self, items: &[Task], fate: Fate, scopes: &mut [Sum]) -> Vec<Outcome> {
        let mut run = |fate| -> Vec<Outcome> {
            let outcomes = items.iter().map(|item| self.task(item, fate, scopes));
            outcomes.collect()
        };
        let outcomes = run(fate);
        if outcomes.iter().any(Result::is_err) {
            run(fate.unless_prevented())
        } else {
            outcomes
        }
    }

    /// The results are taken up to the first panic. Items whose results are not taken may be
    /// skipped.
    fn stream(&mut self, stream: &Stream, fate: Fate) -> Outcome {
        let mut taken = Ok(0);
        for (position, item) in stream.items.iter().enumerate() {
            if position < stream.taken && taken.is_ok() {
                let outcome = self.task(item, fate, &mut []);
                taken = taken.and_then(|value| Ok(mix(value, outcome?)));
            } else {
                let _ = self.task(item, fate.unless_prevented(), &mut []);
            }
        }
        taken
    }

    fn try_scope(&mut self, inside: &TryScope, fate: Fate) -> u64 {
        let mut run = |fate| {
            let outcomes = inside
                .tasks
                .iter()
                .map(|task| self.task(task, fate, &mut []));
            all(outcomes.collect())
        };
        let mut outcome = run(fate);
        if outcome.is_err() || inside.stop.is_some() {
            outcome = run(fate.unless_prevented());
        }
        let value = self.catch(inside.catch, outcome);
        if inside.stop.is_some() { CAUGHT } else { value }
    }

    /// If an interval fails, other intervals may be skipped.
    fn graph(&mut self, graph: &Graph, fate: Fate) -> u64 {
        self.graphs += 1;
        let mut outcome = self.intervals(graph, fate);
        if outcome.is_err() {
            outcome = self.intervals(graph, fate.unless_prevented());
        }
        self.graphs -= 1;
        self.catch(graph.catch, outcome)
    }

    fn intervals(&mut self, graph: &Graph, fate: Fate) -> Outcome {
        all(graph
            .nodes
            .iter()
            .map(|node| self.node(node, fate))
            .collect())
    }

    fn node(&mut self, node: &Node, fate: Fate) -> Outcome {
        let children = node.children.iter();
        let mut outcomes: Vec<Outcome> = children
            .map(|child| self.task(child, fate, &mut []))
            .collect();
        let inline = node.inline.as_ref();
        let inline = inline.map_or(0, |graph| self.graph(graph, fate));
        let own = self.task(&node.task, fate, &mut []);
        let own = own.and_then(|value| {
            if node.fails {
                Err(BTreeSet::new())
            } else {
                Ok(mix(inline, value))
            }
        });
        if let Some(then) = &node.then {
            let follower = self.task(then, fate, &mut []);
            outcomes.push(own.clone().and_then(|own| Ok(mix(own, follower?))));
        }
        outcomes.push(own);
        all(outcomes)
    }
}
