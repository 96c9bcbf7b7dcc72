//! Checks whether this machine has what a live run needs, and measures its limits.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as Wall;

use packet::Duration;
use record::LogHistogram;
use rustix::event::{PollFd, PollFlags, poll};
use serde_json::{Value, json};
use sim::topology::Side;

use crate::addresses::{Family, address};
use crate::clock::{monotonic_ns, timespec};
use crate::device::{Device, Tun};
use crate::fault::{Fault, doing};
use crate::netns::Namespace;
use crate::netns::end_system::EndSystem;
use crate::priority::{self, Precedence};
use crate::system;

/// Number of sleeps that measure the timer's lateness, and the length of each.
const NAPS: usize = 200;
const NAP: Duration = Duration::from_millis(3);
/// How long packets are moved to measure the rate, ns.
const RUSH_NS: u64 = 400_000_000;
/// UDP payload, in bytes, of the packets by which the rate is measured: with headers they fill an
/// MTU of 1,500 bytes.
const PAYLOAD: usize = 1_472;

/// The preconditions as `[{name, ok, found}]` under `needs`, and the measured limits under
/// `limits`:
/// `packets_per_s` through the router's devices, and the lateness of its timer.
pub fn check() -> Value {
    let mut needs = Vec::new();
    let mut need = |name: &str, found: Result<String, String>| {
        let (ok, text) = match found {
            Ok(text) => (true, text),
            Err(text) => (false, text),
        };
        needs.push(json!({"name": name, "ok": ok, "found": text}));
        ok
    };
    let sentence = |fault: Fault| fault.0;
    let capable = system::gain_capabilities().map(|()| whose()).map_err(sentence);
    need("privileges", capable);
    need("congestion controls", congestion_controls());
    need("ECN", read("/proc/sys/net/ipv4/tcp_ecn").map(|_| "settable in a namespace".into()));
    need("clock", clock());
    need("real-time scheduling", Ok(real_time()));
    let naps = naps();
    let pair = || -> Result<_, Fault> {
        let system = EndSystem::default();
        Ok((Namespace::create(Side::Clients, &system)?, Namespace::create(Side::Servers, &system)?))
    };
    let mut rate = Value::Null;
    match pair() {
        Ok(pair) => {
            need("namespaces and TUN devices", Ok("two made, and gone again".into()));
            need(
                "offloads",
                Ok("none: a TUN device gets packets as they would be on a wire".into()),
            );
            match rush(pair) {
                Ok(found) => rate = found,
                Err(fault) => drop(need("packets", Err(fault.0))),
            }
        }
        Err(fault) => drop(need("namespaces and TUN devices", Err(fault.0))),
    }
    json!({
        "needs": needs,
        "limits": {
            "packets_per_s": rate,
            "lateness_p50_s": naps.quantile_s(0.5),
            "lateness_p99_s": naps.quantile_s(0.99),
            "lateness_max_s": naps.longest_s(),
        },
    })
}

fn whose() -> String {
    let root = rustix::process::geteuid().is_root();
    if root { "root" } else { "a user namespace of one's own" }.to_owned()
}

fn read(path: &str) -> Result<String, String> {
    let text = std::fs::read_to_string(path);
    text.map(|text| text.trim().to_owned()).map_err(|error| format!("{path}: {error}"))
}

/// The congestion controls that a socket may choose on this machine.
fn congestion_controls() -> Result<String, String> {
    let there = read("/proc/sys/net/ipv4/tcp_available_congestion_control")?;
    let has = |name: &str| there.split_whitespace().any(|word| word == name);
    let lacking: Vec<&str> =
        ["reno", "cubic", "bbr", "dctcp"].into_iter().filter(|n| !has(n)).collect();
    let more = lacking.iter().map(|name| format!("modprobe tcp_{name}")).collect::<Vec<_>>();
    let hint = if more.is_empty() {
        String::new()
    } else {
        format!("; for more, as root: {}", more.join(", "))
    };
    Ok(there + &hint)
}

fn clock() -> Result<String, String> {
    let grain = rustix::time::clock_getres(rustix::time::ClockId::Monotonic);
    let source = read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let text =
        format!("{} ns, {}", grain.tv_nsec, source.unwrap_or_else(|_| "source unknown".into()));
    if grain.tv_sec > 0 || grain.tv_nsec > 1_000 { Err(text) } else { Ok(text) }
}

/// Whether real-time scheduling is allowed, as a sentence. It is no precondition: runs go on
/// without.
fn real_time() -> String {
    match priority::try_real_time() {
        Ok(()) => "allowed: runs stay in time beside other work".into(),
        Err(error) => format!(
            "refused ({error}): runs are in time on an idle machine only; start as root, or raise the limit (ulimit -r 2)"
        ),
    }
}

/// Lateness of sleeps that end as the router's do: by a timer shortly before the time, then by
/// polling the clock.
fn naps() -> LogHistogram {
    let spin = 60_000;
    let precedence = Precedence::ask();
    let mut late = LogHistogram::default();
    for _ in 0..NAPS {
        let due = monotonic_ns() + NAP.nanos();
        let _ = poll(&mut [], Some(&timespec(Duration::from_nanos(NAP.nanos() - spin))));
        let mut now = monotonic_ns();
        while now < due {
            now = monotonic_ns();
        }
        late.add(now - due);
    }
    precedence.end();
    late
}

/// Measures how many full-size packets per second this process moves between the namespaces.
fn rush(
    ((clients, from), (servers, to)): (
        (Namespace, std::os::fd::OwnedFd),
        (Namespace, std::os::fd::OwnedFd),
    ),
) -> Result<Value, Fault> {
    let socket = clients
        .within(|| UdpSocket::bind((address(Family::V4, Side::Clients, 0, 0), 0)))?
        .map_err(doing("open a socket"))?;
    let target = (address(Family::V4, Side::Servers, 0, 0), 9);
    let (mut from, mut to) = (Tun::new(from), Tun::new(to));
    let over = AtomicBool::new(false);
    let moved = std::thread::scope(|scope| {
        scope.spawn(|| {
            let packet = [0; PAYLOAD];
            while !over.load(Ordering::Relaxed) {
                // Errors are ignored: no socket listens at the target, which ICMP may report.
                let _ = socket.send_to(&packet, target);
            }
        });
        let moved = pump(&mut from, &mut to);
        over.store(true, Ordering::Relaxed);
        moved
    });
    std::thread::sleep(Wall::from_millis(1));
    drop(servers);
    Ok(json!(moved? as f64 * 1e9 / RUSH_NS as f64))
}

fn pump(from: &mut Tun, to: &mut Tun) -> Result<u64, Fault> {
    let (mut buffer, mut moved) = ([0; 2_048], 0);
    let until = monotonic_ns() + RUSH_NS;
    while monotonic_ns() < until {
        match from.receive(&mut buffer).map_err(doing("read a packet"))? {
            Some(length) => {
                moved += u64::from(to.send(&buffer[..length]).map_err(doing("send a packet"))?);
            }
            None => {
                let mut files = [PollFd::new(from, PollFlags::IN)];
                let _ = poll(&mut files, Some(&timespec(Duration::from_millis(1))));
            }
        }
    }
    Ok(moved)
}
