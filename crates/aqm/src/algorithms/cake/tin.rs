//! One tin of CAKE: its queues, each with its AQM state, and their scheduler.

use alloc::vec::Vec;

use super::super::alternation::Alternation;
use super::hosts::Isolation;
use super::rotation::Rotation;
use super::shaper::TinClock;
use super::tins::TinNumbers;
use crate::shells::pool::Queue;

/// A queue and its AQM state.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub queue: Queue,
    pub law: Alternation,
}

/// A tin with its queues, its scheduler and its clock.
pub(super) struct Tin {
    pub numbers: TinNumbers,
    pub lanes: Vec<Lane>,
    pub rotation: Rotation,
    pub clock: TinClock,
    /// Bytes that the tin may still send before the next tin's turn, if there is no rate.
    pub deficit: i64,
    /// Bytes that wait in the tin.
    pub bytes: u64,
}

impl Tin {
    /// An empty tin; with `dithers` its queues' turns are whole bytes.
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

    /// Changes the tin's rate, in bytes per second.
    pub fn set_rate(&mut self, rate: u64) {
        self.numbers.set_rate(rate);
        self.clock.set_pace(self.numbers.pace);
        self.rotation.set_quantum(self.numbers.flow_quantum);
    }

    /// Replaces all numbers of the tin by those of another rate.
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
