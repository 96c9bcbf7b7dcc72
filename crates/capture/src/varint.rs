//! Unsigned numbers in as few bytes as they need (LEB128).

/// Appends the encoding of a number.
pub fn put(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Takes the next number off the front; none at the end.
pub fn take(from: &mut &[u8]) -> Option<u64> {
    let (mut n, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = from.split_first()?;
        *from = rest;
        n |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(n);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|&n| put(&mut bytes, n));
        let mut from = &bytes[..];
        let back: Vec<u64> = core::iter::from_fn(|| take(&mut from)).collect();
        assert_eq!(back, numbers);
    }
}
