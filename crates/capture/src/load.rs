//! Bytes over time in bounded memory: the bins get wider as the capture gets longer.

const BINS: usize = 1024;

/// IP bytes of TCP and of everything else, in bins of equal duration.
pub struct Load {
    step_ns: i64,
    bins: Vec<[u64; 2]>,
}

impl Load {
    pub fn new() -> Self {
        Load { step_ns: 1_000_000, bins: Vec::with_capacity(BINS) }
    }

    /// Adds a packet at `at_ns` nanoseconds from the capture's start (not negative).
    pub fn add(&mut self, at_ns: i64, bytes: u32, tcp: bool) {
        while at_ns / self.step_ns >= BINS as i64 {
            self.bins = self.bins.chunks(2).map(sum).collect();
            self.step_ns *= 2;
        }
        let bin = (at_ns / self.step_ns) as usize;
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, [0; 2]);
        }
        self.bins[bin][usize::from(!tcp)] += u64::from(bytes);
    }

    pub fn step_s(&self) -> f64 {
        self.step_ns as f64 * 1e-9
    }

    /// The bins in order of time: bytes of TCP, bytes of everything else.
    pub fn bins(&self) -> &[[u64; 2]] {
        &self.bins
    }
}

fn sum(pair: &[[u64; 2]]) -> [u64; 2] {
    pair.iter().fold([0; 2], |a, b| [a[0] + b[0], a[1] + b[1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_when_bins_widen() {
        let mut load = Load::new();
        for ms in [0, 1, 1023, 1024, 5_000_000] {
            load.add(ms * 1_000_000, 10, ms % 2 == 0);
        }
        let sums = load.bins().iter().fold([0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
        assert_eq!(sums, [30, 20]);
        assert!(load.bins().len() <= BINS);
        assert_eq!((5_000.0 / load.step_s()) as usize, load.bins().len() - 1);
    }
}
