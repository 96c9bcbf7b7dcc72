//! One file (or one file and its folder) per discipline.

// What disciplines of RED's family take from it, by a name that is no discipline's.
pub(crate) use red::family;
// What RIO with preference for short flows takes from RIO.
pub(crate) use rio::in_out;
// Shared with disciplines built on CoDel.
pub(crate) use codel::controlled_delay;
// Shared with disciplines that have a COBALT per flow.
pub(crate) use cobalt::alternation;
pub(crate) mod afd;
pub(crate) mod ared;
pub(crate) mod avq;
pub(crate) mod blue;
pub(crate) mod bred;
pub(crate) mod cake;
pub(crate) mod choke;
pub(crate) mod cobalt;
pub(crate) mod codel;
pub(crate) mod csfq;
pub(crate) mod curvy_red;
pub(crate) mod dcn;
pub(crate) mod dctcp_step;
pub(crate) mod docsis_lld;
pub(crate) mod drop_tail;
pub(crate) mod drr;
pub(crate) mod dsred;
pub(crate) mod dualpi2;
pub(crate) mod feng_red;
pub(crate) mod fq_codel;
pub(crate) mod fq_pie;
pub(crate) mod fred;
pub(crate) mod gred;
pub(crate) mod green;
pub(crate) mod hhf;
pub(crate) mod nlred;
pub(crate) mod pi;
pub(crate) mod pi2;
pub(crate) mod pie;
pub(crate) mod red;
pub(crate) mod red_pd;
pub(crate) mod rem;
pub(crate) mod rio;
pub(crate) mod rio_ps;
pub(crate) mod sfb;
pub(crate) mod sfq;
pub(crate) mod sred;
pub(crate) mod wred;
