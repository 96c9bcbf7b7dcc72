"""The compiled simulator; `aqmlab.simulator.engine` is its Python interface."""

from collections.abc import Callable
from typing import Any, TypedDict

class ScenarioError(ValueError):
    """The scenario is wrong; the message is one sentence with the remedy."""

class CaptureError(ValueError):
    """The file is no capture; the message is one sentence with the remedy."""

class Fault(Exception):
    """The simulator failed, which is a fault of aqmlab; the message is one sentence."""

class DisciplineError(Exception):
    """A user's discipline failed while it ran; the message is one sentence."""

class Cancelled(Exception):
    """The progress callback returned False, so that the run was stopped."""

class Registry:
    """Names of disciplines and congestion controls: those of the simulator, and those that are
    added."""

    def __init__(self) -> None: ...
    def add_python(
        self,
        description_json: str,
        make: Callable[[dict[str, Any], int, int], object],
        explain: Callable[[BaseException], str],
    ) -> str:
        """Adds a discipline written in Python; returns its name."""

    def add_python_control(
        self,
        description_json: str,
        make: Callable[[dict[str, Any]], object],
        explain: Callable[[BaseException], str],
    ) -> str:
        """Adds a congestion control written in Python; returns its name."""

    def add_library(self, path: str) -> str:
        """Adds the discipline or congestion control of a shared library; returns its name."""

    def describe(self, name: str) -> str | None:
        """A discipline or congestion control in the form of the catalogue, with `kind`, as JSON."""

    def check_aqm(self, name: str, notify: Callable[[str], object]) -> str:
        """Checks a discipline and returns the report as JSON. `notify` gets the name of each check
        before it begins."""

    def check_control(self, name: str, notify: Callable[[str], object]) -> str:
        """Checks a congestion control over random calls and returns the report as JSON."""

    def pulse(self) -> int:
        """A count that is odd while a call of a user's discipline lasts."""

class RawTable(TypedDict):
    """Columns as raw little-endian bytes; `every_s` is (start, step) of equally spaced rows."""

    columns: list[tuple[str, str, bytes]]
    every_s: tuple[float, float] | None

class RawResult(TypedDict):
    """One finished run: the summary as JSON, the tables, and the names of the groups to which the
    column `group` has indices."""

    summary: str
    tables: dict[str, RawTable]
    groups: list[str]

def run(
    scenario_json: str,
    progress: Callable[[float], bool] | None = None,
    pcap: tuple[Callable[[bytes], object], list[str], bool] | None = None,
    watch: tuple[Callable[[str], object], float] | None = None,
    registry: Registry | None = None,
) -> RawResult:
    """Simulates a scenario. This and the functions below know the disciplines of `registry` in
    addition to the simulator's. `progress` is called with the simulated seconds; if it returns
    False, the run is cancelled. `pcap` has the function that takes a capture's bytes, the names of
    the ports, and whether packets are captured on arrival. `watch` has the function that gets
    snapshots of the run as JSON, and the width of a bin in seconds; a run that is watched is not
    captured."""

def check(scenario_json: str, registry: Registry | None = None) -> str:
    """The scenario as JSON with every default filled in."""

def catalogue() -> str:
    """Every AQM, TCP profile and traffic model with its fields, as JSON."""

def variables(model: str) -> str:
    """The variables of a traffic model with mean, quantiles and curve, as JSON."""

def table_of(name: str, text: str, unit: str) -> str:
    """Mean, quantiles and curve of a distribution in the format of the shipped tables (JSON)."""

def trace_shown(text: str) -> str:
    """The facts about a trace from its file's text: its format, means and curves, as JSON."""

def quantity(text: str, unit: str) -> float:
    """A quantity as people write it (`"20 ms"`) in base units; `unit`: `time` or `rate`."""

def interfaces() -> list[tuple[str, str]]:
    """The files of the plugin interface for C and Rust: names and texts."""

def fail(why: str) -> None:
    """Fails like a fault of the simulator; tests of the user's error message call it."""

class LiveError(Exception):
    """A live run is not possible here, or has failed; the message is one sentence."""

class RawLiveResult(RawResult):
    """A finished live run; `live` has the limits of its validity (JSON)."""

    live: str

def live_run(spec_json: str) -> RawLiveResult:
    """Runs the supervisor and the router of a live run."""

def live_users(task_json: str) -> None:
    """Runs a program of users of a live run."""

def live_check() -> str:
    """The requirements of a live run, whether this machine meets them, and its limits, as JSON."""

def version() -> str:
    """A JSON object with the keys `version`, `build`, `commit` and `profile`."""

def estimate(scenario_json: str, registry: Registry | None = None) -> float | None:
    """Expected IP bytes per user and second of the traffic group given by its load."""

def memory(scenario_json: str, registry: Registry | None = None) -> tuple[int, int | None]:
    """The least memory of a run in bytes, and the free memory in bytes (None if that is not
    known)."""

def resolve(scenario_json: str, registry: Registry | None = None) -> str:
    """The resolved scenario: links, ports, sides, directions and machines, as JSON."""

def schema() -> str:
    """The JSON schema (draft 2020-12) of scenario files."""

def trial(request_json: str, registry: Registry | None = None) -> str:
    """One discipline before a line, without end systems, as a test vector (vectors/README.md)."""

class Overload:
    """Fifty flows in a steady overload of a discipline with its defaults, after a warm-up."""

    most_ns: int
    """The largest accepted cost of a packet, in nanoseconds."""

    def __init__(self, name: str) -> None: ...
    def run(self, packets: int) -> None:
        """Runs the next `packets` arrivals and all that happens between them."""

class World:
    """A simulation that is advanced in steps, and can be observed and changed between them."""

    def __init__(self, scenario_json: str, registry: Registry | None = None) -> None: ...
    def advance(self, seconds: float, port: str) -> tuple[bool, list[float]]:
        """Advances; returns whether the run is over, and eight numbers of the port since the last
        call."""

    def set(self, port: str, name: str, value: float) -> None:
        """Changes a parameter of the port's discipline."""

    def now(self) -> tuple[float, int]:
        """The simulated time in seconds, and the number of events so far."""

class Learner:
    """A reader of a packet capture, which is fed piece by piece."""

    def __init__(self, inside: list[tuple[bytes, int]]) -> None: ...
    def feed(self, bytes: bytes) -> None:
        """Takes the next bytes of the file."""

    def take(self) -> tuple[bytes, bytes]:
        """Removes and returns the lines of ended connections, and three 64-bit numbers for each."""

    def finish(self) -> str:
        """The report on the capture, as JSON."""
