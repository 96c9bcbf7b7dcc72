//! Senders of datagrams: most do not listen and go at their own pace, whatever the network does to
//! them; video calls adapt.

pub mod cbr;
pub mod on_off;
pub mod pulse;
pub mod rtc;
pub mod voip;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{Duration, Instant, Rng};

use crate::registry::Group;

/// When the senders of a group begin, and how long they go on.
#[derive(Clone, Copy, Debug)]
struct Lifetimes {
    start_s: f64,
    within_s: f64,
    lasts: Option<Duration>,
}

/// When a sender begins and how long it goes on.
#[derive(Clone, Copy, Debug)]
struct Lifetime {
    begins: Duration,
    lasts: Option<Duration>,
}

impl Lifetimes {
    /// The fields of [`Lifetimes::new`].
    const FIELDS: [Field; 3] = [
        Field::new("start", Kind::from(Unit::Time, 0.0, 1e9), Value::Real(0.0))
            .meaning("When the first sender may begin.")
            .source("constructed"),
        Field::new("start_within", Kind::from(Unit::Time, 0.0, 86_400.0), Value::Real(10.0))
            .meaning("Each sender begins at an instant drawn uniformly from this long after start.")
            .source("constructed: avoids a synchronised start"),
        Field::new("lasts", Kind::above(Unit::Time, 0.0, 1e9), Value::Unset)
            .meaning("How long each sender goes on; if not given, to the end of the run.")
            .source("constructed"),
    ];

    fn new(params: &Params) -> Lifetimes {
        let lasts = params.real_or("lasts", 0.0);
        Lifetimes {
            start_s: params.real("start"),
            within_s: params.real("start_within"),
            lasts: (lasts > 0.0).then(|| Duration::from_secs_f64(lasts)),
        }
    }

    fn draw(self, rng: &mut Rng) -> Lifetime {
        let begins = self.start_s + self.within_s * rng.uniform();
        Lifetime { begins: Duration::from_secs_f64(begins), lasts: self.lasts }
    }
}

impl Lifetime {
    /// Whether a sender that began at `begun` has ended at `now`.
    fn over(self, begun: Instant, now: Instant) -> bool {
        self.lasts.is_some_and(|lasts| now >= begun + lasts)
    }
}

/// Largest UDP payload in an unfragmented Ethernet packet: 1,500 B less 28 B of headers.
const MOST_PAYLOAD: u64 = 1_472;

const RATE: Kind = Kind::Real { unit: Unit::Rate, min: 1.0, max: 1e12, open: false };
const PAYLOAD: Kind = Kind::Whole { unit: Unit::Bytes, min: 1, max: MOST_PAYLOAD };

/// Time between datagrams of `bytes` payload at `rate` bit/s.
fn gap(rate: f64, bytes: u32) -> Duration {
    Duration::from_secs_f64(f64::from(bytes) * 8.0 / rate).max(Duration::from_nanos(1))
}

/// The machine that sender `index` sends to.
fn peer_of(index: u32, group: &Group) -> u32 {
    crate::bulk::peer_of(index, group.machines, group.peers)
}

/// # Errors
/// If either side has no machine.
fn need_machines(group: &Group) -> Result<(), BadParams> {
    for (field, count) in [("peers", group.peers), ("machines", group.machines)] {
        if count == 0 {
            let why = "senders need a machine on each side; give it at least 1";
            return Err(BadParams::new(field, why));
        }
    }
    Ok(())
}
