"""What a stranger sends: scenarios, archives and results folders that name or carry programs where
programs can stand and where they cannot, archives that are none, and folders that were damaged. No
program runs, no file of ours is read or changed, and an answer is a sentence or true."""

from __future__ import annotations

import copy
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import tomlkit

import aqmlab
from aqmlab.io import files
from aqmlab.pipeline import sharing
from aqmlab.simulator.plugin import source, trust

from . import damage
from .oracle import Failure, command, contents

TEXT = """
import os
open({ran!r}, "a").write("x")
import aqmlab
class Evil(aqmlab.Discipline):
    def admit(self, packet, queue): pass
"""
PLAIN: dict[str, Any] = {
    "duration": "1 s",
    "network": {"clients": 1, "servers": 1, "rtt": "20 ms"},
    "link": [{"name": "line", "rate": "1 Mbit/s", "forward": {"aqm": "droptail", "limit": 9}}],
    "traffic": [{"app": "bulk", "flows": 1}],
    "record": {"queues": ["line.forward"]},
}
SECRET = b"secret of ours 4711"
COMMANDS = [
    *(["run"], ["run"], ["run", "--report"], ["study"], ["advise", "--scenario"]),
    *(["describe"], ["describe", "--tc"], ["infer"], ["report"], ["export"], ["reproduce"]),
]
PLACES = ["link.0.forward", "link.0.forward.aqm", "link.0.reverse", "link.0.reverse.aqm"]
ODD = [
    *("traffic.0.tcp", "traffic.0.app", "link.0", "link", "traffic.0.model", "name", "record"),
    *("link.0.rate_trace", "network", "traffic.0.tcp.congestion", "link.0.forward.profile"),
]


def put(document: Any, path: str, value: Any) -> None:
    """Sets what a dotted path names; what stands above and cannot hold it becomes a table."""
    *above, last = path.split(".")
    for name, below in zip(above, path.split(".")[1:], strict=True):
        place = int(name) if isinstance(document, list) else name
        inner = document[place] if isinstance(document, list) else document.get(place)
        if not isinstance(inner, dict) and not (isinstance(inner, list) and below.isdigit()):
            inner = document[place] = {}
        document = inner
    document[int(last) if isinstance(document, list) else last] = value


class Trials:
    """Every kind in turn, in a folder with a stranger's files and a file of ours outside."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, Path.cwd()
        self.ran = folder / "ran"
        self.text = TEXT.format(ran=str(self.ran))
        self.data = folder / "data"
        (folder / "secret.py").write_bytes(SECRET)
        self.results = folder / "results"
        swept = {"link.0.forward.limit": [5, 9], "seeds": 1}
        aqmlab.run({"scenario": PLAIN, "sweep": swept}, out=self.results)
        self.ours = sorted(contents(self.results))
        self.archive = sharing.export(self.results, folder / "results.aqm")
        with zipfile.ZipFile(self.archive) as archive:
            self.index = json.loads(archive.read(sharing.INDEX))
        self.figure = self._drawn(self.results)

    def one(self, random: Random) -> str:
        """One file or folder of a stranger's."""
        here = self.folder / "here"
        shutil.rmtree(here, ignore_errors=True)
        here.mkdir()
        os.chdir(here)
        kinds = [self.scenario] * 4 + [self.shared] * 3 + [self.manifest] * 2 + [self.shown] * 2
        environment = {"XDG_DATA_HOME": str(self.data)}
        clean = mock.patch.multiple(trust, _permitted=set(), _everything=0)
        try:
            with mock.patch.dict(os.environ, environment), clean:
                source._described.cache_clear()
                end = random.choice(kinds)(random)
        finally:
            os.chdir(self.home)
        if self.ran.exists():
            self.ran.unlink()
            raise Failure("a stranger's program ran")
        if (self.folder / "secret.py").read_bytes() != SECRET:
            raise Failure("a file of ours was changed")
        if self.data.exists():
            raise Failure("something was permitted")
        return end

    def program(self, random: Random) -> Any:
        """A name or a table by which a program could come."""
        Path("evil.py").write_text(self.text)
        Path("evil.so").write_bytes(random.choice([b"", b"\x7fELF" + random.randbytes(60)]))
        library = {"file": str(Path("evil.so").resolve()), "blake2b": files.digest(b"")}
        carried = {"name": "evil", "file": "evil.py", "text": self.text}
        found = random.choice(
            [
                *("evil.py", "evil.py:Evil", "./evil.py", "evil.so", "../secret.py", "evil.py:"),
                *(carried, carried, {**carried, "class": "Evil"}, {"name": "evil", **library}),
                *({**carried, "name": 3}, {**carried, "file": 7}, {**carried, "text": 1}),
                *({"file": "evil.py"}, {**carried, "file": None}, {**library, "name": None}),
                {**carried, "blake2b": "0" * 32},
            ]
        )
        return random.choice([found, found, {"aqm": found}, [found], {"aqm": [found]}])

    def _scenario(self, random: Random) -> dict[str, Any]:
        document = copy.deepcopy(PLAIN)
        for _ in range(random.choice([1, 1, 2])):
            put(document, random.choice(PLACES * 3 + ODD), self.program(random))
        return document

    def scenario(self, random: Random) -> str:
        """A scenario, a sweep or an experiment's beginnings."""
        document = self._scenario(random)
        how = random.randrange(5)
        if how == 1:
            document = {"scenario": document, "sweep": {"seeds": 2}}
        elif how == 2:
            values = [random.choice(["red", 9]), self.program(random)]
            document = {"scenario": PLAIN, "sweep": {random.choice(PLACES): values}}
        elif how == 3:
            document = {"scenario": PLAIN, "base": {"b": document}, "group": [{"name": "g"}]}
        try:
            text = tomlkit.dumps(_without_nothing(document))
        except (ValueError, TypeError):
            return "no TOML"
        Path("s.toml").write_text(text, encoding="utf-8")
        words = random.choice(COMMANDS[:8])
        named = "s.toml:link.0.forward" if "--tc" in words else "s.toml"
        answer = command(*words, named)
        return "run" if answer.code == 0 else "sentence"

    def shared(self, random: Random) -> str:
        """An archive with another index, names, lengths or bytes."""
        index = copy.deepcopy(self.index)
        run = random.choice(index["runs"])
        changes: list[Callable[[], Any]] = [
            lambda: put(run["scenario"], random.choice(PLACES + ODD), self.program(random)),
            lambda: run.update(scenario=self._scenario(random)),
            lambda: run.update({random.choice(["seed", "key", "scenario", "fingerprint"]): None}),
            lambda: put(run["scenario"], "link.0.rate_trace", {"file": "../secret.py"}),
            lambda: index.update(runs=random.choice([[], {}, None, [1], index["runs"] * 3])),
            lambda: index.update(format=random.choice([0, 2, "1", None])),
            lambda: run["scenario"].update(duration=random.choice(["1e400 s", -1, "x", [], {}])),
            lambda: index.update(name="\x1b]0;x\x07" * 9),
        ]
        random.choice(changes)()
        path = Path("x.aqm")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(sharing.INDEX, json.dumps(index))
            if random.random() < 0.2:
                archive.writestr(random.choice(["../ran", "/ran", "a\\..\\ran"]), "x")
        if random.random() < 0.3:
            random.choice([damage.flip, damage.cut, damage.longer, damage.replace])(path, random)
        words = random.choice([[], ["--json"], ["--most", "1"]])
        answer = command_of_reproduce("reproduce", path, *words)
        return {0: "yes", 1: "no"}.get(answer, "sentence")

    def manifest(self, random: Random) -> str:
        """A results folder whose manifests name or carry programs, sealed as ours are."""
        shutil.copytree(self.results, "theirs")
        place = random.choice(sorted(Path("theirs").rglob("manifest.json")))
        content = files.read_sealed(place)
        program = self.program(random)
        if "sweep" in content and random.random() < 0.5:
            content["sweep"] = {random.choice(PLACES): [program]}
        else:
            put(content["scenario"], random.choice(PLACES + ODD), program)
        files.write_json(place, files.sealed(content))
        words = random.choice(["report", "export", "reproduce", "plot", "plot"])
        of_plot = random.choice([["trace"], ["lines", "drop_rate"]]) if words == "plot" else []
        code = command_of_reproduce(words, "theirs", *of_plot)
        return "answer" if code in (0, 1) else "sentence"

    def shown(self, random: Random) -> str:
        """A damaged folder that is drawn, packed or reported: as it was, or a sentence."""
        shutil.copytree(self.results, "theirs")
        damage.harm(Path("theirs"), self.ours, random)
        how = random.choice(["export", "plot", "report"])
        if how == "plot":
            answer = command("plot", "theirs", "trace", "--out", "t.svg")
            if answer.code == 0 and Path("t.svg").read_bytes() != self.figure:
                raise Failure("another figure")
        elif how == "export":
            answer = command("export", "theirs", "--out", "t.aqm", "--tables")
            if answer.code == 0:
                with zipfile.ZipFile("t.aqm") as archive:
                    index = json.loads(archive.read(sharing.INDEX))
                if index["runs"] != self.index["runs"]:
                    raise Failure("other runs")
        else:
            answer = command("report", "theirs")
            if answer.code == 0 and b"</html>" not in Path("theirs/report.html").read_bytes():
                raise Failure("half a report")
        return how if answer.code == 0 else "sentence"

    def _drawn(self, folder: Path) -> bytes:
        picture = self.folder / "trace.svg"
        command("plot", folder, "trace", "--out", picture)
        return picture.read_bytes()


def command_of_reproduce(*words: object) -> int:
    """The exit code of a command that may also answer no, which is 1."""
    from . import oracle

    with mock.patch.object(oracle, "CODES", (*oracle.CODES, 1)):
        return command(*words).code


def _without_nothing(value: Any) -> Any:
    """TOML has no null."""
    if isinstance(value, dict):
        return {k: _without_nothing(v) for k, v in value.items() if v is not None}
    return [_without_nothing(v) for v in value] if isinstance(value, list) else value
