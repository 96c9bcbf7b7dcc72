//! Tests of the offered window, compared with what a Linux 6.12 kernel offered.

use super::*;

/// An end with Linux's default buffers, of which payload fills 63/256 as in the comparisons with
/// kernels; the handshake ends at 80 ms.
fn default_host(growth: Growth) -> End {
    let mut end = End::new(63);
    let AtOnce::Adaptive(rules) = &mut end.policy.at_once else { panic!("linux") };
    (rules.start, rules.buffer, rules.scale, rules.mss) = (131_072, 6 << 20, 7, SEGMENT);
    rules.growth = growth;
    end.receiver.reset(&end.policy);
    end.receiver.open();
    end.receiver.agree(true);
    end.offered = end.receiver.on_ack_sent(&end.policy, true);
    end.receiver.established(ms(80));
    end
}

impl End {
    /// A full segment arrives, `by` segments after the expected one, and echoes a timestamp of 81
    /// ms before.
    fn stamped_beyond(&mut self, at: u64, by: u64) {
        let seq = self.receiver.next + by * u64::from(SEGMENT);
        let flags = Flags::ACK.with(Flags::STAMPED);
        let echo = at as u32 - 81;
        self.take(at, &Segment { seq, len: SEGMENT, flags, echo, ..Segment::default() });
    }
}

#[test]
fn a_default_host_offers_what_the_kernel_does() {
    // Linux 6.12, 10 Mbit/s, 80 ms: the SYN offers 45 segments; the first segment shows that
    // segments take more room, and the right edge of the window stays at 65,161. After a round trip
    // 15,928 B were read, more than ten segments: 2 x 15,928 + 16 x 1,448 = 55,024, and 2 x 55,024
    // x 1,448/14,480 more: room for 66,029 B, of which 1,448 (there 1,449) are taken by the segment
    // that comes next. The kernel's acknowledgement of the segment before goes out before the
    // program reads it and has a window field of 388; here the program reads first.
    let mut end = default_host(Growth::SpaceAdjust);
    assert_eq!(end.offered, Some(Offer { bytes: 65_160, scale: 0 }));
    let seen: Vec<u64> = (0..10)
        .map(|i| {
            end.stamped_beyond(82 + i, 0);
            end.field()
        })
        .collect();
    assert_eq!(seen, [498, 487, 476, 465, 454, 443, 432, 421, 410, 399]);
    end.stamped_beyond(163, 0);
    assert_eq!(end.field(), 501, "64,088 B: half of the buffer, less a segment");
    end.stamped_beyond(164, 0);
    assert_eq!(end.field(), 505);
}

#[test]
fn an_open_hole_takes_room_but_moves_no_end_back() {
    let mut end = default_host(Growth::SpaceAdjust);
    (0..11).for_each(|i| end.stamped_beyond(82 + 10 * i, 0));
    let next = end.receiver.next;
    end.stamped_beyond(190, 1);
    let offered = (1..60)
        .map(|by| {
            end.stamped_beyond(190 + by, by);
            assert_eq!(end.receiver.next, next);
            end.offered.expect("linux").bytes
        })
        .collect::<Vec<_>>();
    assert!(offered.is_sorted(), "{offered:?}");
    // The data beyond the hole no longer fitted into the buffer, which grew to it
    // (tcp_clamp_window).
    let held = 59 * u64::from(SEGMENT);
    assert!(end.buffer().0 >= held, "{:?}", end.buffer());
    // All is read at once when the hole is filled: the whole buffer is free.
    end.stamped_beyond(260, 0);
    assert_eq!(end.receiver.next, next + 60 * u64::from(SEGMENT));
    let room = end.receiver.tempo().expect("linux").buffer.space;
    assert_eq!(end.field(), room.min(64_088).div_ceil(128));
}

#[test]
fn half_of_the_buffer_is_payload_until_a_segment_of_more_than_536_bytes_comes() {
    // TCP_DEFAULT_SCALING_RATIO, which tcp_measure_rcv_mss changes with rcv_mss alone.
    let share = |end: &mut End| {
        let AtOnce::Adaptive(rules) = &end.policy.at_once else { panic!("linux") };
        end.receiver.tempo().expect("linux").ratio(rules)
    };
    let mut end = default_host(Growth::RcvbufGrow);
    assert_eq!(share(&mut end), 128);
    end.stamped_beyond(82, 1);
    assert_eq!(share(&mut end), 63);
}

#[test]
fn a_first_segment_beyond_a_hole_shows_what_segments_take() {
    // Linux 7.3 with its first ten segments lost: the eleventh comes first. 2 x 14,480 + 15,928 =
    // 44,888 B are 63/256 of 182,402 B; if segments of 536 B left as little room for payload, they
    // would be 23/256 of four times 128 KiB.
    let mut end = default_host(Growth::RcvbufGrow);
    end.stamped_beyond(82, 10);
    assert_eq!(end.buffer(), (182_402, 44_887));
    // Linux 6.12 measures only segments in order.
    let mut older = default_host(Growth::SpaceAdjust);
    older.stamped_beyond(82, 10);
    assert_eq!(older.buffer(), (131_072, 64_088));
}

#[test]
fn without_selective_acknowledgements_a_hole_lets_no_window_grow() {
    // tcp_data_queue_ofo: an acknowledgement with a changed window would not count as a duplicate.
    let offered = |selective: bool| {
        let mut end = End::new(164);
        end.receiver.agree(selective);
        (1..=20).for_each(|at| assert!(end.full(at)));
        (1..=20).for_each(|by| end.stamped_beyond(100, by));
        end.offered.expect("linux").bytes
    };
    assert_eq!(offered(true) - offered(false), 20 * 2 * u64::from(SEGMENT));
}

#[test]
fn a_buffer_too_small_for_two_segments_offers_them_nevertheless() {
    let mut end = End::new(164);
    let AtOnce::Adaptive(rules) = &mut end.policy.at_once else { panic!("linux") };
    (rules.start, rules.buffer) = (2_000, 2_000);
    end.receiver.reset(&end.policy);
    end.receiver.open();
    assert!(end.receiver.on_ack_sent(&end.policy, true).expect("linux").bytes >= 2 * 1_448);
    end.full(1);
    assert!(end.offered.expect("linux").bytes >= 2 * 1_448);
}
