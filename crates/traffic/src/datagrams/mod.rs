//! Senders of datagrams. Most go at their own pace, whatever the network does to their datagrams;
//! video calls adapt.

pub mod cbr;
pub mod on_off;
pub mod ping;
pub mod pulse;
pub mod rtc;
pub mod voip;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{Duration, Instant, Rng};

use crate::entry::{Group, Population};
use crate::{Action, App, AppCx, Input, Paced};

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
    begun: Instant,
}

impl Lifetimes {
    /// The parameters that [`Lifetimes::new`] reads.
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
        let begins = Duration::from_secs_f64(begins);
        Lifetime { begins, lasts: self.lasts, begun: Instant::ZERO }
    }
}

impl Lifetime {
    /// The run begins: schedules the wake-up at the instant when the sender begins, and returns it.
    fn start(&mut self, cx: &mut AppCx) -> Instant {
        self.begun = cx.now + self.begins;
        (cx.act)(Action::WakeAt(self.begun));
        self.begun
    }

    /// When the sender ends; never if it goes on.
    fn end(self) -> Instant {
        self.lasts.map_or(Instant::NEVER, |lasts| self.begun + lasts)
    }

    fn is_over(self, now: Instant) -> bool {
        now >= self.end()
    }
}

/// The instants at which the datagrams of a sender leave.
trait Pattern: Send {
    /// Prepares the pattern: the sender begins at `now`, with a datagram.
    fn begin(&mut self, _now: Instant) {}
    /// Number of datagrams that leave at each instant.
    fn at_once(&self) -> u64 {
        1
    }
    /// The instant of the next datagram after one at `now`.
    fn next(&mut self, now: Instant) -> Instant;
}

/// A sender of equal datagrams.
struct Sender<P> {
    peer: u32,
    bytes: u32,
    lifetime: Lifetime,
    pattern: P,
}

impl<P: Pattern> App for Sender<P> {
    fn on(&mut self, input: Input, cx: &mut AppCx) {
        match input {
            Input::Start => {
                let begun = self.lifetime.start(cx);
                self.pattern.begin(begun);
            }
            Input::Woke => {
                let Some(Paced { peer, bytes, count, next }) = self.paced(cx.now) else { return };
                for _ in 0..count {
                    (cx.act)(Action::Datagram { peer, bytes });
                }
                (cx.act)(Action::WakeAt(next));
            }
            _ => {}
        }
    }

    #[inline]
    fn paced(&mut self, now: Instant) -> Option<Paced> {
        (!self.lifetime.is_over(now)).then(|| Paced {
            peer: self.peer,
            bytes: self.bytes,
            count: self.pattern.at_once(),
            next: self.pattern.next(now),
        })
    }
}

/// Builds senders of datagrams with `bytes` bytes of payload.
///
/// # Errors
/// If either side has no machine.
fn senders<P: Pattern + 'static>(
    params: &Params,
    group: &Group,
    bytes: u32,
    pattern: impl Fn(&Group, u32) -> P + Send + Sync + 'static,
) -> Result<Population, BadParams> {
    group.need_machines("senders")?;
    let (lifetimes, group) = (Lifetimes::new(params), group.clone());
    Ok(Population::new(group.sources, move |i| Sender {
        peer: group.peer_of(i),
        bytes,
        lifetime: lifetimes.draw(&mut group.stream("start", i)),
        pattern: pattern(&group, i),
    }))
}

/// Largest UDP payload in an unfragmented Ethernet packet: 1,500 B less 28 B of headers.
const MOST_PAYLOAD: u64 = 1_472;

const RATE: Kind = Kind::Real { unit: Unit::Rate, min: 1.0, max: 1e12, open: false };
const PAYLOAD: Kind = Kind::Whole { unit: Unit::Bytes, min: 1, max: MOST_PAYLOAD };

/// Time between datagrams of `bytes` payload at `rate` bit/s.
fn gap(rate: f64, bytes: u32) -> Duration {
    Duration::from_secs_f64(f64::from(bytes) * 8.0 / rate).max(Duration::from_nanos(1))
}
