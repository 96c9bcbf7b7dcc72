//! Telephone calls over IP: two talkers, two listeners, and the packets that each listener plays.

mod playout_buffer;
mod talker;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::report::Impairment;
use packet::units::Unit;
use packet::{About, Duration, Ecn, Instant, Rng};

use self::playout_buffer::{Playout, PlayoutBuffer};
use self::talker::{SpeechModel, Talker};
use super::{Lifetime, Lifetimes};
use crate::entry::{Entry, Group, Population};
use crate::report::Report;
use crate::{Action, App, AppCx, Input};

/// Bytes of an RTP header (RFC 3550 section 5.1).
const RTP: u32 = 12;

/// A codec: how speech becomes packets, and how much the coding impairs it.
#[derive(Clone, Copy, Debug)]
struct Codec {
    /// Bytes of speech in a second.
    bytes_per_s: f64,
    /// Time for which the coder waits beyond the speech of a packet.
    look_ahead: Duration,
    /// Equipment impairment and packet-loss robustness, Ie and Bpl.
    impairment: Impairment,
}

fn codec(name: &str) -> Codec {
    match name {
        "g729a" => Codec {
            bytes_per_s: 1_000.0,
            look_ahead: Duration::from_millis(5),
            impairment: Impairment { equipment: 11.0, robustness: 19.0 },
        },
        _ => Codec {
            bytes_per_s: 8_000.0,
            look_ahead: Duration::ZERO,
            impairment: Impairment { equipment: 0.0, robustness: 25.1 },
        },
    }
}

/// One direction of a call: its talker and the buffer of its listener.
#[derive(Debug)]
struct Voice {
    back: bool,
    talker: Talker,
    buffer: PlayoutBuffer,
}

/// A call with both its ends.
#[derive(Debug)]
pub struct Call {
    peer: u32,
    bytes: u32,
    codec: Codec,
    model: SpeechModel,
    playout: Playout,
    both_ways: bool,
    lifetime: Lifetime,
    rngs: [Rng; 2],
    voices: Vec<Voice>,
}

impl Call {
    /// Begins the call. The packets of both talkers are offset by a random part of a packet's time.
    fn begin(&mut self, now: Instant) {
        for back in [false, true].into_iter().take(1 + usize::from(self.both_ways)) {
            let mut rng = self.rngs[usize::from(back)].clone();
            let apart = if back { self.model.packet.secs_f64() * rng.uniform() } else { 0.0 };
            let begin = now + Duration::from_secs_f64(apart);
            let talker = Talker::new(self.model, begin, rng);
            self.voices.push(Voice { back, talker, buffer: PlayoutBuffer::new(self.playout) });
        }
    }

    /// Sends the packets that are due, and schedules the next wake-up.
    fn talk(&mut self, cx: &mut AppCx) {
        let mut next = Instant::NEVER;
        for Voice { back, talker, buffer } in &mut self.voices {
            if talker.next <= cx.now {
                buffer.said(talker.speak(), cx.now);
                let (peer, bytes, back, ecn) = (self.peer, self.bytes, *back, Ecn::NotEct);
                (cx.act)(Action::SendDatagram { peer, bytes, back, ecn });
            }
            next = next.min(talker.next);
        }
        (cx.act)(Action::WakeAt(next));
    }
}

impl App for Call {
    fn on(&mut self, input: Input, cx: &mut AppCx) {
        match input {
            Input::Start => {
                self.lifetime.start(cx);
            }
            Input::Woke if !self.lifetime.is_over(cx.now) => {
                if self.voices.is_empty() {
                    self.begin(cx.now);
                }
                self.talk(cx);
            }
            Input::Received { back, number, .. } => {
                self.voices[usize::from(back)].buffer.received(number, cx.now);
            }
            _ => {}
        }
    }

    fn measure(&mut self, _now: Instant) {
        self.voices.iter_mut().for_each(|voice| voice.buffer.measure());
    }

    fn report(&mut self, now: Instant) -> Option<Report> {
        let before = (self.model.packet + self.codec.look_ahead).secs_f64();
        let impairment = self.codec.impairment;
        let listeners =
            self.voices.iter().map(|v| v.buffer.report(v.back, before, impairment, now));
        Some(Report::Call(listeners.collect()))
    }
}

/// The entry for calls in the registry.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "voip",
        summary: "Telephone calls, both ways, through playout buffers, with the E-model's rating.",
        year: 2015,
        source: "ITU-T G.107 (06/2015), the E-model; G.113 Appendix I, the codecs (recalled); R. Ramjee, \
                 J. Kurose, D. Towsley and H. Schulzrinne, Adaptive playout mechanisms for packetized \
                 audio applications in wide-area networks, INFOCOM 1994",
        deviations: "Talkers pause independently of each other, for exponential times; a coder takes no \
                     time to compute. The adaptive buffer begins with the fixed one's length. Packets \
                     are not ECN-capable, and no RTCP is sent.",
        fields: &FIELDS,
    },
    noun: ["call", "calls"],
    fetches: false,
    datagrams: true,
    build,
};

static FIELDS: [Field; 11] = [
    Field::new("codec", Kind::Choice(&["g711", "g729a"]), Value::Choice("g711"))
        .meaning(
            "How speech is coded: g711 (64 kbit/s, with loss concealment; Ie 0, Bpl 25.1) or \
                  g729a (8 kbit/s, 5 ms look-ahead; Ie 11, Bpl 19).",
        )
        .source("RFC 3551; impairments: recalled from ITU-T G.113 Appendix I"),
    Field::new("packet_time", Kind::from(Unit::Time, 0.01, 0.1), Value::Real(0.02))
        .meaning("Speech in one packet, which has 40 B of IPv4, UDP and RTP headers besides.")
        .source("RFC 3551 section 4.2"),
    Field::new("pauses", Kind::Choice(&["sent", "suppressed"]), Value::Choice("sent"))
        .meaning("Whether pauses are sent like speech, or suppressed.")
        .source("RFC 7928's calls of about 87 kbit/s each way on Ethernet (recalled) send them"),
    Field::new("talk", Kind::above(Unit::Time, 0.0, 1e6), Value::Real(1.004))
        .meaning("Mean length of a spurt of speech. A listener sets its buffer anew with each.")
        .source("recalled: ITU-T P.59"),
    Field::new("pause", Kind::above(Unit::Time, 0.0, 1e6), Value::Real(1.587))
        .meaning("Mean length of a pause.")
        .source("recalled: ITU-T P.59"),
    Field::new("both_ways", Kind::Switch, Value::Switch(true))
        .meaning("Whether the peer talks as well.")
        .source("a conversation"),
    Field::new("playout", Kind::Choice(&["fixed", "adaptive"]), Value::Choice("fixed"))
        .meaning(
            "How a listener sets its buffer at the begin of a spurt: fixed (the spurt's first \
                  packet waits for buffer) or adaptive (mean delay and four times its variation, \
                  algorithm 1 of Ramjee et al.).",
        )
        .source("Ramjee et al., 1994"),
    Field::new("buffer", Kind::from(Unit::Time, 0.0, 10.0), Value::Real(0.06))
        .meaning(
            "How long the first packet of a spurt waits. A packet that comes after its time is \
                  as good as lost.",
        )
        .source("constructed: three packets"),
    Lifetimes::FIELDS[0],
    Lifetimes::FIELDS[1],
    Lifetimes::FIELDS[2],
];

fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    group.need_machines("calls")?;
    let codec = codec(params.choice("codec"));
    let model = SpeechModel {
        packet: params.time("packet_time"),
        talk: params.real("talk"),
        pause: params.real("pause"),
        sends_pauses: params.choice("pauses") == "sent",
    };
    let adaptive = params.choice("playout") == "adaptive";
    let playout = Playout { buffer: params.real("buffer"), adaptive };
    let both_ways = params.switch("both_ways");
    let bytes = (codec.bytes_per_s * params.real("packet_time")).round() as u32 + RTP;
    let (lifetimes, group) = (Lifetimes::new(params), group.clone());
    Ok(Population::new(group.sources, move |i| Call {
        peer: group.peer_of(i),
        bytes,
        codec,
        model,
        playout,
        both_ways,
        lifetime: lifetimes.draw(&mut group.stream("start", i)),
        rngs: ["talk", "answer"].map(|of| group.stream(of, i)),
        voices: Vec::new(),
    }))
}
