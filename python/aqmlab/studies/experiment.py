"""An experiment as data: the folder `experiments/<name>` with its `experiment.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aqmlab import spec
from aqmlab.errors import SpecError, nearest

#: Where the experiments live that come with the package.
SHIPPED = Path(__file__).resolve().parent.parent / "experiments"


@dataclass(frozen=True)
class Experiment:
    """What `experiment.toml` says, and the folder it lies in."""

    folder: Path
    data: dict

    @property
    def name(self) -> str:
        """The study's name, as typed on the command line."""
        return self.data["name"]

    @property
    def parts(self) -> list[str]:
        """The parts that can be run one by one, in the order of the report."""
        return self.data["parts"]

    def of(self, kind: str, parts: list[str] | None = None) -> list[dict]:
        """The entries of a list (`group`, `table`, `figure`, …) that belong to these parts."""
        entries = self.data.get(kind, [])
        return [e for e in entries if parts is None or e.get("part") in parts]

    def group(self, name: str) -> dict:
        """The group of runs with this name."""
        for group in self.of("group"):
            if group["name"] == name:
                return group
        names = [g["name"] for g in self.of("group")]
        raise SpecError(f'{self.name} has no group "{name}"{nearest(name, names)}')

    def settings(self, quick: bool) -> dict:
        """Run length, warm-up and number of seeds of the quick or the full study."""
        return dict(self.data["settings"]["quick" if quick else "full"])

    def check_parts(self, parts: list[str] | None) -> list[str]:
        """These parts in the order of the file, or all; an unknown one is the user's mistake."""
        for part in parts or []:
            if part not in self.parts:
                known = ", ".join(self.parts)
                raise SpecError(f'{self.name} has no part "{part}": its parts are {known}')
        return [p for p in self.parts if not parts or p in parts]


def load(name: str, folder: Path | None = None) -> Experiment:
    """Read the experiment of this name among those shipped, or from a folder."""
    folder = folder or SHIPPED / name
    return Experiment(folder, spec.read_toml(folder / "experiment.toml"))
