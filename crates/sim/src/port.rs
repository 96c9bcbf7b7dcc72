//! A port: a queue that feeds a line, in two forms with identical departure times.
//!
//! *Explicit*: the discipline holds its packets, and the end of every transmission is an event.
//! Only this form can sample gauges and trace packets. *Folded*: for disciplines that decide at
//! arrival and serve in order, the departure time is known at arrival (departure = max(last
//! departure, arrival) + transmission time, Lindley's recursion), so that neither the packet nor
//! the end of its transmission needs an event. The queue is then a ring buffer of transmissions,
//! from which those that have begun are removed when it is next read. This also holds for a line
//! whose rate changes, because the start of a transmission alone decides its end.

pub mod capacity;
mod channel;
mod effect;
mod explicit;
mod folded;
mod guests;
mod wire;

use aqm::{Admission, Gate};
use packet::{Backlog, Instant, Packet, Rng};
use record::{Meter, QueueSnapshot};

pub use channel::{
    AirtimeLimits, CellPort, CellSettings, Channel, ChannelReport, DocsisPort, DocsisSettings,
    Grants, Marking, Medium, Quality, Share, Timing, Turns, UeShare, WifiPort, WifiSettings,
};
pub use effect::{EffectCounts, EffectPort};
pub use explicit::ExplicitPort;
pub use folded::{FoldedPort, Offered};
pub use wire::Wire;

/// An unlimited queue: that of a machine's own output.
pub struct Unlimited;

impl Gate for Unlimited {
    fn admit(&mut self, _: &mut Packet, _: Backlog, _: Instant, _: &mut Rng) -> Admission {
        Admission::Queued
    }
}

/// A port: a queue with its line in either form, an effect, or a queue before a channel.
pub enum Port {
    /// A port in the folded form.
    Folded(Box<FoldedPort>),
    /// A port in the explicit form.
    Explicit(Box<ExplicitPort>),
    /// An effect, which has no queue.
    Effect(Box<EffectPort>),
    /// A queue before a channel such as Wi-Fi.
    Channel(Box<dyn Channel>),
}

impl Port {
    /// The meter that counts the port's packets.
    pub fn meter(&self) -> &Meter {
        match self {
            Port::Folded(p) => p.meter(),
            Port::Explicit(p) => p.meter(),
            Port::Effect(p) => p.meter(),
            Port::Channel(p) => p.meter(),
        }
    }

    /// The meter, to finish it, or to record what the port itself does not know.
    pub fn meter_mut(&mut self) -> &mut Meter {
        match self {
            Port::Folded(p) => p.meter_mut(),
            Port::Explicit(p) => p.meter_mut(),
            Port::Effect(p) => p.meter_mut(),
            Port::Channel(p) => p.meter_mut(),
        }
    }

    /// The channel, if the port has one.
    #[inline]
    pub fn channel(&mut self) -> Option<&mut dyn Channel> {
        match self {
            Port::Channel(channel) => Some(channel.as_mut()),
            _ => None,
        }
    }

    /// The meter of a queue; an effect has none.
    pub fn queue_meter(&self) -> Option<&Meter> {
        (!matches!(self, Port::Effect(_))).then(|| self.meter())
    }

    /// Counters of an effect; `None` if the port is a queue.
    pub fn effect_counts(&self) -> Option<&EffectCounts> {
        match self {
            Port::Effect(p) => Some(p.counts()),
            _ => None,
        }
    }

    /// Counters of a channel; `None` for a port without a channel.
    pub fn channel_report(&self) -> Option<ChannelReport> {
        match self {
            Port::Channel(p) => p.report(),
            _ => None,
        }
    }

    /// Returns the samples up to `now` that have not been returned before. All events up to `now`
    /// must have been served.
    pub fn snapshot(&mut self, now: Instant) -> QueueSnapshot {
        if let Port::Explicit(port) = self {
            port.look_at_gauges(now.nanos());
        }
        self.meter_mut().snapshot(now)
    }

    /// Changes a parameter of the discipline at `now`, from its next packet or update on. All
    /// events up to `now` must have been served. Returns whether the discipline can change the
    /// parameter.
    pub fn set(&mut self, now: Instant, name: &str, value: f64) -> bool {
        match self {
            Port::Folded(p) => p.set(now, name, value),
            Port::Explicit(p) => p.set(name, value),
            Port::Effect(_) => false,
            Port::Channel(p) => p.set(name, value),
        }
    }

    /// Brings the counters up to `now`. All events up to `now` must have been served.
    pub fn settle(&mut self, now: Instant) {
        if let Port::Folded(p) = self {
            p.advance(now);
        }
    }

    /// Brings the measurements up to the end of the run.
    pub fn finish(&mut self, end: Instant) {
        self.meter_mut().cut(end);
        match self {
            Port::Folded(p) => p.advance(end),
            Port::Explicit(p) => p.look_at_gauges(end.nanos()),
            Port::Channel(_) => {}
            Port::Effect(_) => return,
        }
        let capacity = match self {
            Port::Folded(p) => p.capacity(),
            Port::Explicit(p) => p.capacity(),
            Port::Channel(p) => p.capacity(p.meter().window().seconds()),
            Port::Effect(_) => return,
        };
        self.meter_mut().offered(capacity);
        self.meter_mut().finish();
    }

    /// Asserts conservation (every packet and byte that came in was sent, dropped, or waits) and
    /// work conservation (the line rests only when nothing waits).
    pub fn check(&self) {
        let (meter, backlog) = match self {
            Port::Folded(p) => (p.meter(), p.backlog),
            Port::Explicit(p) => (p.meter(), p.backlog()),
            Port::Channel(p) => (p.meter(), p.backlog()),
            Port::Effect(_) => return,
        };
        let t = meter.totals();
        let waiting = u64::from(backlog.packets);
        assert_eq!(t.arrived.0, t.started.0 + t.dropped.0 + waiting, "packets are conserved");
        assert_eq!(t.arrived.1, t.started.1 + t.dropped.1 + backlog.bytes, "bytes are conserved");
        if let Some(traced) = meter.traced_backlog() {
            assert_eq!(traced, backlog.packets, "what is traced is what waits");
        }
        let resting = match self {
            Port::Folded(p) => p.idle,
            Port::Explicit(p) => p.rests(),
            Port::Channel(p) => p.next_tick().is_none(),
            Port::Effect(_) => return,
        };
        assert!(!resting || waiting == 0, "a line rests while {waiting} packets wait");
    }
}
