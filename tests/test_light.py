"""Drawings and archives as light as they can be: the same picture, the same files."""

from __future__ import annotations

import importlib.util
import math
import re
from pathlib import Path
from types import ModuleType

import pytest

from aqmlab.figures.light import TOLERANCE, lighten, shorten, thin

ROOT = Path(__file__).parent.parent
HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
    'viewBox="0 0 9 9">'
)


def points(path: str) -> list[tuple[float, float]]:
    """Where a light path leads: absolute points of its moves and lines."""
    found: list[tuple[float, float]] = []
    for command, numbers in re.findall(r"([Mmlz])([^Mmlz]*)", path):
        values = [float(n) for n in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", numbers)]
        for dx, dy in zip(values[::2], values[1::2], strict=True):
            x, y = found[-1] if command != "M" else (0.0, 0.0)
            found.append((round(x + dx, 6), round(y + dy, 6)))
    return found


def test_coordinates_lead_where_they_led():
    corners = [(0.04, 460.8), (460.8, 316.84), (100.0, -0.05), (100.06, 0.5), (7.0, 7.0)]
    path = "M " + "\nL ".join(f"{x} {y}" for x, y in corners) + "\nz\n"
    light = shorten(path)
    assert light.endswith("z") and len(light) < len(path)
    for (x, y), (ours_x, ours_y) in zip(corners, points(light), strict=True):
        assert math.hypot(x - ours_x, y - ours_y) <= 0.0708, light
    assert points(shorten("M -1.25 0.5\nL 1.25 -0.5\n")) == [(-1.25, 0.5), (1.25, -0.5)]


def test_a_curve_keeps_its_shape_with_fewer_points():
    line = [(float(i), 50 + 40 * math.sin(i / 40)) for i in range(400)]
    kept = thin(line)
    assert kept[0] == line[0] and kept[-1] == line[-1] and len(kept) < 100
    for x, y in line:
        i = next(i for i in range(len(kept) - 1) if kept[i][0] <= x <= kept[i + 1][0])
        (ax, ay), (bx, by) = kept[i], kept[i + 1]
        off = abs((x - ax) * (by - ay) - (y - ay) * (bx - ax)) / math.hypot(bx - ax, by - ay)
        assert off <= TOLERANCE + 1e-9


def test_a_line_that_comes_back_keeps_its_turn():
    there = [(float(i), 0.0) for i in range(50)]
    assert (49.0, 0.0) in thin([*there, *reversed(there)])


def test_texts_hovers_and_what_is_referred_to_stay():
    svg = (
        f"{HEAD}<metadata>date</metadata><defs>"
        '<clipPath id="clip9"><path d="M 0 0 L 9 9"/></clipPath></defs>'
        '<g id="figure_1"><g id="line_1"><title>codel: 5 ms</title>'
        '<path clip-path="url(#clip9)" d="M 1 1 L 2 2"/></g>'
        '<g id="text_1"><text style="font-size: 9px; font-family: A, B" x="1">a  b</text>'
        '<text style="font-size: 8px; font-family: A, B" x="1">0.99987</text></g></g></svg>'
    )
    light = lighten(svg)
    assert "date" not in light and "figure_1" not in light and "line_1" not in light
    assert (
        "<title>codel: 5 ms</title>" in light
        and ">a  b</text>" in light
        and ">0.99987</text>" in light
    )
    assert light.count("font-family") == 1
    (name,) = re.findall(r'<clipPath id="(\w+)"', light)
    assert f'clip-path="url(#{name})"' in light


def test_a_group_does_not_take_over_an_opacity():
    line = '<path d="M 0 0 L 1 1" style="opacity: 0.4"/>'
    svg = f"{HEAD}{line}{line}</svg>"
    assert lighten(svg).count("opacity:0.4") == 2


@pytest.fixture
def archive() -> ModuleType:
    spec = importlib.util.spec_from_file_location("archive", ROOT / "docs" / "archive.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_equal_files_give_equal_archives_and_come_back(archive: ModuleType, tmp_path: Path):
    one, two = tmp_path / "one.tar.xz", tmp_path / "two.tar.xz"
    archive.write(one, {"b.html": b"b", "a.html": b"a"})
    archive.write(two, {"a.html": b"old"})
    archive.add(two, {"b.html": b"b", "a.html": b"a"})
    assert one.read_bytes() == two.read_bytes()
    assert {p.name: p.read_bytes() for p in archive.unpack(one, tmp_path / "out")} == {
        "a.html": b"a",
        "b.html": b"b",
    }


def test_every_score_card_has_its_report_and_every_discipline_its_picture(archive: ModuleType):
    cards = {path.stem for path in (ROOT / "docs" / "score-cards").glob("*.md")}
    # A set of a study's own beside the study has a card and no report.
    cards = {card for card in cards if not card.endswith("-reconstructed")}
    assert {Path(name).stem for name in archive.read(archive.REPORTS)} == cards
    page = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
    for folder, pictures in ("aqm", archive.PORTRAITS), ("rfc7928", archive.PICTURES):
        shown = set(re.findall(rf"images/{folder}/(\w+\.svg)", page))
        assert shown and shown <= set(archive.read(pictures))
