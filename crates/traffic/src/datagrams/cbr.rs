//! Constant bit rate: equal datagrams at equal distances, or at the instants of a Poisson process.

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::{Duration, Instant, Rng};

use super::{Life, Lives, PAYLOAD, RATE, gap, need_machines, peer_of};
use crate::registry::{Entry, Group, Population};
use crate::{Action, App, AppCx, Input};

/// Sends a datagram every `gap`, or with `poisson` after exponential times with this mean.
#[derive(Debug)]
pub struct Cbr {
    peer: u32,
    bytes: u32,
    gap: Duration,
    life: Life,
    begun: Instant,
    poisson: Option<Rng>,
}

impl Cbr {
    /// Time until the next datagram.
    fn pause(&mut self) -> Duration {
        match &mut self.poisson {
            Some(rng) => {
                let pause = rng.exponential(self.gap.secs_f64());
                Duration::from_secs_f64(pause).max(Duration::from_nanos(1))
            }
            None => self.gap,
        }
    }
}

impl App for Cbr {
    fn on(&mut self, input: Input, cx: &mut AppCx) {
        match input {
            Input::Start => {
                self.begun = cx.now + self.life.begins;
                (cx.act)(Action::WakeAt(self.begun));
            }
            Input::Woke if !self.life.over(self.begun, cx.now) => {
                (cx.act)(Action::Datagram { peer: self.peer, bytes: self.bytes });
                let pause = self.pause();
                (cx.act)(Action::WakeAt(cx.now + pause));
            }
            _ => {}
        }
    }
}

/// What the registry says of constant-rate senders.
pub const ENTRY: Entry = Entry {
    name: "cbr",
    summary: "Senders of equal datagrams at equal distances or at random, deaf to loss: audio, \
              video, floods.",
    year: 1999,
    source: "May, Bolot, Diot and Lyles, Reasons not to deploy RED, 1999 (audio and video of the \
             Chariot mix); Järvinen, Ding, Nyrhinen and Kojo, Harsh RED, 2012 (the measured flow)",
    deviations: "Rates and packet sizes of audio and video are constructed: the 1999 paper does \
                 not print them. Packets have 28 B of IPv4 and UDP headers and are not ECN-capable.",
    fetches: false,
    datagrams: true,
    fields: &FIELDS,
    build,
};

/// Rate (bit/s of payload) and payload bytes of the presets.
fn preset(name: &str) -> (f64, u64) {
    match name {
        "audio" => (64e3, 200),
        "video" => (300e3, 1_000),
        "edge" => (16e3, 40),
        "hspa" => (64e3, 160),
        "flood" => (10e6, 1_000),
        _ => (1e6, 1_000),
    }
}

static FIELDS: [Field; 7] = [
    Field {
        name: "preset",
        meaning: "Rate and packet of a known sender: audio (64 kbit/s in 200 B), video (300 kbit/s \
                  in 1,000 B), edge (16 kbit/s in 40 B), hspa (64 kbit/s in 160 B), flood (10 \
                  Mbit/s in 1,000 B; to flood a link at another rate, give rate), plain (1 Mbit/s \
                  in 1,000 B).",
        kind: Kind::Choice(&["plain", "audio", "video", "edge", "hspa", "flood"]),
        default: Value::Choice("plain"),
        source: "edge and hspa: rates of Harsh RED, sizes constructed; flood: rate of the unresponsive \
                 sender in ns-3's RFC 7928 suite, size constructed; the others constructed",
    },
    Field {
        name: "rate",
        meaning: "Rate of the payload, instead of the preset's.",
        kind: RATE,
        default: Value::Unset,
        source: "the preset's",
    },
    Field {
        name: "packet",
        meaning: "Payload of each datagram, instead of the preset's.",
        kind: PAYLOAD,
        default: Value::Unset,
        source: "the preset's",
    },
    Field {
        name: "spacing",
        meaning: "Whether datagrams leave at equal distances or as a Poisson process of that mean.",
        kind: Kind::Choice(&["constant", "poisson"]),
        default: Value::Choice("constant"),
        source: "constructed",
    },
    Lives::FIELDS[0],
    Lives::FIELDS[1],
    Lives::FIELDS[2],
];

fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    need_machines(group)?;
    let (rate, packet) = preset(params.choice("preset"));
    let bytes = params.whole_or("packet", packet) as u32;
    let gap = gap(params.real_or("rate", rate), bytes);
    let (lives, members) = (Lives::new(params), group.members);
    let (start, gaps) = (format!("{}.start", group.name), format!("{}.gaps", group.name));
    let random = params.choice("spacing") == "poisson";
    let group = group.clone();
    let sender = move |i| {
        let stream = |name: &str| Rng::indexed(group.seed, name, u64::from(i));
        let life = lives.draw(&mut stream(&start));
        let poisson = random.then(|| stream(&gaps));
        Cbr { peer: peer_of(i, &group), bytes, gap, life, begun: Instant::ZERO, poisson }
    };
    Ok(Population::new(members, sender))
}
