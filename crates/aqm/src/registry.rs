//! The list of disciplines: everything a user can name, read by descriptions, checks and tests.

use alloc::{string::String, vec::Vec};

use crate::algorithms::{
    afd, ared, avq, blue, bred, cake, choke, cobalt, codel, csfq, curvy_red, dcn, dctcp_step,
    docsis_lld, drop_tail, drr, dsred, dualpi2, feng_red, fq_codel, fq_pie, fred, gred, green, hhf,
    nlred, pi, pi2, pie, red, red_pd, rem, rio, rio_ps, sfb, sfq, sred, wred,
};
use crate::entry::Entry;

/// Every discipline, in the order of the documentation. A new discipline adds its line here.
pub static ALGORITHMS: &[Entry] = &[
    // Disciplines without active queue management.
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
    // Controllers of the queue length.
    pi::ENTRY,
    rem::ENTRY,
    blue::ENTRY,
    dcn::ENTRY,
    afd::ENTRY,
    green::ENTRY,
    // Decisions by sojourn time.
    codel::ENTRY,
    cobalt::ENTRY,
    // A queue per flow.
    sfq::ENTRY,
    drr::ENTRY,
    fq_codel::ENTRY,
    fq_pie::ENTRY,
    cake::ENTRY,
    hhf::ENTRY,
    // Protection against unresponsive flows.
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
    docsis_lld::ENTRY,
];

/// The discipline of this crate that is called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    Registry::ours().find(name)
}

/// Panic payload, a sentence, with which a user's own discipline ends if it cannot go on. The calls
/// of a discipline return no errors, because this crate's disciplines never fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed(pub String);

/// The disciplines that a scenario may name: those of this crate, and those that a user adds.
#[derive(Clone, Debug)]
pub struct Registry {
    own: Vec<&'static Entry>,
}

impl Registry {
    /// The disciplines of this crate.
    pub const fn ours() -> Self {
        Registry { own: Vec::new() }
    }

    /// The disciplines of this crate and those of `own`.
    ///
    /// # Errors
    /// The first name of `own` that is already taken.
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

    /// All disciplines, this crate's first.
    pub fn entries(&self) -> impl Iterator<Item = &'static Entry> {
        ALGORITHMS.iter().chain(self.own.iter().copied())
    }

    /// Names of the disciplines, in the registry's order.
    pub fn names(&self) -> Vec<&'static str> {
        self.entries().map(|entry| entry.about.name).collect()
    }

    /// The discipline called `name`.
    pub fn find(&self, name: &str) -> Option<&'static Entry> {
        self.entries().find(|entry| entry.about.name == name)
    }
}
