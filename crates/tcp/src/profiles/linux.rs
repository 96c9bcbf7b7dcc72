//! A Linux host of today, 7.3. `v6_12` and `v6_1` have the rules in which older kernels differ
//! (docs/linux-versions.md).

mod settings;
pub(crate) mod v6_1;
pub(crate) mod v6_12;

use packet::params::{BadParams, Params};
use packet::{About, Duration};

pub(super) use self::settings::FIELDS;
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

/// This profile's entry in the list of profiles.
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
                     segment unless tso_autosize is on (which takes what was written for one piece), a spurious_rto repair is taken back though copies are still out; \
                     an acknowledgement that waits for more to report is sent with, not before, the \
                     segment that opens a third range; \
                     left out: the decay of a window that the program does not use (tcp_cwnd_application_limited), Linux's finer filter \
                     of the mean deviation, the repeated SYN that leaves the window, TCP Fast Open, \
                     small queues; SACK bytes are not on the wire",
        fields: FIELDS,
    },
    build,
};

/// TCP's header without options, bytes.
const BARE_HEADER: u64 = 20;

/// The receive buffer before it grows, bytes (net.ipv4.tcp_rmem).
const FIRST_BUFFER: u64 = 128 << 10;

/// Most segments that a device takes as one (`GSO_MAX_SEGS`).
const GSO_MAX_SEGS: u64 = 65_535;

/// Retransmissions of a SYN: net.ipv4.tcp_syn_retries (TCP_SYN_RETRIES).
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
    let bursts = bursts(params)?;
    profile.output.pairs = bursts.is_none() && params.whole_or("gso_max_segs", 2) > 1;
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
            bursts,
            wheel,
        });
        profile.output.pushes = true;
        profile.idle = if parts.idle_restart { IdleRule::Decay } else { IdleRule::Off };
    } else {
        let why = "does not go with plain's recovery; leave it out, or write recovery = \"rack\", \
                   \"sack\" or \"newreno\"";
        params.without_effect("pacing", why)?;
        params.without_effect("tso_autosize", why)?;
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

/// How a RACK sender finds losses; none for the recovery kinds of plain (Tahoe, Reno).
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

/// Most segments of a burst, if pacing counts bursts (`tso_autosize`); else none.
fn bursts(params: &Params) -> Result<Option<u16>, BadParams> {
    let most = |usual| params.whole_or("gso_max_segs", usual) as u16;
    match (params.switch("tso_autosize"), most(2)) {
        (true, _) => Ok(Some(most(GSO_MAX_SEGS))),
        (false, 1..=2) => Ok(None),
        (false, _) => Err(BadParams::new(
            "gso_max_segs",
            "more than 2 go down as one only with tso_autosize = true; set that, or write 2",
        )),
    }
}

/// Retransmissions of a SYN. Those that do not double its wait are added to `tcp_syn_retries`.
fn waits(params: &Params, start: &Start) -> SynRetries {
    let syn = params.whole_or("syn_retries", SYN_RETRIES + u64::from(start.syn_linear));
    SynRetries { syn_retries: syn as u8, ..start.waits() }
}

fn acks(parts: &Parts, params: &Params) -> AckPolicy {
    // Longest wait, as in `tcp_delack_max`: a jiffy less than the smallest timeout.
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
            // A receiver in quickack mode (`tcp_in_quickack_mode`) delays no report.
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
