//! Random Early Detection (S. Floyd, V. Jacobson, *Random Early Detection Gateways for Congestion
//! Avoidance*, IEEE/ACM Transactions on Networking 1(4), 1993).
//!
//! The idea in five lines. An exponential average of the queue length is updated at each arrival
//! and ages while the line idles. Below `min_th` a packet passes. Between `min_th` and `max_th`
//! it is signalled with a probability that grows linearly to `max_p`, corrected by the number of
//! packets since the last signal so that signals are evenly spaced. Above `max_th` every packet
//! is signalled, or with `gentle` with a probability growing to 1 at twice `max_th`.
//!
//! The implementations behind published results differ, by a factor of three in the rate of
//! signals alone, so each is a *profile*, a file in `profiles/` with its defaults and its
//! algorithm:
//!
//! | profile | algorithm | follows |
//! |---|---|---|
//! | `fj93` | [`paper`] | the pseudocode of the 1993 paper |
//! | `ns2` | [`ns`] | ns-2.35, with its two defects |
//! | `ns2-fixed` | [`ns`] | ns-2.35, mended as in Järvinen et al., *Harsh RED* (2012) |
//! | `ns3` | [`ns`] | ns-3 |
//! | `altq` | [`altq`] | ALTQ on FreeBSD (the testbeds of Christiansen et al. and Le et al.) |
//! | `linux` | [`linux`] | Linux `sch_red` with the tables of iproute2's `tc` |
//!
//! [`settings`] resolves what the user wrote and what the profile says into plain numbers before
//! the first packet; no algorithm looks at a profile's name while it decides.

mod altq;
mod average;
mod curve;
mod early;
pub(crate) mod family;
mod fields;
pub(crate) mod in_packets;
mod linux;
mod ns;
mod paper;
mod presets;
pub(crate) mod profile;
mod profiles;
mod settings;
pub(crate) mod spacing;

use alloc::boxed::Box;

use packet::About;
use packet::params::{BadParams, Params};

use crate::{Aqm, Built, Entry, Judged, Line, PerFlowState};
use profile::Profile;
use settings::Settings;

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "red",
        summary: "Signals arrivals at random, with a probability that grows with the average \
                  queue.",
        year: 1993,
        source: "Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993; profiles after ns-2.35, ns-3, ALTQ, \
                 Linux sch_red",
        deviations: "All: the arrival is the victim of every drop (ns-2's random and front victims \
                     are not offered), and a drop by the algorithm keeps its cause when the buffer \
                     is full too. fj93: of a time that the line idles through while arrivals are \
                     dropped, each whole packet ages the average once, whichever arrival it ends \
                     at (the paper never sets q_time forward, and so counts it again at each). \
                     ns2: the automatic w_q takes the propagation delay as unknown, i.e. a round \
                     trip of max(100 ms, 3 packet times); mark_p is compared strictly, as in the \
                     distributed 2.35. ns3: thresholds are written in packets and multiplied by \
                     mean_packet_bytes when the queue is measured in bytes. altq: 64-bit integers \
                     where ALTQ's 32 bits overflow at an average of 2^19 w_q packets; an idle time \
                     of more than 60 s is measured exactly, not in whole seconds of the clock; \
                     thresholds and 1/max_p may be fractional. linux: without \
                     adaptation; the idle table counts microseconds, as in the kernel: \
                     drops at an idle line less than that apart do not age the average.",
        fields: fields::FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "marks in the random region if ecn is on and the packet is ECN-capable; what happens \
          above max_th depends on the profile (harddrop, use_mark_p)",
    units: "packets or bytes",
    build: &build,
};

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let settings = Settings::resolve(params, line, profile_of(params))?;
    (settings.profile.judge)(&settings)
}

/// The profile that the user wrote; with a preset alone `ns2-fixed`, for which the presets are.
fn profile_of(params: &Params) -> &'static Profile {
    let of_preset = params.given("preset") && !params.given("profile");
    profiles::named(if of_preset { "ns2-fixed" } else { params.choice("profile") })
}

fn gate(judge: impl Aqm + 'static, settings: &Settings) -> Built {
    let judged = Judged::new(judge, settings.limit, settings.ecn);
    Built::Gate(Box::new(judged.lenient(settings.nodrop)))
}
