"""Statistics: numbers of runs that are not in a summary, in one file for each family and with one
line each here.

Four kinds: of one run, of a pair of runs under the same seed, across all cells of a group under
one seed, and probes, which need no run (a queue alone before a line).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from aqmlab.errors import SpecError, nearest
from aqmlab.experiment.grammar import Metric
from aqmlab.experiment.plan import Cell
from aqmlab.experiment.rules import Number
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.simulator import renamed

from . import (
    alone,
    bursts,
    connections,
    datagrams,
    goodput,
    models,
    network_tests,
    packets,
    payload,
    ports,
    queue,
    responses,
    seconds,
    sizes,
    sources,
    streaming,
    sweeps,
)

#: Statistics of one run, by name.
OF_RUN: dict[str, Callable[..., float]] = {
    "share_within": responses.share_within,
    "mean_share": responses.mean_share,
    "completed_per_s": responses.completed_per_s,
    "response_quantile_ms": responses.response_quantile_ms,
    "ports_mean": ports.ports_mean,
    "ports_ratio": ports.ports_ratio,
    "ports_share": ports.ports_share,
    "sized_mean_ms": sizes.sized_mean_ms,
    "sized_count": sizes.sized_count,
    "sized_retransmitted": sizes.sized_retransmitted,
    "bytes_of_largest": sizes.bytes_of_largest,
    "peak_to_mean": seconds.peak_to_mean,
    "dispersion": seconds.dispersion,
    "size_dispersion": seconds.size_dispersion,
    "queue_deviation": queue.queue_deviation,
    "passed": queue.passed,
    "largest_of_parameter": queue.largest_of_parameter,
    "connections_in_class": connections.connections_in_class,
    "flow_goodput": connections.flow_goodput,
    "datagram_share": connections.datagram_share,
    "payload_bytes": payload.payload_bytes,
    "payload_bits_per_s": payload.payload_bits_per_s,
    "datagrams_lost": payload.datagrams_lost,
    "sources_outside": sources.outside,
    "sources_smallest": sources.smallest,
    "sources_largest": sources.largest,
    "sources_jain": sources.jain,
    "median_of_size": sizes.median_of_size,
    "burst_elapsed_s": bursts.burst_elapsed_s,
    "burst_ratio": bursts.burst_ratio,
    "burst_bias": bursts.burst_bias,
    "burst_unfairness": bursts.burst_unfairness,
    "delay_quantile_s": datagrams.delay_quantile_s,
    "signals_in_round": packets.signals_in_round,
    "slow_start_growth": packets.slow_start_growth,
    "goodput_bits_per_s": goodput.goodput_bits_per_s,
    "goodput_share": goodput.goodput_share,
    "goodput_ratio": goodput.goodput_ratio,
    "queue_delay_quantile_s": goodput.queue_delay_quantile_s,
    "network_test": network_tests.network_test,
    "said_round_trip_s": network_tests.said_round_trip_s,
    "true_round_trip_s": network_tests.true_round_trip_s,
    "said_over_true": network_tests.said_over_true,
    "game_rating": network_tests.game_rating,
    "streaming_rating": streaming.streaming_rating,
    "ping_quantile_s": network_tests.ping_quantile_s,
}

#: Statistics of two runs under the same seed, by name.
PAIRS: dict[str, Callable[..., float]] = {
    "share_of_range_above": responses.share_of_range_above,
    "lowest_gain": responses.lowest_gain,
    "highest_gain": responses.highest_gain,
    "crossings": responses.crossings,
    "lowest_gain_until": responses.lowest_gain_until,
    "crossings_after": responses.crossings_after,
    "share_of_sizes_faster": sizes.share_of_sizes_faster,
    "byte_share_distance": sizes.byte_share_distance,
}

#: Statistics across the cells of a group under one seed, by name.
ACROSS: dict[str, Callable[..., float]] = {
    "lower_to_upper_change": responses.lower_to_upper_change,
    "best_moves": queue.best_moves,
    "line_r_squared": sweeps.line_r_squared,
    "line_intercept": sweeps.line_intercept,
    "ahead_of_highest": sweeps.ahead_of_highest,
}

#: Probes, which need no run, by name.
PROBES: dict[str, Callable[..., float]] = {
    "model_share_upto": models.model_share_upto,
    "model_weight_of_largest": models.model_weight_of_largest,
    "largest_queue_beyond_limit_bytes": alone.largest_queue_beyond_limit_bytes,
    "accepted_above_max_th": alone.accepted_above_max_th,
}

T = TypeVar("T")


def _known(registry: Mapping[str, T], name: str) -> T:
    if name not in registry:
        raise SpecError(f'no statistic "{name}"{nearest(name, list(registry))}')
    return registry[name]


def of_run(run: FinishedRun, how: Metric | Number) -> float:
    """A number of the summary (`summary = path`, dots for nesting) or a statistic of a run."""
    if how.statistic is not None:
        return _known(OF_RUN, how.statistic)(run, **how.args)
    found: Any = run.summary
    path = renamed.current(how.summary or "")
    while isinstance(found, Mapping):
        # Names may contain dots (`bottleneck.forward` in a path): the longest name that fits is
        # taken.
        name = next((n for n in sorted(found, key=len, reverse=True) if _begins(path, n)), None)
        if name is None:
            return math.nan
        found, path = found[name], path[len(name) + 1 :]
    return math.nan if found is None or path else float(found)


def value(run: FinishedRun, how: Metric | Number) -> float:
    """The value of a metric in its unit, that is multiplied by its `scale`."""
    return how.scale * of_run(run, how)


def _begins(path: str, name: str) -> bool:
    return path == name or path.startswith(f"{name}.")


def pair(name: str) -> Callable[..., float]:
    """The statistic of two runs that is called `name`."""
    return _known(PAIRS, name)


def across(name: str) -> Callable[[list[tuple[Cell, FinishedRun]]], float]:
    """The statistic across cells that is called `name`."""
    return _known(ACROSS, name)


def probe(name: str, arguments: Mapping[str, object]) -> float:
    """The value of a probe, a number that needs no run."""
    return _known(PROBES, name)(**arguments)
