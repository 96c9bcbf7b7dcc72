//! Network namespaces without a name. A namespace exists while a process holds it open; the kernel
//! removes it when the last such process ends, also by a crash. No cleanup is needed, and no other
//! namespace is touched.

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

/// Name of the device towards the router, in every namespace.
pub const DEVICE: &str = "aqm0";
/// Largest IP packet in bytes (RFC 894).
pub const MTU: u32 = 1_500;
/// Length of the device's ring: packets that wait until the router reads them. The device drops
/// what does not fit, so the ring is long, and every run reports such drops.
const RING: u32 = 10_000;

/// A network namespace that this process holds open.
pub struct Namespace {
    handle: OwnedFd,
}

/// The kernel's packet counters of a namespace's device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets from the router into the namespace, and how many of them were dropped.
    pub received: [u64; 2],
    /// Packets from the namespace's programs, and how many of them were dropped before the router.
    pub sent: [u64; 2],
}

impl Namespace {
    /// Makes a namespace for the machines of `side`. Returns it with the file of its device,
    /// through which the router sends and receives.
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

    /// Runs a function in the namespace: the calling thread enters it and comes back.
    ///
    /// # Errors
    /// A sentence, if the thread may not enter the namespace.
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

    /// The kernel's counters of the device until now.
    ///
    /// # Errors
    /// A sentence, if the counters cannot be read.
    pub fn counters(&self) -> Result<Counters, Fault> {
        let text = self.within(|| std::fs::read_to_string("/proc/thread-self/net/dev"))?;
        let text = text.map_err(doing("read the counters of a namespace"))?;
        Ok(counters(&text).unwrap_or_default())
    }
}

/// Parses the device's line of `/proc/net/dev`: eight receive counters, then eight transmit
/// counters.
fn counters(text: &str) -> Option<Counters> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(DEVICE)?.strip_prefix(':'))?;
    let numbers: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let at = |place: usize| numbers.get(place).copied();
    Some(Counters { received: [at(1)?, at(3)?], sent: [at(9)?, at(11)?] })
}

/// Sets addresses, routes and sysctls of the calling thread's namespace.
fn furnish(side: Side, system: &EndSystem) -> Result<(), Fault> {
    let mut netlink = Netlink::open().map_err(doing("ask the kernel for a route"))?;
    let number =
        |netlink: &Netlink, name: &str| netlink.device(name).map_err(doing("find a device"));
    let (loopback, device) = (number(&netlink, "lo")?, number(&netlink, DEVICE)?);
    // The kernel adds no addresses of its own: no link-local one, and none from router
    // advertisements.
    set_if_there(&[
        ("net/ipv6/conf/all/accept_ra", "0"),
        ("net/ipv6/conf/aqm0/addr_gen_mode", "1"),
        // IPv4 sockets can bind to any address of a local route; IPv6 sockets need this setting.
        ("net/ipv6/ip_nonlocal_bind", "1"),
    ]);
    netlink.bring_up(loopback, 0, 0).map_err(doing("bring up the loopback device"))?;
    netlink.bring_up(device, RING, MTU).map_err(doing("bring up the device"))?;
    // If the kernel refuses, its default qdisc stays; the run's check of the counters finds packets
    // that it dropped.
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
        // Without the congestion control, if the kernel lacks it: programs of users report that.
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
