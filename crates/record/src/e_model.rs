//! The E-model: rates a telephone conversation by its delay, its losses and its codec.
//!
//! ITU-T Recommendation G.107 (06/2015), *The E-model: a computational model for use in
//! transmission planning*. Equations and default values were written from memory and checked
//! against an open implementation of the Recommendation, which gives R = 93.206208 at the defaults.
//! Everything but delay, losses and codec keeps the defaults of its Table 2: handsets, room noise,
//! an echo loss (TELR) of 65 dB. R then lies between 0 and 93.2; the bounds of user satisfaction of
//! Recommendation G.109 are 90 (very satisfied), 80 (satisfied), 70 (some dissatisfied), 60 (many
//! dissatisfied) and 50.

use packet::math::{exp, log2, log10, pow, sqrt};
pub use packet::report::Impairment;

// Defaults of G.107, Table 2; levels in dB, dBm0p or dB(A).
const SLR: f64 = 8.0;
const RLR: f64 = 2.0;
const STMR: f64 = 15.0;
const LSTR: f64 = 18.0;
const DS: f64 = 3.0;
const TELR: f64 = 65.0;
const WEPL: f64 = 110.0;
const QDU: f64 = 1.0;
const NC: f64 = -70.0;
const NFOR: f64 = -64.0;
const PS: f64 = 35.0;
const PR: f64 = 35.0;

/// The conditions of a conversation at one listener.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversation {
    /// One-way delay from mouth to ear in seconds, half of the round trip: T, Ta and Tr/2 of
    /// G.107.
    pub delay_s: f64,
    /// Share of the packets that were not played.
    pub loss_share: f64,
    /// Mean length of the runs of packets not played, divided by that of independent losses; at
    /// least 1.
    pub burst_ratio: f64,
    /// The impairment by the codec.
    pub codec: Impairment,
}

impl Conversation {
    /// The transmission rating factor R (G.107 section 7.1), without an advantage factor and not
    /// below 0.
    pub fn rating(&self) -> f64 {
        let delay_ms = self.delay_s * 1e3;
        let rating = basic_ratio() - simultaneous(delay_ms) - delay(delay_ms) - self.equipment();
        rating.max(0.0)
    }

    /// Effective equipment impairment factor Ie,eff (section 7.5).
    fn equipment(&self) -> f64 {
        let Impairment { equipment, robustness } = self.codec;
        let percent = 100.0 * self.loss_share;
        let harm = percent / (percent / self.burst_ratio + robustness);
        equipment + (95.0 - equipment) * harm
    }
}

/// The mean opinion score that a rating stands for, 1 to 4.5 (G.107 Annex B).
pub fn mean_opinion_score(rating: f64) -> f64 {
    let score = 1.0 + 0.035 * rating + rating * (rating - 60.0) * (100.0 - rating) * 7e-6;
    // The cubic dips below 1 for ratings up to 6.5.
    if rating >= 100.0 { 4.5 } else { score.max(1.0) }
}

/// Sum of all noise sources, No, dBm0p (section 7.2).
fn noise() -> f64 {
    let power = |level: f64| pow(10.0, level / 10.0);
    let send = PS - SLR - DS - 100.0 + 0.004 * square(PS - SLR - RLR - DS - 14.0);
    let effective = PR + 10.0 * log10(1.0 + power(10.0 - LSTR));
    let receive = RLR - 121.0 + effective + 0.008 * square(effective - 35.0);
    10.0 * log10(power(NC) + power(send) + power(receive) + power(NFOR + RLR))
}

/// Basic signal-to-noise ratio Ro (section 7.2).
fn basic_ratio() -> f64 {
    15.0 - 1.5 * (SLR + noise())
}

/// Impairments simultaneous with the voice, Is (section 7.3): excessive loudness, sidetone,
/// quantisation. The sidetone contains the talker's echo, so the delay in ms matters a little.
fn simultaneous(delay_ms: f64) -> f64 {
    let excess = (SLR + RLR + 0.2 * (64.0 + noise() - RLR)) / 8.0;
    let loudness = 20.0 * (root(excess, 8.0) - excess);
    let echo = exp(-delay_ms / 4.0) * pow(10.0, -TELR / 10.0);
    let sidetone = -10.0 * log10(pow(10.0, -STMR / 10.0) + echo);
    let sidetone = 12.0 * root((sidetone - 13.0) / 6.0, 8.0)
        - 28.0 * root((sidetone + 1.0) / 19.4, 35.0)
        - 13.0 * root((sidetone - 3.0) / 33.0, 13.0)
        + 29.0;
    let quality = 37.0 - 15.0 * log10(QDU);
    let g = 1.07 + 0.258 * quality + 0.0602 * square(quality);
    let (y, z) = ((basic_ratio() - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0, 46.0 / 30.0 - g / 40.0);
    let quantisation = 15.0 * log10(1.0 + pow(10.0, y) + pow(10.0, z));
    loudness + sidetone + quantisation
}

/// Delay impairment factor Id (section 7.4): the talker's echo, the listener's, and delay itself.
fn delay(ms: f64) -> f64 {
    talker_echo(ms) + listener_echo(2.0 * ms) + absolute_delay(ms)
}

/// Impairment by the talker's echo, Idte, at the one-way delay T; 0 below 1 ms.
fn talker_echo(ms: f64) -> f64 {
    if ms < 1.0 {
        return 0.0;
    }
    let level =
        TELR - 40.0 * log10((1.0 + ms / 10.0) / (1.0 + ms / 150.0)) + 6.0 * exp(-0.3 * square(ms));
    let half = (-1.5 * (noise() - RLR) - (80.0 + 2.5 * (level - 14.0))) / 2.0;
    (half + sqrt(square(half) + 100.0) - 1.0) * (1.0 - exp(-ms))
}

/// Impairment by the listener's echo, Idle, at the round-trip delay Tr.
fn listener_echo(round_trip_ms: f64) -> f64 {
    let level = 10.5 * (WEPL + 7.0) * pow(round_trip_ms + 1.0, -0.25);
    let half = (basic_ratio() - level) / 2.0;
    half + sqrt(square(half) + 169.0)
}

/// Impairment by a long absolute delay Ta, Idd, which is there without echo too. For the default
/// delay sensitivity (sT = 1, mT = 100 ms).
fn absolute_delay(ms: f64) -> f64 {
    if ms <= 100.0 {
        return 0.0;
    }
    let x = log2(ms / 100.0);
    25.0 * (root(x, 6.0) - 3.0 * root(x / 3.0, 6.0) + 2.0)
}

/// (1 + x^n)^(1/n), the soft maximum of 1 and x on which the model is built.
fn root(x: f64, n: f64) -> f64 {
    pow(1.0 + pow(x, n), 1.0 / n)
}

fn square(x: f64) -> f64 {
    x * x
}

#[cfg(test)]
mod tests {
    use super::*;

    const G711: Impairment = Impairment { equipment: 0.0, robustness: 25.1 };
    const G729A: Impairment = Impairment { equipment: 11.0, robustness: 19.0 };

    fn rating(delay_ms: f64, loss_share: f64, burst_ratio: f64, codec: Impairment) -> f64 {
        let delay_s = delay_ms / 1e3;
        Conversation { delay_s, loss_share, burst_ratio, codec }.rating()
    }

    fn close(found: f64, expected: f64, within: f64) {
        assert!((found - expected).abs() <= within, "{found} against {expected}");
    }

    #[test]
    fn the_defaults_give_the_published_rating_and_score() {
        // G.107 section 7.7: "R = 93.2"; the further digits are from an open implementation.
        close(rating(0.0, 0.0, 1.0, G711), 93.206_208, 1e-6);
        close(mean_opinion_score(93.2), 4.41, 0.005);
    }

    #[test]
    fn scores_are_those_of_annex_b() {
        for (rating, score) in
            [(90.0, 4.34), (80.0, 4.03), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58)]
        {
            close(mean_opinion_score(rating), score, 0.007);
        }
        assert_eq!([0.0, 5.0, 100.0, 120.0].map(mean_opinion_score), [1.0, 1.0, 4.5, 4.5]);
    }

    #[test]
    fn delay_costs_what_the_equations_say() {
        // Computed by a second program that was written independently.
        let worked = [
            (50.0, 91.7562),
            (150.0, 89.5391),
            (250.0, 79.1771),
            (400.0, 62.2468),
            (600.0, 49.4838),
        ];
        for (ms, expected) in worked {
            close(rating(ms, 0.0, 1.0, G711), expected, 1e-4);
        }
    }

    #[test]
    fn up_to_300_ms_delay_costs_what_cole_and_rosenbluth_fitted() {
        // Cole and Rosenbluth, *Voice over IP performance monitoring*, 2001: the delay impairment
        // is 0.024 d, and above 177.3 ms 0.11 (d - 177.3) more.
        for ms in [50.0, 100.0, 150.0, 200.0, 250.0, 300.0] {
            let fitted = 0.024 * ms + 0.11 * f64::max(ms - 177.3, 0.0);
            close(93.2 - rating(ms, 0.0, 1.0, G711), fitted, 0.3);
        }
    }

    #[test]
    fn losses_cost_what_the_codec_bears_and_bursts_more() {
        close(rating(0.0, 0.01, 1.0, G711), 89.5664, 1e-4);
        close(rating(0.0, 0.02, 1.0, G729A), 74.2062, 1e-4);
        close(rating(0.0, 0.0, 1.0, G729A), 93.2062 - 11.0, 1e-4);
        // Runs twice as long as by chance: 95 * 5 / (2.5 + 25.1).
        close(rating(0.0, 0.05, 2.0, G711), 93.2062 - 475.0 / 27.6, 1e-4);
        assert_eq!(rating(800.0, 1.0, 5.0, G729A), 0.0);
    }
}
