//! `layers` as a dag: one draft per interval and one release per edge.
//!
//! The intervals of a layer lie inside another interval, which drafts them. In parallel, that
//! interval also drafts the interval of the next layer, which waits for the first interval of its
//! previous layer. So layers unfold one after the other, as in the body, but one at a time rather
//! than in batches.

use super::Simulated;
use crate::intervals::layers::Layers;
use crate::steps::time;
use tidegate_sim::{Dag, Draft, Place, Step};

/// The tasks of `layers`.
#[derive(Clone, Copy, Debug)]
pub struct LayersDag {
    graph: Layers,
}

/// A task and what it does next.
#[derive(Clone, Debug)]
pub struct Task(Next);

#[derive(Clone, Debug)]
enum Next {
    /// Drafts the first layer.
    Begin,
    /// Drafts the next layer, if any, and then the intervals of this layer.
    Layer(u64),
    /// Drafts the intervals of this layer, starting at this place. The vector has the number of
    /// edges to each interval.
    Drafts(u64, u64, Vec<u32>),
    /// An interval that has not done its work yet, by layer and place.
    Work(u64, u64),
    /// An interval that has done its work and releases the targets of its edges, starting with this
    /// edge.
    Edges(u64, u64, u64),
    Join,
    End,
}

impl Simulated for Layers {
    type Dag = LayersDag;

    fn dag(&self) -> LayersDag {
        LayersDag { graph: *self }
    }
}

impl LayersDag {
    /// Returns the name of an interval. Intervals that contain a layer have even names, the others
    /// odd ones.
    fn name(&self, layer: u64, place: u64) -> u64 {
        2 * (layer * self.graph.width + place) + 1
    }

    fn layer(&self, layer: u64, place: Place) -> Step<Task> {
        Step::Draft(Draft {
            task: Task(Next::Layer(layer)),
            name: 2 * layer,
            releases: u32::from(layer > 0),
            place,
            put: None,
        })
    }

    fn interval(&self, layer: u64, place: u64, before: u32) -> Step<Task> {
        Step::Draft(Draft {
            task: Task(Next::Work(layer, place)),
            name: self.name(layer, place),
            releases: before,
            place: Place::Inside,
            put: None,
        })
    }

    /// Releases the target of this edge. After the last edge, the first interval of a layer
    /// releases the next layer.
    fn release(&self, layer: u64, place: u64, edge: u64) -> (Next, Step<Task>) {
        let Layers { layers, edges, .. } = self.graph;
        if layer + 1 == layers || edge > edges || (edge == edges && place > 0) {
            return (Next::End, Step::End);
        }
        let name = match edge < edges {
            true => self.name(layer + 1, self.graph.target(layer, place, edge)),
            false => 2 * (layer + 1),
        };
        (Next::Edges(layer, place, edge + 1), Step::Release(name))
    }
}

impl Dag for LayersDag {
    type Task = Task;

    fn root(&self) -> Task {
        Task(Next::Begin)
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        let Layers { layers, width, .. } = self.graph;
        let (next, step) = match std::mem::replace(&mut task.0, Next::End) {
            Next::Begin => (Next::Join, self.layer(0, Place::Inside)),
            Next::Layer(layer) => {
                let drafts = Next::Drafts(layer, 0, self.graph.before(layer));
                if layer + 1 == layers {
                    task.0 = drafts;
                    return self.next(task);
                }
                (drafts, self.layer(layer + 1, Place::Beside))
            }
            Next::Drafts(layer, place, before) if place < width => {
                let waits = before[place as usize];
                let draft = self.interval(layer, place, waits);
                (Next::Drafts(layer, place + 1, before), draft)
            }
            Next::Drafts(..) | Next::Join => (Next::End, Step::Join),
            Next::Work(layer, place) => {
                let work = Step::Work(time(self.graph.length(layer, place)));
                (Next::Edges(layer, place, 0), work)
            }
            Next::Edges(layer, place, edge) => self.release(layer, place, edge),
            Next::End => (Next::End, Step::End),
        };
        task.0 = next;
        step
    }
}
