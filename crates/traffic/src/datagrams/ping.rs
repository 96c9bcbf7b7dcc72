//! Echo requests and their replies: what `ping` and `irtt` measure.

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Ecn, Instant};

use super::{Lifetime, Lifetimes, PAYLOAD};
use crate::entry::{Entry, Group, Population};
use crate::report::{PingReport, Report};
use crate::{Action, App, AppCx, Input};

/// One sender of echo requests; the peer answers each at once with an equal number of bytes.
#[derive(Debug)]
struct Ping {
    peer: u32,
    bytes: u32,
    interval: Duration,
    lifetime: Lifetime,
    /// Time at which each request left.
    sent: Vec<Instant>,
    /// For each answer, the number of its request: the peer answers in the order of arrival.
    answered: Vec<u64>,
    /// Round-trip time of each request; none while its answer is missing.
    round_trips: Vec<Option<Duration>>,
    /// Index of the first request of the measured interval.
    measured_from: usize,
}

impl Ping {
    fn say(&self, back: bool, cx: &mut AppCx) {
        let (peer, bytes) = (self.peer, self.bytes);
        (cx.act)(Action::SendDatagram { peer, bytes, back, ecn: Ecn::NotEct });
    }
}

impl App for Ping {
    fn on(&mut self, input: Input, cx: &mut AppCx) {
        match input {
            Input::Start => {
                self.lifetime.start(cx);
            }
            Input::Woke if !self.lifetime.is_over(cx.now) => {
                self.sent.push(cx.now);
                self.round_trips.push(None);
                self.say(false, cx);
                (cx.act)(Action::WakeAt(cx.now + self.interval));
            }
            Input::Received { back: false, number, .. } => {
                self.answered.push(number);
                self.say(true, cx);
            }
            Input::Received { back: true, number, .. } => {
                let request = self.answered[number as usize] as usize;
                self.round_trips[request] = Some(cx.now.since(self.sent[request]));
            }
            _ => {}
        }
    }

    fn measure(&mut self, _now: Instant) {
        self.measured_from = self.sent.len();
    }

    fn report(&mut self, _now: Instant) -> Option<Report> {
        Some(Report::Ping(PingReport {
            sent: self.sent.clone(),
            round_trips: self.round_trips.clone(),
            measured_from: self.measured_from,
        }))
    }
}

/// The entry for pings in the registry.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "ping",
        summary: "Echo requests at equal distances, answered at once: round-trip times as ping and irtt \
                  measure them.",
        year: 1983,
        source: "RFC 792 (echo); Flent's ping.inc: every 0.2 s",
        deviations: "The peer answers in no time. A packet has 28 B of headers, as ICMP and UDP over IPv4 \
                     have alike: queues see no difference between both but by the flow.",
        fields: &FIELDS,
    },
    noun: ["ping", "pings"],
    fetches: false,
    datagrams: true,
    build,
};

static FIELDS: [Field; 5] = [
    Field::new("interval", Kind::above(Unit::Time, 0.0, 86_400.0), Value::Real(0.2))
        .meaning("Time from one request to the next.")
        .source("read: Flent's STEP_SIZE, 0.2 s"),
    Field::new("packet", PAYLOAD, Value::Whole(56))
        .meaning("Payload of requests and of answers.")
        .source("iputils' ping: 56 B"),
    Lifetimes::FIELDS[0],
    Lifetimes::FIELDS[1],
    Lifetimes::FIELDS[2],
];

fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    group.need_machines("pings")?;
    let (lifetimes, group) = (Lifetimes::new(params), group.clone());
    let (bytes, interval) = (params.whole("packet") as u32, params.time("interval"));
    Ok(Population::new(group.sources, move |i| Ping {
        peer: group.peer_of(i),
        bytes,
        interval,
        lifetime: lifetimes.draw(&mut group.stream("start", i)),
        sent: Vec::new(),
        answered: Vec::new(),
        round_trips: Vec::new(),
        measured_from: 0,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_of_the_request_that_arrived_and_a_lost_one_has_none() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let group = Group { seed: 1, name: "p".into(), peers: 1, sources: 1, machines: 1 };
        let params = Params::check(
            ENTRY.about.fields,
            &[("start_within".into(), packet::params::Raw::Text("0 s".into()))],
        )
        .unwrap();
        let mut ping = (ENTRY.build)(&params, &group).unwrap().source(0);
        let mut said = Vec::new();
        let mut feed = |at: Instant, input: Input| {
            let mut act = |action| said.push(action);
            ping.on(input, &mut AppCx { now: at, act: &mut act });
        };
        feed(at(0), Input::Start);
        (0..3).for_each(|n| feed(at(200 * n), Input::Woke));
        // The first request is lost; the second and third arrive, the second's answer is lost.
        let received = |back, number| Input::Received { back, number, marked: false };
        feed(at(210), received(false, 1));
        feed(at(415), received(false, 2));
        feed(at(430), received(true, 1));
        let Some(Report::Ping(report)) = ping.report(at(1_000)) else { panic!() };
        assert_eq!(report.sent, [at(0), at(200), at(400)]);
        assert_eq!(report.round_trips, [None, None, Some(Duration::from_millis(30))]);
        let datagrams = |wanted: bool| {
            let is = |action: &&Action| matches!(action, Action::SendDatagram { back, .. } if *back == wanted);
            said.iter().filter(is).count()
        };
        assert_eq!((datagrams(false), datagrams(true)), (3, 2));
    }
}
