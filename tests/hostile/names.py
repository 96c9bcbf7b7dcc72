"""Names that end a string, a line, a formula or a tag, that a terminal obeys, and that no file
system likes, wherever a name can be given."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import captures
import tomlkit

from aqmlab import figures

from .oracle import Failure, command

PIECES = [
    *'"\'\\$\n\r\t\0\x1b[31m\x07\x9b\x7f<>&;#=.[]{}%/~ ',
    '"""', "'''", "\u202e", "\u2066", "\u200b", "\ufeff", "\u2028", "\ud800", "\U0001f600",
    "\U000e0001", "$x$", r"$\frac{1}$", r"\$", "</svg>", "<script>", "]]>", "{{ 7*7 }}", "{% x %}",
    "..", "../../x", "-", "--json", "[red]", ":zap:", "\n[[link]]\n", '"\nfresh = true\n#', "é",
    "中", "a" * 300, "\x1b]0;t\x07", "e\u0301", "CON", "\xa0",
]  # fmt: skip
SCENARIO = {
    "duration": "1 s",
    "network": {"clients": 1, "servers": 1, "rtt": "20 ms"},
    "link": [{"rate": "1 Mbit/s", "forward": {"aqm": "droptail", "limit": 9}}],
    "traffic": [{"app": "bulk", "flows": 1}],
    "record": {"samples": False},
}


def name(random: Random) -> str:
    """A name of some of these pieces."""
    known = [random.choice([*PIECES, "abc", "x"]) for _ in range(random.randrange(1, 5))]
    return "".join(known)


def encodable(text: str) -> str:
    """TOML is UTF-8."""
    return text.encode("utf-8", "replace").decode()


def of_file(random: Random) -> str:
    """A name that a file of Linux can have: bytes without 0 and /."""
    raw = name(random).encode("utf-8", "surrogatepass").replace(b"\0", b"").replace(b"/", b"")
    return os.fsdecode(raw[:200] + random.choice([b"", b"", b"\xff\xfe"])) or "x"


class Trials:
    """Every kind of place in turn."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = Path.cwd()

    def one(self, random: Random) -> str:
        """One place."""
        shutil.rmtree(self.folder / "here", ignore_errors=True)
        (self.folder / "here").mkdir()
        kinds = [self.scenario] * 4 + [self.words] * 3 + [self.learned] * 2 + [self.figure]
        os.chdir(self.folder / "here")
        try:
            return random.choice(kinds)(random)
        finally:
            os.chdir(self.home)

    def scenario(self, random: Random) -> str:
        """Names in a scenario, its file and its folder."""
        document = json.loads(json.dumps(SCENARIO))
        if random.random() < 0.7:
            document["name"] = encodable(name(random))
        if random.random() < 0.4:
            document["link"][0]["name"] = encodable(name(random))
        if random.random() < 0.6:
            document["traffic"][0]["name"] = encodable(name(random))
        if random.random() < 0.2:
            document[encodable(name(random))] = 1
        if random.random() < 0.4:
            labels = [{"label": encodable(name(random)), "limit": limit} for limit in (5, 9)]
            document = {"scenario": document, "sweep": {"link.0.forward": labels}}
        file = Path(of_file(random).lstrip("-") + ".toml")
        file.write_text(tomlkit.dumps(document), encoding="utf-8")
        wanted = ["--out", of_file(random)] if random.random() < 0.3 else []
        answer = command("run", f"./{file}", *wanted, *random.choice([[], ["--json"]]))
        if answer.code == 0 and answer.out.startswith("{"):
            described = json.loads(answer.out)["name"]
            given = document.get("name", document.get("scenario", {}).get("name"))
            if given is not None and described != given:
                raise Failure(f"{described!r} is not {given!r}")
        if answer.code == 0 and command("run", f"./{file}", *wanted).code:
            raise Failure("not a second time")
        self._nothing_outside()
        return "run" if answer.code == 0 else "sentence"

    def words(self, random: Random) -> str:
        """Names on the command line."""
        one, other = name(random).replace("\0", ""), of_file(random)
        choices = [
            ["describe", one],
            ["describe", "red", f"{one}={other}"],
            ["describe", "mah", "--plot", "--out", f"./{other}"],
            ["run", f"./{other}"],
            ["study", one],
            ["report", f"./{other}"],
            ["list", one],
            ["claims", "--study", one],
            ["learn", f"./{other}"],
            ["run", "s.toml", "--set", f"{one}={other}", "--out", "o"],
            ["run", "s.toml", "--set", f"link.0.name={one}", "--out", "o"],
            ["run", "s.toml", "--set", f"traffic.0.name={one}", "--out", "o"],
            ["run", "s.toml", "--pcap", f"{one}.pcap", "--out", "o"],
            [one],
        ]
        Path("s.toml").write_text(tomlkit.dumps(SCENARIO), encoding="utf-8")
        answer = command(*random.choice(choices))
        self._nothing_outside()
        return "answer" if answer.code == 0 else "sentence"

    def learned(self, random: Random) -> str:
        """The name of a capture, in the scenario and the page of its model."""
        stem = of_file(random).lstrip("-")
        file = Path(f"{stem}.pcap")
        file.write_bytes(captures.request())
        page = ["--figures"] if random.random() < 0.15 else []
        answer = command("learn", f"./{file}", *page, "--json")
        if answer.code:
            return "sentence"
        described = json.loads(answer.out)
        replay = tomllib.loads(Path(described["scenario"]).read_text("utf-8"))
        expected = [{"app": "replay", "model": Path(described["model"]).name}]
        if replay["traffic"] != expected or set(replay) != {"duration", "link", "traffic"}:
            raise Failure(f"{replay}")
        if page:
            text = Path(described["page"]).read_text("utf-8")
            if "<script" in text or any(not c.isprintable() and c not in "\n\t\xa0" for c in text):
                raise Failure("the page holds what the name says")
        if command("run", described["scenario"], "--out", "o").code:
            raise Failure("the scenario does not run")
        return "learned"

    def figure(self, random: Random) -> str:
        """Labels in a drawing."""
        curve = {"x": [1, 2, 3], "y": [1, 2, 3], "low": [1, 2, 3], "high": [1, 2, 3]}
        data = {"curves": [curve | {"label": name(random)} for _ in range(2)], "places": None}
        words = {key: name(random) for key in ("title", "axis", "value", "legend")}
        svg = figures.to_svg(figures.draw("lines", data, **words))
        root = ElementTree.fromstring(svg)
        if any(each.tag.endswith("script") for each in root.iter()):
            raise Failure("a label became a tag")
        svg.encode()
        return "drawn"

    def _nothing_outside(self) -> None:
        there = {path.name for path in self.folder.iterdir()}
        if there != {"here"}:
            raise Failure(f"written outside: {there}")
