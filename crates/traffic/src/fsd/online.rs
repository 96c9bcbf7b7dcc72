//! Convolution with a fixed kernel of values that become known one by one.

use std::collections::VecDeque;
use std::sync::Arc;

use super::fft::{Complex, Fft};

/// Number of values in a block. Values in earlier blocks are convolved by transforms (uniformly
/// partitioned), those in the present block directly. With a kernel of 5,000 terms a value thus
/// costs a few hundred operations, not 10,000.
const BLOCK: usize = 256;

/// A convolution kernel `h_1 … h_n`.
#[derive(Debug)]
pub(super) struct Kernel {
    taps: Vec<f64>,
    fft: Fft,
    /// Transforms of the kernel's parts: part `p` applies to the values of the block `p + 1` back.
    parts: Vec<Vec<Complex>>,
}

impl Kernel {
    /// The kernel with `taps[l - 1]` for lag `l`.
    pub fn new(taps: Vec<f64>) -> Self {
        let fft = Fft::new(2 * BLOCK);
        let tap = |lag: usize| taps.get(lag.wrapping_sub(1)).copied().unwrap_or(0.0);
        let part = |p: usize| {
            let mut values = vec![Complex::default(); 2 * BLOCK];
            for shift in 0..BLOCK {
                values[shift].re = tap(p * BLOCK + shift);
                if shift > 0 {
                    values[2 * BLOCK - shift].re = tap(p * BLOCK - shift);
                }
            }
            fft.forward(&mut values);
            values.truncate(BLOCK + 1);
            values
        };
        let parts = (1..=taps.len().div_ceil(BLOCK)).map(part).collect();
        Kernel { taps, fft, parts }
    }
}

/// The convolution of the values that have been pushed.
#[derive(Debug)]
pub(super) struct Online {
    kernel: Arc<Kernel>,
    /// Transforms of the last full blocks, the latest first.
    past: VecDeque<Vec<Complex>>,
    /// The present block: values pushed, and the convolution at its positions as far as it is
    /// known.
    pushed: Vec<f64>,
    pending: Vec<f64>,
}

impl Online {
    /// A convolution that begins after `history`.
    pub fn new(kernel: Arc<Kernel>, history: &[f64]) -> Self {
        let mut online = Online {
            kernel,
            past: VecDeque::new(),
            pushed: Vec::with_capacity(BLOCK),
            pending: vec![0.0; BLOCK],
        };
        // The history ends where a block ends; zeros stand before it.
        let missing = history.len().next_multiple_of(BLOCK) - history.len();
        online.pushed.resize(missing, 0.0);
        for &value in history {
            online.pushed.push(value);
            if online.pushed.len() == BLOCK {
                online.end_block();
            }
        }
        online
    }

    /// The sum of `h_l` times the value pushed `l` times ago.
    pub fn next(&self) -> f64 {
        self.pending[self.pushed.len()]
    }

    /// Adds the next value.
    pub fn push(&mut self, value: f64) {
        self.pushed.push(value);
        let later = &mut self.pending[self.pushed.len()..];
        for (sum, tap) in later.iter_mut().zip(&self.kernel.taps) {
            *sum += tap * value;
        }
        if self.pushed.len() == BLOCK {
            self.end_block();
        }
    }

    fn end_block(&mut self) {
        let Kernel { fft, parts, .. } = &*self.kernel;
        let mut work: Vec<Complex> =
            self.pushed.drain(..).map(|re| Complex { re, im: 0.0 }).collect();
        work.resize(2 * BLOCK, Complex::default());
        fft.forward(&mut work);
        let mut latest = if self.past.len() == parts.len() {
            self.past.pop_back().unwrap_or_default()
        } else {
            Vec::new()
        };
        latest.clear();
        latest.extend_from_slice(&work[..=BLOCK]);
        self.past.push_front(latest);
        // The sum of products; its mirrored half is conjugate because all values are real. The
        // inverse transform is the conjugate of the transform of the conjugate.
        work[..=BLOCK].fill(Complex::default());
        for (x, h) in self.past.iter().zip(parts) {
            for (sum, (&x, &h)) in work.iter_mut().zip(x.iter().zip(h)) {
                *sum = sum.plus(x.times(h));
            }
        }
        for sum in &mut work[..=BLOCK] {
            *sum = sum.conjugate();
        }
        for bin in 1..BLOCK {
            work[2 * BLOCK - bin] = work[bin].conjugate();
        }
        fft.forward(&mut work);
        for (pending, value) in self.pending.iter_mut().zip(&work) {
            *pending = value.re / (2 * BLOCK) as f64;
        }
    }
}

#[cfg(test)]
mod tests {
    use packet::Rng;

    use super::*;

    #[test]
    fn it_is_the_sum_that_defines_a_convolution() {
        for (taps, history) in [(1, 0), (100, 7), (255, 256), (1_000, 1_000), (777, 3_000)] {
            let mut rng = Rng::named(7, "online");
            let kernel: Vec<f64> = (0..taps).map(|_| rng.uniform() - 0.5).collect();
            let mut values: Vec<f64> = (0..history).map(|_| rng.uniform() - 0.5).collect();
            let mut online = Online::new(Arc::new(Kernel::new(kernel.clone())), &values);
            for step in 0..1_500 {
                let back = values.iter().rev().zip(&kernel);
                let sum: f64 = back.map(|(value, tap)| value * tap).sum();
                assert!((online.next() - sum).abs() < 1e-12, "{taps} {history} {step}");
                values.push(rng.uniform() - 0.5);
                online.push(values[values.len() - 1]);
            }
        }
    }
}
