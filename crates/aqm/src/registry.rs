//! The list of disciplines: everything a user can name, read by descriptions, checks and tests.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::fmt;

use packet::About;
use packet::params::{BadParams, Field, Params, Value};

use crate::algorithms::{
    afd, ared, avq, blue, bred, cake, choke, cobalt, codel, csfq, curvy_red, dcn, dctcp_step,
    drop_tail, drr, dsred, dualpi2, feng_red, fq_codel, fq_pie, fred, gred, green, hhf, nlred, pi,
    pi2, pie, red, red_pd, rem, rio, rio_ps, sfb, sfq, sred, wred,
};
use crate::{Discipline, Fifo, Gate, Line, Table};

/// Every discipline, in the order of the documentation. A new one adds its line here.
pub static ALGORITHMS: &[Entry] = &[
    // Unmanaged.
    drop_tail::ENTRY,
    // The RED family.
    red::ENTRY,
    ared::ENTRY,
    feng_red::ENTRY,
    nlred::ENTRY,
    dsred::ENTRY,
    wred::ENTRY,
    gred::ENTRY,
    rio::ENTRY,
    rio_ps::ENTRY,
    avq::ENTRY,
    dctcp_step::ENTRY,
    // Controllers of the queue.
    pi::ENTRY,
    rem::ENTRY,
    blue::ENTRY,
    dcn::ENTRY,
    afd::ENTRY,
    green::ENTRY,
    // Judges of the time in the queue.
    codel::ENTRY,
    cobalt::ENTRY,
    // A queue per flow.
    sfq::ENTRY,
    drr::ENTRY,
    fq_codel::ENTRY,
    fq_pie::ENTRY,
    cake::ENTRY,
    hhf::ENTRY,
    // Guards against flows that do not yield.
    choke::ENTRY,
    csfq::ENTRY,
    red_pd::ENTRY,
    sfb::ENTRY,
    fred::ENTRY,
    sred::ENTRY,
    bred::ENTRY,
    // Controllers of the queueing delay.
    pie::ENTRY,
    pi2::ENTRY,
    dualpi2::ENTRY,
    curvy_red::ENTRY,
];

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
    /// Constructs it.
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
    /// A queue.
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

/// The discipline of this crate that is called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    Registry::ours().find(name)
}

/// What a discipline that was handed in unwinds with where it cannot go on: a sentence. Its calls have
/// no room for an error, because those of ours never fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed(pub String);

/// The disciplines that a scenario may name: those of this crate, and those that a user adds.
#[derive(Clone, Debug)]
pub struct Registry {
    own: Vec<&'static Entry>,
}

impl Registry {
    /// Those of this crate.
    pub const fn ours() -> Self {
        Registry { own: Vec::new() }
    }

    /// These as well.
    ///
    /// # Errors
    /// A name that is taken.
    pub fn with(own: &[&'static Entry]) -> Result<Self, &'static str> {
        let mut all = Registry::ours();
        for entry in own {
            if all.find(entry.about.name).is_some() {
                return Err(entry.about.name);
            }
            all.own.push(entry);
        }
        Ok(all)
    }

    /// All of them, this crate's first.
    pub fn entries(&self) -> impl Iterator<Item = &'static Entry> {
        ALGORITHMS.iter().chain(self.own.iter().copied())
    }

    /// Their names.
    pub fn names(&self) -> Vec<&'static str> {
        self.entries().map(|entry| entry.about.name).collect()
    }

    /// The one called `name`.
    pub fn find(&self, name: &str) -> Option<&'static Entry> {
        self.entries().find(|entry| entry.about.name == name)
    }
}
