//! Loss episodes as an observer of the network sees them; senders are not notified of drops.

use record::Losses;
use tcp::{Endpoint, Flags, Segment};

/// The last loss episode in the data that one end sends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Episode {
    /// The episode lasts until all data below this sequence number is acknowledged; 0 before the
    /// first.
    until: u64,
    /// Number of retransmission timeouts of the end when the episode began.
    timeouts: u32,
    /// Whether the episode began in the measured interval.
    measured: bool,
    /// Whether another segment was dropped during the episode.
    multiple: bool,
    /// Whether the retransmission timer expired during the episode.
    timed_out: bool,
}

impl Episode {
    fn is_open(&self, end: &Endpoint) -> bool {
        end.snd_una() < self.until
    }

    /// A segment with payload that `end` has sent was dropped.
    pub fn dropped(
        &mut self,
        end: &Endpoint,
        segment: &Segment,
        measured: bool,
        losses: &mut Losses,
    ) {
        if segment.seq + u64::from(segment.len) <= end.snd_una() {
            return; // a needless retransmission: its loss has no effect
        }
        if !self.is_open(end) {
            let (until, timeouts) = (end.snd_max(), end.counters().timeouts);
            *self = Episode { until, timeouts, measured, ..Episode::default() };
            losses.episodes += u64::from(measured);
        } else if !segment.flags.has(Flags::RETRANSMISSION) && !self.multiple {
            // A segment whose retransmission is lost is not another segment.
            self.multiple = true;
            losses.multiple += u64::from(self.measured);
        }
    }

    /// A timer of `end` has been served.
    pub fn timer_served(&mut self, end: &Endpoint, losses: &mut Losses) {
        let expired = end.counters().timeouts > self.timeouts;
        if expired && !self.timed_out && self.is_open(end) {
            self.timed_out = true;
            losses.timeout += u64::from(self.measured);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::params::Params;
    use packet::{Duration, Instant};
    use std::sync::Arc;
    use tcp::HostClock;

    fn drain(end: &mut Endpoint, now: Instant) -> Vec<Segment> {
        std::iter::from_fn(|| end.poll_send(now)).collect()
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// A connected sender and the six segments it has sent, of 1,460 B each.
    fn six_segments() -> (Endpoint, Vec<Segment>) {
        let plain = tcp::find("plain").expect("is listed");
        let set = [("initial_window".into(), packet::params::Raw::Number(6.0))];
        let params = Params::check(plain.about.fields, &set).unwrap();
        let profile = Arc::new((plain.build)(&params, &tcp::Controls::ours()).unwrap());
        let mut sender = Endpoint::new(&profile, HostClock::default());
        sender.connect(at(0));
        drain(&mut sender, at(0));
        acknowledge(&mut sender, 1, Flags::SYN, 50);
        sender.write(20_000, at(50));
        let sent = drain(&mut sender, at(50)).into_iter().filter(|s| s.len > 0).collect();
        (sender, sent)
    }

    fn acknowledge(sender: &mut Endpoint, ack: u64, also: Flags, ms: u64) -> Vec<Segment> {
        let seq = u64::from(ack > 1);
        let segment = Segment { seq, ack, flags: Flags::ACK.with(also), ..Segment::default() };
        sender.on_segment(&segment, at(ms));
        drain(sender, at(ms)).into_iter().filter(|s| s.len > 0).collect()
    }

    /// Lets the next timer expire and returns what is sent then.
    fn expire(sender: &mut Endpoint, episode: &mut Episode, losses: &mut Losses) -> Vec<Segment> {
        let due = sender.next_timeout().expect("something is out").at;
        sender.on_timeout(due);
        episode.timer_served(sender, losses);
        drain(sender, due)
    }

    fn counts(losses: &Losses) -> (u64, u64, u64) {
        (losses.episodes, losses.multiple, losses.timeout)
    }

    #[test]
    fn an_episode_ends_when_all_sent_by_its_begin_is_acknowledged() {
        let (mut sender, sent) = six_segments();
        assert_eq!(sent.len(), 6);
        let (mut episode, mut losses) = (Episode::default(), Losses::default());
        episode.dropped(&sender, &sent[1], true, &mut losses);
        assert_eq!(counts(&losses), (1, 0, 0));
        let more = acknowledge(&mut sender, sent[1].seq, Flags::NONE, 100);
        // The segment was sent after the episode began, but dropped before all earlier data had
        // arrived.
        episode.dropped(&sender, &more[0], true, &mut losses);
        assert_eq!(counts(&losses), (1, 1, 0));
        episode.dropped(&sender, &more[1], true, &mut losses);
        assert_eq!(counts(&losses), (1, 1, 0), "once, however many");
        acknowledge(&mut sender, sent[5].seq + 1_460, Flags::NONE, 150);
        episode.dropped(&sender, &more[0], true, &mut losses);
        assert_eq!(counts(&losses), (2, 1, 0), "all from before the first has arrived");
        expire(&mut sender, &mut episode, &mut losses);
        assert_eq!(counts(&losses), (2, 1, 1));
    }

    #[test]
    fn the_same_segment_lost_again_is_no_second_one() {
        let (mut sender, sent) = six_segments();
        let (mut episode, mut losses) = (Episode::default(), Losses::default());
        episode.dropped(&sender, &sent[0], true, &mut losses);
        for _ in 0..2 {
            let again = expire(&mut sender, &mut episode, &mut losses);
            assert!(again[0].flags.has(Flags::RETRANSMISSION) && again[0].seq == sent[0].seq);
            episode.dropped(&sender, &again[0], true, &mut losses);
        }
        assert_eq!(counts(&losses), (1, 0, 1), "one episode, whose timer expired twice");
    }

    #[test]
    fn timeouts_between_episodes_belong_to_none() {
        let (mut sender, sent) = six_segments();
        let (mut episode, mut losses) = (Episode::default(), Losses::default());
        episode.dropped(&sender, &sent[0], true, &mut losses);
        acknowledge(&mut sender, sent[5].seq + 1_460, Flags::NONE, 100);
        expire(&mut sender, &mut episode, &mut losses);
        assert_eq!(counts(&losses), (1, 0, 0));
    }

    #[test]
    fn the_warm_up_and_needless_copies_do_not_count() {
        let (mut sender, sent) = six_segments();
        let (mut episode, mut losses) = (Episode::default(), Losses::default());
        episode.dropped(&sender, &sent[1], false, &mut losses);
        episode.dropped(&sender, &sent[2], true, &mut losses);
        expire(&mut sender, &mut episode, &mut losses);
        assert_eq!(counts(&losses), (0, 0, 0), "it began before the measured interval");
        acknowledge(&mut sender, sent[5].seq + 1_460, Flags::NONE, 2_000);
        episode.dropped(&sender, &sent[5], true, &mut losses);
        assert_eq!(counts(&losses), (0, 0, 0), "it is acknowledged");
    }

    #[test]
    fn a_timer_that_expired_before_and_one_that_did_not_are_none_of_an_episode() {
        let (mut sender, sent) = six_segments();
        let (mut episode, mut losses) = (Episode::default(), Losses::default());
        expire(&mut sender, &mut episode, &mut losses);
        episode.dropped(&sender, &sent[1], true, &mut losses);
        episode.timer_served(&sender, &mut losses);
        assert_eq!(counts(&losses), (1, 0, 0));
        expire(&mut sender, &mut episode, &mut losses);
        assert_eq!(counts(&losses), (1, 0, 1));
    }
}
