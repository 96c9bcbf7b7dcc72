//! Numbers that stand for the addresses of hosts.

use std::collections::HashMap;

use crate::headers::Address;

/// Numbers hosts in the order in which they appear, so that a number reveals nothing of an address.
pub struct Hosts {
    numbers: HashMap<Address, u32>,
    most: usize,
}

impl Hosts {
    /// Numbers at most `most` hosts; all further ones share number 0.
    pub fn new(most: usize) -> Self {
        Hosts { numbers: HashMap::new(), most }
    }

    /// The host's number, from 1; 0 if `most` other hosts have a number already.
    pub fn number(&mut self, address: &Address) -> u32 {
        if let Some(&number) = self.numbers.get(address) {
            return number;
        }
        let next = u32::try_from(self.numbers.len() + 1).ok();
        let Some(number) = next.filter(|_| self.numbers.len() < self.most) else { return 0 };
        self.numbers.insert(*address, number);
        number
    }

    pub fn count(&self) -> usize {
        self.numbers.len()
    }
}
