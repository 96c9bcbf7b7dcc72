"""Damaged folders of a study: its report and its score card say the same, or a sentence says why
not; the study done again comes out the same."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random
from unittest import mock

from small_study import SHORT, SMALL, Double

from aqmlab.errors import AqmlabError
from aqmlab.experiment.experiment import load
from aqmlab.pipeline.study import Study
from aqmlab.simulator import engine

from .damage import harm
from .oracle import Failure, command, contents, streams

PART = ["fifo"]


class Trials:
    """The small study on its double, done once and then damaged."""

    def __init__(self, folder: Path) -> None:
        self.core = Double()
        self.out, self.pristine = folder / "out", folder / "pristine"
        self._run(self.out)
        self.ours = sorted(contents(self.out))
        self.report = (self.out / "report.html").read_bytes()
        self.card = self._card().out
        self.result = self._result()
        shutil.copytree(self.out, self.pristine)

    def _run(self, out: Path) -> str:
        with mock.patch.object(engine, "_core", lambda: self.core), streams() as (_, err):
            Study(load(SMALL)).run(quick=True, out=out, settings=SHORT, parts=PART)
        return err.getvalue().decode()

    def _card(self):
        words = ("claims", "--study", SMALL, "--out", self.out, "--json")
        return command(*words, core=self.core)

    def _result(self) -> dict:
        return json.loads((self.out / "result.json").read_text("utf-8"))

    def one(self, random: Random) -> str:
        """Damages a copy; writes its report, reads its score card, now and then runs it again."""
        shutil.rmtree(self.out, ignore_errors=True)
        shutil.copytree(self.pristine, self.out)
        harm(self.out, self.ours, random)
        card = self._card()
        if card.code == 0 and card.out != self.card:
            raise Failure("another verdict")
        answer = command("report", self.out, core=self.core)
        if answer.code == 0 and (self.out / "report.html").read_bytes() != self.report:
            raise Failure("another report")
        if random.random() < 0.04:
            return self._again()
        return "sentence" if 2 in (answer.code, card.code) else "the same"

    def _again(self) -> str:
        try:
            said = self._run(self.out)
        except AqmlabError:
            return "sentence"
        if self._result() != self.result:
            raise Failure(f"another result: {said}")
        if (self.out / "report.html").read_bytes() != self.report:
            raise Failure("another report when it was run again")
        return "run again"
