//! The exchangeable parts of an end system: the same fields in every profile's table, with the
//! profile's own defaults, and what they make.

use packet::Duration;
use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use crate::congestion::Feedback;
use crate::ecn::{EcnFeedback, EcnRules};
use crate::profile::{Doubt, Life, Output};
use crate::receiver::{AckClock, AckPolicy, AtOnce};
use crate::recovery::{Manner, RecoveryKind, Rules};
use crate::segment::STAMP_BYTES;

/// A profile's field: the shared one with its own default and the source of that.
pub(super) const fn field(shared: Field, default: Value, source: &'static str) -> Field {
    Field { default, source, ..shared }
}

const fn shared(name: &'static str, meaning: &'static str, kind: Kind) -> Field {
    Field { name, meaning, kind, default: Value::Unset, source: "" }
}

pub(super) const ON: Value = Value::Switch(true);
pub(super) const OFF: Value = Value::Switch(false);

/// The segment size on Ethernet.
pub(super) const MSS: Field = Field {
    default: Value::Whole(1_460),
    source: "1,500 B Ethernet less 40 B of headers",
    ..shared(
        "mss",
        "Largest payload of a segment; with timestamps 12 B less go out.",
        Kind::Whole { unit: Unit::Bytes, min: 64, max: 9_000 },
    )
};
pub(super) const WINDOW: Field = shared(
    "window_bytes",
    "Receive window. A scenario may call it window.",
    Kind::Whole { unit: Unit::Bytes, min: 64, max: 1 << 30 },
);
pub(super) const INITIAL_WINDOW: Field = shared(
    "initial_window",
    "First congestion window, in segments.",
    Kind::Whole { unit: Unit::Packets, min: 1, max: 1_000 },
);
pub(super) const RECOVERY: Field = shared(
    "recovery",
    "Loss recovery: Tahoe, Reno, NewReno (RFC 6582) or SACK (RFC 6675).",
    Kind::Choice(&["tahoe", "reno", "newreno", "sack"]),
);
pub(super) const DUPACK_THRESHOLD: Field = Field {
    default: Value::Whole(3),
    source: "RFC 5681 section 3.2",
    ..shared(
        "dupack_threshold",
        "Duplicate acknowledgements that start a fast retransmit.",
        Kind::Whole { unit: Unit::Packets, min: 1, max: 100 },
    )
};
pub(super) const LIMITED_TRANSMIT: Field = shared(
    "limited_transmit",
    "Send a new segment at each duplicate acknowledgement before the fast retransmit (RFC 3042).",
    Kind::Switch,
);
pub(super) const RTO_MIN: Field = shared(
    "rto_min",
    "Smallest retransmission timeout. A scenario may call it min_rto.",
    Kind::Real { unit: Unit::Time, min: 0.0, max: 60.0, open: true },
);
pub(super) const TICK: Field = shared(
    "tick",
    "Granularity of round trips and timeouts, at least 1 ms; 0 s counts exact times.",
    Kind::Real { unit: Unit::Time, min: 0.0, max: 1.0, open: false },
);
pub(super) const DELAYED_ACK: Field = shared(
    "delayed_ack",
    "Longest wait of an acknowledgement; 0 acknowledges every segment at once.",
    Kind::Real { unit: Unit::Time, min: 0.0, max: 0.5, open: false },
);
pub(super) const ACK_EVERY: Field = shared(
    "ack_every",
    "Acknowledge at once at this many data segments.",
    Kind::Whole { unit: Unit::Packets, min: 1, max: 100 },
);
pub(super) const DELAYED_ACK_CLOCK: Field = shared(
    "delayed_ack_clock",
    "What ends an acknowledgement's wait: the connection's own timer, the next tick of the host's \
     clock, or of one that all hosts share; the clocks' period is delayed_ack.",
    Kind::Choice(&["connection", "host", "common"]),
);
pub(super) const TIMESTAMPS: Field = shared(
    "timestamps",
    "The timestamps option (RFC 7323): 12 B on every segment, a round trip from every ACK, in \
     ticks, or in ms where times are exact.",
    Kind::Switch,
);
pub(super) const F_RTO: Field = shared(
    "f_rto",
    "Detect needless timeouts by F-RTO (RFC 5682) and answer them as RFC 4015 does.",
    Kind::Switch,
);
pub(super) const ECN: Field = Field {
    default: OFF,
    source: "constructed: off, so that marks are drops unless a scenario asks for them",
    ..shared("ecn", "Explicit congestion notification (RFC 3168).", Kind::Switch)
};
pub(super) const ECN_FEEDBACK: Field = Field {
    default: Value::Unset,
    source: "RFC 3168, unless the congestion control needs to know more",
    ..shared(
        "ecn_feedback",
        "What the receiver tells of marks: an echo per window (classic, RFC 3168), an echo of the \
         marked bytes (dctcp, RFC 8257; asked for like the classic one, so both ends must be set), \
         or a count (accurate, RFC 9768; classic towards a peer that knows no other).",
        Kind::Choice(&["classic", "dctcp", "accurate"]),
    )
};
pub(super) const ECN_RECEIVER: Field = Field {
    default: Value::Choice("honest"),
    source: "RFC 3168; that one may ignore marks, and why it pays: its section 18.1 and RFC 3540",
    ..shared(
        "ecn_receiver",
        "honest, or one that agrees to ECN and ignores marks: its peers never slow down for them.",
        Kind::Choice(&["honest", "ignores"]),
    )
};
pub(super) const IDLE_RESTART: Field = shared(
    "idle_restart",
    "Return to the initial window after a pause of a timeout.",
    Kind::Switch,
);

/// The socket layer of 4.4BSD.
pub(super) const WRITE_CHUNK: Field = Field {
    default: Value::Whole(0),
    source: "constructed; the kernel's mbuf clusters hold 2,048 B",
    ..shared(
        "write_chunk",
        "Bytes of a large write handed to TCP per call; 0 hands over whole writes.",
        Kind::Whole { unit: Unit::Bytes, min: 0, max: 65_535 },
    )
};
pub(super) const SMALL_WRITE_SPLIT: Field = Field {
    default: OFF,
    source: "constructed; the kernel's small mbufs hold 100 B",
    ..shared(
        "small_write_split",
        "Hand writes below 208 B to TCP in pieces of at most 100 B.",
        Kind::Switch,
    )
};

/// The parts as a scenario chose them.
pub(super) struct Parts {
    pub mss: u64,
    /// What of it is payload.
    pub segment: u64,
    pub window: u64,
    pub initial_segments: u64,
    pub rto_min: Duration,
    pub tick: Duration,
    pub delayed_ack: Duration,
    /// 1 if acknowledgements never wait.
    pub ack_every: u64,
    pub timestamps: bool,
    pub ecn: EcnRules,
    pub idle_restart: bool,
    kind: RecoveryKind,
    threshold: u32,
    limited_transmit: bool,
    clock: AckClock,
    f_rto: bool,
}

impl Parts {
    /// Reads the shared fields.
    pub fn read(params: &Params) -> Result<Parts, BadParams> {
        Parts::read_for(params, Feedback::Classic)
    }

    /// The same where a congestion control wants this ECN feedback.
    pub fn read_for(params: &Params, wanted: Feedback) -> Result<Parts, BadParams> {
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
            ecn: ecn(params, wanted)?,
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
        };
        parts.check()?;
        Ok(parts)
    }

    fn check(&self) -> Result<(), BadParams> {
        if self.window < self.mss {
            // Or nothing would ever be sent.
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

    /// The tick of a profile that cannot do without.
    pub fn counted_tick(&self) -> Result<Duration, BadParams> {
        if self.tick == Duration::ZERO {
            let why = "0 s: this profile counts ticks; write for example \"10 ms\", or take \
                       profile = \"plain\" for exact times";
            return Err(BadParams::new("tick", why));
        }
        Ok(self.tick)
    }

    pub fn rules(&self, manner: Manner) -> Rules {
        let Parts { kind, threshold, limited_transmit, .. } = *self;
        Rules { kind, manner, threshold, limited_transmit }
    }

    /// Counts segments, whatever their size.
    pub fn ack(&self) -> AckPolicy {
        self.ack_at(AtOnce::Segments(self.ack_every as u8))
    }
    pub fn ack_at(&self, at_once: AtOnce) -> AckPolicy {
        AckPolicy { at_once, delay: self.delayed_ack, clock: self.clock, duplicates: false }
    }

    pub fn doubt(&self) -> Doubt {
        if self.f_rto { Doubt::FRto } else { Doubt::None }
    }
}

pub(super) fn kind(name: &str) -> RecoveryKind {
    match name {
        "tahoe" => RecoveryKind::Tahoe,
        "reno" => RecoveryKind::Reno,
        "newreno" => RecoveryKind::NewReno,
        _ => RecoveryKind::Sack,
    }
}

/// ECN, for a congestion control that wants this feedback.
fn ecn(params: &Params, wanted: Feedback) -> Result<EcnRules, BadParams> {
    let on = params.switch_or("ecn", wanted != Feedback::Classic);
    let feedback = match wanted {
        Feedback::Classic => "classic",
        Feedback::Dctcp => "dctcp",
        Feedback::Scalable => "accurate",
    };
    // A complete scenario says "honest" of every receiver.
    let ignores = params.choice("ecn_receiver") == "ignores";
    for (name, asked) in [("ecn_feedback", params.given("ecn_feedback")), ("ecn_receiver", ignores)]
    {
        if asked && !on {
            return Err(BadParams::new(name, "means nothing without ecn = true; set both or none"));
        }
    }
    Ok(EcnRules {
        on,
        feedback: match params.choice_or("ecn_feedback", feedback) {
            "accurate" => EcnFeedback::Accurate,
            "dctcp" => EcnFeedback::Dctcp,
            _ => EcnFeedback::Classic,
        },
        honest: !ignores,
        scalable: wanted == Feedback::Scalable,
    })
}

/// Acknowledgements that never wait come with every segment.
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

/// The output of 4.4BSD.
pub(super) fn bsd_output(params: &Params) -> Output {
    Output {
        bsd: true,
        write_chunk: params.whole("write_chunk"),
        small_write_split: params.switch("small_write_split"),
        whole_packets: false,
    }
}

/// Writes and close seen together, no Nagle.
pub(super) const PLAIN_OUTPUT: Output =
    Output { bsd: false, write_chunk: 0, small_write_split: false, whole_packets: false };

/// `seconds` of the host's slow clock.
pub(super) fn ticked(seconds: u64, tick: Duration) -> Life {
    Life::Ticks { n: Duration::from_secs(seconds).nanos().div_ceil(tick.nanos()), tick }
}

/// How many ticks `span` takes.
pub(super) fn ticks(span: Duration, tick: Duration) -> u32 {
    span.nanos().div_ceil(tick.nanos()) as u32
}
