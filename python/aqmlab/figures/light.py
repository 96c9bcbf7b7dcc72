"""Makes an SVG of matplotlib smaller, to about a third of the bytes, without visible changes.

Curves keep the points that a screen can show (none is further than `TOLERANCE` from the line
drawn), coordinates have one decimal, or two in small shapes, and are relative; groups, names and
styles that have no effect are removed. Texts stay texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final
from xml.etree import ElementTree as ET

SVG: Final = "http://www.w3.org/2000/svg"
LINK: Final = "http://www.w3.org/1999/xlink"
TOLERANCE: Final = 0.1
"""Largest distance of an omitted point from the drawn line, in points of the drawing: an eighth
of a pixel of CSS."""
SMALL: Final = 30.0
"""Shapes within this many points of their origin (markers) keep two decimals."""

_TOKEN = re.compile(r"[A-Za-z]|-?\d+\.?\d*(?:[eE]-?\d+)?")
_URL = re.compile(r"url\(#([^)]*)\)")
_FONTS = re.compile(r"font-family:[^;]*")
_LEADING = re.compile(r"^(-?)0\.")
_NEEDS: Final = {"M": 2, "L": 2, "C": 6, "Q": 4, "Z": 0}
Point = tuple[float, float]
Step = tuple[str, list[Point]]
"""A command of a path with its points in absolute coordinates."""


def lighten(svg: str) -> str:
    """The drawing with fewer bytes and an unchanged appearance."""
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", LINK)
    root = ET.fromstring(svg)
    for child in root.findall(f"{{{SVG}}}metadata"):
        root.remove(child)
    _name(root)
    for parent in list(root.iter()):
        for child in parent:
            _attributes(child)
    _flatten(root)
    _share_uses(root)
    _share_styles(root)
    _share_fonts(root)
    return _written(root)


def _name(root: ET.Element) -> None:
    """Gives a short name to each element that is referred to, and removes all other names. The data
    of images, which are links too, are not changed."""
    referred = set[str]()
    for element in root.iter():
        for key, value in element.attrib.items():
            referred.update(_URL.findall(value))
            if key.endswith("href") and value.startswith("#"):
                referred.add(value[1:])
    short = {name: f"{_letter(i)}" for i, name in enumerate(sorted(referred))}
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if key == "id" and value not in short:
                del element.attrib[key]
            elif key == "id":
                element.set(key, short[value])
            elif key.endswith("href") and value.startswith("#"):
                element.set(key, "#" + short[value[1:]])
            elif "url(#" in value:
                element.set(key, _URL.sub(lambda found: f"url(#{short[found[1]]})", value))


def _letter(number: int) -> str:
    """A short name for a number: a, b, …, z, a1, b1, …"""
    return chr(ord("a") + number % 26) + (str(number // 26) if number >= 26 else "")


def _attributes(element: ET.Element) -> None:
    """Shortens an element's path, style, position and rotation, in place."""
    if (path := element.get("d")) is not None:
        element.set("d", shorten(path))
    if (style := element.get("style")) is not None:
        element.set("style", re.sub(r"\s*([:;,])\s+", r"\1", style.strip()))
    for key in ("x", "y"):
        if (place := element.get(key)) is not None:
            element.set(key, f"{float(place):.1f}".removesuffix(".0"))
    if element.get("transform", "").startswith(("rotate(-0 ", "rotate(0 ")):
        del element.attrib["transform"]


def _share_fonts(root: ET.Element) -> None:
    """Sets the font family once, on the drawing's first group, if all texts have one list of
    fonts."""
    texts = [e for e in root.iter() if "font-family" in e.get("style", "")]
    fonts = {_FONTS.search(e.get("style", ""))[0] for e in texts}  # type: ignore[index]
    if len(fonts) != 1 or len(texts) < 2:
        return
    for element in texts:
        element.set("style", _FONTS.sub("", element.get("style", "")).strip(";").replace(";;", ";"))
    group = ET.Element(f"{{{SVG}}}g", {"style": fonts.pop()})
    group[:] = list(root)
    root[:] = [group]


def _share_uses(root: ET.Element) -> None:
    """Moves a style that all uses of a marker have to the marker."""
    uses: dict[str, list[ET.Element]] = {}
    for element in root.iter(f"{{{SVG}}}use"):
        uses.setdefault(element.get(f"{{{LINK}}}href", "").removeprefix("#"), []).append(element)
    for shape in root.iter(f"{{{SVG}}}path"):
        all_of = uses.get(shape.get("id", ""), [])
        styles = {e.get("style", "") for e in all_of}
        if len(styles) != 1 or "opacity" in (style := styles.pop()):
            continue
        merged = dict(part.split(":", 1) for part in style.split(";") if part)
        merged |= dict(part.split(":", 1) for part in shape.get("style", "").split(";") if part)
        shape.set("style", ";".join(f"{key}:{value}" for key, value in merged.items()))
        for element in all_of:
            element.attrib.pop("style", None)


def _flatten(parent: ET.Element) -> None:
    """Replaces groups without attributes by their children."""
    children: list[ET.Element] = []
    for child in parent:
        _flatten(child)
        bare = child.tag == f"{{{SVG}}}g" and not child.attrib
        if bare and (not len(child) or child[0].tag != f"{{{SVG}}}title"):
            children.extend(child)
        elif child.tag == f"{{{SVG}}}defs" and not len(child):
            continue
        else:
            children.append(child)
    parent[:] = children
    if parent.tag not in (f"{{{SVG}}}text", f"{{{SVG}}}tspan"):
        for element in (parent, *parent):
            if not (element.text or "").strip():
                element.text = None
            element.tail = None


def _share_styles(parent: ET.Element) -> None:
    """Puts neighbours of equal style into a group with that style, where inheritance gives an equal
    result."""
    for child in parent:
        if child.tag != f"{{{SVG}}}defs":
            _share_styles(child)
    children: list[ET.Element] = []
    for style, run in groupby(parent, key=lambda e: e.get("style", "")):
        same = list(run)
        # A group's opacity applies to the group as a whole, not to each child.
        if len(same) < 2 or not style or re.search(r"(?<![-\w])opacity", style):
            children.extend(same)
            continue
        group = ET.Element(f"{{{SVG}}}g", {"style": style})
        for element in same:
            del element.attrib["style"]
        group[:] = same
        children.append(group)
    parent[:] = children


def _written(root: ET.Element) -> str:
    """The text of the drawing, one element in each line."""
    text = ET.tostring(root, encoding="unicode", short_empty_elements=True).replace(" />", "/>")
    lines = re.sub(r"(/>|</(?:g|path|text|defs|clipPath|style)>)(?=<)", r"\1\n", text)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{lines}\n'


def steps(path: str) -> Iterator[Step]:
    """The commands of a path that matplotlib wrote. It uses only absolute ones of the kinds in
    `_NEEDS`."""
    tokens = _TOKEN.findall(path)
    at, command = 0, ""
    while at < len(tokens):
        if tokens[at].isalpha():
            command, at = tokens[at].upper(), at + 1
        needed = _NEEDS[command]
        numbers = [float(token) for token in tokens[at : at + needed]]
        yield command, list(zip(numbers[::2], numbers[1::2], strict=True))
        at += needed


def shorten(path: str) -> str:
    """The path with fewer points, fewer digits, and relative coordinates."""
    found = list(steps(path))
    reach = max((abs(n) for _, points in found for point in points for n in point), default=0.0)
    unit = 100 if reach <= SMALL else 10
    out: list[str] = []
    start = now = (0, 0)
    for command, points in _thinned(found):
        whole = [(round(x * unit), round(y * unit)) for x, y in points]
        if command == "Z":
            out.append("z")
            now = start
        elif command == "M" and not out:
            out.append("M" + _numbers(whole, (0, 0), unit))
        elif command == "L" and whole[0] == now and out[-1][0] != "M":
            continue
        else:
            out.append(command.lower() + _numbers(whole, now, unit))
        if command == "M":
            start = whole[0]
        now = whole[-1] if whole else now
    return _joined(out)


def _joined(out: list[str]) -> str:
    """The text of a path; consecutive lines share one command letter."""
    text = ""
    for before, command in zip(["", *out], out, strict=False):
        if command[0] == "l" and before[:1] == "l":
            command = command[1:] if command[1] == "-" else " " + command[1:]
        text += command
    return text


def _numbers(points: list[tuple[int, int]], origin: tuple[int, int], unit: int) -> str:
    """Coordinates relative to `origin`, in units of the drawing."""
    text = ""
    for x, y in points:
        for value in (x - origin[0], y - origin[1]):
            word = _LEADING.sub(r"\1.", f"{value / unit:g}")
            text += word if not text or word[0] == "-" else " " + word
    return text


def _thinned(found: list[Step]) -> Iterator[Step]:
    """The steps of a path, without the points of its polylines whose removal is not visible in the
    drawing."""
    at, now = 0, (0.0, 0.0)
    while at < len(found):
        command, points = found[at]
        if command != "L":
            yield command, points
            now = points[-1] if points else now
            at += 1
            continue
        end = at
        while end < len(found) and found[end][0] == "L":
            end += 1
        line = [now, *(found[i][1][0] for i in range(at, end))]
        for point in thin(line)[1:]:
            yield "L", [point]
        at, now = end, line[-1]


def thin(line: list[Point]) -> list[Point]:
    """The points to keep such that all others lie within `TOLERANCE` of the line drawn (Douglas and
    Peucker 1973)."""
    if len(line) < 4:
        return line
    kept, open_ = {0, len(line) - 1}, [(0, len(line) - 1)]
    while open_:
        first, last = open_.pop()
        (ax, ay), (bx, by) = line[first], line[last]
        dx, dy = bx - ax, by - ay
        length = (dx * dx + dy * dy) ** 0.5
        furthest, where = 0.0, -1
        for i in range(first + 1, last):
            x, y = line[i][0] - ax, line[i][1] - ay
            along = (x * dx + y * dy) / length if length else -1.0
            if 0 <= along <= length and length:
                off = abs(x * dy - y * dx) / length
            else:  # the point is beyond an end: its distance from that end
                off = (
                    (x * x + y * y) ** 0.5 if along < 0 else ((x - dx) ** 2 + (y - dy) ** 2) ** 0.5
                )
            if off > furthest:
                furthest, where = off, i
        if furthest > TOLERANCE:
            kept.add(where)
            open_ += [(first, where), (where, last)]
    return [line[i] for i in sorted(kept)]
