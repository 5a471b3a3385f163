//! Programs that do not use Tidegate, observed and confined from outside.
//!
//! `tidegate exec` runs any program as a job of the table. The program reports nothing, so the
//! command looks at its threads once per cycle and decides from what the kernel counts:
//!
//! * [`Desire`]: how many processors the program could use,
//! * [`assign`] and [`assign_more`]: which processors each job of the table gets,
//! * [`Guard`]: whether the program collapses because it is confined,
//! * [`cycle()`]: how long to wait until the next look.

mod cycle;
mod desire;
mod guard;
mod processors;

pub use cycle::cycle;
pub use desire::{Desire, Look};
pub use guard::{Guard, Turns};
pub use processors::{Row, assign, assign_more};
