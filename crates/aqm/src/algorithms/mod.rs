//! One file (or one file and its folder) per discipline.

// Parts of RED that the disciplines of its family use, under a name that no discipline has.
pub(crate) use red::family;
// Parts of RIO that RIO-PS (RIO with preference for short flows) uses.
pub(crate) use rio::in_out;
// CoDel's control law, shared with the disciplines that are built on it.
pub(crate) use codel::controlled_delay;
// COBALT, shared with the disciplines that have one per flow.
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
