import pytest

from aqmlab import units
from aqmlab.errors import SpecError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("20 ms", 0.02),
        ("90 min", 5400),
        ("1.5h", 5400),
        ("1/4 s", 0.25),
        ("3 µs", 3e-6),
        ("0 s", 0),
    ],
)
def test_times(text, value):
    assert units.seconds(text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "value"), [("10 Mbit/s", 1e7), ("1e3 kbps", 1e6), ("100000000 bit/s", 1e8)]
)
def test_rates(text, value):
    assert units.bits_per_s(text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("value", "load"), [("98%", 0.98), ("98 %", 0.98), (0.5, 0.5), ("1/2", 0.5)]
)
def test_loads(value, load):
    assert units.share(value) == pytest.approx(load)


@pytest.mark.parametrize("text", ["20", "20 Mbit/s", "ms", "", "1/0 s", None, 5, True, "5 mss"])
def test_a_wrong_time_says_how_to_write_one(text):
    with pytest.raises(SpecError, match="write for example"):
        units.seconds(text)


@pytest.mark.parametrize("text", ["0 Mbit/s", "-1 Mbit/s", "10 ms", "10"])
def test_a_wrong_rate_says_how_to_write_one(text):
    with pytest.raises(SpecError, match=r"10 Mbit/s"):
        units.bits_per_s(text)


@pytest.mark.parametrize("value", [98, "0%", -1, "-5%", True, "98 users", 5.01])
def test_a_wrong_load_says_how_to_write_one(value):
    with pytest.raises(SpecError, match="98 %"):
        units.share(value)


def test_the_nearest_unit_is_named():
    with pytest.raises(SpecError, match='did you mean "Mbit/s"'):
        units.bits_per_s("10 Mbits/s")


@pytest.mark.parametrize(
    "text", ["1e300 s", "18446744073 s", "1e308 h", "-1e300 min", "0.1 ns", "1e400 s", "1e309/3 s"]
)
def test_a_time_beyond_the_clock_is_refused(text):
    with pytest.raises(SpecError):
        units.seconds(text)


@pytest.mark.parametrize("text", ["1e16 bit/s", "1e300 Gbit/s", "0.5 bit/s"])
def test_a_rate_beyond_any_line_is_refused(text):
    with pytest.raises(SpecError):
        units.bits_per_s(text)
