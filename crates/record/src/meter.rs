//! The recorder of what happens at one port.
//!
//! The meter is lazy: queue samples and time averages are brought up to date when the queue is
//! about to change, so an idle queue costs nothing and no sampling event exists.

mod areas;
mod copies;
mod edges;
mod measures;
mod readings;
mod settings;

use packet::{Backlog, DropReason, Instant};

use crate::drop_run::DropRun;
use crate::gauges::Gauges;
use crate::packet_class::ClassCounts;
use crate::packet_trace::PacketTrace;
use crate::samples::{Kept, Samples};
use crate::sojourn::{DelayClass, Sojourns};
use crate::waits::Spread;
use crate::watch::{QueueSnapshot, QueueWatch};
use crate::{Capacity, Fingerprint, PacketClass, PerSecond, Window};

use self::areas::Areas;
pub use self::copies::Copies;
pub(crate) use self::copies::{MEASURES as OF_COPIES, PLACES as COPIES};
use self::edges::Edges;
pub(crate) use self::measures::MEASURES;
pub use self::readings::{Second, Totals};
pub use self::settings::MeterSettings;

/// Counts within the measured interval.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    /// Number of departures, known at the end of the run.
    departures: u64,
    /// Bytes of the departures, known at the end of the run.
    departure_bytes: u64,
    /// Busy time of the line, ns. Until a transmission that began before the interval is added, it
    /// may have wrapped around.
    busy_ns: u64,
    drops: [u64; DropReason::ALL.len()],
    drop_bytes: u64,
    lost: ClassCounts,
    marks: [u64; DropReason::ALL.len()],
    /// Fates of the packets that arrived in the measured interval: drops, drops by class, and
    /// marks.
    own_drops: u64,
    own_lost: ClassCounts,
    own_marks: u64,
    packet_ns: u64,
    byte_ns: u128,
}

/// The recorder at one port.
#[derive(Clone, Debug)]
pub struct Meter {
    settings: MeterSettings,
    edges: Edges,
    /// Packets by class that arrived outside the measured interval, and in it; then their bytes.
    arrived: [ClassCounts; 2],
    arrived_bytes: [u64; 2],
    /// Numbers of packets and of bytes dropped in the whole run.
    dropped: (u64, u64),
    /// Numbers of packets and of bytes whose transmission ends after the measured interval.
    outlasted: (u64, u64),
    measured: Measured,
    backlog: Backlog,
    peak_packets: u32,
    areas: Areas,
    next_sample: u64,
    samples: Samples,
    kept: Kept,
    /// When the next sample of the gauges is due.
    next_gauge: u64,
    gauges: Option<Box<Gauges>>,
    sojourns: Sojourns,
    drop_run: DropRun,
    trace: Option<Box<PacketTrace>>,
    watched: Option<Box<QueueWatch>>,
    /// Arrivals of each second, up to the last edge (see [`Edges`]).
    arrivals: PerSecond,
    /// Departures of each second, their bytes, and the sum of their waiting times, ns.
    departed: PerSecond<3>,
    drops: PerSecond<{ DropReason::ALL.len() }>,
    /// Marks of each second, by reason.
    marks: PerSecond<{ DropReason::ALL.len() }>,
    fingerprint: Fingerprint,
    /// Capacity of the line in the measured interval; known at the end of the run.
    capacity: Option<Capacity>,
    /// Queueing delays of all classes together; known at the end of the run.
    delays: Spread,
    /// Number of lines whose figures this meter holds together.
    copies: u32,
}

const NO_SAMPLE: u64 = u64::MAX;

impl Meter {
    /// A meter of an empty queue at time zero.
    pub fn new(settings: MeterSettings) -> Self {
        let gauges = settings.gauges || settings.watch.is_some();
        let shown = gauges && settings.sample_every.is_some();
        let trace = PacketTrace::of(settings.trace, settings.watch.is_some());
        Meter {
            settings,
            edges: Edges::new(),
            arrived: Default::default(),
            arrived_bytes: [0; 2],
            dropped: (0, 0),
            outlasted: (0, 0),
            measured: Measured::default(),
            backlog: Backlog::default(),
            peak_packets: 0,
            areas: Areas::new(settings.window.from),
            next_sample: if settings.sample_every.is_some() { 0 } else { NO_SAMPLE },
            samples: Samples::default(),
            kept: Kept::default(),
            next_gauge: if shown { 0 } else { NO_SAMPLE },
            gauges: shown.then(|| Box::new(Gauges::new(settings))),
            sojourns: Sojourns::kept(settings.delays),
            drop_run: DropRun::default(),
            trace: trace.map(Box::new),
            watched: settings.watch.map(|of| Box::new(QueueWatch::new(of))),
            arrivals: PerSecond::kept(settings.seconds),
            departed: PerSecond::kept(settings.seconds),
            drops: PerSecond::kept(settings.seconds),
            marks: PerSecond::kept(settings.seconds),
            fingerprint: Fingerprint::default(),
            capacity: None,
            delays: Spread::default(),
            copies: 1,
        }
    }

    /// Counts the arrival of a packet of `bytes` bytes. A sample due at this instant is taken
    /// before it.
    #[inline]
    pub fn arrival(&mut self, now: Instant, bytes: u32, class: PacketClass) {
        self.sample_up_to(now.nanos() + 1);
        if now >= self.edges.arrivals {
            self.arrives_after_edge(now);
        }
        let measured = usize::from(self.edges.arriving);
        self.arrived[measured].add(class);
        self.arrived_bytes[measured] += u64::from(bytes);
    }

    /// The next edge of time, until which arrivals that are dropped at once may be counted in any
    /// order. None if events are recorded one by one.
    pub fn counts_alike_until(&self) -> Option<Instant> {
        (!self.watches()).then_some(self.edges.arrivals)
    }

    /// Ends a run of drops: the last arrival was admitted.
    #[inline]
    pub fn admitted(&mut self, now: Instant) {
        if self.drop_run.is_open() {
            self.drop_run.end(now);
        }
    }

    /// Counts that the last arrival was dropped on arrival; [`Meter::dropped`] is called as well.
    pub fn dropped_on_arrival(&mut self, now: Instant) {
        if self.settings.window.contains(now) {
            self.drop_run.refused(now);
        }
    }

    /// Counts the drop of a packet that had arrived at `arrived`.
    pub fn dropped(&mut self, now: Instant, arrived: Instant, bytes: u32, why: DropReason) {
        self.dropped.0 += 1;
        self.dropped.1 += u64::from(bytes);
        self.drops.count(now, why as usize);
        if self.settings.window.contains(now) {
            self.measured.drops[why as usize] += 1;
            self.measured.drop_bytes += u64::from(bytes);
            self.measured.own_drops += u64::from(arrived >= self.settings.window.from);
        }
    }

    /// Counts the class of a dropped packet that had arrived at `arrived`. This is not a part of
    /// [`Meter::dropped`], because a queue does not know the class.
    pub fn dropped_class(&mut self, now: Instant, arrived: Instant, class: PacketClass) {
        if self.settings.window.contains(now) {
            self.measured.lost.add(class);
            if arrived >= self.settings.window.from {
                self.measured.own_lost.add(class);
            }
        }
    }

    /// The measured interval.
    pub fn window(&self) -> Window {
        self.settings.window
    }

    /// Whether what happens at `now` lies in the measured interval.
    #[inline]
    pub fn measures(&self, now: Instant) -> bool {
        self.settings.window.contains(now)
    }

    /// Counts a mark. `counts` says whether the packet arrived in the measured interval and had no
    /// mark of this queue yet.
    pub fn marked(&mut self, now: Instant, why: DropReason, counts: bool) {
        self.marks.count(now, why as usize);
        if self.settings.window.contains(now) {
            self.measured.marks[why as usize] += 1;
            self.measured.own_marks += u64::from(counts);
        }
    }

    /// Counts a packet of `flow` that had arrived at `arrived` and leaves the queue. It is
    /// transmitted from `start` (later than now if a device holds others before it) until `finish`.
    #[inline(always)]
    pub fn started(
        &mut self,
        start: Instant,
        finish: Instant,
        arrived: Instant,
        bytes: u32,
        flow: u64,
        class: DelayClass,
    ) {
        let waited = start.since(arrived).nanos();
        if self.departs(start, finish, waited, bytes, flow) {
            self.sojourns.add(class, waited);
        }
    }

    /// As [`Meter::started`], for a packet that did not wait.
    #[inline(always)]
    pub fn started_at_once(
        &mut self,
        start: Instant,
        finish: Instant,
        bytes: u32,
        flow: u64,
        class: DelayClass,
    ) {
        if self.departs(start, finish, 0, bytes, flow) {
            self.sojourns.add_zero(class);
        }
    }

    /// Counts a packet that has waited for `waited` ns. Returns whether it departs in the measured
    /// interval.
    #[inline(always)]
    fn departs(
        &mut self,
        start: Instant,
        finish: Instant,
        waited: u64,
        bytes: u32,
        flow: u64,
    ) -> bool {
        let word = start.nanos() ^ (flow << 40) ^ (u64::from(bytes) << 20);
        self.fingerprint.add(word);
        if finish >= self.edges.departures && !self.departs_after_edge(start, finish, bytes) {
            return false;
        }
        self.departed.add_now([1, u64::from(bytes), waited]);
        if self.edges.departing {
            let lasts = finish.since(start).nanos();
            self.measured.busy_ns = self.measured.busy_ns.wrapping_add(lasts);
        }
        self.edges.departing
    }

    /// As [`Meter::started`], for a packet taken by a device that still holds others.
    #[cold]
    #[inline(never)]
    pub fn started_later(
        &mut self,
        start: Instant,
        finish: Instant,
        arrived: Instant,
        bytes: u32,
        flow: u64,
        class: DelayClass,
    ) {
        self.started(start, finish, arrived, bytes, flow, class);
    }

    /// Sets the backlog after a change at `now`. A sample due at this instant is taken after it.
    #[inline]
    pub fn queue(&mut self, now: Instant, backlog: Backlog) {
        self.sample_up_to(now.nanos());
        self.queue_grew(now, backlog);
    }

    /// As [`Meter::queue`], after an arrival at this instant, of which [`Meter::arrival`] was
    /// notified.
    #[inline]
    pub fn queue_grew(&mut self, now: Instant, backlog: Backlog) {
        self.change(now, backlog);
        self.peak_packets = self.peak_packets.max(backlog.packets);
    }

    /// As [`Meter::queue`], after a departure.
    #[inline]
    pub fn queue_shrank(&mut self, now: Instant, backlog: Backlog) {
        self.sample_up_to(now.nanos());
        self.change(now, backlog);
    }

    /// Takes the samples due before `before_ns`.
    #[inline]
    fn sample_up_to(&mut self, before_ns: u64) {
        if self.next_sample < before_ns {
            self.take_samples(before_ns);
        }
    }

    #[cold]
    fn take_samples(&mut self, before_ns: u64) {
        let Some(every) = self.settings.sample_every else { return };
        let window = self.settings.window;
        let before_ns = before_ns.min(window.to.nanos());
        while self.next_sample < before_ns {
            if self.next_sample >= window.from.nanos() {
                self.samples.add(self.backlog.packets);
            }
            if self.settings.keep_samples {
                self.kept.push(self.backlog.packets);
            }
            if let Some(watched) = &mut self.watched {
                watched.queue(self.next_sample, self.backlog.packets);
            }
            self.next_sample += every.nanos();
        }
    }

    /// Whether the driver must report more than arrivals, drops, marks and departures: gauges when
    /// they are due ([`Meter::gauges_due`]), and events for [`Meter::packet_trace`].
    pub fn watches(&self) -> bool {
        self.trace.is_some() || self.gauges.is_some()
    }

    /// The trace of packets, if there is one.
    #[inline]
    pub fn packet_trace(&mut self) -> Option<&mut PacketTrace> {
        self.trace.as_deref_mut()
    }

    /// Whether samples of the gauges are due before `before_ns`. The driver checks this before it
    /// calls the discipline: with the instant of a departure or an update, or with one nanosecond
    /// more for an arrival. Thus gauges are sampled at the instants at which the queue is.
    #[inline]
    pub fn gauges_due(&self, before_ns: u64) -> bool {
        self.next_gauge < before_ns
    }

    /// Takes the samples of the gauges due before `before_ns`; `ask` reads the gauges.
    #[cold]
    pub fn take_gauges(
        &mut self,
        before_ns: u64,
        ask: impl FnOnce(&mut dyn FnMut(&'static str, f64)),
    ) {
        if let Some(gauges) = &mut self.gauges {
            self.next_gauge = gauges.take(before_ns, self.watched.as_deref_mut(), ask);
        }
    }

    /// Returns the samples up to `now` that no earlier snapshot returned; those of gauges go up to
    /// the last [`Meter::take_gauges`]. Empty without [`MeterSettings::watch`].
    pub fn snapshot(&mut self, now: Instant) -> QueueSnapshot {
        self.sample_up_to(now.nanos());
        self.watched.as_mut().map(|watched| watched.drain(now)).unwrap_or_default()
    }

    /// Ends the measured interval at `end`, where the run ends, if it was to be longer.
    pub fn cut(&mut self, end: Instant) {
        self.edges.look_again();
        self.settings.window.to = self.settings.window.to.min(end.max(self.settings.window.from));
        self.areas.end_at(self.settings.window.to);
    }

    /// Completes samples and averages at the end of the run; [`Meter::take_gauges`] completes the
    /// gauges.
    pub fn finish(&mut self) {
        let end = self.settings.window.to;
        self.sample_up_to(end.nanos());
        self.cross_edges(Instant::NEVER);
        self.drop_run.end(end);
        self.close_edges();
        self.delays = self.sojourns.all();
    }

    /// Sets the capacity of the line in the measured interval, at the end of the run.
    pub fn offered(&mut self, capacity: Capacity) {
        self.capacity = Some(capacity);
    }
}

#[cfg(test)]
mod tests;
