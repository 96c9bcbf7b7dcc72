//! How long a Linux receiver that answers lets an acknowledgement wait (`tcp_send_delayed_ack`).

use crate::lab::one_end::{drain, hear, sacking};
use crate::lab::{profile, secs};
use aqmlab_tcp::{Flags, Segment};
use packet::params::Raw;

#[test]
fn a_timer_that_is_about_to_expire_is_not_waited_for() {
    // Acknowledged after more than three full segments. The first waits for 40 ms; after 35 the wait has
    // become 55 ms, and the timer is due within a quarter of it; after 10 it is not.
    for (second, answers) in [(0.335, 1), (0.31, 0)] {
        let settings = [("ack_every", Raw::Number(4.0)), ("timestamps", Raw::Bool(false))];
        let mut server = sacking(&profile("linux", &settings));
        server.write(100, secs(0.16));
        assert_eq!(drain(&mut server, 0.16).len(), 1);
        let full =
            Segment { seq: 301, ack: 101, len: 1_460, flags: Flags::ACK, ..Segment::default() };
        assert_eq!(hear(&mut server, full, 0.3), []);
        let next = Segment { seq: 1_761, ..full };
        assert_eq!(hear(&mut server, next, second).len(), answers, "at {second}");
    }
}
