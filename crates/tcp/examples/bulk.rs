//! Times a bulk transfer between two endpoints: `cargo run --release -p aqmlab-tcp --example bulk`.
//!
//! The path is two first-in-first-out rings (the order of equal delays), so nearly all of the
//! time is spent in the endpoints. Printed: nanoseconds per segment, data and ACKs counted, each
//! of which is one `poll_send` at one end and one `on_segment` at the other. With arguments
//! `PROFILE LOSS SEGMENTS [NAME=TEXT ...]` it does that alone, for a counter of instructions.
#![allow(clippy::disallowed_methods, reason = "a benchmark has a clock")]

use std::collections::VecDeque;
use std::sync::Arc;

use aqmlab_tcp::{Endpoint, HostClock, Segment};
use packet::params::{Params, Raw};
use packet::{Duration, Instant, Rng};

const DATA_SEGMENTS: u64 = 5_000_000;
const SPACING: Duration = Duration::from_micros(100);

struct Line {
    queue: VecDeque<(Instant, Segment)>,
    free_at: Instant,
}

impl Line {
    fn new() -> Self {
        Line { queue: VecDeque::with_capacity(256), free_at: Instant::ZERO }
    }
    /// Sends what the endpoint has; data packets leave `SPACING` apart and may be lost.
    fn take(&mut self, end: &mut Endpoint, now: Instant, rng: &mut Rng, loss: f64) -> u64 {
        let mut sent = 0;
        while let Some(segment) = end.poll_send(now) {
            sent += 1;
            if segment.len > 0 {
                self.free_at = self.free_at.max(now) + SPACING;
                if rng.uniform() < loss {
                    continue;
                }
            }
            let leaves = self.free_at.max(now);
            self.queue.push_back((leaves + Duration::from_millis(1), segment));
        }
        sent
    }
    fn next(&self) -> Instant {
        self.queue.front().map_or(Instant::NEVER, |front| front.0)
    }
}

fn run(name: &str, settings: &[(String, Raw)], loss: f64, data_segments: u64) {
    let entry = aqmlab_tcp::find(name).expect("a listed profile");
    let params = Params::check(entry.about.fields, settings).expect("good parameters");
    let profile =
        Arc::new((entry.build)(&params, &aqmlab_tcp::Controls::ours()).expect("a profile"));
    let clock = HostClock { slow: Duration::from_millis(330), fast: Duration::from_millis(70) };
    let mut ends = [Endpoint::new(&profile, clock), Endpoint::new(&profile, clock)];
    let mut lines = [Line::new(), Line::new()];
    let mut rng = Rng::named(1, "bulk");
    let mut now = Instant::ZERO;
    ends[0].connect(now);
    ends[0].write(u64::MAX, now);
    let start = std::time::Instant::now();
    let mut segments = lines[0].take(&mut ends[0], now, &mut rng, loss);
    while ends[0].counters().data_sent < data_segments {
        let arrivals = [lines[0].next(), lines[1].next()];
        let timers = [0, 1].map(|i| ends[i].next_timeout().map_or(Instant::NEVER, |d| d.at));
        let arrival = arrivals[0].min(arrivals[1]);
        let timer = timers[0].min(timers[1]);
        if arrival <= timer {
            now = arrival;
            let from = usize::from(arrivals[1] < arrivals[0]);
            let (_, segment) = lines[from].queue.pop_front().expect("an arrival");
            ends[1 - from].on_segment(&segment, now);
            segments += lines[1 - from].take(&mut ends[1 - from], now, &mut rng, loss);
        } else {
            now = timer;
            let who = usize::from(timers[1] < timers[0]);
            ends[who].on_timeout(now);
            segments += lines[who].take(&mut ends[who], now, &mut rng, loss);
        }
    }
    let ns = start.elapsed().as_nanos() as f64 / segments as f64;
    let counters = ends[0].counters();
    println!(
        "{name:14} loss {loss:5.3}: {ns:5.1} ns per segment \
         ({segments} segments, {} timeouts, {} fast retransmits, simulated {:.0} s)",
        counters.timeouts,
        counters.fast_retransmits,
        now.secs_f64(),
    );
}

fn setting(text: &str) -> (String, Raw) {
    let (name, value) = text.split_once('=').expect("NAME=TEXT");
    let value = match value {
        "on" => Raw::Bool(true),
        "off" => Raw::Bool(false),
        number => number.parse().map_or_else(|_| Raw::Text(number.into()), Raw::Number),
    };
    (name.into(), value)
}

fn main() {
    println!("size of an endpoint: {} B", size_of::<Endpoint>());
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [profile, loss, segments, settings @ ..] = &arguments[..] {
        let settings: Vec<_> = settings.iter().map(|s| setting(s)).collect();
        let loss = loss.parse().expect("a share of packets");
        return run(profile, &settings, loss, segments.parse().expect("a number of segments"));
    }
    let no_sack = [("sack".to_string(), Raw::Bool(false))];
    for loss in [0.0, 0.001, 0.01, 0.05] {
        run("plain", &[], loss, DATA_SEGMENTS);
        run("plain", &no_sack, loss, DATA_SEGMENTS);
        run("freebsd-2.2.8", &[], loss, DATA_SEGMENTS);
        run("linux", &[], loss, DATA_SEGMENTS);
    }
}
