"""Mutants of the Python that judges claims and computes statistics, and whether a test notices.

mutmut lists and makes them: each function is held once for every change and a trampoline chooses,
so that a mutant costs a forked child and the tests that come by its function. It knows packages
that lie in `src`, so it is given a copy of the repository in which `python` is called so. What it
leaves out, constants and decorated functions, is changed for children that import all of it anew
(`Alone`). Answers are kept as those of the crates are (`answers/python.json`).
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from validation.external import Missing
from validation.mutants.answers import FOLDER, LETTERS, SURVIVED, WORDS, digest

VERSION = "3.8.1"
"""Of mutmut, which `make mutants` installs."""
FILES = (
    "python/aqmlab/claims/*.py",
    "python/aqmlab/intervals.py",
    "python/aqmlab/tables/equivalence.py",
    "python/aqmlab/tables/measure.py",
    "python/aqmlab/tables/statistics/*.py",
    "python/aqmlab/tables/tables.py",
    "validation/equivalence.py",
)
TESTS = (
    "tests/test_claims.py",
    "tests/test_equivalence.py",
    "tests/test_evidence.py",
    "tests/test_judge_errors.py",
    "tests/test_judging.py",
    "tests/test_measure.py",
    "tests/test_parity.py",
    "tests/test_statistics.py",
    "tests/test_statistics_of_goodput.py",
    "tests/test_statistics_of_packets.py",
    "tests/test_statistics_of_sizes.py",
    "tests/test_statistics_of_sources.py",
    "tests/test_statistics_on_borders.py",
    "tests/test_study_differences.py",
    "tests/test_tables.py",
    "tests/test_validation.py",
)
"""Those that are asked; other tests may notice more."""
SLOW = (
    "MeansOnTheBounds",
    "MoreSeeds",
    "web_transfers_offer",
    "every_kind_of_case",
    "cases_are_accepted",
    "cases_of_ns",
    "what_is_equal_is_told",
    "groups_keep_their",
)
"""Tests of these that are left out, by a part of their names."""
WORDINGS = (r"^\s*raise ", r"\.add_argument\(", r"^\s*told = \"")
"""Expressions that begin on such lines are left out: the words of an error and of `--help`."""
TYPES = r"^\w+ = (TypeVar|Callable|Mapping|dict\[|list\[|tuple\[|\w+ \| )"
"""Lines that type checkers alone read."""
NAMES = r"^    \"\w+\",$"
"""Lines of `__all__`."""
WORDS_OF_MUTMUT = {"killed": "caught", "survived": "missed", "no tests": "unreached"} | {
    "timeout": "timeout", "segfault": "caught", "suspicious": "caught",
}  # fmt: skip
SLOWEST_S = 1.0
"""Tests that take longer are left out."""
LATE = (signal.SIGALRM, signal.SIGXCPU)
LEAST_S, TIMES = 60, 20
"""Seconds that any mutant tried alone has, and how many times as long as its tests it may take."""
QUIET = ("-p", "no:cacheprovider", "-p", "no:unraisableexception", "--assert=plain")
"""How pytest is quick, and does not take what mutmut leaves open for a test's mistake."""
NO_ANSWER = 255
"""mutmut's status where pytest itself failed, which it takes for a timeout."""
SETTINGS = {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "CI": "1"}
"""One thread each; Hypothesis has no deadline and always tries the same examples."""


@dataclass(frozen=True)
class Mutant:
    """One change of one place."""

    file: str
    """Below the root of the repository."""
    line: int
    place: str
    """The function or the class that it lies in; empty outside both."""
    held: str
    """mutmut's name of it; empty where no trampoline can hold it."""
    module: Any = field(repr=False, compare=False)
    before: Any = field(repr=False, compare=False)
    after: Any = field(repr=False, compare=False)

    @functools.cached_property
    def text(self) -> str:
        """The whole file with the change in it."""
        from mutmut.mutation.file_mutation import deep_replace

        return deep_replace(self.module, self.before, self.after).code  # type: ignore[union-attr]

    @functools.cached_property
    def change(self) -> str:
        """The first line that differs, before and after."""
        old, new = self.module.code.splitlines(), self.text.splitlines()
        at = next(i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
        return f"{old[at].strip()} -> {new[at].strip()}"

    @property
    def lasting(self) -> str:
        """A name that stays when lines move."""
        return f"{self.file}: {self.place}: {self.change}"

    @property
    def name(self) -> str:
        """The same with the line's number, for a reader."""
        return f"{self.file}:{self.line}: {self.place}: {self.change}"


def files(root: Path) -> list[str]:
    """The files whose mutants are asked."""
    return sorted(str(f.relative_to(root)) for pattern in FILES for f in root.glob(pattern))


def mutants(root: Path, name: str) -> list[Mutant]:
    """All mutants of a file, in the order of the source."""
    if find_spec("mutmut") is None:
        raise Missing("mutmut is not installed: `make mutants` installs it")
    import libcst as cst
    from libcst.metadata import MetadataWrapper, PositionProvider
    from mutmut.mutation import file_mutation
    from mutmut.mutation.mutators import mutation_operators
    from mutmut.mutation.pragma_handling import IgnoredCode
    from mutmut.mutation.trampoline_templates import mangle_function_name
    from mutmut.utils.format_utils import get_mutant_name

    class Visitor(file_mutation.MutationVisitor):
        """mutmut's, but into decorated functions too."""

        def _skip_node_and_children(self, node: cst.CSTNode) -> bool:
            if isinstance(node, cst.FunctionDef) and node.decorators:
                return False
            return super()._skip_node_and_children(node)

    source = (root / name).read_text("utf-8")
    lines = list(enumerate(source.splitlines(), 1))
    ignored = IgnoredCode(
        no_mutate_lines={n for n, line in lines if re.search(f"{TYPES}|{NAMES}|^__all__", line)},
        ignore_node_lines=set(),
        ignore_pattern_lines={n for n, line in lines if re.search("|".join(WORDINGS), line)},
    )
    wrapper = MetadataWrapper(cst.parse_module(source))
    visitor = Visitor(mutation_operators, ignored)
    wrapper.visit(visitor)
    spots = wrapper.resolve(PositionProvider)
    places = _places(wrapper.module)
    counts: Counter[str] = Counter()
    found = []
    for one in visitor.mutations:
        function = one.contained_by_top_level_function
        place, held = places.get(id(function), ""), ""
        if isinstance(function, cst.FunctionDef) and not _decorated(function):
            cls, _, bare = place.rpartition(".")
            mangled = mangle_function_name(name=bare, class_name=cls or None) + "__mutmut"
            counts[mangled] += 1
            held = get_mutant_name(Path(_in_copy(name)), f"{mangled}_{counts[mangled]}")
        line = spots[one.original_node].start.line if one.original_node in spots else 0
        found.append(
            Mutant(name, line, place, held, wrapper.module, one.original_node, one.mutated_node)
        )
    return found


def _decorated(function: Any) -> bool:
    """Whether mutmut leaves a function out for its decorators."""
    names = [getattr(d.decorator, "value", "") for d in function.decorators]
    return bool(names) and names not in (["staticmethod"], ["classmethod"])


def _places(module: Any) -> dict[int, str]:
    """Names of functions and methods, by the identity of what stands for them."""
    import libcst as cst

    found: dict[int, str] = {}
    for one in module.body:
        if isinstance(one, cst.FunctionDef):
            found[id(one)] = one.name.value
        if isinstance(one, cst.ClassDef):
            for within in one.body.body:
                bare = f".{within.name.value}" if isinstance(within, cst.FunctionDef) else ""
                found[id(within)] = one.name.value + bare
    return found


def _in_copy(name: str) -> str:
    """A file's path where `python` is called `src`."""
    return re.sub("^python/", "src/", name)


class PythonAnswers:
    """What is known of the mutants; as `answers.Answers`, with mutmut's listing."""

    def __init__(self, file: Path, root: Path, listed: dict[str, list[Mutant]]) -> None:
        self.file, self.of = file, listed
        self.sources = {name: digest((root / name).read_bytes()) for name in listed}
        self.tests: dict[str, str] = {}
        self.words = {name: ["not asked"] * len(of) for name, of in listed.items()}
        kept = json.loads(file.read_text()) if file.exists() else {}
        for name, row in kept.get("files", {}).items() if kept.get("mutmut") == VERSION else ():
            if self.sources.get(name) == row["source"] and len(listed[name]) == len(row["answers"]):
                self.tests[name] = row["tests"]
                self.words[name] = [WORDS[letter] for letter in row["answers"]]

    def reopen(self, tests: str) -> None:
        """Survivors of other tests are asked again."""
        for name, words in self.words.items():
            if self.tests.get(name) != tests:
                self.words[name] = ["not asked" if w in SURVIVED else w for w in words]
            self.tests[name] = tests

    def rows(self) -> Iterator[tuple[Mutant, str]]:
        """Every mutant with what is known of it."""
        for name, of in self.of.items():
            yield from zip(of, self.words[name], strict=True)

    def open(self) -> list[Mutant]:
        """Those of which nothing is known."""
        return [mutant for mutant, word in self.rows() if word == "not asked"]

    def notify(self, described: Iterable[tuple[Mutant, str]]) -> None:
        """Takes what was found of some, and keeps it."""
        at = {id(m): (name, i) for name, of in self.of.items() for i, m in enumerate(of)}
        for mutant, word in described:
            name, i = at[id(mutant)]
            self.words[name][i] = word
        rows = {
            name: {
                "source": self.sources[name],
                "tests": self.tests.get(name, ""),
                "answers": "".join(LETTERS[word] for word in words),
            }
            for name, words in self.words.items()
        }
        part = self.file.with_suffix(".part")
        part.write_text(json.dumps({"mutmut": VERSION, "files": rows}, indent=1) + "\n")
        part.replace(self.file)


def answers(root: Path) -> PythonAnswers:
    """What is kept of all files."""
    listed = {name: mutants(root, name) for name in files(root)}
    return PythonAnswers(FOLDER / "python.json", root, listed)


def digest_of_tests(root: Path) -> str:
    """The hash of all that is asked."""
    parts = [
        f"{name} {digest((root / name).read_bytes())}" for name in TESTS if (root / name).exists()
    ]
    return digest("\n".join([*parts, *SLOW]).encode())


class Copy:
    """The repository as mutmut wants it: `src`, and everything else beside it."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder

    def refresh(self) -> None:
        """Makes it anew; what mutmut knows of tests and mutants in it is left behind."""
        shutil.rmtree(self.folder, ignore_errors=True)
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard",
             "--", "python", "tests", "validation"],
            cwd=self.root, capture_output=True, check=True,
        )  # fmt: skip
        names = [name for name in listed.stdout.decode().split("\0") if name]
        cores = self.root.glob("python/aqmlab/_core.*")
        for name in [*names, *(str(core.relative_to(self.root)) for core in cores)]:
            if (self.root / name).is_file():
                target = self.folder / _in_copy(name)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.root / name, target)
        mutated = self.folder / "mutants"
        mutated.mkdir()
        for place in (self.folder, mutated):
            (place / "python").symlink_to("src")
            (place / "experiments").symlink_to("src/aqmlab/experiments")
            for other in self.root.iterdir():
                if not other.name.startswith(".") and not (self.folder / other.name).exists():
                    (place / other.name).symlink_to(other)
                elif place is mutated and (self.folder / other.name).is_symlink():
                    target = place / other.name
                    if not target.is_symlink():
                        target.symlink_to(other)
        project = (self.root / "pyproject.toml").read_text("utf-8")
        project = project.replace('pythonpath = ["python", "."]', 'pythonpath = ["src", "."]')
        assert '"src", "."' in project, "pytest is told where packages lie"
        (self.folder / "pyproject.toml").unlink()
        (mutated / "pyproject.toml").unlink(missing_ok=True)
        (self.folder / "pyproject.toml").write_text(f"{project}\n[tool.mutmut]\n{self._settings()}")

    def _settings(self) -> str:
        here = [name for name in TESTS if (self.root / name).exists()]
        without = " and ".join(f"not {name}" for name in SLOW)
        settings = {
            "source_paths": ["src", "validation"],
            "only_mutate": [_in_copy(name) for name in files(self.root)],
            "do_not_mutate_patterns": list(WORDINGS),
            # Polars has threads, which do not outlive a fork.
            "process_isolation": "forkserver",
            "use_git_change_detection": False,
            "pytest_add_cli_args_test_selection": here,
            "pytest_add_cli_args": [
                *QUIET,
                *("-m", "not slow"),
                *("-k", without),
            ],
        }
        return "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())

    def environment(self) -> dict[str, str]:
        """mutmut beside the packages that the tests need."""
        here = sysconfig.get_path("purelib")
        tested = self.root / ".venv" / Path(here).relative_to(sys.prefix)
        return {**os.environ, **SETTINGS, "PYTHONPATH": f"{here}{os.pathsep}{tested}"}

    def mutmut(self, *words: str) -> int:
        """Runs it."""
        program = Path(__file__).with_name("quickest.py")
        command = [sys.executable, "-P", str(program), str(SLOWEST_S), *words]
        with (self.folder / "mutmut.log").open("w") as log:
            return subprocess.run(
                command, cwd=self.folder, env=self.environment(), check=False,
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            ).returncode  # fmt: skip

    def known(self, name: str) -> dict[str, str]:
        """What mutmut has found of a file, by its names."""
        from mutmut.stats import status_by_exit_code

        file = self.folder / "mutants" / f"{_in_copy(name)}.meta"
        codes = json.loads(file.read_text())["exit_code_by_key"] if file.exists() else {}
        codes = {mutant: code for mutant, code in codes.items() if code != NO_ANSWER}
        described = {
            mutant: WORDS_OF_MUTMUT.get(status_by_exit_code[code]) for mutant, code in codes.items()
        }
        return {mutant: word for mutant, word in described.items() if word}

    def tests_of(self, name: str) -> list[tuple[str, float]]:
        """The tests that come by a function of a file, and how long each takes."""
        described = json.loads((self.folder / "mutants" / "mutmut-stats.json").read_text())
        module = re.sub(r"/__init__$", "", _in_copy(name).removeprefix("src/").removesuffix(".py"))
        begin = module.replace("/", ".") + ".x"
        by = described["tests_by_mangled_function_name"]
        reached = {
            test for function, tests in by.items() if function.startswith(begin) for test in tests
        }
        times = described["duration_by_test"]
        return sorted(((test, times[test]) for test in reached), key=lambda pair: pair[1])


def examine(root: Path, folder: Path, jobs: int, stop: float, again: bool) -> None:
    """Runs what is not known yet."""
    known = answers(root)
    if again:
        known.words = {name: ["not asked"] * len(of) for name, of in known.of.items()}
    known.reopen(digest_of_tests(root))
    copy = Copy(root, folder / "tree")
    left = [mutant for mutant in known.open() if mutant.held]
    if known.open():
        copy.refresh()
        held = [mutant for mutant, _ in known.rows() if mutant.held]
        # Of those that are tried alone it is to say which tests come by their file.
        words = [] if len(left) == len(held) else [mutant.held for mutant in left or held[:1]]
        if copy.mutmut("run", "--max-children", str(jobs), *words):
            raise RuntimeError((copy.folder / "mutmut.log").read_text()[-2000:])
        found = {name: copy.known(name) for name in known.of}
        late = [m.held for m in left if found[m.file].get(m.held) == "timeout"]
        # Not for ever, perhaps: this machine may have stood still.
        if late and copy.mutmut("run", *late):
            raise RuntimeError((copy.folder / "mutmut.log").read_text()[-2000:])
        found = {name: copy.known(name) for name in known.of}
        known.notify((m, found[m.file][m.held]) for m in left if m.held in found[m.file])
    if alone := [mutant for mutant in known.open() if not mutant.held]:
        for mutant, word in Alone(copy, jobs).all(alone, stop):
            known.notify([(mutant, word)])
    for mutant, word in known.rows():
        if word in SURVIVED:
            print(f"{word}: {mutant.name}")
    described = Counter(word for _, word in known.rows())
    print(f"python: {sum(described.values())} mutants, {dict(described)}", file=sys.stderr)


class Alone:
    """Files changed one at a time, without trampolines, and imported anew (`importing.py`)."""

    def __init__(self, copy: Copy, jobs: int) -> None:
        self.copy, self.jobs = copy, jobs

    def all(self, left: Sequence[Mutant], stop: float) -> Iterator[tuple[Mutant, str]]:
        """What is found of each until the time is up; of a file first whether its tests pass."""
        requested: list[tuple[Mutant | None, list[Any]]] = []
        for name, of in itertools.groupby(left, key=lambda mutant: mutant.file):
            pairs = [pair for pair in self.copy.tests_of(name) if pair[1] <= SLOWEST_S]
            tests, seconds = [test for test, _ in pairs], sum(seconds for _, seconds in pairs)
            if not tests:
                yield from ((mutant, "unreached") for mutant in of)
                continue
            limit = LEAST_S + TIMES * seconds
            requested.append((None, [_in_copy(name), None, tests, limit]))
            requested += [(m, [_in_copy(name), m.text, tests, limit]) for m in of]
        program = Path(__file__).with_name("importing.py")
        with subprocess.Popen(
            [sys.executable, "-P", "-B", str(program), str(self.jobs)],
            cwd=self.copy.folder, env=self.copy.environment(), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        ) as running:  # fmt: skip
            assert running.stdin is not None and running.stdout is not None
            for _, job in requested:
                print(json.dumps(job), file=running.stdin)
            running.stdin.close()
            for (mutant, job), line in zip(requested, running.stdout, strict=False):
                status = int(line)
                if mutant is None and status:
                    raise RuntimeError(f"the tests of {job[0]} fail without a mutant: {status}")
                if mutant is not None:
                    late = status & 127 in LATE
                    yield mutant, "timeout" if late else "caught" if status else "missed"
                if time.monotonic() > stop:
                    running.terminate()
                    break
