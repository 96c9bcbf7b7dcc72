//! The normal distribution's functions, and the log-normal distribution.
#![expect(clippy::excessive_precision, reason = "coefficients stand as they were published")]

use packet::math;

use super::Distribution;

/// The standard normal distribution function.
pub fn cdf(x: f64) -> f64 {
    0.5 * math::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// The standard normal quantile of `u` in (0, 1), to 16 digits: M. J. Wichura, *Algorithm AS 241:
/// The percentage points of the normal distribution*, Applied Statistics 37, 1988. At 0 and 1
/// infinite.
pub fn quantile(u: f64) -> f64 {
    let q = u - 0.5;
    if math::fabs(q) <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(r, &A, &B);
    }
    let tail = if q < 0.0 { u } else { 1.0 - u };
    if tail <= 0.0 {
        return if q < 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let r = math::sqrt(-math::ln(tail));
    let x = if r <= 5.0 { ratio(r - 1.6, &C, &D) } else { ratio(r - 5.0, &E, &F) };
    if q < 0.0 { -x } else { x }
}

/// A ratio of two polynomials, coefficients from the constant term on.
fn ratio(r: f64, above: &[f64; 8], below: &[f64; 8]) -> f64 {
    let value = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum, &c| sum * r + c);
    value(above) / value(below)
}

const A: [f64; 8] = [
    3.387_132_872_796_366_608_0,
    133.141_667_891_784_377_45,
    1_971.590_950_306_551_442_7,
    13_731.693_765_509_461_125,
    45_921.953_931_549_871_457,
    67_265.770_927_008_700_853,
    33_430.575_583_588_128_105,
    2_509.080_928_730_122_672_7,
];
const B: [f64; 8] = [
    1.0,
    42.313_330_701_600_911_252,
    687.187_007_492_057_908_30,
    5_394.196_021_424_751_107_7,
    21_213.794_301_586_595_867,
    39_307.895_800_092_710_610,
    28_729.085_735_721_942_674,
    5_226.495_278_852_854_561_0,
];
const C: [f64; 8] = [
    1.423_437_110_749_683_577_34,
    4.630_337_846_156_545_295_90,
    5.769_497_221_460_691_405_50,
    3.647_848_324_763_204_605_04,
    1.270_458_252_452_368_382_58,
    0.241_780_725_177_450_611_770,
    0.022_723_844_989_269_184_583_3,
    7.745_450_142_783_414_076_40e-4,
];
const D: [f64; 8] = [
    1.0,
    2.053_191_626_637_758_821_87,
    1.676_384_830_183_803_849_40,
    0.689_767_334_985_100_004_550,
    0.148_103_976_427_480_074_590,
    0.015_198_666_563_616_457_196_6,
    5.475_938_084_995_344_946_00e-4,
    1.050_750_071_644_416_843_24e-9,
];
const E: [f64; 8] = [
    6.657_904_643_501_103_777_20,
    5.463_784_911_164_114_369_90,
    1.784_826_539_917_291_335_80,
    0.296_560_571_828_504_891_230,
    0.026_532_189_526_576_123_093_0,
    0.001_242_660_947_388_078_438_60,
    2.711_555_568_743_487_578_15e-5,
    2.010_334_399_292_288_132_65e-7,
];
const F: [f64; 8] = [
    1.0,
    0.599_832_206_555_887_937_690,
    0.136_929_880_922_735_805_310,
    0.014_875_361_290_850_614_852_5,
    7.868_691_311_456_132_591_00e-4,
    1.846_318_317_510_054_681_80e-5,
    1.421_511_758_316_445_888_70e-7,
    2.044_263_103_389_939_785_64e-15,
];

/// Log-normal: the natural logarithm is normal with mean `mu` and standard deviation `sigma`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormal {
    /// Mean of the logarithm.
    pub mu: f64,
    /// Standard deviation of the logarithm.
    pub sigma: f64,
}

impl LogNormal {
    /// The log-normal distribution with this mean and standard deviation.
    pub fn with_mean(mean: f64, sd: f64) -> Self {
        let square = math::ln(1.0 + (sd / mean) * (sd / mean));
        LogNormal { mu: math::ln(mean) - 0.5 * square, sigma: math::sqrt(square) }
    }

    /// How many standard deviations the logarithm of `x` lies above its mean.
    fn z(&self, x: f64) -> f64 {
        (math::ln(x) - self.mu) / self.sigma
    }
}

impl Distribution for LogNormal {
    fn quantile(&self, u: f64) -> f64 {
        math::exp(self.mu + self.sigma * quantile(u))
    }
    fn below(&self, x: f64) -> f64 {
        if x > 0.0 { cdf(self.z(x)) } else { 0.0 }
    }
    fn mean(&self) -> f64 {
        math::exp(self.mu + 0.5 * self.sigma * self.sigma)
    }
    fn mean_below(&self, x: f64) -> f64 {
        if x > 0.0 { self.mean() * cdf(self.z(x) - self.sigma) } else { 0.0 }
    }
    fn variance(&self) -> f64 {
        let mean = self.mean();
        mean * mean * (math::exp(self.sigma * self.sigma) - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_inverts_the_distribution_function() {
        for i in 1..4_000 {
            let u = f64::from(i) / 4_000.0;
            assert!((cdf(quantile(u)) - u).abs() < 1e-15, "{u}");
        }
        for tail in [1e-3, 1e-6, 1e-10, 1e-14, 1e-100, 1e-300] {
            let x = quantile(tail);
            assert!((cdf(x) / tail - 1.0).abs() < 1e-11, "{tail}: {x}");
        }
        assert_eq!(quantile(0.5), 0.0);
        assert_eq!((quantile(0.0), quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!((quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
    }
}
