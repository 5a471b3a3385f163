//! `layers` as a dag: one draft per interval and one release per edge.
//!
//! Each layer has an enclosing interval that drafts the intervals of the layer. It also drafts the
//! next enclosing interval, which runs in parallel with it but only after the first interval of the
//! current layer. So layers unfold one after the other, as in the body, but one at a time rather
//! than in batches.

use super::Simulated;
use crate::intervals::layers::Layers;
use crate::steps::time;
use tidegate_sim::{Dag, Draft, Place, Step};

/// The dag of the program `layers`: one draft per interval.
#[derive(Clone, Copy, Debug)]
pub struct LayersDag {
    graph: Layers,
}

#[derive(Clone, Debug)]
pub struct Task(Next);

#[derive(Clone, Debug)]
enum Next {
    Begin,
    /// Drafts the next layer, if any, and then the intervals of this layer.
    Layer(u64),
    /// Drafts the intervals of this layer, starting at this index. The vector holds the number of
    /// incoming edges of each interval.
    Drafts(u64, u64, Vec<u32>),
    /// Does the work of the interval at this layer and index.
    Work(u64, u64),
    /// Releases the targets of an interval's edges. The fields are layer, index and next edge.
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
    /// Returns the draft name of an interval. These names are odd; the intervals that enclose a
    /// layer have even names.
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

    /// Releases the target of this edge. After its last edge, the first interval of a layer also
    /// releases the interval that encloses the next layer.
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
