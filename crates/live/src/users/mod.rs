//! The simulator's applications over the kernel's sockets.
//!
//! A program of users runs on one side of the links and has two tasks. It drives the applications
//! of this side (`opener`) as `sim`'s hosts do: the applications get inputs, draw from the random
//! streams of the simulation, and request actions. And it is the peer of the applications of the
//! other side (`acceptor`). Two programs, one for each side, form a pair and exchange messages
//! (`partner`). They log facts (`facts`), from which [`collect()`] makes the measures of a
//! simulated run. [`end_system`] maps the end systems of a scenario to settings of the kernel's
//! TCP.

mod acceptor;
mod clock;
mod collect;
mod connection;
mod datagram;
mod driver;
pub mod end_system;
mod facts;
mod kernel;
mod opener;
mod partner;
mod pipe;
mod places;
mod seen;
mod slots;
mod sockets;
mod sources;
mod streams;
mod timers;

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::process::Resource;
use sim::scenario::Scenario;
use sim::topology::Side;

pub use self::clock::monotonic_ns;
pub use self::collect::{Collected, collect};
pub use self::places::Places;
use crate::priority::{raise, wake_in_time};

/// How long after the run's end programs still wait for datagrams.
pub const GRACE: packet::Duration = packet::Duration::from_millis(1_000);

/// The task of a program of users.
#[derive(Clone, Debug)]
pub struct Task {
    /// The scenario. Offered loads have been calibrated into numbers of users.
    pub scenario: Scenario,
    /// The program's side of the links.
    pub side: Side,
    /// Index of the program's pair, and the number of pairs. Sources are assigned to the pairs in
    /// turn.
    pub pair: (u8, u8),
    /// How machines are given addresses.
    pub places: Places,
    /// The file into which the program logs what happens (one fact a line).
    pub log: PathBuf,
}

/// How a program is connected to the rest of the run.
#[derive(Debug)]
pub struct Channels {
    /// The socket to the router; `None` if the sides are not joined by a router.
    pub router: Option<OwnedFd>,
    /// The local stream socket to the pair's program on the other side.
    pub partner: OwnedFd,
}

/// A program of users whose servers listen.
pub struct Program {
    driver: driver::Driver,
}

impl Program {
    /// Makes the applications, and opens the server sockets for those of the other side.
    ///
    /// # Errors
    /// A sentence, if the scenario is refused or a system call fails.
    pub fn new(task: &Task, channels: Channels) -> io::Result<Program> {
        // Each connection needs a file descriptor.
        raise(Resource::Nofile);
        wake_in_time();
        Ok(Program { driver: driver::Driver::new(task, channels)? })
    }

    /// Reports to the router that it is ready, and waits for the time when the run begins, ns of
    /// `CLOCK_MONOTONIC`.
    ///
    /// # Errors
    /// If the router has ended, or the program is not connected to one.
    pub fn wait_for_begin(&self) -> io::Result<u64> {
        self.driver.wait_for_begin()
    }

    /// Runs the program. Time zero is when `CLOCK_MONOTONIC` reads `begin` nanoseconds. Returns
    /// [`GRACE`] after the end of the run, or earlier when the partner program ends.
    ///
    /// # Errors
    /// If a system call fails, or the log cannot be written.
    pub fn run(self, begin: u64) -> io::Result<()> {
        self.driver.run(begin)
    }
}
