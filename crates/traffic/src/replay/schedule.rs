//! The times at which recorded connections start again.

use std::sync::Arc;

use packet::{Duration, Instant, Rng};

use super::recording::Recording;

/// Distribution of the gaps between the starts of resampled connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// Gaps are exponentially distributed.
    Poisson,
    /// The recorded gaps after the drawn connections, stretched.
    Recorded,
}

/// How a recording is played.
#[derive(Clone, Debug)]
pub enum Plan {
    /// The connections start as recorded, with all start times multiplied by a factor.
    Replay,
    /// Connections drawn with replacement, in blocks of neighbours.
    Resample {
        /// Gaps between their starts.
        gaps: Gaps,
        /// Number of neighbours in the recording that are drawn together: a circular block
        /// bootstrap (Politis and Romano 1992); 1 draws each connection by itself.
        block: u32,
    },
}

/// The schedule of the starts to come.
#[derive(Debug)]
pub struct Schedule {
    recording: Arc<Recording>,
    plan: Plan,
    /// Factor on the times of starts, or on gaps.
    scale: f64,
    rng: Rng,
    next: usize,
    left_of_block: u32,
    at: Instant,
    begun: Instant,
}

impl Schedule {
    /// A schedule that begins with the run, or at the instant given to [`Schedule::begin`].
    pub fn new(recording: Arc<Recording>, plan: Plan, scale: f64, rng: Rng) -> Self {
        let mut schedule = Schedule {
            recording,
            plan,
            scale,
            rng,
            next: 0,
            left_of_block: 0,
            at: Instant::ZERO,
            begun: Instant::ZERO,
        };
        if let Plan::Resample { .. } = schedule.plan {
            // The run begins between two starts.
            schedule.draw();
            schedule.at = Instant::ZERO + schedule.gap_behind(schedule.next);
            schedule.draw();
        } else {
            schedule.at = schedule.start_of(0);
        }
        schedule
    }

    /// Moves the begin of the schedule to `now`.
    pub fn begin(&mut self, now: Instant) {
        self.at += now.since(self.begun);
        self.begun = now;
    }

    /// Time of the next start, and the connection's index in the recording; `None` when all have
    /// started.
    pub fn peek(&self) -> Option<(Instant, usize)> {
        (self.next < self.recording.connections.len()).then_some((self.at, self.next))
    }

    /// Goes on to the next connection.
    pub fn advance(&mut self) {
        if let Plan::Replay = self.plan {
            self.next += 1;
            if self.next < self.recording.connections.len() {
                self.at = self.start_of(self.next);
            }
        } else {
            let gap = self.gap_behind(self.next);
            self.at += gap;
            self.draw();
        }
    }

    fn start_of(&self, place: usize) -> Instant {
        self.begun + self.stretched(self.recording.connections[place].at)
    }

    fn stretched(&self, time: Duration) -> Duration {
        Duration::from_secs_f64(time.secs_f64() * self.scale)
    }

    /// Chooses the next connection of a resampled run.
    fn draw(&mut self) {
        let Plan::Resample { block, .. } = self.plan else { return };
        let count = self.recording.connections.len();
        if self.left_of_block == 0 {
            self.next = self.rng.below(count as u64) as usize;
            self.left_of_block = block;
        } else {
            self.next = (self.next + 1) % count;
        }
        self.left_of_block -= 1;
    }

    /// Time from the start of this connection to the next start.
    fn gap_behind(&mut self, place: usize) -> Duration {
        let of = &self.recording;
        let mean = of.duration.secs_f64() / of.connections.len() as f64;
        if let Plan::Resample { gaps: Gaps::Poisson, .. } = self.plan {
            return Duration::from_secs_f64(self.rng.exponential(mean * self.scale));
        }
        let here = of.connections[place].at;
        let gap = match of.connections.get(place + 1) {
            Some(next) => next.at.nanos() - here.nanos(),
            // From the last start around to the first, so that the mean is the recording's.
            None => of.duration.nanos() - here.nanos() + of.connections[0].at.nanos(),
        };
        self.stretched(Duration::from_nanos(gap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_gaps_go_round_the_corner_in_the_recordings_time() {
        // Starts at 2 and 3 s of 10: gaps of 1 s, and of 9 s from the last to the first.
        let line = "0 1 2 fin epochs 0,1,0,1";
        let text = format!("recording 10000000 2\n2000000 - {line}\n3000000 - {line}");
        let recording = Arc::new(Recording::parse(&text).expect("is whole"));
        let plan = Plan::Resample { gaps: Gaps::Recorded, block: 2 };
        let schedule = Schedule::new(recording, plan, 1.0, Rng::named(1, "start"));
        let mut drawn = schedule;
        for _ in 0..20 {
            let (at, place) = drawn.peek().expect("it goes on");
            drawn.advance();
            let gap = drawn.peek().expect("it goes on").0.since(at);
            assert_eq!(gap, Duration::from_secs([1, 9][place]));
        }
    }
}
