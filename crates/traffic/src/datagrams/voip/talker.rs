//! A talker: packets at equal intervals, in spurts of speech with pauses between.

use packet::{Duration, Instant, Rng};

/// Parameters of the speech of a group's talkers.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpeechModel {
    /// Duration of the speech in one packet.
    pub packet: Duration,
    /// Mean length of a talk spurt, s.
    pub talk: f64,
    /// Mean length of a pause, s.
    pub pause: f64,
    /// Whether packets are sent in pauses too.
    pub sends_pauses: bool,
}

#[derive(Debug)]
pub(super) struct Talker {
    model: SpeechModel,
    /// Time at which the next packet leaves.
    pub next: Instant,
    /// Packets left of this spurt, and then of the pause that follows.
    speech: u64,
    silence: u64,
    rng: Rng,
}

impl Talker {
    /// A talker whose first spurt begins at `begin`.
    pub fn new(model: SpeechModel, begin: Instant, mut rng: Rng) -> Self {
        let speech = model.packets(model.talk, &mut rng);
        Talker { model, next: begin, speech, silence: 0, rng }
    }

    /// Sends the packet that is due at `next`. Returns whether the listener may adjust its playout
    /// delay, because a talk spurt begins.
    pub fn speak(&mut self) -> bool {
        let begins = self.speech > 0 && self.silence == 0;
        if begins {
            self.silence = self.model.packets(self.model.pause, &mut self.rng);
        }
        if self.speech > 0 {
            self.speech -= 1;
        } else {
            self.silence -= 1;
        }
        let mut packets = 1;
        if self.speech == 0 && !self.model.sends_pauses {
            packets += std::mem::take(&mut self.silence);
        }
        if self.speech == 0 && self.silence == 0 {
            self.speech = self.model.packets(self.model.talk, &mut self.rng);
        }
        self.next += self.model.packet * packets;
        begins
    }
}

impl SpeechModel {
    /// Number of packets that a period of this mean lasts: exponential, at least one. Its mean is
    /// that of the period and half a packet more.
    fn packets(&self, mean: f64, rng: &mut Rng) -> u64 {
        let packets = rng.exponential(mean) / self.packet.secs_f64();
        (packets as u64).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suppressed_pauses_last_as_long_as_sent_ones() {
        let spurts = |sends_pauses| {
            let packet = Duration::from_millis(20);
            let model = SpeechModel { packet, talk: 0.1, pause: 0.2, sends_pauses };
            let mut talker = Talker::new(model, Instant::ZERO, Rng::named(3, "talk"));
            let mut begins = Vec::new();
            while begins.len() < 50 {
                let now = talker.next;
                if talker.speak() {
                    begins.push(now);
                }
            }
            begins
        };
        assert_eq!(spurts(true), spurts(false));
    }
}
