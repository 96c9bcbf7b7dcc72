//! A congestion controller for quinn that gets losses before acknowledgements, and whose window may
//! be filled.
//!
//! By appendix A.7 of RFC 9002, losses that an acknowledgement shows reduce the window before the
//! acknowledged bytes grow it; quinn grows it first. And quinn sends only while the bytes in flight
//! and a full datagram fit into the window, where appendix B.3 lets the window be filled.

use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

/// A factory of controllers that pass losses on before acknowledgements.
pub struct Losses(Arc<dyn ControllerFactory + Send + Sync>);

impl Losses {
    pub fn first(inner: Arc<dyn ControllerFactory + Send + Sync>) -> Self {
        Losses(inner)
    }
}

impl ControllerFactory for Losses {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        // quinn's NewReno begins as if it had just been reduced: what is sent at that instant would never reduce it.
        let before = now - Duration::from_nanos(1);
        let inner = Arc::clone(&self.0).build(before, mtu);
        Box::new(LossesFirst(Mutex::new(Held { inner, acks: Vec::new() })))
    }
}

struct Ack {
    now: Instant,
    sent: Instant,
    bytes: u64,
    app_limited: bool,
    rtt: RttEstimator,
}

struct Held {
    inner: Box<dyn Controller>,
    acks: Vec<Ack>,
}

impl Held {
    /// Passes the stored acknowledgements on, so that they grow the window.
    fn flush(&mut self) {
        for ack in self.acks.drain(..) {
            self.inner.on_ack(ack.now, ack.sent, ack.bytes, ack.app_limited, &ack.rtt);
        }
    }
}

struct LossesFirst(Mutex<Held>);

impl LossesFirst {
    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.0.lock().expect("one thread")
    }
}

impl Controller for LossesFirst {
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        let mut held = self.held();
        held.flush();
        held.inner.on_sent(now, bytes, last);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        let mut held = self.held();
        if held.acks.last().is_some_and(|ack| ack.now != now) {
            held.flush();
        }
        held.acks.push(Ack { now, sent, bytes, app_limited, rtt: *rtt });
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        lost_bytes: u64,
    ) {
        let mut held = self.held();
        if held.acks.last().is_some_and(|ack| ack.now != now) {
            held.flush();
        }
        // Acknowledgements of this instant follow: all that was sent before it grows nothing.
        held.inner.on_congestion_event(now, sent, persistent, lost_bytes);
    }

    fn on_mtu_update(&mut self, _new_mtu: u16) {}

    fn window(&self) -> u64 {
        let mut held = self.held();
        held.flush();
        held.inner.window() + 1
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut held = self.held();
        held.flush();
        held.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let mut held = self.held();
        held.flush();
        let inner = held.inner.clone_box();
        Box::new(LossesFirst(Mutex::new(Held { inner, acks: Vec::new() })))
    }

    fn initial_window(&self) -> u64 {
        self.held().inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// NewReno as in appendix B of RFC 9002. quinn's NewReno differs in congestion avoidance only: its
/// window grows by a datagram once a window of bytes is acknowledged, this one by a part of that
/// with each packet.
#[derive(Clone)]
pub struct AppendixB {
    window: u64,
    threshold: u64,
    recovery: Option<Instant>,
    mtu: u64,
}

/// A factory of [`AppendixB`] controllers.
pub struct AppendixBs;

impl ControllerFactory for AppendixBs {
    fn build(self: Arc<Self>, _now: Instant, mtu: u16) -> Box<dyn Controller> {
        let mtu = u64::from(mtu);
        Box::new(AppendixB { window: 10 * mtu, threshold: u64::MAX, recovery: None, mtu })
    }
}

impl Controller for AppendixB {
    fn on_ack(&mut self, _now: Instant, sent: Instant, bytes: u64, idle: bool, _: &RttEstimator) {
        if idle || self.recovery.is_some_and(|start| sent <= start) {
            return;
        }
        let slow = self.window < self.threshold;
        self.window += if slow { bytes } else { self.mtu * bytes / self.window };
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, _lost: u64) {
        if self.recovery.is_none_or(|start| sent > start) {
            self.recovery = Some(now);
            self.threshold = self.window / 2;
            self.window = self.threshold.max(2 * self.mtu);
        }
        if persistent {
            (self.window, self.recovery) = (2 * self.mtu, None);
        }
    }

    fn on_mtu_update(&mut self, _new_mtu: u16) {}

    fn window(&self) -> u64 {
        self.window
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        10 * self.mtu
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
