//! What a discipline in the list is: its description, and how it is constructed.

use alloc::{boxed::Box, vec::Vec};
use core::fmt;

use packet::About;
use packet::params::{BadParams, Field, Params, Value};

use crate::{Discipline, Fifo, Gate, Line, Table};

/// Constructs a discipline for a line from parameters checked against its table. Fails with a
/// sentence if the parameters contradict each other.
pub type Build = dyn Fn(&Params, &Line) -> Result<Built, BadParams> + Send + Sync;

/// One discipline: what it is, its parameters, and how to construct it.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Name, summary, year, source, deviations and parameters.
    pub about: About,
    /// What it keeps of each flow.
    pub per_flow: PerFlowState,
    /// Its tables whose size parameters give.
    pub tables: &'static [Table],
    /// What it does to ECN-capable packets.
    pub ecn: &'static str,
    /// What its decisions count: packets, bytes or time, and what else is counted otherwise.
    pub units: &'static str,
    /// Constructs a queue from checked parameters.
    pub build: &'static Build,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entry").field(&self.about.name).finish()
    }
}

/// What a discipline keeps of each flow, which is what isolation costs in memory and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerFlowState {
    /// Nothing: its queues and its memory do not grow with the number of flows.
    Nothing,
    /// A state; flows share the queues.
    State,
    /// What a builder makes is a queue.
    Queues,
}

impl PerFlowState {
    /// What a packet may cost, in nanoseconds on one core: its enqueue, its dequeue and its part
    /// of the periodic updates, in an [`Overload`](crate::Overload).
    pub const fn most_nanos(self) -> u32 {
        match self {
            PerFlowState::Nothing => 60,
            PerFlowState::State | PerFlowState::Queues => 150,
        }
    }
}

/// A constructed discipline: a gate where the decision at arrival is all there is, a holder of
/// packets where it is not.
pub enum Built {
    /// Serves first come, first served behind this gate.
    Gate(Box<dyn Gate>),
    /// Holds its packets itself.
    Discipline(Box<dyn Discipline>),
}

impl Built {
    /// A holder of packets in either case: a gate is put before a [`Fifo`].
    pub fn into_discipline(self) -> Box<dyn Discipline> {
        match self {
            Built::Gate(gate) => Box::new(Fifo::new(gate)),
            Built::Discipline(discipline) => discipline,
        }
    }
}

impl Entry {
    /// Every parameter as [`Entry::build`] takes it on this line: what was written, and what the
    /// profile, the line's rate or other parameters give where nothing was. Unset: there is no such
    /// limit or threshold, or other parameters make it ineffective.
    ///
    /// Written out as parameters of their own, they construct the same discipline.
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
