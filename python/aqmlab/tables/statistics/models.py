"""Numbers of a traffic model's own distributions: they need no run."""

from __future__ import annotations

import numpy as np

from aqmlab.errors import SpecError
from aqmlab.simulator import engine
from aqmlab.simulator.forms import Variable


def _variable(model: str, variable: str) -> Variable:
    for found in engine.variables(model):
        if found["name"] == variable:
            return found
    known = ", ".join(found["name"] for found in engine.variables(model))
    raise SpecError(f'traffic model {model} has no variable "{variable}" (it has {known})')


def model_share_upto(*, model: str, variable: str, value: float) -> float:
    """Percentage of a variable's draws that are at most this value."""
    values, shares = np.array(_variable(model, variable)["curve"]).T
    return float(100 * np.interp(value, values, shares))


def model_weight_of_largest(*, model: str, variable: str, percent: float) -> float:
    """Percentage of a variable's total that its largest `percent` percent of draws account for."""
    found = _variable(model, variable)
    values, shares = np.array(found["curve"]).T
    inside = np.linspace(0.0, 1 - percent / 100, 20_001)
    quantiles = np.interp(inside, shares, values)
    return float(100 * (1 - np.trapezoid(quantiles, inside) / found["mean"]))
