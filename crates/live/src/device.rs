//! Devices that the router reads packets from and sends packets to, one for each side of the links.

use std::collections::VecDeque;
use std::io;

/// A device that sends and receives whole IP packets.
pub trait Device {
    /// Reads the next packet into `into`. Returns its length in bytes; `None` if no packet waits.
    ///
    /// # Errors
    /// The system's error, if the device has failed.
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>>;

    /// Sends a packet. Returns `false` if the device has no room for it.
    ///
    /// # Errors
    /// The system's error, if the device has failed.
    fn send(&mut self, packet: &[u8]) -> io::Result<bool>;
}

/// A device in memory, for tests.
#[derive(Debug, Default)]
pub struct Memory {
    /// Packets that will be received.
    pub incoming: VecDeque<Vec<u8>>,
    /// Packets that were sent.
    pub outgoing: Vec<Vec<u8>>,
    /// Number of further packets that the device refuses.
    pub refuses: usize,
}

impl Device for Memory {
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        Ok(self.incoming.pop_front().map(|packet| {
            into[..packet.len()].copy_from_slice(&packet);
            packet.len()
        }))
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<bool> {
        if self.refuses > 0 {
            self.refuses -= 1;
            return Ok(false);
        }
        self.outgoing.push(packet.to_vec());
        Ok(true)
    }
}

#[cfg(target_os = "linux")]
pub use self::tun::Tun;

#[cfg(target_os = "linux")]
mod tun {
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

    use rustix::io::{Errno, read, write};

    use super::Device;

    /// A TUN device with non-blocking reads and writes.
    #[derive(Debug)]
    pub struct Tun(OwnedFd);

    impl Tun {
        /// A TUN device from an open file, see [`open_tun`](crate::system::open_tun).
        pub fn new(file: OwnedFd) -> Tun {
            Tun(file)
        }
    }

    impl AsFd for Tun {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }
    }

    impl Device for Tun {
        fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
            match read(&self.0, into) {
                Ok(length) => Ok(Some(length)),
                Err(Errno::AGAIN | Errno::INTR) => Ok(None),
                Err(error) => Err(error.into()),
            }
        }

        fn send(&mut self, packet: &[u8]) -> io::Result<bool> {
            match write(&self.0, packet) {
                Ok(_) => Ok(true),
                Err(Errno::AGAIN | Errno::NOBUFS | Errno::INTR) => Ok(false),
                Err(error) => Err(error.into()),
            }
        }
    }
}
