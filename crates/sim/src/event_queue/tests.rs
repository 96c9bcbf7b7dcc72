//! Compares the wheel with a sorted map, and bounds what its ordering costs.

use super::*;
use packet::Rng;
use std::collections::BTreeMap;

/// The reference implementation: a map ordered by (time, order key, sequence number).
#[derive(Default)]
struct Plain {
    events: BTreeMap<(u64, u64, u64), u32>,
    sequence: u64,
}

impl Plain {
    fn schedule(&mut self, at: u64, order: u64, event: u32) {
        self.events.insert((at, order, self.sequence), event);
        self.sequence += 1;
    }
    fn next(&mut self, limit: u64) -> Option<(u64, u32)> {
        let key = *self.events.keys().next().filter(|k| k.0 <= limit)?;
        Some((key.0, self.events.remove(&key).unwrap()))
    }
}

thread_local! {
    /// Number of events examined and pairs compared to find the next event.
    pub(super) static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    /// Number of times an event was stored in a slot.
    pub(super) static MOVES: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Events with order keys above this are scheduled by `schedule_shared`.
const ALONE: u64 = 9;

fn schedule(wheel: &mut EventQueue<u32>, at: u64, order: u64, event: u32) {
    let at = Instant::from_nanos(at);
    if order > ALONE {
        wheel.schedule_shared(at, order, event);
    } else {
        wheel.schedule(at, order, event);
    }
}

/// A random time span as links and timers have, with many ties.
fn span(rng: &mut Rng) -> u64 {
    match rng.below(6) {
        0 => 0,
        1 => rng.below(3),
        2 => 12_000,
        3 => rng.below(50_000_000),
        4 => 1_000_000_000 + rng.below(64_000_000_000),
        _ => 1 << rng.below(45),
    }
}

#[test]
fn the_wheel_serves_the_same_order_as_a_sorted_map() {
    for seed in 0..200 {
        let mut rng = Rng::indexed(seed, "events", 0);
        let (mut wheel, mut plain) = (EventQueue::default(), Plain::default());
        let mut now = 0;
        for event in 0..2_000u32 {
            if rng.below(100) < 55 {
                let at = now + span(&mut rng);
                let order = ALONE - 3 + rng.below(8);
                schedule(&mut wheel, at, order, event);
                plain.schedule(at, order, event);
            } else {
                // A limit may fall short of the next event: time then moves to the limit.
                let limit = now + span(&mut rng);
                let expected = plain.next(limit);
                let got = wheel.next(Instant::from_nanos(limit)).map(|(t, e)| (t.nanos(), e));
                assert_eq!(got, expected, "seed {seed}");
                now = expected.map_or(limit, |(at, _)| at);
            }
            assert_eq!(wheel.len(), plain.events.len());
        }
        while let Some(expected) = plain.next(u64::MAX) {
            let got = wheel.next(Instant::NEVER).map(|(t, e)| (t.nanos(), e));
            assert_eq!(got, Some(expected), "seed {seed}");
        }
        assert!(wheel.is_empty() && wheel.next(Instant::NEVER).is_none());
    }
}

/// Schedules events for two lanes and for the wheel, with separate order keys. The lanes close when
/// an event comes too early for its lane, or by a call of `close_lanes`.
#[test]
fn lanes_and_the_wheel_together_serve_the_order_of_a_sorted_map() {
    let mut in_lanes = 0;
    for seed in 0..400 {
        let mut rng = Rng::indexed(seed, "lanes", 0);
        let (mut wheel, mut plain) = (EventQueue::with_lanes(true), Plain::default());
        let (mut now, mut last) = (0, [0; 2]);
        let early = rng.below(4) == 0; // else never too early
        for event in 0..2_000u32 {
            if rng.below(100) < 55 {
                let lane = rng.below(3) as usize;
                let order = 1 + 4 * rng.below(4) + lane as u64;
                let mut at = now + span(&mut rng);
                match last.get_mut(lane) {
                    Some(last) => {
                        let behind = (*last + 1 + rng.below(3) * rng.below(30_000)).max(now);
                        at = if early && rng.below(500) == 0 { at } else { behind };
                        *last = at;
                        wheel.schedule_in_lane(lane, Instant::from_nanos(at), order, event);
                    }
                    // Enough events to be sorted; one marker event stands for them.
                    None if rng.below(60) == 0 => {
                        for more in 0..rng.below(40) as u32 {
                            let (order, event) = (order + 32, 10_000 + 40 * event + more);
                            wheel.schedule_shared(Instant::from_nanos(at), order, event);
                            plain.schedule(at, order, event);
                        }
                        wheel.schedule(Instant::from_nanos(at), order, event);
                    }
                    None => wheel.schedule(Instant::from_nanos(at), order, event),
                }
                plain.schedule(at, order, event);
                in_lanes += usize::from(wheel.lanes.next_at != u64::MAX);
                if seed % 5 == 0 && event == 1_500 {
                    wheel.close_lanes();
                }
            } else {
                let limit = now + if rng.below(4) == 0 { span(&mut rng) } else { 1 << 50 };
                let expected = plain.next(limit);
                let got = wheel.next(Instant::from_nanos(limit)).map(|(t, e)| (t.nanos(), e));
                assert_eq!(got, expected, "seed {seed}");
                now = expected.map_or(limit, |(at, _)| at);
            }
            assert_eq!(wheel.len(), plain.events.len());
        }
        while let Some(expected) = plain.next(u64::MAX) {
            let got = wheel.next(Instant::NEVER).map(|(t, e)| (t.nanos(), e));
            assert_eq!(got, Some(expected), "seed {seed}");
        }
        assert!(wheel.is_empty() && wheel.next(Instant::NEVER).is_none());
    }
    assert!(in_lanes > 10_000, "lanes were used: {in_lanes}");
}

#[test]
fn many_simultaneous_events_are_served_in_the_order_of_a_sorted_map() {
    for seed in 0..20 {
        let mut rng = Rng::indexed(seed, "simultaneous", 0);
        let (mut wheel, mut plain) = (EventQueue::default(), Plain::default());
        let both = |wheel: &mut EventQueue<u32>, plain: &mut Plain, at, order, event| {
            schedule(wheel, at, order, event);
            plain.schedule(at, order, event);
        };
        // Many events at three instants, two of which are 1 ns apart.
        for event in 0..300 {
            let at = [1_000_000, 1_000_001, 1_500_000][rng.below(3) as usize];
            both(&mut wheel, &mut plain, at, 1 + rng.below(20), event);
        }
        let mut now = 0;
        for event in 300..2_000 {
            // Served events schedule more for their own instant or for a later one.
            let (at, order) = (now + rng.below(2) * span(&mut rng), 1 + rng.below(20));
            if at > 0 && rng.below(3) > 0 {
                both(&mut wheel, &mut plain, at, order, event);
            }
            let limit = if rng.below(10) == 0 { now } else { now + span(&mut rng) };
            let expected = plain.next(limit);
            let got = wheel.next(Instant::from_nanos(limit)).map(|(t, e)| (t.nanos(), e));
            assert_eq!(got, expected, "seed {seed}");
            now = expected.map_or(limit, |(at, _)| at);
            assert_eq!(wheel.len(), plain.events.len());
        }
    }
}

#[test]
fn an_event_among_many_of_one_instant_costs_the_logarithm_of_their_number() {
    for count in [10u64, 1_000, 100_000] {
        let mut events = EventQueue::default();
        let mut rng = Rng::named(count, "timers");
        for event in 0..count {
            let timer = order(Priority::Timer, rng.below(1 << 40));
            events.schedule(Instant::from_nanos(500_000_000), timer, event);
        }
        LOOKS.set(0);
        let mut answered = 0;
        while let Some((at, event)) = events.next(Instant::NEVER) {
            // Every timer arms the next timer; one in four also schedules an event of its own
            // instant.
            let later = Instant::from_nanos(at.nanos() + 500_000_000);
            if event < count && at.nanos() == 500_000_000 {
                events.schedule(later, order(Priority::Timer, event), event);
                if event % 4 == 0 {
                    events.schedule(at, order(Priority::Wake, event), count + event);
                    answered += 1;
                }
            }
        }
        let each = LOOKS.get() as f64 / (2 * count + answered) as f64;
        let most = 2.0 * (count as f64).log2() + FEW as f64;
        assert!(each <= most, "{each} looks for each of {count} events of one instant");
    }
}

#[test]
fn an_event_is_put_down_a_few_times_however_many_wait() {
    for pending in [10u64, 1_000, 100_000] {
        let mut events = EventQueue::default();
        let mut rng = Rng::named(pending, "holds");
        // Half of the events are packets within a round trip, the others timers and pauses.
        let mut later = |at: u64| match rng.below(4) {
            0 | 1 => at + 10_000_000 + rng.below(150_000_000),
            2 => at + 200_000_000 + rng.below(800_000_000),
            _ => at + rng.below(60_000_000_000),
        };
        for event in 0..pending {
            events.schedule(Instant::from_nanos(later(0)), 1 + event, event);
        }
        MOVES.set(0);
        LOOKS.set(0);
        let holds = 2 * pending + 10_000;
        for _ in 0..holds {
            let (at, event) = events.next(Instant::NEVER).expect("they never end");
            events.schedule(Instant::from_nanos(later(at.nanos())), 1 + event, event);
        }
        let each = |counted: u64| counted as f64 / holds as f64;
        assert!(each(MOVES.get()) <= 4.5, "{} times, {pending} wait", each(MOVES.get()));
        assert!(each(LOOKS.get()) <= 1.0, "{} looks, {pending} wait", each(LOOKS.get()));
    }
}

#[test]
#[should_panic(expected = "scheduled for the past")]
fn the_past_is_refused() {
    let mut events = EventQueue::default();
    events.schedule(Instant::from_nanos(1_000), 1, 1);
    events.next(Instant::NEVER);
    events.schedule(Instant::from_nanos(999), 1, 2);
}

#[test]
fn looking_ahead_changes_nothing() {
    for seed in 0..50 {
        let mut rng = Rng::indexed(seed, "ahead", 0);
        let (mut seeing, mut blind) = (EventQueue::default(), EventQueue::default());
        let mut now = Instant::ZERO;
        for event in 0..5_000u32 {
            if rng.below(100) < 55 {
                let at = now.nanos() + span(&mut rng);
                let order = ALONE - 1 + rng.below(4);
                schedule(&mut seeing, at, order, event);
                schedule(&mut blind, at, order, event);
            } else {
                let expected = blind.next(Instant::NEVER);
                assert_eq!(seeing.next(Instant::NEVER), expected, "seed {seed}");
                now = expected.map_or(now, |(at, _)| at);
            }
            let _ = seeing.look_ahead();
        }
    }
}

/// For each event of a steady flow, with `each` events in a slot of the wide digit: how many events
/// before its service the look-ahead shows it.
fn seen_before(each: u64) -> Vec<Option<u64>> {
    const SLOTS: u64 = 200;
    let slot = 1 << Digit::WIDE.shift;
    let mut wheel = EventQueue::default();
    for event in 0..SLOTS * each {
        let at = (1 + event / each) * slot + event % each * (slot / each);
        wheel.schedule(Instant::from_nanos(at), 1, event);
    }
    let mut before = vec![None; (SLOTS * each) as usize];
    while let Some((_, event)) = wheel.next(Instant::NEVER) {
        if let Some(ahead) = wheel.look_ahead() {
            assert_eq!(before[ahead as usize].replace(ahead - event), None, "seen twice");
        }
    }
    before
}

#[test]
fn every_event_of_a_steady_flow_is_seen_once_before_its_turn() {
    let before = seen_before(30);
    // No event of the first two slots could be shown in time.
    assert!(before[90..].iter().all(|before| before.is_some_and(|before| before <= 60)));
}

#[test]
fn events_of_a_dense_flow_are_seen_shortly_before_their_turn() {
    for each in [200, 800, 3_000] {
        let before = seen_before(each);
        let seen = before.iter().flatten().count() as f64 / before.len() as f64;
        assert!(seen > 0.95, "{seen} of {each} a slot");
        let most = before.iter().flatten().max();
        assert!(most <= Some(&(2 + each / 32)), "{most:?} of {each} a slot");
    }
}

#[test]
fn every_simultaneous_event_but_the_first_is_seen_once_before_its_turn() {
    let mut wheel = EventQueue::default();
    for event in 0..1_000u32 {
        wheel.schedule_shared(Instant::from_nanos(500_000_000), 1 + u64::from(event), event);
    }
    let mut seen = vec![0; 1_000];
    while let Some((_, event)) = wheel.next(Instant::NEVER) {
        assert!(event < 10 || seen[event as usize] == 1, "event {event}");
        if let Some(ahead) = wheel.look_ahead() {
            assert!(ahead > event, "{ahead} after {event}");
            seen[ahead as usize] += 1;
        }
    }
}

#[test]
fn events_of_one_instant_that_nobody_wants_are_left_out_and_count_as_served() {
    let ms = |ms: u64| Instant::from_nanos(ms * 1_000_000);
    let mut events = EventQueue::default();
    // A tick of a host's clock with many timers and another event, a tick whose timers are all
    // unwanted, and an instant with one event.
    (0..40u32).for_each(|event| events.schedule_shared(ms(500), u64::from(41 - event), event));
    events.schedule(ms(500), 100, 44);
    (40..43u32).for_each(|event| events.schedule_shared(ms(600), 1, 2 * event + 1));
    events.schedule(ms(700), 1, 101);
    let even = |event: &u32| event.is_multiple_of(2);
    let mut served = Vec::new();
    while let Some((at, event)) = events.next_wanted(ms(650), even) {
        assert_eq!(at, ms(500));
        served.push(event);
    }
    let expected: Vec<u32> = (0..40).rev().filter(even).chain([44]).collect();
    assert_eq!(served, expected, "in their order, without the odd ones");
    assert_eq!((events.served(), events.len()), (44, 1));
    // A single event is served even if unwanted: its owner checks whether it is still needed.
    assert_eq!(events.next_wanted(Instant::NEVER, even), Some((ms(700), 101)));
    // All events of a shared instant take one node of the wheel.
    let places = events.blocks.places();
    (0..40u32).for_each(|event| events.schedule_shared(ms(800), 1, event));
    assert_eq!((events.blocks.places(), events.len()), (places, 40));
}

#[test]
fn timers_of_a_tick_are_put_down_once_for_all() {
    let mut events = EventQueue::default();
    MOVES.set(0);
    for event in 0..1_000u32 {
        let tick = u64::from(event % 4) * 500_000_000;
        schedule(&mut events, 70_000_000 + tick, ALONE + 1 + u64::from(event), event);
    }
    let served = std::iter::from_fn(|| events.next(Instant::NEVER)).count();
    assert_eq!(served, 1_000);
    assert!(MOVES.get() <= 12, "{} moves", MOVES.get());
}

#[test]
fn a_block_is_used_again_when_its_first_event_moves_up() {
    let mut events = EventQueue::default();
    for round in 1..100 {
        // Nine events take two blocks, and are served one by one; the second block is freed when
        // eight are left.
        (0..9u32).for_each(|event| events.schedule(Instant::from_nanos(round), 1, event));
        assert!(!events.is_empty());
        for event in 0..9 {
            assert_eq!(events.next(Instant::NEVER), Some((Instant::from_nanos(round), event)));
        }
        assert!(events.is_empty());
    }
    assert!(events.blocks.places() <= 32, "{}", events.blocks.places());
}
