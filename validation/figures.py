"""The figures by which two programs are compared: their margins, and how they are read of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from aqmlab.runs.laboratory import FinishedRun

Numbers = dict[str, float]


OF_EVERY_QUEUE = ("queue_time_mean_packets", "drop_rate", "mark_rate")
"""Figures that no program may leave out."""


@dataclass(frozen=True)
class Figure:
    """A measure that both programs report, and how much it may differ."""

    title: str
    scale: float
    """From the program's unit to the title's."""
    margin: float
    """Relative to the other program's mean."""
    floor: float
    """Smaller differences do not matter, whatever their ratio; in the program's unit."""


FIGURES = {
    "queue_time_mean_packets": Figure("queue, packets", 1, 0.05, 0.5),
    "goodput_mbit_per_s": Figure("goodput, Mbit/s", 1, 0.05, 0),
    "drop_rate": Figure("dropped, %", 100, 0.10, 0.000_05),
    "mark_rate": Figure("marked, %", 100, 0.10, 0.000_05),
    "jain_index": Figure("Jain's index", 1, 0.10, 0.02),
    "transfer_mean_s": Figure("transfer, ms", 1000, 0.05, 0.001),
    "stream_loss_rate": Figure("of the streams lost, %", 100, 0.10, 0.000_05),
    "queue_time_mean_packets_second": Figure("second queue, packets", 1, 0.05, 0.5),
    "drop_rate_second": Figure("dropped at the second, %", 100, 0.10, 0.000_05),
    "goodput_scalable_mbit_per_s": Figure("goodput of scalable senders, Mbit/s", 1, 0.05, 0),
    "goodput_classic_mbit_per_s": Figure("goodput of classic senders, Mbit/s", 1, 0.05, 0),
    "mark_rate_scalable": Figure("marked of scalable senders, %", 100, 0.10, 0.000_05),
    "wait_scalable_s": Figure("wait of scalable senders, ms", 1000, 0.05, 0.000_02),
    "wait_classic_s": Figure("wait of classic senders, ms", 1000, 0.05, 0.000_02),
}

CLASSES = ("scalable", "classic")
"""Kinds of senders that are looked at apart: the last word of their groups' names."""


def jain_index(goodput: Sequence[float]) -> Numbers:
    """Jain's fairness index of all flows; none where nothing got through."""
    if not any(goodput):
        return {}
    return {"jain_index": sum(goodput) ** 2 / (len(goodput) * sum(x * x for x in goodput))}


def numbers(flows: int, run: FinishedRun) -> Numbers:
    """The figures of one of our runs by the names of `FIGURES`, those that it has."""
    names = (name for name in (*FIGURES, "utilisation") if run.summary.get(name) is not None)
    described = {name: run.summary[name] for name in names}
    if flows:
        # Not of cross traffic and streams.
        bulk = pl.col("group_name").cast(pl.String).str.starts_with("bulk")
        each = run.table("flows").filter(bulk)["goodput_bits_per_s"].to_list()
        described["goodput_mbit_per_s"] = sum(each) / 1e6
        described |= jain_index([*each, *[0.0] * (flows - len(each))])
        described |= _of_classes(run)
    second = run.summary.get("ports", {}).get("second.forward", {})
    described |= {f"{name}_second": second[name] for name in FIGURES if name in second}
    if "datagrams" in run.summary:
        described["stream_loss_rate"] = run.summary["datagrams"]["streams"]["loss_share"]
    if "transfers" in run.summary:
        ended = run.table("transfers").filter(pl.col("failed") == 0)
        if len(ended):
            elapsed_ns = ended["end_ns"] - ended["start_ns"]
            described["transfer_mean_s"] = elapsed_ns.sum() / len(ended) / 1e9
    return described


def _of_classes(run: FinishedRun) -> Numbers:
    """What scalable and classic senders got, where both or either are named so."""
    found: Numbers = {}
    waits = run.summary.get("queue_delay_by_group") or _of_one_group(run)
    named = {kind: [name for name in waits if name.endswith(f"-{kind}")] for kind in CLASSES}
    both = all(named.values())
    for kind, names in named.items():
        if packets := sum(waits[name]["packets"] for name in names):
            waited = sum(waits[name]["packets"] * waits[name]["mean_s"] for name in names)
            found[f"wait_{kind}_s"] = waited / packets
        if both:
            group = pl.col("group_name").cast(pl.String)
            each = run.table("flows").filter(group.str.ends_with(f"-{kind}"))
            found[f"goodput_{kind}_mbit_per_s"] = each["goodput_bits_per_s"].sum() / 1e6
            if kind == "scalable":
                # Classic senders beside them have no ECN: all marks are theirs.
                found["mark_rate_scalable"] = run.summary["marks"] / packets
    return found


def _of_one_group(run: FinishedRun) -> dict[str, dict[str, float]]:
    """Delays where all senders are of one group, which a summary does not repeat."""
    names = run.table("flows")["group_name"].cast(pl.String).unique().to_list()
    if len(names) != 1 or run.summary.get("queue_delay_mean_s") is None:
        return {}
    of = run.summary["ports"][run.summary["studied_port"]]
    return {names[0]: {"packets": of["departures"], "mean_s": of["queue_delay_mean_s"]}}
