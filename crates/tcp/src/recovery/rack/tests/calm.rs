//! Tests that the short forms for an undisturbed sender have the results of the general code.

use packet::Rng;

use super::*;
use crate::rtt::Rtt;
use crate::send_state::Chunk;

const RULES: RttRules = RttRules::Exact(EXACT);

/// Largest number of segments that a dialogue sends.
const SEGMENTS: usize = 4_000;

/// A sender of segments of 100 B, a path that loses and delays some, and a receiver.
#[derive(Clone, Debug)]
struct Dialogue {
    rack: RackSender,
    snd: SendState,
    rtt: Rtt,
    /// When copies of segments arrive, ms, and the numbers of the segments.
    copies: Vec<(u64, usize)>,
    arrived: Vec<bool>,
    /// How often `choose_next` found that no segment may be sent, and how often it found one.
    choices: [usize; 2],
}

impl Dialogue {
    fn new(control: &str, settings: RackSettings) -> Self {
        let mut rack = RackSender::new(settings, make_usual(control));
        let mut snd = SendState {
            una: 1,
            nxt: 1,
            max: 1,
            end: 1 + 100 * SEGMENTS as u64,
            window: 4_000,
            win: Window { cwnd: 1_000, ssthresh: u64::MAX, mss: 100, ..Window::default() },
            ..SendState::default()
        };
        let times = (Duration::ZERO, Duration::from_secs(1));
        rack.start(&mut snd, EcnState::default(), times, ms(0));
        let (copies, arrived) = (Vec::new(), vec![false; SEGMENTS + 1]);
        Dialogue { rack, snd, rtt: EXACT.fresh(), copies, arrived, choices: [0; 2] }
    }

    /// The whole state of the sender as text, without records that are no longer in flight.
    fn state(&mut self) -> String {
        self.rack.tracker.board.forget_gone();
        format!("{:?}", (&self.rack, &self.snd, &self.rtt))
    }

    fn on_timer(&mut self, at: Instant) {
        let Dialogue { rack, snd, rtt, .. } = self;
        match rack.due(at) {
            Due::Nothing | Due::Pace => {}
            Due::Reorder => _ = rack.on_reorder(snd, at),
            Due::Probe => rack.on_probe(),
            Due::Timeout => {
                let timeouts = RULES.back_off(rtt, None);
                rack.on_timeout(snd, timeouts, RULES.rto(rtt), at);
            }
        }
    }

    /// The next chunk; where `choose_next` finds one, it must be the chunk of `choose_at`.
    fn choose(&mut self, at: Instant) -> Option<Chunk> {
        let at_once = self.rack.choose_next(&self.snd);
        let chunk = self.rack.choose_at(&self.snd, at);
        if let Some(choice) = at_once {
            assert_eq!(choice, chunk, "{at:?}");
            self.choices[usize::from(choice.is_some())] += 1;
        }
        chunk
    }

    /// Sends all that may be sent at `at` ms.
    fn send(&mut self, at: u64, rng: &mut Rng) {
        while let Some(chunk) = self.choose(ms(at)) {
            self.rack.record_sent(&mut self.snd, chunk, ms(at));
            self.snd.max = self.snd.max.max(chunk.end());
            let delay = if rng.below(300) == 0 { 90 } else { 40 + at / 64 % 8 };
            // In one second of four 10 % of the segments are lost, in the others 0.25 %.
            if rng.below(if at / 1_000 % 4 == 3 { 10 } else { 400 }) > 0 {
                self.copies.push((at + delay, chunk.seq as usize / 100));
            }
        }
    }

    /// Returns the acknowledgement of a segment that arrives.
    fn receive(&mut self, number: usize) -> Segment {
        let again = std::mem::replace(&mut self.arrived[number], true);
        let first = |number: usize| 1 + 100 * number as u64;
        let (mut blocks, mut from) = (Vec::new(), 0);
        while let Some(start) = (from..SEGMENTS).find(|&at| self.arrived[at]) {
            from = (start..).find(|&at| !self.arrived[at]).expect("one was not sent");
            blocks.push((first(start), first(from)));
        }
        let next = blocks.first().filter(|block| block.0 == 1).map_or(1, |block| block.1);
        blocks.retain(|block| block.0 > next);
        blocks.truncate(3);
        let mut ack = segment(next, &blocks);
        if again {
            ack.sack.set_duplicate(first(number), first(number + 1), next);
        }
        ack
    }

    fn take_in_general(&mut self, ack: &Segment, at: Instant) -> Outcome {
        let mut memory = Memory::default();
        let mut cx = AckContext {
            snd: &mut self.snd,
            rtt: &mut self.rtt,
            rules: &RULES,
            clock: HostClock::default(),
            ecn: EchoReader::new(EcnState::default(), || &mut memory),
            moment: Moment { at, phase: Phase::Events },
        };
        let advances = ack.ack > cx.snd.una;
        let outcome = self.rack.process_ack(&mut cx, ack);
        if advances {
            RULES.on_advance(&mut self.rtt);
        }
        outcome
    }

    /// Processes an acknowledgement, by the short form if that applies, and checks its results
    /// against the general code. Returns whether the short form applied.
    fn take(&mut self, ack: &Segment, at: Instant) -> bool {
        let mut general = self.clone();
        let outcome = general.take_in_general(ack, at);
        let Dialogue { rack, snd, rtt, .. } = &mut *self;
        let calm = ack.ack > snd.una
            && !ack.sack.reports()
            && rack.take_calm_ack(snd, rtt, &RULES, ack.ack, at);
        if calm {
            assert_eq!(outcome, Outcome::default());
            assert_eq!(self.state(), general.state(), "{at:?}");
        } else {
            *self = general;
        }
        calm
    }
}

/// Number of acknowledgements processed by the short form, and by the general code; and the
/// choices.
fn converse(control: &str, settings: RackSettings) -> (usize, usize, [usize; 2]) {
    let (mut dialogue, mut rng) = (Dialogue::new(control, settings), Rng::named(1, "calm"));
    let (mut calm, mut general) = (0, 0);
    for at in 0..20_000 {
        dialogue.on_timer(ms(at));
        let due = |copy: &&(u64, usize)| copy.0 == at;
        let due: Vec<usize> = dialogue.copies.iter().filter(due).map(|copy| copy.1).collect();
        dialogue.copies.retain(|copy| copy.0 > at);
        for number in due {
            let ack = dialogue.receive(number);
            // Some acknowledgements are left out, or end within a segment.
            if ack.sack.reports() || rng.below(3) > 0 {
                let part = rng.below(50).saturating_sub(45);
                let ack = Segment { ack: ack.ack.saturating_sub(part).max(1), ..ack };
                if dialogue.take(&ack, ms(at)) { calm += 1 } else { general += 1 }
            }
        }
        dialogue.send(at, &mut rng);
    }
    (calm, general, dialogue.choices)
}

#[test]
fn calm_acknowledgements_and_choices_are_those_of_the_general_way() {
    for control in ["reno", "cubic", "bbr", "bbr3"] {
        for (paces, bursts) in [(false, None), (true, None), (true, Some(8))] {
            let settings = RackSettings { paces, bursts, ..SETTINGS };
            let (calm, general, choices) = converse(control, settings);
            assert!(calm > 500 && general > 500, "{control}: {calm} calm, {general} not");
            let free = !paces && !control.starts_with("bbr");
            assert!(!free || choices.iter().all(|&n| n > 500), "{control}: {choices:?}");
        }
    }
}
