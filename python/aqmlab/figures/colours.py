"""Pens (colour, dash and marker): each discipline has its own in every figure; others are for other
curves.

A family of disciplines shares a hue (Okabe and Ito's, which colour-blind readers can distinguish);
within a family shades, dashes and markers differ, so that lines can be distinguished in a
black-and-white print. The pen of a name does not depend on what else is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

INK = "#1a1a1a"
SOFT = "#6b6b6b"
GRID = "#e4e4e4"


@dataclass(frozen=True)
class Pen:
    """The style of a curve or an area."""

    colour: str
    dash: object
    marker: str
    hollow: bool = False
    """Whether the pen's markers are white inside."""
    hatch: str = ""
    """The hatch of areas drawn with the pen, in matplotlib's notation."""


_DASHES = (
    "-",
    (0, (5, 1.6)),
    (0, (6, 1.4, 1.2, 1.4)),
    (0, (2.4, 1.2)),
    (0, (8, 1.6)),
    (0, (1.2, 1.2)),
    (0, (4, 1.2, 1.2, 1.2, 1.2, 1.2)),
    (0, (12, 1.6)),
    (0, (1, 1.8)),
    (0, (9, 1.4, 3, 1.4)),
    (0, (5, 1.4, 1.2, 1.4, 1.2, 1.4)),
    (0, (3, 1.2, 1.2, 1.2)),
)
_MARKERS = "os^DvPX<>hpd"
# Only hatches of lines: matplotlib writes each dot of a dotted hatch as four curves, 180 kB for
# one.
_HATCHES = ("", "////", "++++", "\\\\\\\\", "xxxx", "----", "||||")
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", INK, "#B8860B", "#56B4E9")


def _nth(index: int, colour: str) -> Pen:
    """The pen with the dash, marker and hatch of this index, in a colour."""
    style = index % len(_DASHES)
    hatch = _HATCHES[index % len(_HATCHES)]
    return Pen(colour, _DASHES[style], _MARKERS[style], style >= len(_COLOURS), hatch)


PENS = tuple(_nth(i, _COLOURS[i % len(_COLOURS)]) for i in range(len(_DASHES)))
"""Pens of curves that are no disciplines: values of a parameter, loads, sizes."""

# Each family's first index of dash and marker, its shades, and its members. Disciplines that are
# often drawn together differ in all of these.
_FAMILIES: tuple[tuple[int, tuple[str, ...], str], ...] = (
    # a buffer and nothing else
    (0, ("#5A5A5A",), "droptail"),
    # RED: a probability that grows with the average queue
    (
        1,
        ("#D55E00", "#E69F00", "#8C3B00"),
        "red ared hred feng_red nlred dsred wred gred rio rio_ps",
    ),
    # a feedback controller of queue length, delay or load
    (4, ("#009E73", "#00523C", "#6CC3A0"), "pie pi pi2 rem avq blue green dctcp_step"),
    # drops from the flows with the largest rates
    (9, ("#CC79A7", "#882255", "#AA4499"), "choke sfb afd dcn csfq fred sred bred red_pd"),
    # sojourn time, in one queue and with a queue for each flow
    (6, ("#0072B2", "#56B4E9", "#0B3C6F"), "codel fq_codel cake cobalt"),
    # a queue for each flow
    (9, ("#7570B3", "#B5A8E0", "#4A3F8C"), "fq_pie sfq drr hhf"),
    # a queue for classic senders and one for scalable ones
    (10, ("#B8860B", "#6E5000"), "dualpi2 curvy_red"),
)
DISCIPLINES = {
    name: _nth(first + i, shades[i % len(shades)])
    for first, shades, names in _FAMILIES
    for i, name in enumerate(names.split())
}
"""The pen of each discipline (HRED, for which there is none, is RED with the parameters of one
published study)."""

DARK = sorted(
    {p.colour.lower() for p in DISCIPLINES.values() if max(bytes.fromhex(p.colour[1:])) < 150}
)
"""Colours of disciplines that are hard to see on a dark page."""

_ALSO = {"fifo": "droptail", "drop_tail": "droptail", "tail_drop": "droptail"}
_CALLED = {name: name for name in DISCIPLINES} | _ALSO
_BLENDS = (("#ffffff", 0.0), ("#ffffff", 0.35), ("#000000", 0.4))


def discipline(label: str) -> str | None:
    """The discipline that a label begins with: "RED 40 (10, 30)", "FQ-CoDel", "tail drop"."""
    plain = re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_")
    found = (name for name in _CALLED if plain == name or plain.startswith(f"{name}_"))
    longest = max(found, key=len, default=None)
    return None if longest is None else _CALLED[longest]


def pens(labels: Iterable[str], known: Sequence[str] = ()) -> list[Pen]:
    """A pen for each label. `known` are all labels that this figure could show: if they are given,
    a label keeps its pen whichever of the others are drawn.
    """
    labels = list(labels)
    every = list(dict.fromkeys([*known, *labels]))
    met: dict[str | None, list[str]] = {}
    for label in every:
        met.setdefault(discipline(label), []).append(label)
    mixed = len(met) > 1

    def pen(label: str) -> Pen:
        name = discipline(label)
        place = met[name].index(label)
        if name is not None:
            return _variant(DISCIPLINES[name], place)
        other = PENS[place % len(PENS)]
        # In a figure with disciplines other curves are black, since colours mean disciplines.
        return replace(other, colour=INK) if mixed else other

    return [pen(label) for label in labels]


def _variant(pen: Pen, number: int) -> Pen:
    """The pen of a discipline with other parameters: its colour, lighter or darker, and another
    dash and marker."""
    if number == 0:
        return pen
    other = PENS[(_MARKERS.index(pen.marker) + 2 * number) % len(PENS)]
    mixed = _blended(pen.colour, *_BLENDS[number % len(_BLENDS)])
    return replace(other, colour=mixed, hollow=not pen.hollow)


def _blended(colour: str, other: str, share: float) -> str:
    """A colour with a share of another."""
    pairs = ((int(c[i : i + 2], 16) for c in (colour, other)) for i in (1, 3, 5))
    return "#" + "".join(f"{round((1 - share) * a + share * b):02x}" for a, b in pairs)
