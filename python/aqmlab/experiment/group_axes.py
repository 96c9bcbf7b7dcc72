"""Completes the axes of a group: parts shared with other axes, and the fields that variants set."""

from __future__ import annotations

from pathlib import Path

from aqmlab.errors import SpecError, nearest

from .inherit import known, like
from .paths import alternatives, braces


def in_full(group: dict, shared: dict[str, dict], path: Path) -> dict:
    """A group with its axes in full."""
    try:
        axes = [written(axis_of(axis, shared)) for axis in group.get("axis", [])]
    except SpecError as error:
        raise SpecError(f"{path}: group {group.get('name', '?')}: {error}") from error
    found = group | {"axis": axes}
    return found | {"set": braces(group["set"])} if "set" in group else found


def axis_of(axis: dict, shared: dict[str, dict], deep: int = 0) -> dict:
    """A complete axis. If it is `like` a shared one, it extends that; `keep` selects some of its
    values or variants."""
    found = axis
    if "like" in axis:
        other = axis_of(known(axis["like"], shared, "axis", "", deep), shared, deep + 1)
        found = other | {key: v for key, v in axis.items() if key not in ("like", "keep")}
    if "variant" in found:
        found = found | {"variant": _variants(found["variant"], shared, deep)}
    return _kept(found, axis["keep"], axis["like"]) if "like" in axis and "keep" in axis else found


def _variants(variants: list[dict], shared: dict[str, dict], deep: int) -> list[dict]:
    """Variants, among them those that `from` takes from a shared axis."""
    every = []
    for variant in variants:
        if "from" in variant:
            taken = {"like": variant["from"]} | _only(variant, "keep")
            every += axis_of(taken, shared, deep)["variant"]
        else:
            every.append(variant)
    named = {variant.get("name"): variant for variant in every}
    return [like(variant, named, "variant") for variant in every]


def _only(entry: dict, *keys: str) -> dict:
    return {key: entry[key] for key in keys if key in entry}


def _kept(axis: dict, keep: list, name: str) -> dict:
    """An axis with only those of its values or variants that `keep` names."""
    variants = "variant" in axis
    every = [v["name"] for v in axis["variant"]] if variants else axis["values"]
    for value in keep:
        if value not in every:
            words = [str(each) for each in every]
            hint = nearest(str(value), words) or f" (it has {', '.join(words)})"
            raise SpecError(f'axis "{name}" has no "{value}" to keep{hint}')
    if variants:
        return axis | {"variant": [v for v in axis["variant"] if v["name"] in keep]}
    return axis | {"values": [v for v in axis["values"] if v in keep]}


def written(axis: dict) -> dict:
    """An axis whose variants state all fields in `set`, and whose paths have no braces."""
    every = [path for given in axis.get("paths", []) for path in alternatives(given)]
    if "variant" not in axis:
        return axis | {"paths": every} if "paths" in axis else axis
    variants = [_set_of(variant, every, axis.get("name", "?")) for variant in axis["variant"]]
    return {key: v for key, v in axis.items() if key != "paths"} | {"variant": variants}


def _set_of(variant: dict, every: list[str], axis: str) -> dict:
    """A variant whose `value` is replaced by `set` with one value for every path of its axis."""
    found = {key: value for key, value in variant.items() if key not in ("value", "set")}
    own = braces(variant.get("set", {}))
    if "value" not in variant:
        return found | ({"set": own} if "set" in variant else {})
    parts = variant["value"] if isinstance(variant["value"], list) else [variant["value"]]
    if not every or len(parts) not in (1, len(every)):
        raise SpecError(
            f"axis {axis}: variant {variant.get('name', '?')}: its value is not one "
            f"for each of the {len(every)} paths of the axis"
        )
    if len(parts) == 1:
        parts *= len(every)
    return found | {"set": dict(zip(every, parts, strict=True)) | own}
