//! Network namespaces without a name: a process that holds one open keeps it, and it is gone when
//! the last such process ends, in whatever way. Nothing is left behind, and nothing of others is
//! touched.

pub mod end_system;
mod netlink;

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::thread;

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};
use sim::topology::Side;

use self::end_system::{EndSystem, set_if_there};
pub use self::netlink::{Metrics, Netlink};
use crate::addresses::{Family, address, prefix};
use crate::fault::{Fault, doing};
use crate::system;

/// The device towards the router, in every namespace.
pub const DEVICE: &str = "aqm0";
/// Largest IP packet (RFC 894).
pub const MTU: u32 = 1_500;
/// Packets that the device's ring takes before the router has read them. What does not fit is lost
/// without a word, so it is large, and every run asserts that nothing was lost.
const RING: u32 = 10_000;

/// A network namespace, held open.
pub struct Namespace {
    handle: OwnedFd,
}

/// What the kernel counted at a namespace's device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that the router has sent into it, and those of them that were dropped.
    pub received: [u64; 2],
    /// Packets that came from its programs, and those of them that were dropped before the router.
    pub sent: [u64; 2],
}

impl Namespace {
    /// A new namespace with the device towards the router, which is handed out, for hosts of `side`.
    ///
    /// # Errors
    /// A sentence that names what is missing.
    pub fn create(side: Side, system: &EndSystem) -> Result<(Namespace, OwnedFd), Fault> {
        let system = system.clone();
        let made = thread::spawn(move || -> Result<_, Fault> {
            system::unshare(UnshareFlags::NEWNET).map_err(|e| {
                Fault(format!(
                    "no network namespace can be made ({e}): start as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0)"
                ))
            })?;
            let device = system::open_tun(DEVICE).map_err(|e| {
                Fault(format!(
                    "no TUN device can be opened ({e}): load the module (modprobe tun) and give the container /dev/net/tun (--device /dev/net/tun)"
                ))
            })?;
            furnish(side, &system)?;
            let handle =
                File::open("/proc/thread-self/ns/net").map_err(doing("open a namespace"))?;
            Ok((Namespace { handle: handle.into() }, device))
        });
        made.join().map_err(|_| Fault("the thread that makes a namespace has failed".into()))?
    }

    /// Does something in it: the calling thread goes there and comes back.
    ///
    /// # Errors
    /// A sentence, if the thread may not.
    pub fn within<T>(&self, what: impl FnOnce() -> T) -> Result<T, Fault> {
        let move_to = |handle: &OwnedFd| {
            move_into_link_name_space(handle.as_fd(), Some(LinkNameSpaceType::Network))
                .map_err(doing("enter a namespace"))
        };
        let home = File::open("/proc/thread-self/ns/net").map_err(doing("open a namespace"))?;
        move_to(&self.handle)?;
        let answer = what();
        move_to(&home.into())?;
        Ok(answer)
    }

    /// What the kernel has counted at the device until now.
    ///
    /// # Errors
    /// A sentence.
    pub fn counters(&self) -> Result<Counters, Fault> {
        let text = self.within(|| std::fs::read_to_string("/proc/thread-self/net/dev"))?;
        let text = text.map_err(doing("read the counters of a namespace"))?;
        Ok(counters(&text).unwrap_or_default())
    }
}

/// The line of `/proc/net/dev` that is about our device: eight numbers received, eight sent.
fn counters(text: &str) -> Option<Counters> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(DEVICE)?.strip_prefix(':'))?;
    let numbers: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let at = |place: usize| numbers.get(place).copied();
    Some(Counters { received: [at(1)?, at(3)?], sent: [at(9)?, at(11)?] })
}

/// Addresses, routes and settings of the calling thread's namespace.
fn furnish(side: Side, system: &EndSystem) -> Result<(), Fault> {
    let mut netlink = Netlink::open().map_err(doing("ask the kernel for a route"))?;
    let number =
        |netlink: &Netlink, name: &str| netlink.device(name).map_err(doing("find a device"));
    let (loopback, device) = (number(&netlink, "lo")?, number(&netlink, DEVICE)?);
    // No address but ours, and no router advertisements or duplicate address detection.
    set_if_there(&[
        ("net/ipv6/conf/all/accept_ra", "0"),
        ("net/ipv6/conf/aqm0/addr_gen_mode", "1"),
        // A local prefix is enough to bind to in IPv4 alone.
        ("net/ipv6/ip_nonlocal_bind", "1"),
    ]);
    netlink.bring_up(loopback, 0, 0).map_err(doing("bring up the loopback device"))?;
    netlink.bring_up(device, RING, MTU).map_err(doing("bring up the device"))?;
    // Where the kernel refuses, its own queue stays: the run's check of counters detects if it held
    // any.
    let _ = netlink.without_queue(device);
    system.apply()?;
    for family in Family::ALL {
        let own = address(family, side, 0, 0);
        let given = netlink.add_address(device, own);
        if family == Family::V6 && given.is_err() {
            continue; // a kernel without IPv6
        }
        given.map_err(doing("give the device its address"))?;
        netlink.own(loopback, prefix(family, side)).map_err(doing("take addresses"))?;
        let mut add =
            |metrics: &Metrics| netlink.route(device, prefix(family, side.other()), own, metrics);
        // A kernel without this congestion control: the check of end systems reports it.
        let without = Metrics { congestion: None, ..system.metrics.clone() };
        add(&system.metrics).or_else(|_| add(&without)).map_err(doing("add a route"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_counters_are_read_by_their_places() {
        let text = "Inter-|   Receive                                                |  Transmit\n \
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    \
             lo:       1       2    0    0    0     0          0         0        1       2    0    0    0     0       0          0\n  \
             aqm0:     100      11    0    12    0     0          0         0      200      21    0    22    0     0       0          0\n";
        let counted = counters(text).expect("a line");
        assert_eq!(counted, Counters { received: [11, 12], sent: [21, 22] });
        assert_eq!(counters("eth0: 1 2"), None);
    }
}
