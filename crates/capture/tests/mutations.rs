//! Captures damaged at random: nothing panics, and what comes out is a model.

use crate::any;
use crate::made::*;

const DIALOGUE: &str = "
    0   > S  0
    40  < SA 0 1
    41  > .  1 1
    51  > .  1+100 1
    96  < .  1+1000 101
    96.5 > . 101+40 1
    97  > .  141 1001
    98  < .  1+1000 141
    800 > .  141+10 1001
    840 < .  1001+20 151
    900 > FA 151 1021
    940 < FA 1021 152
";

/// A generator of numbers: Steele, Lea, Flood, "Fast splittable pseudorandom number generators"
/// (SplitMix64), OOPSLA 2014.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % n.max(1) as u64) as usize
    }
}

fn captures() -> Vec<Vec<u8>> {
    let said = dialogue(DIALOGUE);
    let frames = |wrap: &dyn Fn(&Said) -> Vec<u8>| -> Vec<(u64, Vec<u8>)> {
        said.iter().map(|s| (s.at_us, wrap(s))).collect()
    };
    let tagged = |s: &Said| ethernet(s.side, &[0x81, 0, 0, 5], 0x0800, &packet(s));
    let six = |s: &Said| {
        let above = tcp(s, FIRST, [40_000, 443]);
        ipv6(1 + s.side as u8, 2 - s.side as u8, &[(0, vec![0, 1, 4, 0, 0, 0, 0])], &above)
    };
    let mut ng = [section(), interface(101, &[9, 0, 1, 0, 9, 0, 0, 0])].concat();
    for s in &said {
        ng.extend(enhanced(0, s.at_us * 1_000, &packet(s), &[2, 0, 4, 0, 1, 0, 0, 0]));
    }
    vec![
        file(DIALOGUE),
        pcap(1, &frames(&tagged)),
        pcap_as(0xa1b2_3c4d, true, 101, &frames(&six)),
        ng,
    ]
}

#[test]
fn damaged_captures_are_read_or_refused() {
    let captures = captures();
    let mut random = Random(7);
    for round in 0..20_000 {
        let mut data = vec![random.below(256) as u8];
        data.extend(&captures[round % captures.len()]);
        for _ in 0..random.below(6) {
            let at = 1 + random.below(data.len() - 1);
            match random.below(5) {
                0 => data[at] = random.below(256) as u8,
                1 => data[at] ^= 1 << random.below(8),
                2 => data.truncate(at + 1),
                3 => {
                    let end = (at + random.below(40)).min(data.len());
                    let part = data[at..end].to_vec();
                    let to = 1 + random.below(data.len() - 1);
                    data.splice(to..to, part);
                }
                _ => {
                    let end = (at + 4).min(data.len());
                    data[at..end].fill([0, 0xff][random.below(2)]);
                }
            }
        }
        any::read(&data);
    }
}
