//! Link-layer framings by name.

use packet::{Cells, Framing};

const fn named(name: &'static str, overhead: u64, least: u64, cells: Cells) -> Named {
    Named { name, framing: Framing { overhead, least, cells } }
}

/// A framing and its name.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// Name of the framing in scenarios.
    pub name: &'static str,
    /// Overhead, smallest size and cells of the framing.
    pub framing: Framing,
}

/// Every framing. `gpon` is an Ethernet frame with its check sequence (18 bytes, at least 64)
/// behind the 5 bytes of a GEM header (ITU-T G.984.3); preamble and gap are not sent. Names and
/// sizes of those after it, and of DOCSIS, are those of tc-cake(8): Ethernet frames with check
/// sequence on DOCSIS, whose own headers its shaper does not count; PPPoE (RFC 2516) or bridged
/// Ethernet on the cells of ATM (RFC 2684, AAL5) and in the 64/65 code of PTM (IEEE 802.3, clause
/// 61); PPP on ATM (RFC 2364). PTM's code is counted by packet, as CAKE does.
pub const FRAMINGS: [Named; 11] = [
    named("none", 0, 0, Cells::None),
    named("ethernet", 38, 84, Cells::None),
    named("docsis", 18, 64, Cells::None),
    named("gpon", 23, 69, Cells::None),
    named("pppoe-ptm", 30, 0, Cells::Ptm),
    named("bridged-ptm", 22, 0, Cells::Ptm),
    named("pppoe-llcsnap", 40, 0, Cells::Atm),
    named("pppoe-vcmux", 32, 0, Cells::Atm),
    named("bridged-llcsnap", 32, 0, Cells::Atm),
    named("pppoa-vcmux", 10, 0, Cells::Atm),
    named("ipoa-llcsnap", 16, 0, Cells::Atm),
];

/// Names of the framings.
pub const NAMES: [&str; FRAMINGS.len()] = {
    let mut names = [""; FRAMINGS.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = FRAMINGS[i].name;
        i += 1;
    }
    names
};

/// The framing with this name.
pub fn find(name: &str) -> Option<Framing> {
    FRAMINGS.iter().find(|known| known.name == name).map(|known| known.framing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_on_the_wire_by_hand() {
        for (name, [small, large]) in [
            ("none", [40, 1_500]),
            ("ethernet", [84, 1_538]),
            ("docsis", [64, 1_518]),
            ("gpon", [69, 1_523]),
            ("pppoe-ptm", [72, 1_554]), // 70 and 1,530, a byte for each begun 64
            ("pppoe-llcsnap", [106, 33 * 53]), // 80 and 1,540 in cells of 48
            ("pppoa-vcmux", [106, 32 * 53]), // 50 and 1,510
        ] {
            let framing = find(name).unwrap();
            assert_eq!([framing.size(40), framing.size(1_500)], [small, large], "{name}");
        }
    }
}
