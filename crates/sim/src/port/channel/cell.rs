//! One direction of a mobile cell (LTE, 5G): a base station serves user equipments (UEs) slot by slot.
//!
//! In each slot of its direction, blocks that did not arrive are retransmitted first (HARQ). Then
//! the scheduler gives the rest of the resources to the UEs in the order of proportional fairness.
//! The channel quality of a UE changes at random, and with it the bytes that a slot carries. A
//! block is filled from the UE's queue (RLC) without regard to packets' ends; packets are delivered
//! in order, once every earlier block has arrived. Blocks that HARQ gives up are sent again by RLC
//! (AM) or lost (UM). Upstream a UE must request before it is scheduled: with a scheduling request
//! if the scheduler does not know that the UE has bytes, else with its data.

mod marking;
mod quality;
mod reorder;
mod ue;

use std::collections::VecDeque;

use aqm::Discipline;
use packet::{Backlog, DropReason, Duration, Ecn, Instant, Packet, Rate, Rng};
use record::{Capacity, Meter};

use super::agenda::Agenda;
use super::queues::Queues;
use super::{Channel, ChannelReport, Front};
pub use marking::Marking;
pub use quality::Quality;
use ue::{Block, Ue};

/// Settings of one direction of a cell, apart from its queues.
#[derive(Clone, Debug)]
pub struct CellSettings {
    /// Whether this is the base station's port; otherwise it is that of the UEs.
    pub downlink: bool,
    /// Length of a slot.
    pub slot: Duration,
    /// Share of the symbols that this direction has in each slot of the repeated pattern.
    pub pattern: &'static [f64],
    /// Bits that a whole slot carries for each bit/s/Hz of spectral efficiency.
    pub elements: f64,
    /// The UEs' channel qualities.
    pub qualities: Vec<f64>,
    /// Parameters of the random walks of these qualities.
    pub quality: Quality,
    /// Block error rates of first transmissions and of retransmissions.
    pub errors: [f64; 2],
    /// Largest number of transmissions of a block by HARQ.
    pub tries: u32,
    /// Number of slots from one transmission of HARQ to the next.
    pub round: u64,
    /// Time after which RLC retransmits a block that HARQ gave up; `None` if RLC does not (UM).
    pub rlc: Option<Duration>,
    /// Time from the end of a slot until its packets are delivered.
    pub processing: Duration,
    /// Number of slots over which the scheduler averages the bytes of a UE.
    pub window: f64,
    /// Upstream: time between opportunities for a scheduling request, and from a request to the first slot.
    pub requests: [Duration; 2],
    /// Parameters of marking on arrival, if packets are marked.
    pub marking: Option<Marking>,
}

/// Resources that a UE got in the measured interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct UeShare {
    /// Number of slots that the UE had, with fractions of slots.
    pub slots: f64,
    /// Number of blocks, counted at their first transmission.
    pub blocks: u64,
    /// Number of retransmissions of blocks.
    pub repeated: u64,
    /// Blocks that HARQ gave up.
    pub given_up: u64,
    /// Slots used by blocks that were sent for the first time.
    pub first_slots: f64,
    /// Sum over `first_slots` of the spectral efficiency, bit/s/Hz.
    pub efficiency: f64,
}

enum Event {
    /// A slot of this direction begins.
    Slot(u64),
    /// The base station learns of a UE's waiting bytes.
    Known { ue: usize, bytes: u64 },
    /// A block has been received without error, or is lost for good.
    Decoded { ue: usize, number: u64, packets: Vec<Packet>, whole: bool },
}

/// A port to one direction of a mobile cell.
pub struct CellPort {
    settings: CellSettings,
    front: Front,
    ues: Vec<Ue>,
    agenda: Agenda<Event>,
    /// Blocks to be retransmitted, each with the first slot in which it may be.
    retransmissions: VecDeque<(u64, Block)>,
    planned: bool,
    shares: Vec<UeShare>,
    rate: Rate,
}

impl CellPort {
    /// An idle port with a discipline for each UE; `rate` is the nominal rate.
    pub fn new(
        settings: CellSettings,
        queues: Vec<Box<dyn Discipline>>,
        rate: Rate,
        mut rng: Rng,
        meter: Meter,
    ) -> Self {
        let count = settings.qualities.len();
        let ues = settings.qualities.iter().map(|&mean| Ue::new(mean, &mut rng)).collect();
        CellPort {
            front: Front::new(Queues::new(queues, count, None), rng, meter),
            ues,
            agenda: Agenda::default(),
            retransmissions: VecDeque::new(),
            planned: false,
            shares: vec![UeShare::default(); count],
            settings,
            rate,
        }
    }

    fn ue_of(&self, packet: &Packet) -> usize {
        let header = &packet.header;
        let host = if self.settings.downlink { header.destination } else { header.source };
        usize::from(host) % self.ues.len()
    }

    fn begin_of(&self, slot: u64) -> Instant {
        Instant::ZERO + self.settings.slot * slot
    }

    fn share_of(&self, slot: u64) -> f64 {
        self.settings.pattern[(slot % self.settings.pattern.len() as u64) as usize]
    }

    /// Plans the next slot of this direction that begins after `now`, if there is something to
    /// send.
    fn plan(&mut self, now: Instant) {
        let wanted =
            !self.retransmissions.is_empty() || (0..self.ues.len()).any(|ue| self.sends(ue));
        if self.planned || !wanted {
            return;
        }
        let mut slot = now.nanos() / self.settings.slot.nanos() + 1;
        while self.share_of(slot) == 0.0 {
            slot += 1;
        }
        self.planned = true;
        self.agenda.add(self.begin_of(slot), Event::Slot(slot));
    }

    /// Whether the scheduler knows of waiting bytes of a UE that are still there.
    fn sends(&self, ue: usize) -> bool {
        self.ues[ue].known > 0 && (self.ues[ue].partial.is_some() || self.front.queues.has(ue))
    }

    /// A UE has more waiting bytes, of which the scheduler learns at once downstream, and by a
    /// request upstream.
    fn announce(&mut self, ue: usize, bytes: u64, now: Instant) {
        if self.settings.downlink {
            self.ues[ue].known += bytes;
            return self.plan(now);
        }
        let [period, grant] = self.settings.requests;
        let own = &mut self.ues[ue];
        // A UE that sends reports its waiting bytes with the data (BSR); else it waits for its next
        // opportunity for a request (SR).
        let at = if own.known > 0 || own.requested > now {
            now.max(own.requested)
        } else {
            let phase = Duration::from_nanos(own.phase % period.nanos());
            let since = now.nanos().saturating_sub(phase.nanos());
            Instant::from_nanos(since.div_ceil(period.nanos()) * period.nanos()) + phase
        };
        own.requested = own.requested.max(at);
        self.agenda.add(at + grant, Event::Known { ue, bytes });
    }

    /// Serves a slot: first retransmissions, then new blocks in the order of proportional fairness.
    fn serve(&mut self, slot: u64, now: Instant, lost: &mut dyn FnMut(Packet)) {
        let mut left = self.share_of(slot);
        for _ in 0..self.retransmissions.len() {
            let (due, block) = self.retransmissions.pop_front().expect("counted");
            if due <= slot && block.part <= left {
                left -= block.part;
                self.shares[block.ue].repeated += u64::from(self.front.meter.measures(now));
                self.send(block, slot, now);
            } else {
                self.retransmissions.push_back((due, block));
            }
        }
        let mut order: Vec<(f64, usize)> = Vec::new();
        for ue in 0..self.ues.len() {
            if !self.sends(ue) {
                continue;
            }
            let bits = self.settings.quality.efficiency(&mut self.ues[ue], now);
            let got = self.ues[ue].average(slot, self.settings.window);
            order.push((bits / got.max(1e-9), ue));
        }
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, ue) in order {
            if left <= 0.0 {
                break;
            }
            left -= self.fill(ue, left, slot, now, lost);
        }
        self.plan(now);
    }

    /// Fills a block of a UE with at most the bytes that the part `left` of a slot carries. Returns
    /// the part that the block takes.
    fn fill(
        &mut self,
        ue: usize,
        left: f64,
        slot: u64,
        now: Instant,
        lost: &mut dyn FnMut(Packet),
    ) -> f64 {
        let efficiency = self.ues[ue].efficiency;
        let whole = self.settings.elements * efficiency / 8.0;
        let room = ((whole * left) as u64).min(self.ues[ue].known);
        if room == 0 {
            return left;
        }
        let (mut sent, mut packets) = (0, Vec::new());
        let end = self.begin_of(slot + 1);
        while sent < room {
            if self.ues[ue].partial.is_none() {
                let next = self.front.take(ue, now, lost);
                let Some(packet) = next else { break };
                self.ues[ue].partial = Some((u64::from(packet.bytes), packet, now));
            }
            let partial = self.ues[ue].partial.as_mut().expect("there is one");
            let part = partial.0.min(room - sent);
            (partial.0, sent) = (partial.0 - part, sent + part);
            if let Some((_, packet, began)) = self.ues[ue].partial.take_if(|own| own.0 == 0) {
                self.front.carries(&packet, began, end);
                packets.push(packet);
            }
        }
        if sent == 0 {
            // The bytes of which the scheduler knew have been dropped.
            self.ues[ue].known = 0;
            return 0.0;
        }
        // Known bytes beyond the last packet have been dropped.
        let empty = self.ues[ue].partial.is_none() && !self.front.queues.has(ue);
        let own = &mut self.ues[ue];
        own.known = if empty { 0 } else { own.known - sent };
        own.got += sent as f64;
        let part = sent as f64 / whole;
        if let Some(marking) = &self.settings.marking {
            own.rates.sent(marking, sent, packets.len(), now);
        }
        if self.front.meter.measures(now) {
            let share = &mut self.shares[ue];
            share.blocks += 1;
            share.first_slots += part;
            share.efficiency += efficiency * part;
        }
        let number = own.arrived.next();
        self.send(Block { ue, number, part, packets, tries: 0 }, slot, now);
        part
    }

    /// Sends a block in a slot: the block arrives, or will be retransmitted, or is lost.
    fn send(&mut self, mut block: Block, slot: u64, now: Instant) {
        if self.front.meter.measures(now) {
            self.shares[block.ue].slots += block.part;
        }
        let error = self.settings.errors[usize::from(block.tries > 0)];
        block.tries += 1;
        let received = self.begin_of(slot + 1) + self.settings.processing;
        let fails = error > 0.0 && self.front.rng.uniform() < error;
        if fails && block.tries < self.settings.tries {
            return self.retransmissions.push_back((slot + self.settings.round, block));
        }
        if fails {
            self.shares[block.ue].given_up += u64::from(self.front.meter.measures(now));
        }
        if let Some(after) = self.settings.rlc.filter(|_| fails) {
            let slots = after.nanos().div_ceil(self.settings.slot.nanos());
            block.tries = 0;
            return self.retransmissions.push_back((slot + slots, block));
        }
        let Block { ue, number, packets, .. } = block;
        self.agenda.add(received, Event::Decoded { ue, number, packets, whole: !fails });
    }

    /// Delivers the packets of the blocks up to the first one that has not arrived.
    fn hand_on(&mut self, ue: usize, now: Instant) {
        while let Some(packets) = self.ues[ue].arrived.next_whole() {
            packets.into_iter().for_each(|packet| self.front.hand_on(packet, now));
        }
    }
}

impl Channel for CellPort {
    fn front(&self) -> &Front {
        &self.front
    }

    fn front_mut(&mut self) -> &mut Front {
        &mut self.front
    }

    fn queue(&mut self, mut packet: Packet, lost: &mut dyn FnMut(Packet)) -> Option<Instant> {
        let (now, bytes, id) = (packet.arrived, packet.bytes, packet.id);
        let ue = self.ue_of(&packet);
        let waits = self.front.queues.backlog_of(ue).bytes;
        let marked = self.settings.marking.as_ref().is_some_and(|marking| {
            self.ues[ue].rates.marks(marking, waits, packet.ecn, &mut self.front.rng)
        });
        if marked {
            packet.ecn = Ecn::Ce;
        }
        if self.front.put(ue, packet, lost) {
            if marked {
                let counts = self.front.queues.guests.marked(id);
                self.front.meter.marked(now, DropReason::Early, counts);
            }
            self.announce(ue, u64::from(bytes), now);
        }
        self.front.meter.queue(now, self.backlog());
        self.next_tick()
    }

    fn next_event(&self) -> Option<Instant> {
        self.agenda.next()
    }

    fn run(&mut self, now: Instant, lost: &mut dyn FnMut(Packet)) {
        while let Some(event) = self.agenda.due(now) {
            match event {
                Event::Slot(slot) => {
                    self.planned = false;
                    self.serve(slot, now, lost);
                }
                Event::Known { ue, bytes } => {
                    self.ues[ue].known += bytes;
                    self.plan(now);
                }
                Event::Decoded { ue, number, mut packets, whole } => {
                    if !whole {
                        packets.drain(..).for_each(&mut *lost);
                    }
                    self.ues[ue].arrived.set(number, packets);
                    self.hand_on(ue, now);
                }
            }
        }
    }

    /// Packets that wait, and their IP bytes, including packets of which a part was sent.
    fn backlog(&self) -> Backlog {
        let begun = self.ues.iter().filter_map(|ue| ue.partial.as_ref());
        self.front.backlog_with(begun.map(|(_, packet, _)| packet))
    }

    fn capacity(&self, seconds: f64) -> Capacity {
        let slots = seconds / self.settings.slot.secs_f64();
        let mine: f64 =
            self.settings.pattern.iter().sum::<f64>() / self.settings.pattern.len() as f64;
        let used: f64 = self.shares.iter().map(|share| share.slots).sum::<f64>() / (slots * mine);
        Capacity { mean_bits_per_s: self.rate.bits_per_s() as f64, used: Some(used.min(1.0)) }
    }

    fn report(&self) -> Option<ChannelReport> {
        Some(ChannelReport::Cell(self.shares.clone()))
    }
}
