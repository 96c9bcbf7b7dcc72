//! Runs a scenario between real TCP stacks.
//!
//! The queues, the lines and the round-trip times are those of the simulator; the packets are the
//! Linux kernel's. Two network namespaces, one for each side of the links, are joined by a router
//! in user space. Reading order:
//!
//! * [`router`]: the core, around the simulator's own ports. Header fields of a packet and its
//!   arrival time go in; decisions and departure times come out. It has no clock and no I/O, and is
//!   built on every platform.
//! * [`addresses`]: which address each machine of a scenario has.
//! * [`control`]: what a program of a run (users, servers) reports to the router, above all the
//!   round-trip time of a connection before its first packet.
//! * `device`, `netns`, `run` (Linux): TUN devices, network namespaces, and the main loop with a
//!   clock.
//! * `users` (Linux): the simulator's applications over the kernel's sockets.

pub mod addresses;
pub mod bridge;
pub mod control;
pub mod device;
pub mod fault;
pub mod header;
pub mod router;

#[cfg(target_os = "linux")]
pub mod check;
#[cfg(target_os = "linux")]
pub mod clock;
#[cfg(target_os = "linux")]
pub mod netns;
#[cfg(target_os = "linux")]
pub mod parts;
#[cfg(target_os = "linux")]
pub mod priority;
#[cfg(target_os = "linux")]
pub mod program;
#[cfg(target_os = "linux")]
pub mod run;
#[cfg(target_os = "linux")]
pub mod system;
#[cfg(target_os = "linux")]
pub mod users;
