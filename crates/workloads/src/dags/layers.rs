//! `layers` as a dag: one draft per interval and one release per edge.
//!
//! Each layer has an enclosing interval that drafts the intervals of the layer. It also drafts the
//! next enclosing interval, which runs in parallel with it but only after the first interval of the
//! current layer. So layers unfold one after the other, as in the body, but one at a time rather
//! than in batches.

use super::Calls;
use crate::intervals::layers::Layers;
use crate::steps::time;
use std::rc::Rc;
use tidegate_sim::{Draft, Place, Step};

#[derive(Clone, Debug)]
pub enum Call {
    All,
    /// Drafts the next layer, if any, and then the intervals of this layer. The slice holds the
    /// number of incoming edges of each interval.
    Layer(u64, Rc<[u32]>),
    /// Does the work of the interval at this layer and index, and releases the targets of its
    /// edges.
    Interval(u64, u64),
}

impl Layers {
    /// Returns the draft name of an interval. These names are odd; the intervals that enclose a
    /// layer have even names.
    fn name(&self, layer: u64, place: u64) -> u64 {
        2 * (layer * self.width + place) + 1
    }

    fn draft(&self, layer: u64, place: Place) -> Step<Call> {
        Step::Draft(Draft {
            task: Call::Layer(layer, self.before(layer).into()),
            name: 2 * layer,
            releases: u32::from(layer > 0),
            place,
            put: None,
        })
    }

    /// Returns the step of an interval that releases the target of this edge. After its last edge,
    /// the first interval of a layer also releases the interval that encloses the next layer.
    fn release(&self, layer: u64, place: u64, edge: u64) -> Step<Call> {
        let next = layer + 1;
        match edge {
            _ if next == self.layers => Step::End,
            _ if edge < self.edges => {
                Step::Release(self.name(next, self.target(layer, place, edge)))
            }
            _ if edge == self.edges && place == 0 => Step::Release(2 * next),
            _ => Step::End,
        }
    }
}

impl Calls for Layers {
    type Call = Call;

    fn first(&self) -> Call {
        Call::All
    }

    fn step(&self, call: Call, number: usize) -> Step<Call> {
        match (call, number) {
            (Call::All, 0) => self.draft(0, Place::Inside),
            (Call::All, 1) => Step::Join,
            (Call::All, _) => Step::End,
            (Call::Layer(layer, before), _) => {
                let next = layer + 1;
                // The last layer has no next layer to draft.
                match number + usize::from(next == self.layers) {
                    0 => self.draft(next, Place::Beside),
                    end if end == before.len() + 1 => Step::Join,
                    past if past > before.len() => Step::End,
                    interval => Step::Draft(Draft {
                        task: Call::Interval(layer, interval as u64 - 1),
                        name: self.name(layer, interval as u64 - 1),
                        releases: before[interval - 1],
                        place: Place::Inside,
                        put: None,
                    }),
                }
            }
            (Call::Interval(layer, place), 0) => Step::Work(time(self.length(layer, place))),
            (Call::Interval(layer, place), _) => self.release(layer, place, number as u64 - 1),
        }
    }
}
