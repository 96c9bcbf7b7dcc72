//! CoDel, controlled delay (K. Nichols, V. Jacobson, *Controlling Queue Delay*, ACM Queue 10(5),
//! 2012; K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, RFC 8289, 2018).
//!
//! The idea in five lines. What matters is not how long the queue is but how long packets stay in
//! it, and of that the minimum over a while: a burst leaves within a round trip, a standing queue
//! does not. If every packet has stayed longer than `target` for one `interval`, the packet at
//! the head is signalled; the next signals follow after `interval`/√2, `interval`/√3, …, until a
//! packet has stayed less than `target`. The next series begins near the rate that helped last.
//!
//! The implementations differ; each is a *profile* (see [`law`] for the arithmetic of Linux):
//!
//! | | `rfc8289` | `linux` | `ns3` | `ns2` |
//! |---|---|---|---|---|
//! | no signal if bytes behind are | ≤ `mtu` | ≤ `mtu` | < `mtu` | ≤ largest packet (256 first) |
//! | the first signal if late for | ≥ `interval` | > `interval` | > `interval` | ≥ `interval` |
//! | an empty queue resets | the timer and the dropping state | both | the dropping state | both |
//! | first count of a new series | delta rule | delta rule | delta rule | last − 1 |
//! | after a mark within a series | counts from the plan | from the plan | from now | cannot mark |
//! | 1/√count | exact | Newton, 16 bits | Newton, 16 bits | exact |
//! | times are cut to | – | units of 1,024 ns | units of 1,024 ns (a packet's stay, not its arrival) | – |

pub(crate) mod controlled_delay;
mod law;

use alloc::{boxed::Box, format};

use packet::About;
use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use crate::buffer::{BYTES, LIMIT, TIME};

use crate::shells::bypass::{BYPASS, Bypass};
use crate::shells::departure::{DepartureFifo, Rules};
use crate::{BufferLimit, Built, Entry, Fit, Line, PerFlowState};
use controlled_delay::{Control, Least, Profile};

/// The entry of `codel` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "codel",
        summary: "Signals packets at the head while all have stayed too long, ever more often.",
        year: 2012,
        source: "Nichols and Jacobson, ACM Queue 10(5), 2012; RFC 8289; profiles after Linux \
                 codel_impl.h, ns-3, ns-2.35",
        deviations: "rfc8289: the count grows at each drop within a series, also if the next \
                     packet ends it, as in Linux, ns-3 and ns-2. linux: packet sizes include the link header that Linux adds \
                     (14 bytes on Ethernet) only if the link's header_bytes says so, while mtu is \
                     1514 as there; the wrap of the 32-bit clock is absent; a queue that has never \
                     signalled begins at count 1 whatever the clock says.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "marks in place of every drop at the head if ecn is on and the packet is ECN-capable; \
          ce_threshold marks whether ecn is on or not; a full buffer drops",
    units: "time",
    build: &build,
};

const FIELDS: &[Field] = &[
    Field::new(
        "profile",
        Kind::Choice(&["rfc8289", "linux", "linux-6.12", "ns3", "ns2"]),
        Value::Choice("rfc8289"),
    )
    .meaning("The implementation to follow, with its defaults: rfc8289, linux (7.3), linux-6.12, ns3, ns2.")
    .source("constructed; 7.3 drops at most 256 packets at one departure"),
    TARGET,
    INTERVAL,
    Field::new("mtu", Kind::whole(Unit::Bytes, 0, 1_000_000), Value::Unset)
        .meaning(
            "Bytes left in the queue at or below which no packet is signalled (ns3: below which; \
             ns2: the largest packet seen). rfc8289, ns3: 1500; linux: 1514.",
        )
        .source("RFC 8289 MAXPACKET (recalled); read: Linux psched_mtu on Ethernet, ns-3 MinBytes"),
    Field::new("limit", LIMIT, Value::Unset)
        .meaning(
            "Packets that may wait; 1000 in rfc8289 and linux, 50 in ns2, unless limit_bytes is \
             given.",
        )
        .source("read: Linux DEFAULT_CODEL_LIMIT, ns-2.35 Queue limit_"),
    Field::new("limit_bytes", BYTES, Value::Unset)
        .meaning(
            "IP bytes that may wait; 1500000 in ns3 unless limit is given, otherwise no such limit \
             unless given.",
        )
        .source("read: ns-3 MaxSize, 1500 * 1000 bytes"),
    Field::new("ecn", Kind::Switch, Value::Switch(false))
        .meaning(
            "Whether ECN-capable packets are marked where others are dropped by a signal; \
             impossible in ns2.",
        )
        .source("read: Linux codel_params_init, ns-3 UseEcn"),
    CE_THRESHOLD,
    BYPASS,
];

/// Parameter `target` of CoDel and of the disciplines built on it.
pub(crate) const TARGET: Field =
    Field::new("target", Kind::from(Unit::Time, 0.0, 1e3), Value::Real(0.005))
        .meaning("Time in the queue that is acceptable for good.")
        .source("RFC 8289 section 4.3 (recalled); read: Linux, ns-3, ns-2.35");

/// Parameter `interval`, with the default that the disciplines built on CoDel share.
pub(crate) const INTERVAL: Field = Field::new("interval", TIME, Value::Real(0.1))
    .meaning(
        "How long every packet must have stayed too long before the first signal: about the \
         longest common round trip.",
    )
    .source("RFC 8289 section 4.3 (recalled); read: Linux, ns-3, ns-2.35");

/// Parameter `ce_threshold`, which is off by default.
pub(crate) const CE_THRESHOLD: Field = Field::new(
    "ce_threshold",
    Kind::from(Unit::Time, 0.0, 1e3),
    Value::Unset,
)
.meaning(
    "Every ECN-capable packet that leaves after a longer stay than this is marked, besides the \
         signals; no such mark unless given.",
)
.source("read: Linux TCA_CODEL_CE_THRESHOLD");

/// Parameter `ce_threshold_selector` of FQ-CoDel: the traffic class for which `ce_threshold` holds.
pub(crate) const CE_THRESHOLD_SELECTOR: Field =
    Field::new("ce_threshold_selector", Kind::whole(Unit::None, 0, 255), Value::Whole(0))
        .meaning(
            "ce_threshold marks only packets whose traffic class (DSCP and ECN), masked by \
             ce_threshold_mask, is this; 1 with mask 3 is ECT(1) alone. None is, if it has bits that the \
             mask has not.",
        )
        .source("read: Linux TCA_FQ_CODEL_CE_THRESHOLD_SELECTOR, since 5.16");

/// Parameter `ce_threshold_mask`: the mask of the selector.
pub(crate) const CE_THRESHOLD_MASK: Field = Field::new(
    "ce_threshold_mask",
    Kind::whole(Unit::None, 0, 255),
    Value::Whole(0),
)
.meaning("Bits of the traffic class that ce_threshold_selector is compared with; 0: all packets.")
.source("read: Linux TCA_FQ_CODEL_CE_THRESHOLD_MASK, since 5.16");

fn build(params: &Params, _line: &Line) -> Result<Built, BadParams> {
    let profile = match params.choice("profile") {
        "linux" => Profile::LINUX,
        "linux-6.12" => Profile::LINUX_6_12,
        "ns3" => Profile::NS3,
        "ns2" => Profile::NS2,
        _ => Profile::RFC8289,
    };
    if profile == Profile::NS2 {
        refuse_in_ns2(params)?;
    }
    let linux = [Profile::LINUX, Profile::LINUX_6_12].contains(&profile);
    let automatic = if linux { 1514 } else { 1500 };
    let least = match profile.least {
        Least::LargestSeen => 256,
        _ => params.whole_or("mtu", automatic),
    };
    let control = Control::new(profile, params, least);
    let rules = Rules { ecn: params.switch("ecn"), keep_last: false };
    let queue = DepartureFifo::new(control, limit(params, profile), rules);
    Ok(Built::Discipline(Box::new(queue.bypassed(Bypass::new(params.switch("bypass"))))))
}

fn refuse_in_ns2(params: &Params) -> Result<(), BadParams> {
    let refuse = |field: &str, why: &str| {
        let value = params.written(field);
        Err(BadParams::new(field, format!("{value} is not possible with profile \"ns2\": {why}")))
    };
    if params.switch("ecn") {
        return refuse("ecn", "ns-2's CoDel never marks; write false or leave it out");
    }
    if params.given("ce_threshold") {
        return refuse("ce_threshold", "ns-2's CoDel never marks; leave it out");
    }
    if params.given("mtu") {
        return refuse("mtu", "ns-2 uses the largest packet it has seen; leave it out");
    }
    Ok(())
}

fn limit(params: &Params, profile: Profile) -> BufferLimit {
    let bytes = || params.whole_or("limit_bytes", 1_500_000);
    if !params.given("limit") && (profile == Profile::NS3 || params.given("limit_bytes")) {
        return BufferLimit::of_bytes(bytes(), Fit::Whole);
    }
    let packets = params.whole_or("limit", if profile == Profile::NS2 { 50 } else { 1000 }) as u32;
    let limit = BufferLimit::of_packets(packets, Fit::Whole);
    if params.given("limit_bytes") { limit.and_bytes(bytes()) } else { limit }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cx;
    use packet::params::Raw;
    use packet::{Ecn, Event, Header, Instant, Packet, Rate, Rng};

    /// Number of drops among ten packets of 100 B that arrive at once and leave 50 ms apart.
    fn drops(profile: &str) -> u32 {
        let given = [("profile".to_string(), Raw::Text(profile.into()))];
        let params = Params::check(FIELDS, &given).unwrap();
        let line = Line::of(Rate::from_bits_per_s(10_000_000));
        let mut queue = build(&params, &line).unwrap().into_discipline();
        let (mut rng, mut dropped) = (Rng::named(1, "codel"), 0);
        let mut out = |event| dropped += u32::from(matches!(event, Event::Dropped { .. }));
        for id in 0..20 {
            let now = Instant::from_nanos(50_000_000 * u64::from(id.max(10) - 10));
            let cx = &mut Cx { now, rng: &mut rng, out: &mut out };
            if id < 10 {
                let (ecn, header) = (Ecn::NotEct, Header::default());
                queue.enqueue(Packet { id, flow: 1, bytes: 100, ecn, arrived: now, header }, cx);
            } else {
                queue.dequeue(cx);
            }
        }
        dropped
    }

    #[test]
    fn what_ns2_spares_is_256_bytes_until_it_has_seen_more() {
        // `maxpacket_` of ns-2.35, where others spare a packet of the largest size.
        assert!(drops("ns2") > 0);
        assert_eq!(drops("rfc8289"), 0);
    }
}
