//! The exchangeable parts of an end system, made from the fields that every table has.

use packet::Duration;
use packet::params::{BadParams, Params, Value};

use super::start::Start;
use crate::congestion::{self, Arithmetic, ClassicReno, Control, ControlFlags, Controls, EcnMode};
use crate::ecn::{BetaEcn, EchoCut, EcnFeedback, EcnRules};
use crate::host_metrics::Remembers;
use crate::profile::{Ending, IdleRule, Opening, Output, Profile, RtoCheck, SynAck, TimeLimit};
use crate::receiver::{AckClock, AckPolicy, AtOnce};
use crate::recovery::{Implementation, Leaving, RecoveryKind, Rules};
use crate::rtt::{Bsd, RttRules};
use crate::segment::STAMP_BYTES;

/// FreeBSD's host cache, which is kept in routes; `sendpipe` applies if the scenario gives none.
fn host_routes(params: &Params, sendpipe: u64) -> Result<Remembers, BadParams> {
    match (params.switch("host_cache"), params.given("sendpipe")) {
        (true, given) => {
            let sendpipe = if given { params.whole("sendpipe") } else { sendpipe };
            Ok(Remembers::Route { sendpipe })
        }
        (false, true) if params.whole("sendpipe") > 0 => Err(BadParams::new(
            "sendpipe",
            "says what the host cache keeps; set host_cache = true or leave sendpipe out",
        )),
        (false, _) => Ok(Remembers::Nothing),
    }
}

/// The parts of an end system, as a scenario chose them.
pub(super) struct Parts {
    pub mss: u64,
    /// Payload of a full segment, bytes: `mss` less the timestamps option.
    pub segment: u64,
    pub window: u64,
    pub initial_segments: u64,
    pub rto_min: Duration,
    pub tick: Duration,
    pub delayed_ack: Duration,
    /// Number of segments at which an acknowledgement is sent; 1 if it never waits.
    pub ack_every: u64,
    pub timestamps: bool,
    pub congestion: Box<dyn Control>,
    pub control_name: &'static str,
    pub ecn: EcnRules,
    pub idle_restart: bool,
    kind: RecoveryKind,
    threshold: u32,
    limited_transmit: bool,
    clock: AckClock,
    f_rto: bool,
    pub start: Start,
}

impl Parts {
    /// Reads the fields that all tables have.
    pub fn read(params: &Params, controls: &Controls) -> Result<Parts, BadParams> {
        Parts::read_with(params, Chosen::read(params, "", controls)?)
    }

    /// Reads the fields that all tables have; the congestion control is `chosen`.
    pub fn read_with(params: &Params, chosen: Chosen) -> Result<Parts, BadParams> {
        let timestamps = params.switch("timestamps");
        let mss = params.whole("mss");
        let parts = Parts {
            mss,
            segment: mss - if timestamps { u64::from(STAMP_BYTES) } else { 0 },
            window: params.whole("window_bytes"),
            initial_segments: params.whole("initial_window"),
            rto_min: params.time("rto_min"),
            tick: params.time("tick"),
            delayed_ack: params.time("delayed_ack"),
            ack_every: ack_every(params)?,
            timestamps,
            ecn: ecn(params, &chosen)?,
            control_name: chosen.name,
            congestion: chosen.control,
            idle_restart: params.switch("idle_restart"),
            kind: kind(params.choice("recovery")),
            threshold: params.whole("dupack_threshold") as u32,
            limited_transmit: params.switch("limited_transmit"),
            clock: match params.choice("delayed_ack_clock") {
                "host" => AckClock::Host,
                "common" => AckClock::Common,
                _ => AckClock::Connection,
            },
            f_rto: params.switch("f_rto"),
            start: Start::read(params),
        };
        parts.check()?;
        Ok(parts)
    }

    fn check(&self) -> Result<(), BadParams> {
        if self.window < self.mss {
            // Otherwise nothing could ever be sent.
            let why = format!(
                "{} B do not hold one segment; it must be at least mss = {} B",
                self.window, self.mss
            );
            return Err(BadParams::new("window_bytes", why));
        }
        if self.tick > Duration::ZERO && self.tick < Duration::from_millis(1) {
            let why = format!(
                "{} s is finer than 1 ms; write \"1 ms\", or \"0 s\" where a profile can count \
                 exact times",
                self.tick.secs_f64()
            );
            return Err(BadParams::new("tick", why));
        }
        Ok(())
    }

    /// The tick of a profile that counts in ticks and so needs one.
    pub fn counted_tick(&self) -> Result<Duration, BadParams> {
        if self.tick == Duration::ZERO {
            let why = "0 s: this profile counts ticks; write for example \"10 ms\", or take \
                       profile = \"plain\" for exact times";
            return Err(BadParams::new("tick", why));
        }
        Ok(self.tick)
    }

    /// A profile of these parts. What they leave open is as in most profiles: RFC 5681's rule for
    /// pauses, writes and close seen together, 12 retransmissions, 60 s of TIME_WAIT, no host
    /// cache.
    pub fn profile(
        &self,
        name: &'static str,
        rtt: RttRules,
        implementation: Implementation,
    ) -> Profile {
        Profile {
            name,
            mss: self.mss as u16,
            window: self.window,
            initial_segments: self.initial_segments,
            initial_ssthresh: self.start.ssthresh(u64::MAX),
            congestion: self.congestion.boxed(),
            control_name: self.control_name,
            rtt,
            recovery: self.rules(implementation),
            ack: self.ack(),
            idle: if self.idle_restart { IdleRule::SinceSent } else { IdleRule::Off },
            output: PLAIN_OUTPUT,
            opening: Opening {
                syn_ack: SynAck::Timer,
                waits: self.start.waits(),
                options: 4,
                handshake_grows: false,
                loss_cuts_threshold: false,
                loss_closes_window: true,
            },
            ending: Ending::Fin,
            rto_check: if self.f_rto { RtoCheck::FRto } else { RtoCheck::Off },
            timestamps: self.timestamps,
            ecn: self.ecn,
            max_resends: 12,
            connect_limit: self.start.life(),
            time_wait: TimeLimit::Exact(Duration::from_secs(60)),
            remembers: Remembers::Nothing,
            quic: None,
        }
    }

    /// A profile of these parts for a descendant of 4.4BSD; `sendpipe` is as in [`host_routes`].
    pub fn bsd(
        &self,
        name: &'static str,
        params: &Params,
        rtt: Bsd,
        sendpipe: u64,
    ) -> Result<Profile, BadParams> {
        let common = self.profile(name, RttRules::Bsd(rtt), Implementation::Bsd);
        Ok(Profile {
            window: self.socket_buffer(),
            idle: if self.idle_restart { IdleRule::SinceReceived } else { IdleRule::Off },
            output: Output {
                bsd: true,
                write_chunk: params.whole("write_chunk"),
                small_write_split: params.switch("small_write_split"),
                ..PLAIN_OUTPUT
            },
            opening: Opening { handshake_grows: true, loss_cuts_threshold: true, ..common.opening },
            remembers: host_routes(params, sendpipe)?,
            ..common
        })
    }

    /// The window rounded up to whole segments, bytes.
    pub fn socket_buffer(&self) -> u64 {
        self.window.next_multiple_of(self.segment)
    }

    fn rules(&self, implementation: Implementation) -> Rules {
        let Parts { kind, threshold, limited_transmit, .. } = *self;
        let (leaving, own) = match implementation {
            Implementation::Bsd => (Leaving::Outstanding, Arithmetic::Bsd),
            Implementation::Rfc => (Leaving::Refilled, Arithmetic::Rfc),
            Implementation::Ns2 => (Leaving::Deflated, Arithmetic::Ns2),
        };
        let reno = self.congestion.classic().unwrap_or(ClassicReno(own));
        // FreeBSD's `tcp_newreno_partial_ack` starts the timer each time; ns-2 has newreno_changes1_ = 1.
        let impatient = implementation != Implementation::Bsd;
        let (partial_ack_sends, reports_hold_growth) = (false, false);
        Rules {
            kind,
            implementation,
            reno,
            threshold,
            limited_transmit,
            leaving,
            impatient,
            impatient_with_sack: false,
            partial_ack_sends,
            reports_hold_growth,
            cwr_state: false,
        }
    }

    /// The acknowledgement policy that counts segments of any size.
    pub fn ack(&self) -> AckPolicy {
        self.ack_at(AtOnce::Segments(self.ack_every as u8))
    }
    pub fn ack_at(&self, at_once: AtOnce) -> AckPolicy {
        AckPolicy {
            at_once,
            delay: self.delayed_ack,
            clock: self.clock,
            first: false,
            duplicates: false,
        }
    }
}

pub(super) fn kind(name: &str) -> RecoveryKind {
    match name {
        "tahoe" => RecoveryKind::Tahoe,
        "reno" => RecoveryKind::Reno,
        "newreno" => RecoveryKind::NewReno,
        "sack1" => RecoveryKind::Sack1,
        _ => RecoveryKind::Sack,
    }
}

/// The congestion control that a scenario chose.
pub(super) struct Chosen {
    pub name: &'static str,
    pub control: Box<dyn Control>,
}

impl Chosen {
    /// The congestion control of the parameter, or the one called `otherwise` if it is not given.
    pub fn read(
        params: &Params,
        otherwise: &'static str,
        controls: &Controls,
    ) -> Result<Chosen, BadParams> {
        Ok(match params.variant("congestion") {
            Some((about, own)) => {
                Chosen { name: about.name, control: controls.make(about.name, &own)? }
            }
            None => {
                params.settle("congestion", Value::Choice(otherwise));
                Chosen { name: otherwise, control: congestion::make_usual(otherwise) }
            }
        })
    }
}

/// The ECN rules, with the feedback that the congestion control needs.
fn ecn(params: &Params, chosen: &Chosen) -> Result<EcnRules, BadParams> {
    let ControlFlags { ecn: wanted, own_window, .. } = chosen.control.flags();
    let given = |name| has(params, name) && params.given(name);
    if own_window && given("beta_ecn") {
        let name = chosen.name;
        let why = format!("is no number of {name}'s, which sets its window itself; leave it out");
        return Err(BadParams::new("beta_ecn", why));
    }
    let on = params.switch_or("ecn", wanted != EcnMode::Classic);
    let feedback = match wanted {
        EcnMode::Classic => "classic",
        EcnMode::Dctcp => "dctcp",
        EcnMode::Scalable => "accurate",
    };
    // A complete scenario gives the value "honest" for every receiver.
    let ignores = params.choice("ecn_receiver") == "ignores";
    let beta = given("beta_ecn").then(|| BetaEcn::new(params.real("beta_ecn")));
    if beta.is_some() && wanted != EcnMode::Classic {
        let why = "goes with controls that answer a mark once per window; leave it out with dctcp \
                   and prague, which answer how many there are";
        return Err(BadParams::new("beta_ecn", why));
    }
    for (name, requested) in [
        ("ecn_feedback", params.given("ecn_feedback")),
        ("ecn_receiver", ignores),
        ("beta_ecn", beta.is_some()),
    ] {
        if requested && !on {
            return Err(BadParams::new(name, "means nothing without ecn = true; set both or none"));
        }
    }
    let feedback = match params.choice_or("ecn_feedback", feedback) {
        "accurate" => EcnFeedback::Accurate,
        "dctcp" => EcnFeedback::Dctcp,
        _ => EcnFeedback::Classic,
    };
    let counts = on && feedback == EcnFeedback::Accurate;
    let option = has(params, "accecn_option") && params.switch_or("accecn_option", counts);
    if option && !counts {
        let why = "goes with ecn_feedback = \"accurate\" only; set both or none";
        return Err(BadParams::new("accecn_option", why));
    }
    Ok(EcnRules {
        on,
        feedback,
        option,
        honest: !ignores,
        cut: beta.map_or(EchoCut::AsLoss, EchoCut::Beta),
        scalable: wanted == EcnMode::Scalable,
        fallback: false,
        waiting_mark_outlasts_cwr: false,
        believes_thinned: false,
        answers_unmarked: false,
        repeats_are_capable: false,
        everywhere: false,
    })
}

/// Whether a profile's parameters have a field called `name`.
fn has(params: &Params, name: &str) -> bool {
    params.iter().any(|(field, _)| field.name == name)
}

/// Number of segments per acknowledgement; 1 if acknowledgements never wait.
fn ack_every(params: &Params) -> Result<u64, BadParams> {
    let every = params.whole("ack_every");
    if params.time("delayed_ack") > Duration::ZERO {
        return Ok(every);
    }
    if params.given("ack_every") && every > 1 {
        let why = format!(
            "{every} segments never wait for each other with delayed_ack = 0 s; leave ack_every \
             out or give delayed_ack a time"
        );
        return Err(BadParams::new("ack_every", why));
    }
    Ok(1)
}

/// Output rules without Nagle's algorithm: a write and the close after it are handled together.
pub(super) const PLAIN_OUTPUT: Output = Output {
    bsd: false,
    write_chunk: 0,
    small_write_split: false,
    whole_packets: false,
    pairs: false,
    pushes: false,
};

/// A limit of `span`, counted in ticks of the host's slow clock and rounded up.
pub(super) fn ticked(span: Duration, tick: Duration) -> TimeLimit {
    TimeLimit::Ticks { n: span.nanos().div_ceil(tick.nanos()), tick }
}

/// Number of ticks in `span`, rounded up.
pub(super) fn ticks(span: Duration, tick: Duration) -> u32 {
    span.nanos().div_ceil(tick.nanos()) as u32
}
