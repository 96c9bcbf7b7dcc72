//! The upstream of a cable modem (DOCSIS 3.1): it requests bytes, and the termination system (CMTS) grants them.
//!
//! Time is divided into MAP intervals. Some time before each interval the CMTS makes its MAP, the
//! list of the interval's grants: as far as requests have arrived, the contract's token bucket
//! allows and the channel has room. A grant is filled with frames without regard to their ends: the
//! rest of a frame that does not fit is sent in the next grant. With each grant the modem requests
//! bytes for the packets that have arrived meanwhile (a piggybacked request); in an interval
//! without a grant it sends one request at a random time, in contention with other modems.
//!
//! A discipline with two service flows (Low Latency DOCSIS) gets requests and grants for each.

mod flow;
mod scheduler;

use aqm::Discipline;
use packet::{Backlog, Duration, Framing, Instant, Packet, Rate, Rng};
use record::{Capacity, Meter};

use super::agenda::Agenda;
use super::queues::Queues;
use super::{Channel, ChannelReport, Front};
use flow::Flow;
use scheduler::Scheduler;

/// Settings of the upstream of a modem, apart from its queue.
#[derive(Clone, Debug)]
pub struct DocsisSettings {
    /// The contract's rate (Maximum Sustained Traffic Rate).
    pub rate: Rate,
    /// Bytes that the contract lets through at once (Maximum Traffic Burst).
    pub burst: u64,
    /// Transmission rate within a grant.
    pub channel: Rate,
    /// Length of a MAP interval.
    pub interval: Duration,
    /// How long before an interval its MAP is made.
    pub lead: Duration,
    /// Time that a request takes to the scheduler.
    pub request: Duration,
    /// Length of an OFDMA frame: packets leave the queue one frame before their grant, and have
    /// arrived two frames after it.
    pub frame: Duration,
    /// Share of the channel that neighbours leave free, and the share of that by which it varies.
    pub free: (f64, f64),
    /// Share of the requests in contention that collide.
    pub collisions: f64,
    /// The share of a MAP's bytes that goes to the low latency flow first.
    pub weight: f64,
    /// The rate at which the low latency flow gets grants without requests.
    pub guaranteed: Option<Rate>,
    /// Headers of the MAC layer: of each frame, and of each grant.
    pub headers: (u64, u64),
    /// Link-layer overhead of an IP packet, as the contract counts it.
    pub framing: Framing,
}

/// Requests and grants of a modem in the measured interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Grants {
    /// Number of grants.
    pub grants: u64,
    /// Bytes granted.
    pub bytes: u64,
    /// Granted bytes that were not used.
    pub unused: u64,
    /// Bytes carried, as the contract counts them.
    pub carried: u64,
    /// Requests sent in contention; others were piggybacked.
    pub contention: u64,
    /// Contention requests that collided with another one.
    pub collisions: u64,
}

/// A future event of the modem or the CMTS.
enum Event {
    /// The scheduler makes the MAP of an interval.
    Map(u64),
    /// A request for bytes of a flow reaches the scheduler.
    Request { flow: usize, bytes: u64 },
    /// A flow's opportunity to request in contention, in an interval.
    Opportunity { flow: usize, interval: u64 },
    /// The modem fills a grant, which begins a frame later.
    Grant { flow: usize, bytes: u64 },
    /// A packet has arrived at the CMTS.
    Arrived(Packet),
}

/// A port to the DOCSIS upstream of a modem.
pub struct DocsisPort {
    settings: DocsisSettings,
    front: Front,
    flows: Vec<Flow>,
    scheduler: Scheduler,
    agenda: Agenda<Event>,
    /// Time until which the channel is occupied by this modem's grants.
    busy_until: Instant,
    counts: Grants,
}

impl DocsisPort {
    /// An idle port.
    pub fn new(
        settings: DocsisSettings,
        discipline: Box<dyn Discipline>,
        rng: Rng,
        meter: Meter,
    ) -> Self {
        let flows = discipline.service_flows();
        DocsisPort {
            front: Front::new(Queues::new(vec![discipline], 1, None), rng, meter),
            flows: (0..flows).map(|_| Flow::default()).collect(),
            scheduler: Scheduler::new(&settings, flows),
            agenda: Agenda::default(),
            busy_until: Instant::ZERO,
            settings,
            counts: Grants::default(),
        }
    }

    fn interval_of(&self, at: Instant) -> u64 {
        at.nanos() / self.settings.interval.nanos()
    }

    fn begin_of(&self, interval: u64) -> Instant {
        Instant::ZERO + self.settings.interval * interval
    }

    /// Bytes of a flow that wait and were not requested, as the modem counts them.
    fn unrequested(&self, flow: usize) -> u64 {
        let waits = self.front.queues.flow_backlog(flow);
        let framing = &self.settings.framing;
        // The modem knows the size of every frame; here each packet counts with the padding of the
        // shortest ones.
        let framed = framing.overhead.max(framing.least.saturating_sub(SHORTEST));
        let each = framed + self.settings.headers.0;
        let own = &self.flows[flow];
        (waits.bytes + u64::from(waits.packets) * each + own.left()).saturating_sub(own.outstanding)
    }

    /// Plans the next opportunity of a flow that has bytes to request: in contention, or a grant
    /// without a request.
    fn need(&mut self, flow: usize, now: Instant) {
        if self.unrequested(flow) > 0 {
            self.guarantee(flow, now);
        }
        if self.flows[flow].waits || self.unrequested(flow) == 0 {
            return;
        }
        let interval = self.interval_of(now);
        let at = self.opportunity(flow, interval).filter(|(at, _)| *at > now);
        let later = |port: &mut Self| port.opportunity(flow, interval + 1);
        let (at, interval) = at.or_else(|| later(self)).expect("the next interval is to come");
        self.flows[flow].waits = true;
        self.agenda.add(at, Event::Opportunity { flow, interval });
    }

    /// The time at which a flow may request in an interval, which is drawn once for each interval.
    fn opportunity(&mut self, flow: usize, interval: u64) -> Option<(Instant, u64)> {
        if self.flows[flow].drawn_for.is_none_or(|(of, _)| of < interval) {
            let offset = self.front.rng.below(self.settings.interval.nanos());
            let at = self.begin_of(interval) + Duration::from_nanos(offset);
            self.flows[flow].drawn_for = Some((interval, at));
        }
        let (of, at) = self.flows[flow].drawn_for?;
        (of == interval).then_some((at, interval))
    }

    /// Plans the low latency flow's next grant without a request, at the begin of the next
    /// interval.
    fn guarantee(&mut self, flow: usize, now: Instant) {
        let Some(rate) = self.settings.guaranteed.filter(|_| flow > 0) else { return };
        let interval = self.interval_of(now + self.settings.frame) + 1;
        if self.flows[flow].guaranteed >= interval {
            return;
        }
        self.flows[flow].guaranteed = interval;
        let at = self.begin_of(interval).nanos() - self.settings.frame.nanos();
        let bytes = (rate.bytes_per_s() * self.settings.interval.secs_f64()).ceil() as u64;
        let bytes = self.scheduler.take_guaranteed(bytes, Instant::from_nanos(at));
        self.flows[flow].outstanding += bytes;
        self.agenda.add(Instant::from_nanos(at), Event::Grant { flow, bytes });
    }

    fn send_request(&mut self, flow: usize, now: Instant) {
        let bytes = self.unrequested(flow);
        if bytes > 0 {
            self.flows[flow].outstanding += bytes;
            self.agenda.add(now + self.settings.request, Event::Request { flow, bytes });
        }
    }

    /// A flow may request in contention now. It does not in an interval with a grant, with which it
    /// has requested already.
    fn contend(&mut self, flow: usize, interval: u64, now: Instant) {
        self.flows[flow].waits = false;
        if !self.flows[flow].has_grant_in(interval) && self.unrequested(flow) > 0 {
            let measured = self.front.meter.measures(now);
            self.counts.contention += u64::from(measured);
            if self.settings.collisions > 0.0 && self.front.rng.uniform() < self.settings.collisions
            {
                self.counts.collisions += u64::from(measured);
                return self.back_off(flow, interval);
            }
            self.flows[flow].tries = 0;
            self.send_request(flow, now);
        }
        self.need(flow, now);
    }

    /// A request has collided: the modem learns this from a later MAP, and tries again in one of 1,
    /// 2, 4, … intervals.
    fn back_off(&mut self, flow: usize, interval: u64) {
        let tries = self.flows[flow].tries;
        self.flows[flow].tries = (tries + 1).min(LONGEST_BACKOFF);
        let next = interval + 2 + self.front.rng.below(1 << tries);
        let (at, interval) = self.opportunity(flow, next).expect("a later interval");
        self.flows[flow].waits = true;
        self.agenda.add(at, Event::Opportunity { flow, interval });
    }

    /// Makes the MAP of an interval: its grants begin at a random time in the interval, the low
    /// latency flow's first.
    fn make_map(&mut self, interval: u64, now: Instant) {
        let grants = self.scheduler.map(now, &self.settings, &mut self.front.rng);
        let total: u64 = grants.iter().sum();
        if total > 0 {
            let lasts = self.settings.channel.time_for(total);
            let room = self.settings.interval.nanos().saturating_sub(lasts.nanos());
            let offset = self.front.rng.below(room + 1);
            let mut at = self.begin_of(interval) + Duration::from_nanos(offset);
            for flow in (0..grants.len()).rev().filter(|&flow| grants[flow] > 0) {
                self.flows[flow].grant_in(interval);
                let fills = Instant::from_nanos(at.nanos() - self.settings.frame.nanos());
                let bytes = grants[flow];
                self.agenda.add(fills.max(now), Event::Grant { flow, bytes });
                at += self.settings.channel.time_for(bytes);
            }
        }
        self.plan_map(now);
    }

    /// Plans the next MAP, if there are bytes to grant.
    fn plan_map(&mut self, now: Instant) {
        if self.scheduler.planned || !self.scheduler.wants() {
            return;
        }
        // The first interval whose MAP is made later than now.
        let interval = self.interval_of(now + self.settings.lead) + 1;
        let at = self.begin_of(interval).nanos() - self.settings.lead.nanos();
        self.scheduler.planned = true;
        self.agenda.add(Instant::from_nanos(at), Event::Map(interval));
    }

    /// The modem fills a flow's grant with waiting packets, and requests bytes for the rest.
    fn fill(&mut self, flow: usize, bytes: u64, now: Instant, lost: &mut dyn FnMut(Packet)) {
        let (of_frame, of_grant) = self.settings.headers;
        let begin = (now + self.settings.frame).max(self.busy_until);
        let (mut at, mut room) = (begin + self.settings.channel.time_for(of_grant), bytes);
        self.flows[flow].outstanding = self.flows[flow].outstanding.saturating_sub(bytes);
        let (measured, mut frames) = (self.front.meter.measures(now), 0);
        while room > 0 {
            if self.flows[flow].partial.is_none() {
                let next = self.front.take_flow(flow, now, lost);
                let Some(packet) = next else { break };
                let size = self.settings.framing.size(packet.bytes) + of_frame;
                self.flows[flow].begin(packet, size, at);
                frames += 1;
            }
            let sent = self.flows[flow].send(room);
            room -= sent;
            at += self.settings.channel.time_for(sent);
            if let Some((packet, began)) = self.flows[flow].finished() {
                self.front.carries(&packet, began, at);
                self.agenda.add(at + self.settings.frame * 2, Event::Arrived(packet));
            }
        }
        self.busy_until = at;
        // The contract counts neither unused bytes nor headers.
        let headers = frames * of_frame;
        self.scheduler.put_back(room + headers);
        if measured {
            self.counts.grants += 1;
            self.counts.bytes += bytes;
            self.counts.unused += room;
            self.counts.carried += (bytes - room).saturating_sub(headers);
        }
        self.send_request(flow, now + self.settings.frame);
        self.need(flow, now);
    }
}

/// Length of the smallest common IP packet, bytes: an acknowledgement of TCP without options.
const SHORTEST: u64 = 40;
/// Number of collisions after which the backoff grows no further: 2^10 intervals.
const LONGEST_BACKOFF: u32 = 10;

impl Channel for DocsisPort {
    fn front(&self) -> &Front {
        &self.front
    }

    fn front_mut(&mut self) -> &mut Front {
        &mut self.front
    }

    fn queue(&mut self, packet: Packet, lost: &mut dyn FnMut(Packet)) -> Option<Instant> {
        let now = packet.arrived;
        self.front.put(0, packet, lost);
        self.front.meter.queue(now, self.backlog());
        for flow in 0..self.flows.len() {
            self.need(flow, now);
        }
        self.next_tick()
    }

    fn next_event(&self) -> Option<Instant> {
        self.agenda.next()
    }

    fn run(&mut self, now: Instant, lost: &mut dyn FnMut(Packet)) {
        while let Some(event) = self.agenda.due(now) {
            match event {
                Event::Map(interval) => {
                    self.scheduler.planned = false;
                    self.make_map(interval, now);
                }
                Event::Request { flow, bytes } => {
                    self.scheduler.request(flow, bytes);
                    self.plan_map(now);
                }
                Event::Opportunity { flow, interval } => self.contend(flow, interval, now),
                Event::Grant { flow, bytes } => self.fill(flow, bytes, now, lost),
                Event::Arrived(packet) => self.front.hand_on(packet, now),
            }
        }
    }

    /// Packets that wait, and their IP bytes, including frames of which a part was sent.
    fn backlog(&self) -> Backlog {
        self.front.backlog_with(self.flows.iter().filter_map(Flow::held))
    }

    fn capacity(&self, seconds: f64) -> Capacity {
        let used = self.counts.carried as f64 / (self.settings.rate.bytes_per_s() * seconds);
        Capacity {
            mean_bits_per_s: self.settings.rate.bits_per_s() as f64,
            used: Some(used.min(1.0)),
        }
    }

    fn report(&self) -> Option<ChannelReport> {
        Some(ChannelReport::Docsis(self.counts))
    }
}
