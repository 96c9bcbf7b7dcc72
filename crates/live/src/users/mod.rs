//! The simulator's applications over the kernel's sockets.
//!
//! A program of users lives on one side of the links and does two things there. It drives the
//! applications of this side (`opener`) as `sim`'s hosts drive theirs: they get equal inputs, draw
//! from equal streams of random numbers and so request equal actions. And it is the peer of the
//! applications of the other side (`acceptor`). Two programs, one for each side, are partners
//! (`partner`). They write what is measured as facts (`facts`), of which [`collect()`] makes what
//! a simulated run hands out. What the kernel's TCP can imitate of an end system stands in
//! [`end_system`].

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

/// How long after the run's end datagrams are still waited for.
pub const GRACE: packet::Duration = packet::Duration::from_millis(1_000);

/// What a program of users is to do.
#[derive(Clone, Debug)]
pub struct Task {
    /// What is to be run, its loads calibrated into users.
    pub scenario: Scenario,
    /// On which side of the links.
    pub side: Side,
    /// Which of the side's programs, and how many there are: sources are dealt out in turn.
    pub pair: (u8, u8),
    /// Where machines are.
    pub places: Places,
    /// The file of its facts.
    pub log: PathBuf,
}

/// How a program is connected to the rest of the run.
#[derive(Debug)]
pub struct Channels {
    /// To the router; none where there is none between the sides.
    pub router: Option<OwnedFd>,
    /// The socket to the program of this pair on the other side: a local stream socket.
    pub partner: OwnedFd,
}

/// A program that listens and is ready to begin.
pub struct Program {
    driver: driver::Driver,
}

impl Program {
    /// Makes the applications and listens for those of the other side.
    ///
    /// # Errors
    /// A sentence: of the scenario, or the kernel's with what it was about.
    pub fn new(task: &Task, channels: Channels) -> io::Result<Program> {
        // One file is needed for each connection.
        raise(Resource::Nofile);
        wake_in_time();
        Ok(Program { driver: driver::Driver::new(task, channels)? })
    }

    /// Reports to the router that it is ready, and waits for the time when the run begins, ns of
    /// `CLOCK_MONOTONIC`.
    ///
    /// # Errors
    /// If the router is gone, or there is none.
    pub fn wait_for_begin(&self) -> io::Result<u64> {
        self.driver.wait_for_begin()
    }

    /// Runs it; time zero is when `CLOCK_MONOTONIC` reads `begin` nanoseconds. Returns at the end
    /// of the run, [`GRACE`] included, or when its partner ends before.
    ///
    /// # Errors
    /// What the kernel refuses, or the file system.
    pub fn run(self, begin: u64) -> io::Result<()> {
        self.driver.run(begin)
    }
}
