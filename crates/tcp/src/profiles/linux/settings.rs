//! The settings of a Linux host: sysctls, socket options and what a kernel is built with, with the
//! defaults of Linux 7.3.

use packet::params::{Field, Kind, Value};
use packet::units::Unit;

use crate::profiles::fields::{self, OFF, ON, field};

const WINDOW_IS: &str = "Largest receive buffer; the window that is offered is scaling_ratio of it, as far as it has grown. \
     A scenario may call it window.";

pub(in crate::profiles) const FIELDS: &[Field] = &[
    fields::MSS,
    Field {
        meaning: WINDOW_IS,
        ..field(
            fields::WINDOW,
            Value::Whole(32 << 20),
            "net.ipv4.tcp_rmem = 4096 131072 33554432, or a 128th of the memory, if that is less (tcp_init)",
        )
    },
    Field::new("autotuning", Kind::Switch, ON)
        .meaning(
            "The receive buffer begins with 128 KiB and grows with what the program reads in a round \
             trip, up to window_bytes, and the window that is offered with it. As long as it grows, every \
             segment is acknowledged.",
        )
        .source(
            "net.ipv4.tcp_moderate_rcvbuf = 1, tcp_rmem = 4096 131072 33554432 \
             (tcp_rcv_space_adjust); off as with SO_RCVBUF: a buffer of window_bytes from the start",
        ),
    Field::new("buffer_growth", Kind::Choice(&["rcvbuf_grow", "space_adjust"]), Value::Choice("rcvbuf_grow"))
        .meaning(
            "How the receive buffer grows: rcvbuf_grow, as in Linux 7.3, also by what lies beyond a hole; \
             space_adjust, as in 6.12, by what is read alone, with 16 segments to spare.",
        )
        .source("tcp_rcvbuf_grow, tcp_data_queue_ofo; before, tcp_rcv_space_adjust"),
    field(fields::INITIAL_WINDOW, Value::Whole(10), "RFC 6928 section 2"),
    Field::new(
        "recovery",
        Kind::Choice(&["rack", "tahoe", "reno", "newreno", "sack"]),
        Value::Choice("rack"),
    )
    .meaning(
        "How losses are found: RACK-TLP (RFC 8985); as Linux without RACK, by reports of three \
             segments above (sack); as Linux without SACK (newreno); or plain's Tahoe or Reno with \
             the congestion control of RFC 5681.",
    )
    .source(
        "net.ipv4.tcp_recovery = 1; sack is 0, which 7.3 no longer has (tcp_mark_head_lost); newreno \
         net.ipv4.tcp_sack = 0",
    ),
    field(
        fields::CONGESTION,
        Value::Unset,
        "cubic: net.ipv4.tcp_congestion_control; with plain's recovery, tahoe or reno, rfc5681",
    ),
    Field::new("tso_autosize", Kind::Switch, OFF)
        .meaning(
            "Segments go down as one, as many as the pace makes a millisecond (prague: a quarter of one), more \
             where the round trip is below 3 ms; all of them go at once, and the pace counts their whole length. \
             What the window lets go may wait up to 1 ms for room for more. Off: pairs at most, and the pace \
             counts each segment.",
        )
        .source(
            "tcp_tso_autosize, tcp_tso_should_defer, tcp_update_skb_after_send, of every Linux, whatever the \
             device (software cuts where that does not). Off is constructed: records were made without it",
        ),
    Field::new("gso_max_segs", Kind::whole(Unit::Packets, 1, 65_535), Value::Unset)
        .meaning(
            "Full segments that go down as one at most, the last of them with PSH, which a \
             receiver acknowledges at once; 1: each goes alone. More than 2 only with tso_autosize.",
        )
        .source(
            "2: net.ipv4.tcp_min_tso_segs (tcp_tso_segs has more only above 12 Mbit/s); with tso_autosize \
             65535: GSO_MAX_SEGS, the device's gso_max_segs (ip-link(8))",
        ),
    Field::new("pacing", Kind::Switch, OFF)
        .meaning(
            "Spread segments over the round trip, as the fq queueing discipline does; a control \
             that needs it does in any case.",
        )
        .source("net.core.default_qdisc = fq_codel in most distributions"),
    field(
        fields::DUPACK_THRESHOLD,
        Value::Whole(3),
        "RFC 8985 section 6.2, step 4; net.ipv4.tcp_reordering = 3",
    ),
    field(fields::LIMITED_TRANSMIT, ON, "RFC 3042"),
    field(
        fields::RTO_MIN,
        Value::Real(0.2),
        "TCP_RTO_MIN = HZ/5, added to the smoothed round trip",
    ),
    field(fields::TICK, Value::Real(0.0), "round trips are measured in microseconds"),
    Field::new("hz", Kind::whole(Unit::Count, 0, 1_000), Value::Whole(0))
        .meaning(
            "Ticks a second of the kernel's timers: a timeout, a probe, the wait of a hole or of an \
             acknowledgement ends at a tick, of 63 ticks and more at one of every 8, of 504 and \
             more at one of every 64. 0: exact.",
        )
        .source(
            "CONFIG_HZ (Debian 250, many others 1000) and kernel/time/timer.c since Linux 4.8; exact \
             times are constructed",
        ),
    Field {
        meaning: "Shortest wait of an acknowledgement, which then follows the pace of arrivals up to \
                  0.2 s; 0 acknowledges every segment at once.",
        ..field(fields::DELAYED_ACK, Value::Real(0.04), "TCP_DELACK_MIN = TCP_ATO_MIN = HZ/25")
    },
    field(
        fields::ACK_EVERY,
        Value::Whole(2),
        "RFC 1122 section 4.2.3.2; full segments (__tcp_ack_snd_check)",
    ),
    Field::new("scaling_ratio", Kind::from(Unit::None, 0.1, 1.0), Value::Real(0.640625))
        .meaning(
            "What of the receive buffer full segments fill. The window starts at half of the \
             buffer and grows by two segments for each that comes, up to this share; so long every \
             segment is acknowledged at once, and then 16 more. Below 0.5: 16 in all.",
        )
        .source(
            "tcp_grow_window; payload to memory of a segment (scaling_ratio), \
                           counted in 1/256, depends on the driver; constructed: 164/256, with \
                           which a fixed buffer of 6 MB gives the 308 segments that a kernel was \
                           seen to acknowledge one by one",
        ),
    field(fields::DELAYED_ACK_CLOCK, Value::Choice("connection"), "a timer of the socket"),
    Field::new("comp_sack_nr", Kind::whole(Unit::Packets, 0, 255), Value::Whole(44))
        .meaning(
            "Arrivals beyond a hole that one acknowledgement reports at most, after three that are \
             reported at once; 0 reports each at once, as does a receiver that acknowledges every \
             segment.",
        )
        .source("net.ipv4.tcp_comp_sack_nr = 44, since Linux 4.18 (__tcp_ack_snd_check)"),
    Field::new("comp_sack_delay", Kind::from(Unit::Time, 0.0, 0.1), Value::Real(0.001))
        .meaning("How long such a report waits, but no longer than its share of the round trip.")
        .source("net.ipv4.tcp_comp_sack_delay_ns = 1000000"),
    Field::new("comp_sack_rtt_percent", Kind::whole(Unit::None, 1, 1_000), Value::Whole(33))
        .meaning("That share, in hundredths.")
        .source("net.ipv4.tcp_comp_sack_rtt_percent = 33 (__tcp_ack_snd_check)"),
    Field::new("comp_sack_slack", Kind::from(Unit::Time, 0.0, 0.1), Value::Real(0.00001))
        .meaning("What the timer of such a report may add to it, and here adds.")
        .source(
            "net.ipv4.tcp_comp_sack_slack_ns = 10000; a kernel with nothing else to do was seen \
             to wait all of it",
        ),
    field(fields::TIMESTAMPS, ON, "net.ipv4.tcp_timestamps = 1"),
    field(fields::F_RTO, ON, "net.ipv4.tcp_frto = 2"),
    field(fields::HOST_CACHE, ON, "net.ipv4.tcp_no_metrics_save = 0 (tcp_metrics.c)"),
    Field::new("cache_ssthresh", Kind::Switch, OFF)
        .meaning("The host cache keeps the slow-start threshold too.")
        .source("net.ipv4.tcp_no_ssthresh_metrics_save = 1"),
    field(
        fields::ECN,
        Value::Unset,
        "off: net.ipv4.tcp_ecn = 2, only if the peer requests it, and no peer does; on with a congestion \
         control that needs marks (TCP_CONG_NEEDS_ECN)",
    ),
    fields::ECN_FEEDBACK,
    fields::ECN_RECEIVER,
    field(
        fields::ACCECN_OPTION,
        Value::Unset,
        "net.ipv4.tcp_ecn_option = 2 (TCP_ACCECN_OPTION_FULL, tcp_sk_init): on with ecn_feedback = \
         \"accurate\"",
    ),
    Field::new("ecn_fallback", Kind::Switch, ON)
        .meaning(
            "A SYN that is retransmitted does not request ECN, so that a connection whose first SYN was \
             lost never has it (RFC 3168 section 6.1.1.1).",
        )
        .source("net.ipv4.tcp_ecn_fallback = 1 (tcp_ecn_clear_syn)"),
    field(fields::BETA_ECN, Value::Unset, "as much as a loss leaves: Linux has no ABE (RFC 8511)"),
    Field::new("classic_fallback", Kind::Switch, OFF)
        .meaning(
            "Prague answers marks about as CUBIC does where depth and variation of the delay say \
             that the queue is a classic one (RFC 9331 section 4.3).",
        )
        .source(
            "tcp_prague.c 0.6: prague_ecn_fallback = 0; the detector is that of \
                           Briscoe and Ahmed, arXiv:1911.00710",
        ),
    field(fields::IDLE_RESTART, ON, "net.ipv4.tcp_slow_start_after_idle = 1"),
    field(fields::INITIAL_SSTHRESH, Value::Unset, "unbounded: TCP_INFINITE_SSTHRESH"),
    field(fields::RTO_INITIAL, Value::Real(1.0), "TCP_TIMEOUT_INIT = HZ; RFC 6298 (2.1)"),
    field(
        fields::SYN_LINEAR,
        Value::Whole(4),
        "net.ipv4.tcp_syn_linear_timeouts = 4, since Linux 6.5 (before: 0)",
    ),
    field(
        fields::SYN_RETRIES,
        Value::Unset,
        "net.ipv4.tcp_syn_retries = 6, and besides as many as syn_linear (tcp_write_timeout)",
    ),
    field(fields::SYN_ACK_RETRIES, Value::Whole(5), "net.ipv4.tcp_synack_retries = 5"),
    field(fields::CONNECT_LIMIT, Value::Unset, "none: retransmissions are counted"),
];
