"""Asserts of scripts about `TCP_INFO`, evaluated by their form; no code of a script is run."""

from __future__ import annotations

import ast
import operator
import textwrap
from typing import Any

from validation.packetdrill.reasons import NotRunError

_STATES = (
    "ESTABLISHED SYN_SENT SYN_RECV FIN_WAIT1 FIN_WAIT2 TIME_WAIT CLOSE CLOSE_WAIT LAST_ACK "
    "LISTEN CLOSING"
)

CONSTANTS = {
    "TCP_CA_Open": 0,
    "TCP_CA_Disorder": 1,
    "TCP_CA_CWR": 2,
    "TCP_CA_Recovery": 3,
    "TCP_CA_Loss": 4,
    "TCP_INFINITE_SSTHRESH": 0x7FFFFFFF,
    "TCPI_OPT_TIMESTAMPS": 1,
    "TCPI_OPT_SACK": 2,
    "TCPI_OPT_WSCALE": 4,
    "TCPI_OPT_ECN": 8,
    **{f"TCP_{name}": number + 1 for number, name in enumerate(_STATES.split())},
}

_OPERATORS: dict[type, Any] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}


def failures(code: str, numbers: dict[str, int]) -> list[str]:
    """Which asserts of `code` do not hold for these numbers, each with the numbers it names."""
    try:
        tree = ast.parse(textwrap.dedent(code).strip())
    except SyntaxError:
        raise NotRunError("code", code.strip()[:40]) from None
    failed = []
    for statement in tree.body:
        if isinstance(statement, ast.Assert):
            if not _value(statement.test, numbers):
                failed.append(f"{ast.unparse(statement.test)}, {_named(statement.test, numbers)}")
        elif isinstance(statement, ast.Assign) and _names_constant(statement):
            continue
        elif not (isinstance(statement, ast.Expr) and _is_print(statement.value)):
            raise NotRunError("code", ast.unparse(statement)[:40])
    return failed


def _names_constant(statement: ast.Assign) -> bool:
    """Whether it gives a constant that is known here its value."""
    match statement.targets, statement.value:
        case [ast.Name(id=name)], ast.Constant(value=int() as number):
            return CONSTANTS.get(name) == number
    return False


def _is_print(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Name) and called.id == "print"


def _named(node: ast.expr, numbers: dict[str, int]) -> str:
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return ", ".join(f"{name} is {numbers[name]}" for name in sorted(names & set(numbers)))


def _value(node: ast.expr, numbers: dict[str, int]) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name):
            if name in numbers:
                return numbers[name]
            if name in CONSTANTS:
                return CONSTANTS[name]
            raise NotRunError("TCP_INFO", name)
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_value(value, numbers) for value in values)
        case ast.BoolOp(values=values):
            return any(_value(value, numbers) for value in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, numbers)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, numbers)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, numbers), _value(right, numbers))
        case ast.Compare(left=left, ops=ops, comparators=others) if all(
            type(op) in _OPERATORS for op in ops
        ):
            values = [_value(part, numbers) for part in (left, *others)]
            pairs = zip(ops, values, values[1:], strict=False)
            return all(_OPERATORS[type(op)](a, b) for op, a, b in pairs)
        case ast.Call(func=ast.Name(id="abs" | "min" | "max" as name), args=arguments):
            return {"abs": abs, "min": min, "max": max}[name](
                *(_value(argument, numbers) for argument in arguments)
            )
        case _:
            raise NotRunError("code", ast.unparse(node)[:40])
