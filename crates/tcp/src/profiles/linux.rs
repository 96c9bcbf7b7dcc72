//! A Linux host of today, 7.3; `v6_12` has the rules of 6.12 where they differ (docs/linux-versions.md).

pub(crate) mod v6_12;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration};

use super::fields::{self, OFF, ON, field};
use super::parts::{Chosen, Parts};
use super::start::Start;
use crate::congestion::Controls;
use crate::congestion::EcnMode;
use crate::entry::Entry;
use crate::host_metrics::Remembers;
use crate::profile::{IdleRule, Opening, Profile, SynAck, SynRetries};
use crate::receiver::{AckPolicy, Adaptive, AtOnce, Compress, Growth};
use crate::recovery::{Detection, Implementation, RackSettings, RecoveryKind};
use crate::rtt::{Exact, RttRules};
use crate::segment::window_scale;
use crate::timer_wheel::TimerWheel;

/// The registry's line.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "linux",
        summary: "A Linux host of today (7.3): SACK, RACK-TLP, PRR, a choice of congestion controls, IW 10",
        year: 2026,
        source: "RFC 8985 (RACK-TLP), 6937 and 9937 (PRR), 6298, 5682, 2883, 6928, 7323; Linux 7.3 \
                 where it differs (net/ipv4), as named at each rule",
        deviations: "constructed: data in flight is counted in bytes (the windows of reno and cubic in \
                     whole segments), of segments of one instant it is known which was sent first, no \
                     Nagle, FIN on the last data segment and counted like a byte, the program \
                     reads at once and before an acknowledgement goes, segments that wait beyond a hole take 72 % of the room that they took \
                     alone, no segment is refused for want of room, \
                     PSH on every second full segment of a burst and the end of a write (not where half of \
                     the window was written, forced_push), \
                     timers to the nanosecond where Linux counts jiffies of 1 ms, pacing segment by \
                     segment (no TSO), a spurious_rto repair is taken back though copies are still out; \
                     an acknowledgement that waits for more to report is sent with, not before, the \
                     segment that opens a third range; \
                     left out: the decay of a window that the program does not use (tcp_cwnd_application_limited), Linux's finer filter \
                     of the mean deviation, the repeated SYN that leaves the window, TCP Fast Open, \
                     small queues; SACK bytes are not on the wire",
        fields: FIELDS,
    },
    build,
};

const WINDOW_IS: &str = "Largest receive buffer; the window that is offered is scaling_ratio of it, as far as it has grown. \
     A scenario may call it window.";

pub(super) const FIELDS: &[Field] = &[
    fields::MSS,
    Field {
        meaning: WINDOW_IS,
        ..field(
            fields::WINDOW,
            Value::Whole(32 << 20),
            "net.ipv4.tcp_rmem = 4096 131072 33554432, or a 128th of the memory, if that is less (tcp_init)",
        )
    },
    Field::new("autotuning", Kind::Switch, ON)
        .meaning(
            "The receive buffer begins with 128 KiB and grows with what the program reads in a round \
             trip, up to window_bytes, and the window that is offered with it. As long as it grows, every \
             segment is acknowledged.",
        )
        .source(
            "net.ipv4.tcp_moderate_rcvbuf = 1, tcp_rmem = 4096 131072 33554432 \
             (tcp_rcv_space_adjust); off as with SO_RCVBUF: a buffer of window_bytes from the start",
        ),
    Field::new("buffer_growth", Kind::Choice(&["rcvbuf_grow", "space_adjust"]), Value::Choice("rcvbuf_grow"))
        .meaning(
            "How the receive buffer grows: rcvbuf_grow, as in Linux 7.3, also by what lies beyond a hole; \
             space_adjust, as in 6.12, by what is read alone, with 16 segments to spare.",
        )
        .source("tcp_rcvbuf_grow, tcp_data_queue_ofo; before, tcp_rcv_space_adjust"),
    field(fields::INITIAL_WINDOW, Value::Whole(10), "RFC 6928 section 2"),
    Field::new(
        "recovery",
        Kind::Choice(&["rack", "tahoe", "reno", "newreno", "sack"]),
        Value::Choice("rack"),
    )
    .meaning(
        "How losses are found: RACK-TLP (RFC 8985); as Linux without RACK, by reports of three \
             segments above (sack); as Linux without SACK (newreno); or plain's Tahoe or Reno with \
             the congestion control of RFC 5681.",
    )
    .source(
        "net.ipv4.tcp_recovery = 1; sack is 0, which 7.3 no longer has (tcp_mark_head_lost); newreno \
         net.ipv4.tcp_sack = 0",
    ),
    field(
        fields::CONGESTION,
        Value::Unset,
        "cubic: net.ipv4.tcp_congestion_control; with plain's recovery, tahoe or reno, rfc5681",
    ),
    Field::new("gso_max_segs", Kind::whole(Unit::Packets, 1, 2), Value::Whole(2))
        .meaning(
            "Full segments that go down as one where they can, the last of them with PSH, which a \
             receiver acknowledges at once; 1: each goes alone.",
        )
        .source(
            "tcp_tso_segs: net.ipv4.tcp_min_tso_segs = 2, more only above 12 Mbit/s, and no \
                 more than the device's gso_max_segs (ip-link(8))",
        ),
    Field::new("pacing", Kind::Switch, OFF)
        .meaning(
            "Spread segments over the round trip, as the fq queueing discipline does; a control \
             that needs it does in any case.",
        )
        .source("net.core.default_qdisc = fq_codel in most distributions"),
    field(
        fields::DUPACK_THRESHOLD,
        Value::Whole(3),
        "RFC 8985 section 6.2, step 4; net.ipv4.tcp_reordering = 3",
    ),
    field(fields::LIMITED_TRANSMIT, ON, "RFC 3042"),
    field(
        fields::RTO_MIN,
        Value::Real(0.2),
        "TCP_RTO_MIN = HZ/5, added to the smoothed round trip",
    ),
    field(fields::TICK, Value::Real(0.0), "round trips are measured in microseconds"),
    Field::new("hz", Kind::whole(Unit::Count, 0, 1_000), Value::Whole(0))
        .meaning(
            "Ticks a second of the kernel's timers: a timeout, a probe, the wait of a hole or of an \
             acknowledgement ends at a tick, of 63 ticks and more at one of every 8, of 504 and \
             more at one of every 64. 0: exact.",
        )
        .source(
            "CONFIG_HZ (Debian 250, many others 1000) and kernel/time/timer.c since Linux 4.8; exact \
             times are constructed",
        ),
    Field {
        meaning: "Shortest wait of an acknowledgement, which then follows the pace of arrivals up to \
                  0.2 s; 0 acknowledges every segment at once.",
        ..field(fields::DELAYED_ACK, Value::Real(0.04), "TCP_DELACK_MIN = TCP_ATO_MIN = HZ/25")
    },
    field(
        fields::ACK_EVERY,
        Value::Whole(2),
        "RFC 1122 section 4.2.3.2; full segments (__tcp_ack_snd_check)",
    ),
    Field::new("scaling_ratio", Kind::from(Unit::None, 0.1, 1.0), Value::Real(0.640625))
        .meaning(
            "What of the receive buffer full segments fill. The window starts at half of the \
             buffer and grows by two segments for each that comes, up to this share; so long every \
             segment is acknowledged at once, and then 16 more. Below 0.5: 16 in all.",
        )
        .source(
            "tcp_grow_window; payload to memory of a segment (scaling_ratio), \
                           counted in 1/256, depends on the driver; constructed: 164/256, with \
                           which a fixed buffer of 6 MB gives the 308 segments that a kernel was \
                           seen to acknowledge one by one",
        ),
    field(fields::DELAYED_ACK_CLOCK, Value::Choice("connection"), "a timer of the socket"),
    Field::new("comp_sack_nr", Kind::whole(Unit::Packets, 0, 255), Value::Whole(44))
        .meaning(
            "Arrivals beyond a hole that one acknowledgement reports at most, after three that are \
             reported at once; 0 reports each at once, as does a receiver that acknowledges every \
             segment.",
        )
        .source("net.ipv4.tcp_comp_sack_nr = 44, since Linux 4.18 (__tcp_ack_snd_check)"),
    Field::new("comp_sack_delay", Kind::from(Unit::Time, 0.0, 0.1), Value::Real(0.001))
        .meaning("How long such a report waits, but no longer than its share of the round trip.")
        .source("net.ipv4.tcp_comp_sack_delay_ns = 1000000"),
    Field::new("comp_sack_rtt_percent", Kind::whole(Unit::None, 1, 1_000), Value::Whole(33))
        .meaning("That share, in hundredths.")
        .source("net.ipv4.tcp_comp_sack_rtt_percent = 33 (__tcp_ack_snd_check)"),
    Field::new("comp_sack_slack", Kind::from(Unit::Time, 0.0, 0.1), Value::Real(0.00001))
        .meaning("What the timer of such a report may add to it, and here adds.")
        .source(
            "net.ipv4.tcp_comp_sack_slack_ns = 10000; a kernel with nothing else to do was seen \
             to wait all of it",
        ),
    field(fields::TIMESTAMPS, ON, "net.ipv4.tcp_timestamps = 1"),
    field(fields::F_RTO, ON, "net.ipv4.tcp_frto = 2"),
    field(fields::HOST_CACHE, ON, "net.ipv4.tcp_no_metrics_save = 0 (tcp_metrics.c)"),
    Field::new("cache_ssthresh", Kind::Switch, OFF)
        .meaning("The host cache keeps the slow-start threshold too.")
        .source("net.ipv4.tcp_no_ssthresh_metrics_save = 1"),
    field(
        fields::ECN,
        Value::Unset,
        "off: net.ipv4.tcp_ecn = 2, only if the peer requests it, and no peer does; on with a congestion \
         control that needs marks (TCP_CONG_NEEDS_ECN)",
    ),
    fields::ECN_FEEDBACK,
    fields::ECN_RECEIVER,
    fields::ACCECN_OPTION,
    Field::new("ecn_fallback", Kind::Switch, ON)
        .meaning(
            "A SYN that goes again does not ask for ECN, so that a connection whose first SYN was \
             lost never has it (RFC 3168 section 6.1.1.1).",
        )
        .source("net.ipv4.tcp_ecn_fallback = 1 (tcp_ecn_clear_syn)"),
    field(fields::BETA_ECN, Value::Unset, "as much as a loss leaves: Linux has no ABE (RFC 8511)"),
    Field::new("classic_fallback", Kind::Switch, OFF)
        .meaning(
            "Prague answers marks about as CUBIC does where depth and variation of the delay say \
             that the queue is a classic one (RFC 9331 section 4.3).",
        )
        .source(
            "tcp_prague.c 0.6: prague_ecn_fallback = 0; the detector is that of \
                           Briscoe and Ahmed, arXiv:1911.00710",
        ),
    field(fields::IDLE_RESTART, ON, "net.ipv4.tcp_slow_start_after_idle = 1"),
    field(fields::INITIAL_SSTHRESH, Value::Unset, "unbounded: TCP_INFINITE_SSTHRESH"),
    field(fields::RTO_INITIAL, Value::Real(1.0), "TCP_TIMEOUT_INIT = HZ; RFC 6298 (2.1)"),
    field(
        fields::SYN_LINEAR,
        Value::Whole(4),
        "net.ipv4.tcp_syn_linear_timeouts = 4, since Linux 6.5 (before: 0)",
    ),
    field(
        fields::SYN_RETRIES,
        Value::Unset,
        "net.ipv4.tcp_syn_retries = 6, and besides as many as syn_linear (tcp_write_timeout)",
    ),
    field(fields::SYN_ACK_RETRIES, Value::Whole(5), "net.ipv4.tcp_synack_retries = 5"),
    field(fields::CONNECT_LIMIT, Value::Unset, "none: retransmissions are counted"),
];

/// TCP's header without options, bytes.
const BARE_HEADER: u64 = 20;

/// The receive buffer before it grows, bytes (net.ipv4.tcp_rmem).
const FIRST_BUFFER: u64 = 128 << 10;

/// net.ipv4.tcp_syn_retries (TCP_SYN_RETRIES).
const SYN_RETRIES: u64 = 6;

fn build(params: &Params, controls: &Controls) -> Result<Profile, BadParams> {
    build_as(ENTRY.about.name, params, controls)
}

fn build_as(
    name: &'static str,
    params: &Params,
    controls: &Controls,
) -> Result<Profile, BadParams> {
    let detection = detection(params);
    let chosen = control(params, detection, controls)?;
    let parts = Parts::read_with(params, chosen)?;
    let wheel = TimerWheel::of(params.whole("hz"));
    let rtt = Exact {
        initial: parts.start.rto,
        min: Duration::ZERO,
        margin: parts.rto_min,
        max: Duration::from_secs(120),
        tick: parts.tick,
        any_ack_ends_backoff: false,
        wheel,
    };
    let mut profile = Profile {
        ack: acks(&parts, params),
        max_resends: 15,
        remembers: remembers(params)?,
        ..parts.profile(name, RttRules::Exact(rtt), Implementation::Rfc)
    };
    profile.output.pairs = params.whole("gso_max_segs") > 1;
    profile.ecn.fallback = params.switch("ecn_fallback");
    profile.ecn.believes_thinned = true;
    profile.ecn.answers_unmarked = true;
    profile.ecn.everywhere = true;
    let waits = waits(params, &parts.start);
    profile.opening = Opening { syn_ack: SynAck::Request, waits, options: 8, ..profile.opening };
    if let Some(detection) = detection {
        profile.recovery.kind = RecoveryKind::Rack(RackSettings {
            detection,
            paces: params.switch("pacing"),
            threshold: profile.recovery.threshold,
            limited_transmit: profile.recovery.limited_transmit,
            f_rto: params.switch("f_rto"),
            beta_ecn: parts.ecn.beta(),
            wheel,
        });
        profile.output.pushes = true;
        profile.idle = if parts.idle_restart { IdleRule::Decay } else { IdleRule::Off };
    } else {
        let why = "does not go with plain's recovery; leave it out, or write recovery = \"rack\", \
                   \"sack\" or \"newreno\"";
        params.without_effect("pacing", why)?;
    }
    Ok(profile)
}

fn control(
    params: &Params,
    detection: Option<Detection>,
    controls: &Controls,
) -> Result<Chosen, BadParams> {
    let usual = if detection.is_some() { "cubic" } else { "rfc5681" };
    let mut chosen = Chosen::read(params, usual, controls)?;
    if chosen.control.flags().ecn == EcnMode::Scalable {
        if params.switch("classic_fallback") {
            chosen.control.detect_classic_queues();
        }
    } else if params.switch("classic_fallback") {
        let name = chosen.name;
        let why = format!("is for congestion = \"prague\", not \"{name}\"; leave it out");
        return Err(BadParams::new("classic_fallback", why));
    }
    Ok(chosen)
}

/// How a RACK sender finds losses; none for a recovery of former times.
fn detection(params: &Params) -> Option<Detection> {
    match params.choice("recovery") {
        "rack" => Some(Detection::Rack),
        "sack" => Some(Detection::Sack),
        "newreno" => Some(Detection::DupAcks),
        _ => None,
    }
}

fn remembers(params: &Params) -> Result<Remembers, BadParams> {
    match (params.switch("host_cache"), params.switch("cache_ssthresh")) {
        (true, ssthresh) => Ok(Remembers::Linux { ssthresh }),
        (false, false) => Ok(Remembers::Nothing),
        (false, true) => Err(BadParams::new(
            "cache_ssthresh",
            "says what the host cache keeps; set host_cache = true or leave cache_ssthresh out",
        )),
    }
}

/// SYNs whose wait is as long as before come on top of `tcp_syn_retries`.
fn waits(params: &Params, start: &Start) -> SynRetries {
    let syn = params.whole_or("syn_retries", SYN_RETRIES + u64::from(start.syn_linear));
    SynRetries { syn_retries: syn as u8, ..start.waits() }
}

fn acks(parts: &Parts, params: &Params) -> AckPolicy {
    // `tcp_delack_max`.
    let millis = |span: Duration| span.nanos() / 1_000_000;
    let longest = millis(parts.rto_min).max(2) - 1;
    let grows = params.switch("autotuning");
    let rules = Adaptive {
        beyond: parts.ack_every as u32 - 1,
        segment: parts.segment as u32,
        header: (BARE_HEADER + parts.mss - parts.segment) as u32,
        mss: parts.segment as u32,
        start: if grows { FIRST_BUFFER.min(parts.window) } else { parts.window },
        buffer: parts.window,
        ratio: (params.real("scaling_ratio") * 256.0) as u32,
        growth: if params.choice("buffer_growth") == "space_adjust" {
            Growth::SpaceAdjust
        } else {
            Growth::RcvbufGrow
        },
        scale: window_scale(parts.window),
        least: millis(parts.delayed_ack),
        longest: longest.min(200),
        compress: Compress {
            // A receiver in quickack mode (`tcp_in_quickack_mode`) lets nothing wait.
            most: if parts.ack_every > 1 { params.whole("comp_sack_nr") as u8 } else { 0 },
            delay: params.time("comp_sack_delay"),
            percent: params.whole("comp_sack_rtt_percent") as u16,
            slack: params.time("comp_sack_slack"),
        },
        wheel: TimerWheel::of(params.whole("hz")),
    };
    AckPolicy { duplicates: true, ..parts.ack_at(AtOnce::Adaptive(rules)) }
}

#[cfg(test)]
mod tests {
    use packet::params::Raw;

    use super::*;

    fn rules(settings: &[(&str, Raw)]) -> Adaptive {
        let raw: Vec<_> = settings.iter().map(|(n, v)| (n.to_string(), v.clone())).collect();
        let profile = build(&Params::check(FIELDS, &raw).unwrap(), &Controls::ours()).unwrap();
        let AtOnce::Adaptive(rules) = profile.ack.at_once else { panic!("{:?}", profile.ack) };
        rules
    }

    #[test]
    fn acknowledgements_go_by_the_kernels_numbers() {
        // TCP_ATO_MIN = 40 ms, tcp_rmem = 4096 131072 33554432; a header of 20 B and 12 of timestamps.
        let usual = Adaptive {
            beyond: 1,
            segment: 1_448,
            header: 32,
            mss: 1_448,
            start: 131_072,
            buffer: 33_554_432,
            ratio: 164,
            growth: Growth::RcvbufGrow,
            scale: 10,
            least: 40,
            longest: 199,
            compress: Compress {
                most: 44,
                delay: Duration::from_millis(1),
                percent: 33,
                slack: Duration::from_micros(10),
            },
            wheel: TimerWheel::EXACT,
        };
        assert_eq!(rules(&[]), usual);
        let ticking = Adaptive { wheel: TimerWheel::of(1_000), ..usual };
        assert_eq!(rules(&[("hz", Raw::Number(1_000.0))]), ticking);
        let every = rules(&[("ack_every", Raw::Number(1.0))]);
        assert_eq!((every.beyond, every.compress.most), (0, 0));
        let bare = Adaptive { segment: 1_460, header: 20, mss: 1_460, ..usual };
        assert_eq!(rules(&[("timestamps", Raw::Bool(false))]), bare);
        let fixed = Adaptive { start: 33_554_432, ..usual };
        assert_eq!(rules(&[("autotuning", Raw::Bool(false))]), fixed);
        // tcp_delack_max: a jiffy below the least timeout, TCP_DELACK_MAX = 200 ms at most.
        for (rto_min, longest) in [("50 ms", 49), ("200 ms", 199), ("201 ms", 200), ("300 ms", 200)]
        {
            let settings = [("rto_min", Raw::Text(rto_min.into()))];
            assert_eq!(rules(&settings), Adaptive { longest, ..usual }, "{rto_min}");
        }
    }
}
