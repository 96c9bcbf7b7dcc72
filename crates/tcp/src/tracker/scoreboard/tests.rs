use super::*;
use packet::Rng;

impl Scoreboard {
    /// Checks the running sums and the list against a new count.
    fn check(&self) {
        let records = || (self.first..self.next).map(|n| self.get(n));
        assert_eq!(self.records, records().map(Record::in_flight).sum::<u64>());
        assert_eq!(self.sacked as usize, records().filter(|r| r.sacked).count());
        let waits = |r: &&Record| r.lost && !r.resent && !r.sacked;
        assert_eq!(self.waiting as usize, records().filter(waits).count());
        let first = (self.first..self.next).find(|&n| waits(&self.get(n)));
        assert_eq!(self.first_waiting(), first);
        let mut listed = Vec::new();
        let mut next = self.oldest();
        while let Some(number) = next {
            listed.push(number);
            next = self.after(number);
        }
        let mut expected: Vec<u64> =
            (self.first..self.next).filter(|&n| self.get(n).is_listed()).collect();
        expected.sort_by_key(|&n| self.get(n).turn);
        assert_eq!(listed, expected, "by time of sending");
        let mut rest = (self.first.max(self.untouched)..self.next).map(|number| self.get(number));
        assert!(rest.all(|it| !(it.sacked || it.lost || it.ever_resent || it.overtaken)));
    }
}

#[test]
fn its_sums_and_orders_hold_whatever_happens() {
    let mut rng = Rng::named(1, "board");
    let mut board = Scoreboard::new();
    let (mut seq, mut acked) = (1, 1);
    for step in 0..20_000 {
        let pick = |rng: &mut Rng, b: &Scoreboard| b.first() + rng.below(b.len().max(1));
        let at = Instant::from_nanos(step);
        match rng.below(25) {
            0..=7 => {
                let bytes = 1 + rng.below(1_000);
                board.push(Record { seq, end: seq + bytes, at, ..Record::default() });
                seq += bytes;
            }
            8..=11 => {
                acked = board.get_end(rng.below(4)).unwrap_or(acked);
                board.take_below(acked);
            }
            12..=15 if !board.is_empty() => {
                let number = pick(&mut rng, &board);
                if !board.get(number).sacked {
                    board.report(number);
                }
            }
            16..=19 if !board.is_empty() => {
                let number = pick(&mut rng, &board);
                if board.get(number).travels() {
                    board.mark_lost(number);
                    if rng.below(2) == 0 {
                        board.take_off(number);
                    }
                }
            }
            20 => board.unmark_lost(),
            _ => {
                if let Some(number) = board.first_waiting() {
                    board.resend(number, at, 0);
                }
            }
        }
        assert!(board.is_empty() || board.find(acked) == board.first());
        board.check();
    }
}

impl Scoreboard {
    fn take_below(&mut self, ack: u64) {
        while self.first_below(ack).is_some() {
            self.pop_first();
        }
    }
    fn get_end(&self, beyond: u64) -> Option<u64> {
        (beyond < self.len()).then(|| self.get(self.first + beyond).end)
    }
}

#[test]
fn what_is_forgiven_travels_again() {
    let mut board = Scoreboard::new();
    for seq in [1, 101, 201] {
        board.push(Record { seq, end: seq + 100, ..Record::default() });
    }
    board.mark_lost(0);
    board.mark_lost(1);
    board.resend(0, Instant::ZERO, 0);
    assert_eq!((board.in_flight, board.waiting), (200, 1));
    board.unmark_lost();
    // In flight are two copies of the first segment, and the other two.
    assert_eq!((board.in_flight, board.waiting), (400, 0));
    board.take_below(301);
    assert_eq!((board.in_flight, board.oldest()), (0, None));
}

#[test]
fn a_fin_needs_no_report_behind_data_and_one_of_its_own_alone() {
    // Of the record 101..201 the data ends at 201, or with a FIN at 200. Linux's receiver reports both.
    let record = |seq, end, fin| Record { seq, end, fin, ..Record::default() };
    for (record, to, reported) in [
        (record(101, 201, false), 200, false),
        (record(101, 201, false), 201, true),
        (record(101, 201, true), 199, false),
        (record(101, 201, true), 200, true),
        (record(101, 201, true), 201, true),
        (record(101, 102, true), 101, false),
        (record(101, 102, true), 102, true),
    ] {
        assert_eq!(record.is_reported(to), reported, "{record:?} {to}");
    }
}

#[test]
fn a_reset_forgets_all_but_its_memory() {
    let mut board = Scoreboard::new();
    for seq in 1..40 {
        board.push(Record { seq, end: seq + 1, ..Record::default() });
    }
    board.report(3);
    board.mark_lost(0);
    board.mark_lost(1);
    board.resend(0, Instant::ZERO, 0);
    board.set_dupacks(2, 1);
    let slots = board.ring.len();
    board.reset();
    assert_eq!(board.ring.len(), slots);
    board.ring.clear();
    assert_eq!(format!("{board:?}"), format!("{:?}", Scoreboard::new()));
}

#[test]
fn a_board_is_untouched_again_once_what_was_touched_is_acknowledged() {
    let touches: [fn(&mut Scoreboard); 3] = [
        |board| board.resend(1, Instant::ZERO, 0),
        |board| _ = board.report(1),
        |board| board.mark_lost(1),
    ];
    for touch in touches {
        let mut board = Scoreboard::new();
        for seq in 0..3 {
            board.push(Record { seq, end: seq + 1, ..Record::default() });
        }
        assert!(board.is_untouched());
        touch(&mut board);
        let untouched = [(); 3].map(|()| {
            let untouched = board.is_untouched();
            board.pop_first();
            untouched
        });
        assert_eq!(untouched, [false, false, true]);
    }
}
