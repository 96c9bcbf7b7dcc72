"""Arithmetic expressions of rules, such as `(b - a) / b`, over named numbers.

Numbers are arrays with one entry per seed, so that every estimate is paired: under one seed all
queues serve equal users.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import reduce

import numpy as np

from aqmlab.errors import SpecError

Numbers = Mapping[str, np.ndarray]

_BINARY: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_FUNCTIONS: dict[str, Callable] = {
    "abs": np.abs,
    "log": np.log,
    "max": lambda *xs: reduce(np.maximum, xs),
    "min": lambda *xs: reduce(np.minimum, xs),
    "sqrt": np.sqrt,
}


def evaluate(text: str, numbers: Numbers) -> np.ndarray:
    """The value of an expression for every seed; a division by zero is undefined (NaN)."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise SpecError(f'"{text}" is no expression: write for example "a - b"') from error
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.asarray(_value(tree, numbers, text), dtype=float)
    return np.where(np.isfinite(value), value, np.nan)


def _value(node: ast.AST, numbers: Numbers, text: str) -> np.ndarray:
    match node:
        case ast.Constant(value=int() | float() as number):
            return np.asarray(float(number))
        case ast.Name(id=name) if name in numbers:
            return numbers[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, numbers, text)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            sides = (_value(side, numbers, text) for side in (left, right))
            return _BINARY[type(op)](*sides)
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(a, numbers, text) for a in arguments))
    known = ", ".join([*numbers, *_FUNCTIONS])
    raise SpecError(f'"{text}": {ast.unparse(node)} is not known here (known: {known}, + - * /)')
