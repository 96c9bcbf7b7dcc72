//! A user's discipline that queues packets: it gets their numbers, the packets stay here.
//!
//! Every number that it returns is checked: one without a waiting packet ends the run. So no
//! discipline, however wrong, can lose, duplicate or invent packets.

use aqm::{Cx, Discipline};
use packet::{Backlog, DropReason, Ecn, Event, Instant, Packet, Rng};

use crate::failed::fail;

/// Context of a call to a [`Holder`]: the time, its random stream, the backlog, and methods to drop
/// and mark packets.
pub struct Call<'a> {
    /// The time of the call.
    pub now: Instant,
    /// The queue's own random stream.
    pub rng: &'a mut Rng,
    /// Time of the holder's next tick; it stays as last set.
    pub next_tick: &'a mut Option<Instant>,
    waiting: &'a mut Waiting,
    out: &'a mut dyn FnMut(Event),
    /// Number of the arriving packet, until it is dropped; `None` in other calls than `enqueue`.
    arriving: Option<u32>,
}

impl Call<'_> {
    /// Packets and bytes that wait, including an arriving packet.
    pub fn backlog(&self) -> Backlog {
        self.waiting.backlog
    }

    /// Drops a packet.
    ///
    /// # Errors
    /// A sentence, if no packet of that number waits.
    pub fn drop(&mut self, number: u32, why: DropReason) -> Result<(), String> {
        let packet = self.waiting.take(number).ok_or_else(|| none("dropped", number))?;
        if self.arriving == Some(number) {
            self.arriving = None;
        }
        (self.out)(Event::Dropped { packet, why });
        Ok(())
    }

    /// Sets CE in a packet.
    ///
    /// # Errors
    /// A sentence, if no packet of that number waits, or the packet is Not-ECT.
    pub fn mark(&mut self, number: u32, why: DropReason) -> Result<(), String> {
        let packet = self.waiting.get(number).ok_or_else(|| none("marked", number))?;
        if !packet.ecn.can_be_marked() {
            return Err(format!(
                "it marked packet {number}, which is not ECN-capable: drop such a packet"
            ));
        }
        packet.ecn = Ecn::Ce;
        let id = packet.id;
        (self.out)(Event::Marked { id, why });
        Ok(())
    }
}

fn none(what: &str, number: u32) -> String {
    format!("it {what} packet {number}, which does not wait: each packet leaves once")
}

/// A user's discipline that queues packets by their numbers.
pub trait Holder: Send {
    /// The discipline's name.
    fn name(&self) -> &str;
    /// A packet arrives; its `id` is the number for it in all calls. It waits unless it is dropped.
    fn enqueue(&mut self, packet: &Packet, call: &mut Call);
    /// The number of the next packet to send, if there is one.
    fn dequeue(&mut self, call: &mut Call) -> Option<u32>;
    /// The tick that the holder scheduled is due.
    fn tick(&mut self, call: &mut Call);
    /// Shows each gauge, a number of the discipline's inner state, with its name.
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64));
}

/// A slab of the packets that wait, by number. A number is reused after its packet has left.
#[derive(Default)]
struct Waiting {
    slots: Vec<Option<Packet>>,
    free: Vec<u32>,
    backlog: Backlog,
}

impl Waiting {
    fn put(&mut self, packet: Packet) -> u32 {
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.bytes);
        if let Some(number) = self.free.pop() {
            self.slots[number as usize] = Some(packet);
            return number;
        }
        self.slots.push(Some(packet));
        self.slots.len() as u32 - 1
    }

    fn get(&mut self, number: u32) -> Option<&mut Packet> {
        self.slots.get_mut(number as usize)?.as_mut()
    }

    fn take(&mut self, number: u32) -> Option<Packet> {
        let packet = self.slots.get_mut(number as usize)?.take()?;
        self.free.push(number);
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.bytes);
        Some(packet)
    }
}

/// A [`Holder`] with its packets, as a complete discipline.
pub struct Held<H> {
    holder: H,
    waiting: Waiting,
    next_tick: Option<Instant>,
}

impl<H: Holder> Held<H> {
    /// An empty queue of `holder`, whose first tick is at `next_tick`.
    pub fn new(holder: H, next_tick: Option<Instant>) -> Self {
        Held { holder, waiting: Waiting::default(), next_tick }
    }

    fn call<'a>(
        waiting: &'a mut Waiting,
        next_tick: &'a mut Option<Instant>,
        cx: &'a mut Cx,
        arriving: Option<u32>,
    ) -> Call<'a> {
        Call { now: cx.now, rng: cx.rng, next_tick, waiting, out: cx.out, arriving }
    }
}

impl<H: Holder> Discipline for Held<H> {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx) {
        let Held { holder, waiting, next_tick } = self;
        let id = packet.id;
        let mut seen = packet.clone();
        let number = waiting.put(packet);
        seen.id = number;
        let mut call = Self::call(waiting, next_tick, cx, Some(number));
        holder.enqueue(&seen, &mut call);
        if call.arriving.is_some() {
            (cx.out)(Event::Queued { id });
        }
    }

    fn dequeue(&mut self, cx: &mut Cx) -> Option<Packet> {
        let Held { holder, waiting, next_tick } = self;
        let number = holder.dequeue(&mut Self::call(waiting, next_tick, cx, None))?;
        match waiting.take(number) {
            Some(packet) => Some(packet),
            None => fail(format!("{}: {}", holder.name(), none("sent", number))),
        }
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog
    }
    fn next_tick(&self) -> Option<Instant> {
        self.next_tick
    }
    fn on_tick(&mut self, cx: &mut Cx) {
        let Held { holder, waiting, next_tick } = self;
        *next_tick = None;
        holder.tick(&mut Self::call(waiting, next_tick, cx, None));
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.holder.gauges(show);
    }
}
