//! The list of disciplines: everything a user can name, read by descriptions, checks and tests.

use alloc::boxed::Box;

use packet::params::{BadParams, Field, Params};

use crate::algorithms::{
    afd, ared, avq, blue, bred, cake, choke, cobalt, codel, dcn, dctcp_step, drop_tail, drr,
    dualpi2, feng_red, fq_codel, fq_pie, fred, gred, pi, pi2, pie, red, red_pd, rem, rio, rio_ps,
    sfb, sfq, sred, wred,
};
use crate::{Discipline, Fifo, Gate, Line};

/// Every discipline, in the order of the documentation. A new one adds its line here.
pub static ALGORITHMS: &[Entry] = &[
    // Unmanaged.
    drop_tail::ENTRY,
    // The RED family.
    red::ENTRY,
    ared::ENTRY,
    feng_red::ENTRY,
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
    // Judges of the time in the queue.
    codel::ENTRY,
    cobalt::ENTRY,
    // A queue per flow.
    sfq::ENTRY,
    drr::ENTRY,
    fq_codel::ENTRY,
    fq_pie::ENTRY,
    cake::ENTRY,
    // Guards against flows that do not yield.
    choke::ENTRY,
    red_pd::ENTRY,
    sfb::ENTRY,
    fred::ENTRY,
    sred::ENTRY,
    bred::ENTRY,
    // Controllers of the queueing delay.
    pie::ENTRY,
    pi2::ENTRY,
    dualpi2::ENTRY,
];

/// One discipline: what it is, its parameters, and how to construct it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name users write.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// Year of publication.
    pub year: u16,
    /// Paper, RFC or program it follows.
    pub source: &'static str,
    /// What it does to ECN-capable packets.
    pub ecn: &'static str,
    /// Where it differs from which implementation, and why.
    pub deviations: &'static str,
    /// Its parameters.
    pub fields: &'static [Field],
    /// Constructs it for a line from parameters checked against `fields`. Fails with a sentence
    /// if the parameters contradict each other.
    pub build: fn(&Params, &Line) -> Result<Built, BadParams>,
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

/// The discipline called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    ALGORITHMS.iter().find(|entry| entry.name == name)
}
