"""How transfers with listed losses are compared, segment by segment."""

from __future__ import annotations

import struct

from validation.linux.losses import CLOSE_NS, NEAR_NS, Comparison
from validation.linux.segments import Sent, read_pcap, sent
from validation.quic import cases, losses


def packet(source: int, seq: int, data: int, ecn: int = 0) -> bytes:
    ip = struct.pack("!BBHHHBBHII", 0x45, ecn, 52 + data, 0, 0, 64, 6, 0, 1, 2)
    tcp = struct.pack("!HHIIBBHHH", source, 5001, seq, 0, 8 << 4, 16, 0, 0, 0) + bytes(12)
    return ip + tcp


def capture(*packets: tuple[int, bytes]) -> bytes:
    """A pcap file of raw packets at microseconds."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)
    rows = [struct.pack("<IIII", 1, us, len(p), len(p)) + p for us, p in packets]
    return head + b"".join(rows)


def test_a_capture_tells_what_was_sent_and_what_was_sent_before():
    text = capture(
        (0, packet(9, 2**32 - 1, 0)),  # SYN: the numbers begin anew behind it
        (5, packet(9, 0, 100)),
        (7, packet(5001, 70, 30)),
        (9, packet(9, 200, 100, ecn=3)),
        (11, packet(9, 100, 100)),
    )
    segments = list(read_pcap(text))
    assert [one.ce for one in segments] == [False, False, False, True, False]
    assert sent(segments, 5001) == [
        Sent(0, 0, 100, False),
        Sent(4_000, 200, 100, False),
        Sent(6_000, 100, 100, True),
    ]


def test_two_transfers_are_the_same_up_to_another_segment_or_time():
    def transfer(*starts_ns: int) -> list[Sent]:
        return [Sent(at, 1_448 * n, 1_448, False) for n, at in enumerate(starts_ns)]

    ours = transfer(0, 10, 20)
    assert Comparison(ours, transfer(0, 10, 20 + NEAR_NS)).same() == 3
    assert Comparison(ours, transfer(0, 10, 21 + NEAR_NS)).same() == 2


def test_close_are_first_retransmission_and_last_segment_of_as_many():
    def transfer(*sent: tuple[int, bool]) -> list[Sent]:
        return [Sent(at, 0, 1_448, again) for at, again in sent]

    ours = transfer((0, False), (10, True), (20, False))
    late = transfer((0, False), (10 + CLOSE_NS, True), (20 + CLOSE_NS, False))
    assert Comparison(ours, late).close()
    assert not Comparison(transfer((0, False), (9, True), (20, False)), late).close()
    assert not Comparison(transfer((0, False), (10, True), (19, False)), late).close()
    other = transfer((0, False), (10, True), (20, True))
    assert not Comparison(ours, other).close() and not Comparison(ours, other).repeats_alike()
    assert Comparison(transfer((0, False), (20, False)), transfer((0, False), (20, False))).close()


def test_two_transfers_of_quic_are_the_same_up_to_another_time_or_window():
    def transfer(begin_ns: int, *sent: tuple[int, int]) -> losses.Transfer:
        return losses.Transfer([losses.Sent(begin_ns + at, False, w) for at, w in sent], 0, 0)

    ours = transfer(0, (0, 12_000), (9, 13_200), (20, 14_400))
    # quinn's window has one byte more, and its handshake lasts a little longer.
    assert losses.whole(ours, transfer(700, (0, 12_001), (9, 13_201), (20, 14_401)))
    late = transfer(0, (0, 12_001), (10 + losses.NEAR_NS, 13_201), (20, 14_401))
    assert losses.same(ours, late) == 1
    assert losses.same(ours, transfer(0, (0, 12_001), (9, 13_201), (20, 14_000))) == 2
    assert "| 3 | 0 | 0.0 | 3 | 0 | 0.0 | 1 |" in losses.row("case", ours, late)


def test_both_programs_get_one_case_of_quic():
    case = cases.Case("any", "red", 3, control="cubic", drawn_ms=0)
    scenario, words = cases.scenario(case, 1), cases.words(case, 1)
    assert {"control=cubic", "queue=red", "queue.min_th=30", "delay=20000000"} <= {*words}
    assert scenario["traffic"][0]["tcp"]["congestion"] == "rfc9438"
    assert scenario["link"][0]["forward"]["min_th"] == 30
    assert "pacing_bursts" in scenario["traffic"][0]["tcp"]
