//! The fast Fourier transform of complex numbers, in powers of two.

use packet::math;

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Complex {
    pub re: f64,
    pub im: f64,
}

impl Complex {
    pub fn times(self, other: Complex) -> Complex {
        Complex {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
    pub fn plus(self, other: Complex) -> Complex {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
    pub fn minus(self, other: Complex) -> Complex {
        Complex { re: self.re - other.re, im: self.im - other.im }
    }
    pub fn conjugate(self) -> Complex {
        Complex { re: self.re, im: -self.im }
    }
}

/// A transform of one size: the roots of unity, computed once.
#[derive(Debug)]
pub(super) struct Fft {
    roots: Vec<Complex>,
}

impl Fft {
    /// The transform of `size` values, a power of two.
    pub fn new(size: usize) -> Self {
        assert!(size.is_power_of_two());
        let turn = |i: usize| -2.0 * std::f64::consts::PI * i as f64 / size as f64;
        let root = |i| Complex { re: math::cos(turn(i)), im: math::sin(turn(i)) };
        Fft { roots: (0..size / 2).map(root).collect() }
    }

    /// Transforms in place (J. W. Cooley and J. W. Tukey, 1965).
    pub fn forward(&self, data: &mut [Complex]) {
        let size = data.len();
        assert_eq!(size, 2 * self.roots.len());
        let bits = size.trailing_zeros();
        for i in 0..size {
            let j = i.reverse_bits() >> (usize::BITS - bits);
            if i < j {
                data.swap(i, j);
            }
        }
        let mut half = 1;
        while half < size {
            let stride = size / (2 * half);
            for block in data.chunks_exact_mut(2 * half) {
                let (low, high) = block.split_at_mut(half);
                for (i, (a, b)) in low.iter_mut().zip(high).enumerate() {
                    let turned = b.times(self.roots[i * stride]);
                    (*a, *b) = (a.plus(turned), a.minus(turned));
                }
            }
            half *= 2;
        }
    }
}
