//! RED in every queue of SFQ (`redflowlimit` of `tc`, SFQRED in the kernel): all queues share the
//! parameters, and each has its own average and count.

use alloc::vec;
use alloc::vec::Vec;

use packet::{DropReason, Ecn, Event, Packet, Rng};

use crate::Verdict;
use crate::algorithms::family::{Law, Vars};
use crate::shells::pool::{Pool, Queue};

pub(super) struct Early {
    law: Law,
    ecn: bool,
    of: Vec<Vars>,
}

impl Early {
    /// RED's state for `queues` queues; `ecn` permits marks.
    pub fn new(law: Law, ecn: bool, queues: usize) -> Self {
        Early { law, ecn, of: vec![Vars::NEW; queues] }
    }

    /// Resets RED's state of queue `at`, which was empty.
    pub fn begin(&mut self, at: u32) {
        self.of[at as usize] = Vars::NEW;
    }

    /// Updates the average of queue `at` with a packet that finds `bytes` there, and decides
    /// nothing.
    pub fn sample(&mut self, at: u32, bytes: u64) {
        self.law.sample(&mut self.of[at as usize], bytes);
    }

    /// Decides on a packet that finds others in its queue. A signal marks the queue's first packet
    /// if `front` and it can be marked, else the arrival if it can be. Returns why the queue must
    /// lose a packet, if it must.
    pub fn judge(
        &mut self,
        at: u32,
        packet: &mut Packet,
        (pool, queue, front): (&mut Pool, &Queue, bool),
        rng: &mut Rng,
        out: &mut dyn FnMut(Event),
    ) -> Option<DropReason> {
        let bytes = queue.backlog().bytes;
        let why = match self.law.judge(&mut self.of[at as usize], bytes, rng) {
            Verdict::Pass => return None,
            Verdict::Drop(why) => return Some(why),
            Verdict::Signal(why) => why,
        };
        let first = if front { pool.head_mut(queue) } else { None };
        let marked = [first, Some(packet)].into_iter().flatten();
        let marked = marked.into_iter().find(|packet| self.ecn && packet.ecn.can_be_marked());
        let Some(marked) = marked else { return Some(why) };
        marked.ecn = Ecn::Ce;
        out(Event::Marked { id: marked.id, why });
        None
    }
}
