//! Constant bit rate: equal datagrams at equal intervals, at intervals that vary a little, or at
//! the instants of a Poisson process.

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant, Rng};

use super::{Lifetimes, PAYLOAD, Pattern, RATE, gap, senders};
use crate::entry::{Entry, Group, Population};

/// How the times between datagrams are distributed.
#[derive(Clone, Debug)]
enum Spacing {
    /// All times are equal to the mean.
    Constant,
    /// Times are uniform around the mean; the greatest difference is the given share of the mean.
    Jitter(f64, Rng),
    /// Times are exponentially distributed.
    Poisson(Rng),
}

/// Sends `burst` datagrams at once, every `gap` on average.
struct Cbr {
    burst: u64,
    gap: Duration,
    spacing: Spacing,
}

impl Pattern for Cbr {
    fn at_once(&self) -> u64 {
        self.burst
    }

    fn next(&mut self, now: Instant) -> Instant {
        let mean = self.gap.secs_f64();
        let drawn = match &mut self.spacing {
            Spacing::Constant => return now + self.gap,
            Spacing::Jitter(share, rng) => mean * (1.0 + *share * (2.0 * rng.uniform() - 1.0)),
            Spacing::Poisson(rng) => rng.exponential(mean),
        };
        now + Duration::from_secs_f64(drawn).max(Duration::from_nanos(1))
    }
}

/// The entry for constant-rate senders in the registry.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "cbr",
        summary: "Senders of equal datagrams at equal distances or at random, deaf to loss: audio, \
                  video, floods.",
        year: 1999,
        source: "May, Bolot, Diot and Lyles, Reasons not to deploy RED, 1999 (audio and video of the \
                 Chariot mix); Järvinen, Ding, Nyrhinen and Kojo, Harsh RED, 2012 (the measured flow)",
        deviations: "Rates and packet sizes of audio and video are constructed: the 1999 paper does \
                     not print them. Packets have 28 B of IPv4 and UDP headers and are not ECN-capable.",
        fields: &FIELDS,
    },
    noun: ["constant-rate stream", "constant-rate streams"],
    fetches: false,
    datagrams: true,
    build,
};

/// Rate (bit/s of payload) and payload bytes of a preset.
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

static FIELDS: [Field; 9] = [
    Field::new(
        "preset",
        Kind::Choice(&["plain", "audio", "video", "edge", "hspa", "flood"]),
        Value::Choice("plain"),
    )
    .meaning(
        "Rate and packet of a known sender: audio (64 kbit/s in 200 B), video (300 kbit/s \
                  in 1,000 B), edge (16 kbit/s in 40 B), hspa (64 kbit/s in 160 B), flood (10 \
                  Mbit/s in 1,000 B; to flood a link at another rate, give rate), plain (1 Mbit/s \
                  in 1,000 B).",
    )
    .source(
        "edge and hspa: rates of Harsh RED, sizes constructed; flood: rate of the unresponsive \
                 sender in ns-3's RFC 7928 suite, size constructed; the others constructed",
    ),
    Field::new("rate", RATE, Value::Unset)
        .meaning("Rate of the payload, instead of the preset's.")
        .source("the preset's"),
    Field::new("packet", PAYLOAD, Value::Unset)
        .meaning("Payload of each datagram, instead of the preset's.")
        .source("the preset's"),
    Field::new("burst", Kind::whole(Unit::Packets, 1, 1_000), Value::Whole(1))
        .meaning(
            "Datagrams that leave at one instant, the next ones as many distances later, so that \
                  the rate stays: a large buffer that is handed over at once and cut into packets.",
        )
        .source("constructed: 1, evenly paced"),
    Field::new("spacing", Kind::Choice(&["constant", "poisson"]), Value::Choice("constant"))
        .meaning("Whether datagrams leave at equal distances or as a Poisson process of that mean.")
        .source("constructed"),
    Field::new("jitter", Kind::from(Unit::None, 0.0, 1.0), Value::Real(0.0))
        .meaning(
            "With constant spacing: each distance is drawn uniformly within this share of the mean \
                  on either side. 0.5 is what ns-2's CBR does with random_.",
        )
        .source("read: ns-2 cbr_traffic.cc, next_interval, which draws so if random_ is set"),
    Lifetimes::FIELDS[0],
    Lifetimes::FIELDS[1],
    Lifetimes::FIELDS[2],
];

fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    let (rate, packet) = preset(params.choice("preset"));
    let bytes = params.whole_or("packet", packet) as u32;
    let burst = params.whole("burst");
    let gap = gap(params.real_or("rate", rate), bytes) * burst;
    let (random, jitter) = (params.choice("spacing") == "poisson", params.real("jitter"));
    if random {
        let why =
            "has no effect on a Poisson process; leave it out, or write spacing = \"constant\"";
        params.without_effect("jitter", why)?;
    }
    senders(params, group, bytes, move |group, i| {
        let spacing = match (random, jitter > 0.0) {
            (true, _) => Spacing::Poisson(group.stream("gaps", i)),
            (_, true) => Spacing::Jitter(jitter, group.stream("gaps", i)),
            _ => Spacing::Constant,
        };
        Cbr { burst, gap, spacing }
    })
}
