"""Reads results that were measured with Flent, iperf3, goresponsiveness or networkQuality.

Such files may come from strangers: sizes are limited and shapes are checked.
"""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from aqmlab.errors import SpecError, shortened

MOST_BYTES = 256 * 1024 * 1024
"""Largest size of an uncompressed file, in bytes."""
_RPM = re.compile(r"(?:Final )?RPM:\s*([0-9.]+)\s*\(([^)]*)\)")


@dataclass(frozen=True)
class Reference:
    """The results of a measurement: series of values by name, in ms or Mbit/s, and single
    numbers."""

    tool: str
    test: str
    series: Mapping[str, list[float]] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)


def is_flent(file: Path) -> bool:
    """Whether a file is Flent's, by its name."""
    return file.name.endswith((".flent", ".flent.gz"))


def is_measured(file: Path) -> bool:
    """Whether a file is from a tool that this module reads, by its name and its first
    characters."""
    if is_flent(file):
        return True
    if file.suffix == ".csv":
        return False
    try:
        with file.open("rb") as content:
            begin = content.read(65536).lstrip()
    except OSError:
        return False
    return begin.startswith(b"{") or b"RPM:" in begin


def read(file: Path) -> Reference:
    """The results in a file; the error for an unknown form names the known tools."""
    text = _text(file)
    if not text.lstrip().startswith("{"):
        return _goresponsiveness(file, text)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise SpecError(f"{file}: damaged JSON: take it from the tool again") from None
    if "x_values" in content and "results" in content:
        return _flent(file, content)
    if "intervals" in content and "start" in content:
        return _iperf3(file, content)
    if "dl_throughput" in content or "responsiveness" in content:
        return _network_quality(content)
    raise _unknown(file)


def _unknown(file: Path) -> SpecError:
    return SpecError(
        f"{file}: of no known tool: give a file of Flent (.flent.gz), iperf3 -J, networkQuality "
        "-c, or "
        "what goresponsiveness printed"
    )


def _text(file: Path) -> str:
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as content:
            raw = content.read(MOST_BYTES + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise SpecError(
            f"{file}: cut short, damaged or not packed by gzip: take it from the tool again, or "
            "copy it again whole"
        ) from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SpecError(f"{file}: {reason}: give the path of a file that can be read") from error
    if len(raw) > MOST_BYTES:
        raise SpecError(f"{file}: more than {MOST_BYTES >> 20} MiB: give a shorter measurement")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _unknown(file) from None


def _table(value: object) -> Mapping[str, Any]:
    """The value if it is a table, else an empty table."""
    return value if isinstance(value, dict) else {}


def _tables(value: object) -> list[Mapping[str, Any]]:
    """The elements of a list, with an empty table for each element that is no table; an empty list
    if the value is no list."""
    return list(map(_table, value)) if isinstance(value, list) else []


def _values(listed: object) -> list[float]:
    if not isinstance(listed, list):
        return []
    return [float(v) for v in listed if _is_number(v)]


def _is_number(value: object) -> TypeGuard[float]:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # math.isfinite fails for an integer of hundreds of digits
        return False


def _flent(file: Path, content: Mapping[str, Any]) -> Reference:
    results, raw = content["results"], content.get("raw_values", {})
    if not isinstance(results, dict) or not isinstance(raw, dict):
        raise SpecError(f"{file}: damaged: its results are no table of series")
    series: dict[str, list[float]] = {}
    for name, listed in results.items():
        samples = raw.get(name)
        found = [
            float(one["val"])
            for one in (samples if isinstance(samples, list) else [])
            if isinstance(one, dict) and _is_number(one.get("val"))
        ]
        series[name] = found or _values(listed)
    about = content.get("metadata", {})
    name = about.get("NAME", "") if isinstance(about, dict) else ""
    kept = {name: values for name, values in series.items() if values}
    if not kept:
        raise SpecError(f"{file}: no series has a number: give a measurement that ran to its end")
    return Reference("Flent", str(name), kept)


def _iperf3(file: Path, content: Mapping[str, Any]) -> Reference:
    setting = _table(_table(content["start"]).get("test_start"))
    down = bool(setting.get("reverse"))
    names = ("TCP download", "TCP upload") if down else ("TCP upload", "TCP download")
    rates, back, trips = [], [], []
    for interval in _tables(content["intervals"]):
        rate = _table(interval.get("sum")).get("bits_per_second")
        rates += [rate / 1e6] if _is_number(rate) else []
        # With --bidir the other direction is there as well.
        rate = _table(interval.get("sum_bidir_reverse")).get("bits_per_second")
        back += [rate / 1e6] if _is_number(rate) else []
        for stream in _tables(interval.get("streams")):
            trip = stream.get("rtt")
            trips += [trip / 1e3] if _is_number(trip) and trip > 0 else []
    if not rates:
        why = content.get("error")
        said = f' ("{shortened(why, 100)}")' if isinstance(why, str) else ""
        raise SpecError(
            f"{file}: a result of iperf3 without a rate of any interval{said}: run it again with -J"
        )
    series = dict(zip(names, (rates, back), strict=True)) | {"TCP RTT (ms)": trips}
    series = {name: values for name, values in series.items() if values}
    return Reference("iperf3", str(setting.get("protocol", "")), series)


def _network_quality(content: Mapping[str, Any]) -> Reference:
    known = {
        "dl_throughput": "download_bits_per_s",
        "ul_throughput": "upload_bits_per_s",
        "responsiveness": "rpm",
        "dl_responsiveness": "rpm_download",
        "ul_responsiveness": "rpm_upload",
        "base_rtt": "base_rtt_ms",
    }
    numbers = {
        name: float(content[key]) for key, name in known.items() if _is_number(content.get(key))
    }
    return Reference("networkQuality", "networkquality", {}, numbers)


def _goresponsiveness(file: Path, text: str) -> Reference:
    numbers: dict[str, float] = {}
    for value, how in _RPM.findall(text):
        numbers["rpm_percentile" if how.startswith("P") else "rpm"] = float(value)
    if not numbers:
        raise _unknown(file)
    return Reference("goresponsiveness", "networkquality", {}, numbers)
