//! One tin: its queues, each with a law, in rotation.

use alloc::vec::Vec;

use super::super::alternation::Alternation;
use super::hosts::Isolation;
use super::rotation::Rotation;
use super::shaper::TinClock;
use super::tins::TinNumbers;
use crate::shells::pool::Queue;

/// A queue and its law.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub queue: Queue,
    pub law: Alternation,
}

/// See the module.
pub(super) struct Tin {
    pub numbers: TinNumbers,
    pub lanes: Vec<Lane>,
    pub rotation: Rotation,
    pub clock: TinClock,
    /// What it may still send before the next tin's turn, where there is no rate.
    pub deficit: i64,
    /// Bytes that wait.
    pub bytes: u64,
}

impl Tin {
    /// With `dithers`, turns are of whole bytes.
    pub fn new(
        numbers: TinNumbers,
        queues: usize,
        isolation: Isolation,
        seed: u64,
        dithers: bool,
    ) -> Self {
        let lane = Lane { queue: Queue::new(), law: Alternation::new() };
        let rotation = Rotation::new(queues, numbers.flow_quantum, isolation, seed);
        Tin {
            rotation: if dithers { rotation.dithered() } else { rotation },
            clock: TinClock::new(numbers.pace),
            numbers,
            lanes: alloc::vec![lane; queues],
            deficit: 0,
            bytes: 0,
        }
    }

    /// Another rate, bytes per second.
    pub fn set_rate(&mut self, rate: u64) {
        self.numbers.set_rate(rate);
        self.clock.set_pace(self.numbers.pace);
        self.rotation.set_quantum(self.numbers.flow_quantum);
    }

    /// All of another rate.
    pub fn set_numbers(&mut self, numbers: TinNumbers) {
        self.clock.set_pace(numbers.pace);
        self.rotation.set_quantum(numbers.flow_quantum);
        self.numbers = numbers;
    }

    /// The queue whose turn it is; see [`Rotation::next`].
    #[inline]
    pub fn next(&mut self, first: &mut bool) -> Option<usize> {
        let lanes = &self.lanes;
        self.rotation.next(first, |queue| !lanes[queue].queue.is_empty())
    }
}
