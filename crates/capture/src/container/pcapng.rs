//! The newer format, pcapng (draft-ietf-opsawg-pcapng): sections of blocks.

use super::{Frame, LONGEST, Next};
use crate::bytes::Order;

/// Type of the block that begins a section: a palindrome, so that the byte order does not matter.
pub const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const SECTION_TYPE: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
/// Type of the obsolete packet block, which the enhanced packet block replaced.
const OLD_PACKET: u32 = 2;
const SIMPLE: u32 = 3;
const ENHANCED: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// Most interfaces in a section; more of them mean that the file is damaged.
const INTERFACES: usize = 65_536;

#[derive(Clone, Copy)]
struct Interface {
    link: u32,
    snap: u32,
    /// Ticks of the interface's clock in a second: a power of ten or of two.
    ticks: u64,
    offset_s: i64,
}

/// State of the reader: byte order, interfaces of the section, last time.
pub struct PcapNg {
    order: Option<Order>,
    interfaces: Vec<Interface>,
    /// Time of the last packet, ns; simple packet blocks have no time and get this one.
    last_ns: i64,
}

impl PcapNg {
    pub fn new() -> Self {
        PcapNg { order: None, interfaces: Vec::new(), last_ns: 0 }
    }

    /// Whether a section header has been read.
    pub fn begun(&self) -> bool {
        self.order.is_some()
    }

    pub fn next<'a>(&mut self, front: &'a [u8]) -> Next<'a> {
        if front.starts_with(&SECTION) {
            let Some(magic) = front.get(8..12) else { return Next::More };
            let order = [Order::Big, Order::Little];
            let found = order.into_iter().find(|o| o.u32(magic, 0) == Some(BYTE_ORDER));
            let Some(order) = found else { return damaged() };
            self.order = Some(order);
            self.interfaces.clear();
        }
        let Some(order) = self.order else { return damaged() };
        let (Some(kind), Some(length)) = (order.u32(front, 0), order.u32(front, 4)) else {
            return Next::More;
        };
        let total = length as usize;
        if total < 12 || !total.is_multiple_of(4) {
            return damaged();
        }
        if !matches!(kind, INTERFACE | OLD_PACKET | SIMPLE | ENHANCED) {
            return if kind == SECTION_TYPE && front.len() < total.min(28) {
                Next::More
            } else {
                Next::Skip(u64::from(length))
            };
        }
        if total > LONGEST {
            return damaged();
        }
        let Some(block) = front.get(..total) else { return Next::More };
        let body = &block[8..total - 4];
        let frame = match kind {
            INTERFACE => {
                let Some(interface) = interface(order, body) else { return damaged() };
                if self.interfaces.len() >= INTERFACES {
                    return damaged();
                }
                self.interfaces.push(interface);
                return Next::Skip(u64::from(length));
            }
            SIMPLE => self.simple(order, body),
            _ => self.stamped(order, body, kind),
        };
        match frame {
            Some(frame) => {
                self.last_ns = frame.at_ns;
                Next::Packet(frame, total)
            }
            None => damaged(),
        }
    }

    fn simple<'a>(&self, order: Order, body: &'a [u8]) -> Option<Frame<'a>> {
        let interface = self.interfaces.first()?;
        let length = order.u32(body, 0)?;
        let mut kept = (length as usize).min(body.len() - 4);
        if interface.snap > 0 {
            kept = kept.min(interface.snap as usize);
        }
        let data = body.get(4..4 + kept)?;
        Some(Frame { at_ns: self.last_ns, link: interface.link, data, length, outbound: None })
    }

    fn stamped<'a>(&self, order: Order, body: &'a [u8], kind: u32) -> Option<Frame<'a>> {
        let number = if kind == ENHANCED {
            order.u32(body, 0)?
        } else {
            u32::from(order.u16(body, 0)?) // the next two bytes count drops
        };
        let interface = *self.interfaces.get(number as usize)?;
        let ticks = u64::from(order.u32(body, 4)?) << 32 | u64::from(order.u32(body, 8)?);
        let kept = order.u32(body, 12)? as usize;
        let length = order.u32(body, 16)?.max(kept as u32);
        let data = body.get(20..20usize.checked_add(kept)?)?;
        let padded = kept.next_multiple_of(4);
        let options = body.get(20 + padded..).unwrap_or(&[]);
        let outbound = option(order, options, 2).and_then(|v| match order.u32(v, 0)? & 3 {
            1 => Some(false),
            2 => Some(true),
            _ => None,
        });
        Some(Frame { at_ns: interface.nanos(ticks), link: interface.link, data, length, outbound })
    }
}

/// The latest time, 146 years after 1970, so that sums and differences of two times do not overflow.
const MOST_NS: i64 = i64::MAX / 2;

impl Interface {
    fn nanos(self, ticks: u64) -> i64 {
        let ns = u128::from(ticks) * 1_000_000_000 / u128::from(self.ticks);
        let ns = i64::try_from(ns).unwrap_or(MOST_NS).min(MOST_NS);
        ns.saturating_add(self.offset_s.saturating_mul(1_000_000_000)).clamp(0, MOST_NS)
    }
}

fn interface(order: Order, body: &[u8]) -> Option<Interface> {
    let (link, snap) = (u32::from(order.u16(body, 0)?), order.u32(body, 4)?);
    let options = body.get(8..)?;
    let ticks = match option(order, options, 9).and_then(|v| v.first().copied()) {
        None => 1_000_000,
        Some(power) if power & 0x80 != 0 => 1u64.checked_shl(u32::from(power & 0x7f))?,
        Some(power) => 10u64.checked_pow(u32::from(power))?,
    };
    let offset_s = option(order, options, 14).and_then(|v| {
        let (high, low) = (order.u32(v, 0)?, order.u32(v, 4)?);
        let (high, low) = if order == Order::Big { (high, low) } else { (low, high) };
        Some((u64::from(high) << 32 | u64::from(low)) as i64)
    });
    Some(Interface { link, snap, ticks, offset_s: offset_s.unwrap_or(0) })
}

/// The value of the option with code `wanted`; none if it is missing.
fn option(order: Order, mut options: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let (code, length) = (order.u16(options, 0)?, usize::from(order.u16(options, 2)?));
        if code == 0 {
            return None;
        }
        if code == wanted {
            return options.get(4..4 + length);
        }
        options = options.get(4 + length.next_multiple_of(4)..)?;
    }
}

fn damaged<'a>() -> Next<'a> {
    Next::Damaged("no block that makes sense".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_up_to_the_year_2116_and_limited_beyond() {
        let clock = Interface { link: 1, snap: 0, ticks: 1_000_000, offset_s: 0 };
        let micros = |s: u64| clock.nanos(s * 1_000_000);
        // 2050-01-01, and 300 years after 1970.
        assert_eq!(micros(2_524_608_000), 2_524_608_000_000_000_000);
        assert_eq!(micros(9_467_280_000), MOST_NS);
    }
}
