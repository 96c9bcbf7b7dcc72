//! FQ-CoDel (T. Høiland-Jørgensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet, RFC 8290, 2018;
//! in Linux since 2012).
//!
//! The idea in five lines. Flows are hashed into many queues, served in turn by bytes, and each
//! queue has a CoDel of its own, so that a flow's delay is its own doing. A queue that was empty
//! gets its first turn before all others: flows that send little never wait for those that send
//! much. If all queues together hold too much, the one with most bytes loses half of them, from
//! its head and up to a batch, and its CoDel counts those drops as signals.
//!
//! | | `rfc8290` | `linux` | `ns3` |
//! |---|---|---|---|
//! | CoDel as in the profile | RFC 8289 | Linux | ns-3 |
//! | backlog that CoDel spares up to `mtu` bytes | its queue's | all queues' | its queue's |
//! | an emptied new queue becomes an old one | always | only if there are old ones | always |
//! | drops because the buffer is full count as signals | yes | yes | no |

use alloc::boxed::Box;

use packet::About;
use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use crate::buffer::{BYTES, LIMIT};

use super::controlled_delay::{
    CE_THRESHOLD, CE_THRESHOLD_MASK, CE_THRESHOLD_SELECTOR, Control, INTERVAL, Profile, TARGET,
};
use crate::shells::bypass::{BYPASS, Bypass};
use crate::shells::departure::Rules;
use crate::shells::flows::{HASH_SEED, hash_seed};
use crate::shells::per_flow::{Leaving, Overload, PerFlow, Settings};
use crate::{Built, Entry, Line, PerFlowState, Table};

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "fq_codel",
        summary: "Serves hashed flows in turn, sparse ones first, with controlled delay in each \
                  queue.",
        year: 2012,
        source: "RFC 8290; profiles after Linux sch_fq_codel and ns-3",
        deviations: "All: flows are hashed by a seeded 64-bit mix (Linux: jhash or the network \
                     card's); sizes are IP lengths unless the link's header_bytes adds to them; a \
                     queue that has never signalled begins at count 1, whatever the clock and the \
                     buffer's drops say. linux: memory is counted in packet bytes, not in buffer \
                     sizes, and drop_batch is what it says (one version of Linux always takes 1 if \
                     it is configured). ns3: without set-associative hashing; its \
                     UseL4s is ce_threshold_selector = 1 with ce_threshold_mask = 3.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Queues,
    tables: &[Table { rows: &[("flows", 1_024)], row: 160 }],
    ecn: "marks in place of every drop by CoDel if ecn is on (it is by default) and the packet is \
          ECN-capable; ce_threshold marks whether ecn is on or not; want of room drops",
    units: "time; turns in bytes",
    build: &build,
};

const PROFILES: [&str; 4] = ["rfc8290", "linux", "linux-6.12", "ns3"];

const FIELDS: &[Field] = &[
    Field::new("profile", Kind::Choice(&PROFILES), Value::Choice("rfc8290"))
        .meaning("The implementation to follow, with its defaults: rfc8290, linux (7.3), linux-6.12, ns3.")
        .source("constructed; 7.3 drops at most 256 packets at one departure"),
    TARGET,
    INTERVAL,
    Field::new("flows", Kind::whole(Unit::Count, 1, 65_536), Value::Whole(1024))
        .meaning("Queues that flows are hashed into.")
        .source("RFC 8290 section 5.2 (recalled); read: Linux, ns-3"),
    Field::new("quantum", Kind::whole(Unit::Bytes, 256, 1_000_000), Value::Unset)
        .meaning("Bytes that a queue may send in each turn. rfc8290, linux: 1514; ns3: 1500.")
        .source("RFC 8290 section 5.2 (recalled); read: Linux psched_mtu, ns-3 device MTU"),
    Field::new("mtu", Kind::whole(Unit::Bytes, 0, 1_000_000), Value::Unset)
        .meaning(
            "Bytes left waiting at or below which no packet is signalled (ns3: below which). \
             rfc8290, ns3: 1500; linux: 1514, over all queues.",
        )
        .source("RFC 8289 MAXPACKET (recalled); read: Linux psched_mtu on Ethernet, ns-3 MinBytes"),
    Field::new("limit", LIMIT, Value::Whole(10_240))
        .meaning("Packets that may wait in all queues together.")
        .source("RFC 8290 section 5.2 (recalled); read: Linux, ns-3"),
    Field::new("limit_bytes", BYTES, Value::Unset)
        .meaning(
            "IP bytes that may wait in all queues together; rfc8290, linux: 33554432, ns3: no such \
             limit.",
        )
        .source("read: Linux memory_limit, 32 MiB"),
    Field::new("drop_batch", Kind::whole(Unit::Packets, 1, 1_000_000), Value::Whole(64))
        .meaning("Most packets dropped at once for want of room.")
        .source("RFC 8290 section 4.1 (recalled); read: Linux, ns-3"),
    Field::new("ecn", Kind::Switch, Value::Switch(true))
        .meaning("Whether ECN-capable packets are marked where others are dropped by a signal.")
        .source("read: Linux, ns-3"),
    CE_THRESHOLD,
    CE_THRESHOLD_SELECTOR,
    CE_THRESHOLD_MASK,
    BYPASS,
    HASH_SEED,
];

fn build(params: &Params, _line: &Line) -> Result<Built, BadParams> {
    let (profile, mtu, quantum, bytes) = match params.choice("profile") {
        "linux" => (Profile::LINUX, 1514, 1514, 32 << 20),
        "linux-6.12" => (Profile::LINUX_6_12, 1514, 1514, 32 << 20),
        "ns3" => (Profile::NS3, 1500, 1500, u64::MAX),
        _ => (Profile::RFC8289, 1500, 1514, 32 << 20),
    };
    let linux = [Profile::LINUX, Profile::LINUX_6_12].contains(&profile);
    let settings = Settings {
        flows: params.whole("flows") as usize,
        seed: hash_seed(params),
        quantum: params.whole_or("quantum", quantum),
        limit: params.whole("limit"),
        limit_bytes: params.whole_or("limit_bytes", bytes),
        overload: Overload::Cut { batch: params.whole("drop_batch") as u32 },
        forgets_if_alone: linux,
        judges_see_all: linux,
    };
    let rules = Rules { ecn: params.switch("ecn"), keep_last: false };
    let byte = |name| params.whole(name) as u8;
    let (selector, mask) = (byte("ce_threshold_selector"), byte("ce_threshold_mask"));
    let judge = || Leaving {
        judge: Control::new(profile, params, params.whole_or("mtu", mtu)).selecting(selector, mask),
        rules,
        learns_of_cuts: profile != Profile::NS3,
    };
    let bypass = Bypass::new(params.switch("bypass"));
    Ok(Built::Discipline(Box::new(PerFlow::new(settings, judge).bypassed(bypass))))
}
