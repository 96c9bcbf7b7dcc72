//! The video encoder: RFC 8593 section 5, the statistical model.
//!
//! Frame sizes and the times between frames vary about their means with a Laplace distribution. A
//! new target rate is taken up `latency` after the last change at the earliest (section 5.1). An
//! abrupt change begins with a large frame; the frames that follow are smaller, so that the rate is
//! kept (section 5.2).

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{Duration, Instant, Rng};

/// No frame is smaller, and none comes sooner, than this share of the mean. It is our own
/// choice, since RFC 8593 leaves the tail of the distribution open.
const LEAST: f64 = 0.1;

/// The encoder's parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Encoding {
    /// Frames per second (FPS).
    pub frame_rate: f64,
    /// Least time between two changes of the rate (tau_v).
    latency: Duration,
    /// A change of the rate by more than this share is abrupt.
    abrupt: f64,
    /// Size of the large frame, as a multiple of the mean frame (K_B over B0).
    burst_size: f64,
    /// Number of frames of a burst, the large one included (K_d).
    burst_frames: u64,
    /// Scales of the Laplace distributions (SCALE_B, SCALE_t).
    size_scale: f64,
    interval_scale: f64,
}

pub(super) const FIELDS: [Field; 7] = [
    Field::new("frame_rate", Kind::from(Unit::None, 1.0, 240.0), Value::Real(30.0))
        .meaning("Frames a second.")
        .source("RFC 8593 section 5 and RFC 8698 figure 3: FPS = 30"),
    Field::new("encoder_latency", Kind::from(Unit::Time, 0.0, 10.0), Value::Real(0.2))
        .meaning("After a change of its rate the encoder ignores others for this long (tau_v).")
        .source("RFC 8593 section 5.1: 0.2 s"),
    Field::new("abrupt_change", Kind::above(Unit::None, 0.0, 1e3), Value::Real(0.5))
        .meaning("A change of the encoder's rate by more than this share makes a burst of frames.")
        .source("read: the statistical encoder of Cisco's syncodecs; RFC 8593 says \"abrupt\""),
    Field::new("burst_size", Kind::from(Unit::None, 1.0, 100.0), Value::Real(3.24))
        .meaning("Size of the first frame of a burst and of the video, as a multiple of the mean.")
        .source("RFC 8593 section 5.2: K_B = 13.5 kB where the mean B0 is 4.17 kB"),
    Field::new("burst_frames", Kind::whole(Unit::Count, 2, 1_000), Value::Whole(8))
        .meaning("Frames of a burst; those after the first are smaller, so that the rate is kept.")
        .source("RFC 8593 section 5.2: K_d = 8"),
    Field::new("size_scale", Kind::from(Unit::None, 0.0, 1.0), Value::Real(0.15))
        .meaning("Scale of the Laplace distribution of a frame's size about its mean.")
        .source("RFC 8593 section 5.3: SCALE_B = 0.15"),
    Field::new("interval_scale", Kind::from(Unit::None, 0.0, 1.0), Value::Real(0.15))
        .meaning("Scale of the Laplace distribution of the time between frames about its mean.")
        .source("RFC 8593 section 5.3: SCALE_t = 0.15"),
];

impl Encoding {
    pub fn read(params: &Params) -> Self {
        Encoding {
            frame_rate: params.real("frame_rate"),
            latency: params.time("encoder_latency"),
            abrupt: params.real("abrupt_change"),
            burst_size: params.real("burst_size"),
            burst_frames: params.whole("burst_frames"),
            size_scale: params.real("size_scale"),
            interval_scale: params.real("interval_scale"),
        }
    }
}

/// One video frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    pub bytes: u32,
    /// Time from this frame to the next.
    pub until_next: Duration,
}

/// One video encoder.
#[derive(Debug)]
pub(super) struct Encoder {
    encoding: Encoding,
    /// Present rate of the video, bit/s.
    rate: f64,
    /// Earliest time of the next change of the rate.
    reacts: Instant,
    /// Number of frames of the burst that are still to come.
    burst: u64,
    rng: Rng,
}

impl Encoder {
    /// An encoder that begins at `rate` bit/s, with a burst: its first frame refers to no other.
    pub fn new(encoding: Encoding, rate: f64, rng: Rng) -> Self {
        let burst = encoding.burst_frames;
        Encoder { encoding, rate, reacts: Instant::ZERO, burst, rng }
    }

    /// Makes the next frame, while the control allows `target` bit/s.
    pub fn frame(&mut self, target: f64, now: Instant) -> Frame {
        self.follow(target, now);
        let mean = self.rate / 8.0 / self.encoding.frame_rate;
        let bytes = (mean * self.size()).round().clamp(1.0, f64::from(u32::MAX)) as u32;
        let interval = self.about_one(self.encoding.interval_scale) / self.encoding.frame_rate;
        Frame { bytes, until_next: Duration::from_secs_f64(interval) }
    }

    fn follow(&mut self, target: f64, now: Instant) {
        if target == self.rate || now < self.reacts {
            return;
        }
        if (target - self.rate).abs() > self.encoding.abrupt * self.rate {
            self.burst = self.encoding.burst_frames;
        }
        self.rate = target;
        self.reacts = now + self.encoding.latency;
    }

    /// Size of the next frame, as a multiple of the mean frame.
    fn size(&mut self) -> f64 {
        let Encoding { burst_size, burst_frames, size_scale, .. } = self.encoding;
        match self.burst {
            0 => self.about_one(size_scale),
            left => {
                self.burst -= 1;
                let others = (burst_frames as f64 - burst_size) / (burst_frames - 1) as f64;
                if left == burst_frames { burst_size } else { others.max(LEAST) }
            }
        }
    }

    /// 1 plus a random number from the Laplace distribution of this scale; at least [`LEAST`].
    fn about_one(&mut self, scale: f64) -> f64 {
        let laplace = self.rng.exponential(scale) - self.rng.exponential(scale);
        (1.0 + laplace).max(LEAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoding(scale: f64) -> Encoding {
        let params = Params::defaults(&FIELDS);
        Encoding { size_scale: scale, interval_scale: scale, ..Encoding::read(&params) }
    }

    #[test]
    fn a_video_begins_with_a_large_frame_and_keeps_its_rate() {
        // 1 Mbit/s at 30 frames/s: 4,167 B a frame. The first has 13.5 kB, as in RFC 8593; the
        // seven after it share the rest of eight frames.
        let mut encoder = Encoder::new(encoding(0.0), 1e6, Rng::named(1, "e"));
        let sizes: Vec<u32> = (0..9).map(|_| encoder.frame(1e6, Instant::ZERO).bytes).collect();
        assert_eq!(sizes[..2], [13_500, 2_833]);
        assert_eq!((sizes[7], sizes[8]), (2_833, 4_167));
        let burst: u32 = sizes[..8].iter().sum();
        assert!(burst.abs_diff(8 * 4_167) < 8, "{burst}");
    }

    #[test]
    fn a_new_rate_waits_for_the_latency_and_an_abrupt_one_bursts() {
        let mut encoder = Encoder::new(encoding(0.0), 1e6, Rng::named(1, "e"));
        let mut bytes =
            |target, ms| encoder.frame(target, Instant::ZERO + Duration::from_millis(ms)).bytes;
        (0..8).for_each(|_| assert!(bytes(1e6, 0) > 2_800));
        assert_eq!(bytes(1.2e6, 1_000), 5_000); // taken up at once: no change was before
        assert_eq!(bytes(0.6e6, 1_199), 5_000); // ignored: too early
        assert_eq!(bytes(0.9e6, 1_200), 3_750);
        assert_eq!(bytes(1.8e6, 2_000), 24_300); // 3.24 times 7,500: the rate has doubled
    }

    #[test]
    fn a_change_by_half_is_not_abrupt_yet() {
        for (target, bytes) in [(1.5e6, 6_250), (1.6e6, 21_600)] {
            let mut encoder = Encoder::new(encoding(0.0), 1e6, Rng::named(1, "e"));
            (0..8).for_each(|_| _ = encoder.frame(1e6, Instant::ZERO));
            assert_eq!(encoder.frame(target, Instant::ZERO).bytes, bytes, "{target}");
        }
    }

    #[test]
    fn sizes_and_intervals_have_the_mean_and_the_laplace_deviation() {
        // A Laplace distribution's deviation is sqrt(2) of its scale: 0.212. Of 40,000 draws five
        // standard errors of the mean are 0.0053.
        let mut encoder = Encoder::new(encoding(0.15), 1e6, Rng::named(3, "e"));
        let frames: Vec<Frame> = (0..40_008).map(|_| encoder.frame(1e6, Instant::ZERO)).collect();
        let (mut size, mut square, mut time) = (0.0, 0.0, 0.0);
        for frame in &frames[8..] {
            let part = f64::from(frame.bytes) / (1e6 / 240.0);
            size += part / 4e4;
            square += (part - 1.0).powi(2) / 4e4;
            time += frame.until_next.secs_f64() * 30.0 / 4e4;
        }
        assert!((size - 1.0).abs() < 0.0053 && (time - 1.0).abs() < 0.0053, "{size} {time}");
        assert!((square.sqrt() - 0.2121).abs() < 0.006, "{}", square.sqrt());
    }
}
