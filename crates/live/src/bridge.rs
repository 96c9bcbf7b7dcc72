//! The router between two devices: takes packets from them, carries out what the core decides, and
//! accounts for how late it was. It has no clock; its caller passes the time.

mod bodies;

use std::io;

use packet::Instant;
use record::LogHistogram;
use sim::topology::Side;

use self::bodies::Bodies;
use crate::addresses;
use crate::control::Announcement;
use crate::device::Device;
use crate::header::{Facts, corrupt, mark};
use crate::router::{Departed, Router};

/// Size of a packet buffer in bytes, above the device's MTU.
const ROOM: usize = 2_048;
/// Largest number of packets read from a device at a time, before packets that are due are sent.
const BATCH: usize = 32;

/// Counts of packets at the router's devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Packets read from both devices and passed to the core.
    pub received: u64,
    /// Packets that the devices accepted.
    pub sent: u64,
    /// Packets that a device had no room for: dropped, but not by a queue of the scenario.
    pub refused: u64,
    /// Packets whose addresses are not of the run's machines (a kernel's own multicast); discarded.
    pub foreign: u64,
}

/// Callback with each packet that leaves the links and its departure time, for a capture file.
pub type Tap = Box<dyn FnMut(Instant, &[u8]) + Send>;

/// The router between two devices, the clients' and the servers'.
pub struct Bridge<D> {
    router: Router,
    devices: [D; 2],
    bodies: Bodies,
    done: Vec<Departed>,
    account: Account,
    lateness: LogHistogram,
    tap: Option<Tap>,
}

impl<D: Device> Bridge<D> {
    /// A bridge between these devices; `tap` gets each packet that leaves the links.
    pub fn new(router: Router, devices: [D; 2], tap: Option<Tap>) -> Bridge<D> {
        Bridge {
            router,
            devices,
            bodies: Bodies::default(),
            done: Vec::new(),
            account: Account::default(),
            lateness: LogHistogram::default(),
            tap,
        }
    }

    /// Sends packets that are due, and reads packets that have arrived. `clock` gives the arrival
    /// time of each packet; `announced` reads new announcements when a packet's flow is unknown.
    /// Returns whether more packets may wait at a device.
    ///
    /// # Errors
    /// The system's error, if a device has failed.
    pub fn turn(
        &mut self,
        clock: &mut impl FnMut() -> Instant,
        announced: &mut impl FnMut(&mut Router),
    ) -> io::Result<bool> {
        self.release(clock())?;
        let mut more = false;
        for side in [Side::Clients, Side::Servers] {
            let mut taken = 0;
            while taken < BATCH && self.take(side, clock, announced)? {
                taken += 1;
            }
            more |= taken == BATCH;
        }
        // Sends what became due while packets were read.
        self.release(clock())?;
        Ok(more)
    }

    /// Time of the router's next event.
    pub fn next(&self) -> Option<Instant> {
        self.router.next()
    }

    /// Registers a connection or stream before its first packet.
    pub fn announce(&mut self, of: &Announcement) {
        self.router.announce(of);
    }

    /// Runs the router's events up to and including `now`, and sends the packets that leave it.
    fn release(&mut self, now: Instant) -> io::Result<()> {
        self.router.advance(now);
        self.router.take_done(&mut self.done);
        let mut all = std::mem::take(&mut self.done);
        for done in all.drain(..) {
            match done {
                Departed::Copied { id, copy } => self.bodies.copy(id, copy),
                Departed::Dropped { id } => self.bodies.release(id),
                Departed::Delivered { id, .. } => {
                    self.hand_on(&done, now)?;
                    self.bodies.release(id);
                }
            }
        }
        self.done = all;
        Ok(())
    }

    /// Sends a delivered packet to its device; first applies its mark or corruption to the bytes.
    fn hand_on(&mut self, delivered: &Departed, now: Instant) -> io::Result<()> {
        let Departed::Delivered { id, at, to, marked, corrupted } = *delivered else {
            return Ok(());
        };
        let (body, length) = self.bodies.of(id);
        let packet = &mut body[..*length];
        if marked {
            mark(packet);
        }
        if corrupted {
            corrupt(packet);
        }
        if let Some(tap) = &mut self.tap {
            tap(at, packet);
        }
        let room = self.devices[usize::from(addresses::index(to))].send(packet)?;
        self.account.sent += u64::from(room);
        self.account.refused += u64::from(!room);
        self.lateness.add(now.since(at).nanos());
        Ok(())
    }

    /// Reads a packet from the device of a side. Returns whether there was one.
    fn take(
        &mut self,
        from: Side,
        clock: &mut impl FnMut() -> Instant,
        announced: &mut impl FnMut(&mut Router),
    ) -> io::Result<bool> {
        let id = self.bodies.handle();
        let (body, length) = self.bodies.of(id);
        let device = &mut self.devices[usize::from(addresses::index(from))];
        let Some(received) = device.receive(&mut body[..])? else {
            self.bodies.release(id);
            return Ok(false);
        };
        *length = received;
        let facts = Facts::read(&body[..received]).filter(|facts| is_ours(from, facts));
        let Some(facts) = facts else {
            self.account.foreign += 1;
            self.bodies.release(id);
            return Ok(true);
        };
        if !self.router.knows(from, &facts) {
            announced(&mut self.router);
        }
        self.account.received += 1;
        self.router.arrive(clock(), id, from, &facts);
        Ok(true)
    }

    /// Counts of packets at the devices so far.
    pub fn account(&self) -> Account {
        self.account
    }

    /// How late packets were handed to their device after their departure time, ns.
    pub fn lateness(&self) -> &LogHistogram {
        &self.lateness
    }

    /// The devices: the clients', then the servers'.
    pub fn devices(&self) -> &[D; 2] {
        &self.devices
    }

    /// The devices, mutable: the clients', then the servers'.
    pub fn devices_mut(&mut self) -> &mut [D; 2] {
        &mut self.devices
    }

    /// Returns the core of the router, when the run is over.
    pub fn into_router(self) -> Router {
        self.router
    }
}

/// Whether a packet goes from a machine of side `from` to a machine of the other side.
fn is_ours(from: Side, facts: &Facts) -> bool {
    let side = |address| addresses::machine(address).map(|(side, _)| side);
    side(facts.from.ip()) == Some(from) && side(facts.to.ip()) == Some(from.other())
}
