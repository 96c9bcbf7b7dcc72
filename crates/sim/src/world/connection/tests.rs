use super::*;

#[test]
fn an_open_connection_takes_at_most_a_kibibyte() {
    // Both TCP ends, one request under way and its row in the log included.
    let bytes = size_of::<Connection>() + size_of::<Exchange>() + size_of::<u32>();
    assert!(bytes <= 1_024, "{bytes} B");
}

impl Connection {
    /// A connection of profile `plain` that is not opened yet.
    pub(in crate::world) fn plain() -> Self {
        let plain = tcp::find("plain").expect("is listed");
        let params = packet::params::Params::defaults(plain.about.fields);
        let profile = (plain.build)(&params, &tcp::Controls::ours()).expect("its defaults");
        let clock = HostClock { slow: Duration::ZERO, fast: Duration::ZERO };
        Connection::new(&Arc::new(profile), [clock, clock])
    }
}

#[test]
fn an_acknowledgement_makes_earlier_ones_unnecessary_that_says_more_and_nothing_else() {
    let mut it = Connection::plain();
    let acks = |ack: u64| Segment { ack, flags: Flags::ACK, ..Segment::default() };
    let stamped = |ack: u64| Segment { flags: Flags::ACK.with(Flags::STAMPED), ..acks(ack) };
    let mut reports = acks(6_000);
    reports.sack.push(8_000, 9_000);
    for (segment, thins, why) in [
        (acks(1_000), Ack::Newer, "the first"),
        (acks(1_000), Ack::Needed, "a duplicate"),
        (acks(500), Ack::Needed, "an old one"),
        (stamped(2_000), Ack::Newer, "timestamps keep none"),
        (Segment { flags: Flags::ACK.with(Flags::ECE), ..acks(3_000) }, Ack::Needed, "an echo"),
        (acks(3_000), Ack::Needed, "reported already, with the echo"),
        (Segment { len: 1, ..acks(4_000) }, Ack::No, "data"),
        (acks(4_000), Ack::Needed, "reported already, with the data"),
        (Segment { flags: Flags::ACK.with(Flags::SYN), ..acks(5_000) }, Ack::No, "a SYN"),
        (Segment { flags: Flags::ACK.with(Flags::FIN), ..acks(5_500) }, Ack::No, "a FIN"),
        (reports, Ack::Needed, "a report"),
        (acks(7_000), Ack::Newer, "the next"),
    ] {
        assert_eq!(it.ack_filterable(ACCEPTOR, &segment), thins, "{why}");
    }
    assert_eq!(it.ack_filterable(OPENER, &acks(1)), Ack::Newer, "each end has its own");
}

#[test]
fn what_nobody_requested_waits_until_the_connection_stands() {
    let it = Connection::plain();
    let requested = Exchange {
        cause: Cause::Requested { at: Instant::ZERO, resent: 0 },
        request_bytes: 10,
        reply_bytes: 100,
        request_end: 0,
        reply_end: NonZero::new(100),
        service: Duration::ZERO,
        in_service: false,
    };
    let unrequested = Exchange { request_bytes: 0, ..requested };
    // A scripted reply depends on the script alone.
    let scripted = Exchange { cause: Cause::Scripted(Instant::ZERO), ..unrequested };
    let later = Exchange { request_end: 1, ..requested };
    let served = [requested, unrequested, scripted, later].map(|exchange| it.may_serve(&exchange));
    assert_eq!(served, [true, false, true, false]);
}

#[test]
fn a_transfer_carries_nothing_back_and_has_an_end_or_none_at_all() {
    let transfers = |promised, close_requested, written| {
        let mut it = Connection::plain();
        (it.promised, it.close_requested, it.written) = (promised, close_requested, written);
        it.is_transfer()
    };
    assert!(transfers(0, true, 100) && transfers(0, false, u64::MAX));
    assert!(!transfers(0, false, 100) && !transfers(1, true, 100));
}

#[test]
fn an_application_counts_on_what_it_has_not_closed() {
    let mut idle = Connection::plain();
    // The connection is idle and has all replies: only an application that may still send must
    // learn that it has failed.
    for (closes, before, after) in [
        (Closes::Acceptor, false, false),
        (Closes::AcceptorToEnd, false, false),
        (Closes::AcceptorLast, true, false),
        (Closes::Opener, true, false),
    ] {
        idle.closes = closes;
        assert_eq!(idle.expected(), before, "{closes:?}");
        idle.close_requested = true;
        assert_eq!(idle.expected(), after, "{closes:?}, closed");
        idle.sent_pending = true;
        assert!(idle.expected(), "an acknowledgement is missing");
        (idle.close_requested, idle.sent_pending) = (false, false);
    }
}
