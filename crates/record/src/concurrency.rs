//! Number of connections that are open at once.

use crate::Summary;
use crate::measure::{CONNECTIONS, Measure, whole};

/// Number of connections open now, and the largest number at any instant.
#[derive(Clone, Copy, Debug, Default)]
struct Peak {
    open: u32,
    most: u32,
}

impl Peak {
    fn opened(&mut self) {
        self.open += 1;
        self.most = self.most.max(self.open);
    }
}

/// Counts open connections, in total and for each client machine, in the warm-up too.
#[derive(Clone, Debug)]
pub struct Concurrency {
    all: Peak,
    clients: Vec<Peak>,
}

impl Concurrency {
    /// Counters for `clients` client machines, with no connection open.
    pub fn new(clients: u32) -> Self {
        Concurrency { all: Peak::default(), clients: vec![Peak::default(); clients as usize] }
    }

    /// Counts a new connection of client machine `client`, opened by either side.
    pub fn opened(&mut self, client: u32) {
        self.all.opened();
        self.clients[client as usize].opened();
    }

    /// Removes a connection of client machine `client` that has ended.
    pub fn over(&mut self, client: u32) {
        self.all.open -= 1;
        self.clients[client as usize].open -= 1;
    }

    /// Writes the measures.
    pub fn summarise(&self, out: &mut Summary) {
        out.write(MEASURES, self);
    }
}

#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<Concurrency>] = &[
    whole("connections_peak", CONNECTIONS, "connections open, most", |c: &Concurrency| c.all.most.into(),
        "most open at one instant. Open is a connection of any group from `connect()` until both ends \
         have finished: each has closed in order (TIME_WAIT does not count) or either has given up")
        .whole_run(),
    whole("connections_peak_per_client", CONNECTIONS, "connections open at a client, most",
        |c: &Concurrency| c.clients.iter().map(|client| client.most).max().unwrap_or(0).into(),
        "most open at one instant at one machine on the clients' side, whichever side opened them; the largest \
         over these machines").whole_run(),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_of_all_is_not_the_sum_of_the_machines_peaks() {
        let mut open = Concurrency::new(2);
        for _ in 0..3 {
            open.opened(0);
        }
        for _ in 0..2 {
            open.over(0);
            open.opened(1);
        }
        let mut out = Summary::default();
        open.summarise(&mut out);
        assert_eq!(out.number("connections_peak"), 3.0);
        assert_eq!(out.number("connections_peak_per_client"), 3.0);
    }
}
