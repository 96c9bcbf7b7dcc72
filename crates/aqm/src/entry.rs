//! An entry of the registry of disciplines: a discipline's description and its constructor.

use alloc::{boxed::Box, vec::Vec};
use core::fmt;

use packet::About;
use packet::params::{BadParams, Field, Params, Value};

use crate::{Discipline, Fifo, Gate, Line, Table};

/// Constructs a discipline for a line from parameters whose values have been checked one by one.
/// Fails with a sentence if the parameters contradict each other.
pub type Build = dyn Fn(&Params, &Line) -> Result<Built, BadParams> + Send + Sync;

/// One discipline: what it is, its parameters, and how to construct it.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Name, summary, year, source, deviations and parameters.
    pub about: About,
    /// State that the discipline keeps for each flow.
    pub per_flow: PerFlowState,
    /// Tables of the discipline whose size depends on parameters.
    pub tables: &'static [Table],
    /// Treatment of ECN-capable packets.
    pub ecn: &'static str,
    /// Unit of the discipline's decisions (packets, bytes or time), and further units that it uses.
    pub units: &'static str,
    /// Constructs a queue from checked parameters.
    pub build: &'static Build,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entry").field(&self.about.name).finish()
    }
}

/// State that a discipline keeps for each flow: the cost of flow isolation in memory and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerFlowState {
    /// No state per flow: queues and memory do not grow with the number of flows.
    Nothing,
    /// A state for each flow; flows share the queues.
    State,
    /// A queue for each flow or for each hash of flows.
    Queues,
}

impl PerFlowState {
    /// Largest cost of a packet in nanoseconds on one core, in an [`Overload`](crate::Overload):
    /// its enqueue, its dequeue and its part of the periodic updates.
    pub const fn most_nanos(self) -> u32 {
        match self {
            PerFlowState::Nothing => 60,
            PerFlowState::State | PerFlowState::Queues => 150,
        }
    }
}

/// A discipline made from its parameters: a gate if it decides at arrival only, otherwise a
/// discipline that holds its packets.
pub enum Built {
    /// A gate, to be followed by a first-in, first-out queue.
    Gate(Box<dyn Gate>),
    /// A discipline that holds its packets itself.
    Discipline(Box<dyn Discipline>),
}

impl Built {
    /// A discipline that holds its packets, in either case: a gate is put before a [`Fifo`].
    pub fn into_discipline(self) -> Box<dyn Discipline> {
        match self {
            Built::Gate(gate) => Box::new(Fifo::new(gate)),
            Built::Discipline(discipline) => discipline,
        }
    }
}

impl Entry {
    /// The value of every parameter that [`Entry::build`] uses on this line: the given value, or
    /// the default that follows from the profile, the line's rate or other parameters. A value is
    /// unset if there is no such limit or threshold, or if other parameters make it ineffective.
    ///
    /// Given explicitly, these values construct an equal discipline.
    ///
    /// # Errors
    /// As [`Entry::build`].
    pub fn effective(
        &self,
        params: &Params,
        line: &Line,
    ) -> Result<Vec<(&'static Field, Value)>, BadParams> {
        let params = params.without_notes();
        (self.build)(&params, line)?;
        Ok(params.effective().collect())
    }
}
