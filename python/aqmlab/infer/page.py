"""The results of an inference as one self-contained HTML file."""

from __future__ import annotations

import numpy as np

from aqmlab.report.report import inline
from aqmlab.report.templates import environment, style

from . import pictures, verdicts
from .inference import InferenceResult
from .verdicts import InferenceDocument


def text(found: InferenceResult, described: InferenceDocument) -> str:
    """The HTML text of the page."""
    return (
        environment()
        .get_template("infer.html.jinja")
        .render(
            r=described,
            findings=verdicts.headline(described),
            figures=_figures(found, described),
            predictions=found.predictions,
            style=style(),
        )
    )


def _figures(found: InferenceResult, described: InferenceDocument) -> list[dict[str, str]]:
    order = np.argsort(-found.sensitivity.mean(axis=1))[: pictures.MOST]
    unknowns = [found.inference.unknown[i] for i in order]
    titles = {unknown.name: unknown.title for unknown in found.inference.unknown}
    inferred = np.array([u.place(found.values[u.name]) for u in unknowns])
    drawn = pictures.corner(unknowns, found.posterior.points[:, order], inferred)
    return [
        _figure(
            "corner",
            "The posterior",
            f"The {len(order)} unknowns that matter most, each alone and in pairs. Dotted: the "
            "prior. Diamonds: the inferred set.",
            drawn,
        ),
        _figure(
            "matters",
            "How much each matters",
            "Sobol' total indices in per cent, averaged over the rows of each measure: what would "
            "remain of its variance over the prior if all other unknowns were known.",
            pictures.matters(described["sensitivity"], titles),
        ),
        _figure(
            "distances",
            "How far the numbers are",
            "Of every number to be met the distance of our mean, in standard deviations of its "
            "noise and of the model's discrepancy, in order; beyond the dotted line it is missed.",
            pictures.distances(described["rows"]),
        ),
    ]


def _figure(name: str, title: str, caption: str, svg: str) -> dict[str, str]:
    return {"id": name, "title": title, "caption": caption, "svg": inline(svg, name, caption)}
