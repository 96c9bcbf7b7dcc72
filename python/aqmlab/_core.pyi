"""The compiled simulator. `aqmlab.engine` is its only user inside this package."""

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
    """The progress callback returned False: the run is to stop."""

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
        """A discipline or congestion control as the catalogue has it, with `kind`, as JSON."""

    def check_aqm(self, name: str, notify: Callable[[str], object]) -> str:
        """Checks a discipline: the report as JSON. `notify` gets what is checked next."""

    def check_control(self, name: str, notify: Callable[[str], object]) -> str:
        """Checks a congestion control over random calls: the report as JSON."""

    def pulse(self) -> int:
        """A count that is odd while a call of a user's discipline lasts."""

class RawTable(TypedDict):
    """Columns as raw little-endian bytes; `every_s` is (start, step) of equally spaced rows."""

    columns: list[tuple[str, str, bytes]]
    every_s: tuple[float, float] | None

class RawResult(TypedDict):
    """One finished run: the summary as JSON, its tables, and the names of the groups that the
    column `group` counts."""

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
    pictures of the run as JSON, and the seconds of a bin; a run that is watched is not captured."""

def check(scenario_json: str, registry: Registry | None = None) -> str:
    """The scenario as JSON with every default filled in."""

def catalogue() -> str:
    """Every AQM, TCP profile and traffic model with its fields, as JSON."""

def variables(model: str) -> str:
    """The variables of a traffic model with mean, quantiles and curve, as JSON."""

def table_of(name: str, text: str, unit: str) -> str:
    """Mean, quantiles and curve of a distribution in the format of the shipped tables (JSON)."""

def trace_shown(text: str) -> str:
    """What a trace's file holds, given its content: its format, means and curves, as JSON."""

def quantity(text: str, unit: str) -> float:
    """A quantity as people write it (`"20 ms"`) in base units; `unit`: `time` or `rate`."""

def interfaces() -> list[tuple[str, str]]:
    """What a discipline in C or Rust is compiled against: names of files and their texts."""

def fail(why: str) -> None:
    """Fails as a fault of the simulator does; tests of what a user then sees call it."""

class LiveError(Exception):
    """A live run is not possible here, or has failed; the message is one sentence."""

class RawLiveResult(RawResult):
    """A finished live run; `live` says how far it can be believed (JSON)."""

    live: str

def live_run(spec_json: str) -> RawLiveResult:
    """Runs the supervisor and the router of a live run."""

def live_users(task_json: str) -> None:
    """Runs a program of users of a live run."""

def live_check() -> str:
    """What a live run needs of this machine, and its limits, as JSON."""

def version() -> str:
    """`{"version", "build", "commit", "profile"}` as JSON."""

def estimate(scenario_json: str, registry: Registry | None = None) -> float | None:
    """Expected IP bytes per user and second of the traffic group given by its load."""

def memory(scenario_json: str, registry: Registry | None = None) -> tuple[int, int | None]:
    """Bytes that a run takes at least, and the bytes that are free; None if that is not known."""

def resolve(scenario_json: str, registry: Registry | None = None) -> str:
    """What a scenario means: links, ports, sides, directions and ways, as JSON."""

def schema() -> str:
    """The JSON schema (draft 2020-12) of scenario files."""

def trial(request_json: str, registry: Registry | None = None) -> str:
    """One discipline before a line, without end systems, as a test vector (vectors/README.md)."""

class Overload:
    """Fifty flows in a steady overload of a discipline with its defaults, after a warm-up."""

    most_ns: int
    """What a packet may cost, in nanoseconds."""

    def __init__(self, name: str) -> None: ...
    def run(self, packets: int) -> None:
        """Runs the next `packets` arrivals and all that happens between them."""

class World:
    """A world that is moved in slices, looked at and changed between them."""

    def __init__(self, scenario_json: str, registry: Registry | None = None) -> None: ...
    def advance(self, seconds: float, port: str) -> tuple[bool, list[float]]:
        """Moves on; whether the run is over, and eight numbers of the port since the last call."""

    def set(self, port: str, name: str, value: float) -> None:
        """Changes a parameter of the port's discipline."""

    def now(self) -> tuple[float, int]:
        """Seconds, and events served."""

class Learner:
    """Reads a packet capture, piece by piece."""

    def __init__(self, inside: list[tuple[bytes, int]]) -> None: ...
    def feed(self, bytes: bytes) -> None:
        """Takes the next bytes of the file."""

    def take(self) -> tuple[bytes, bytes]:
        """Takes the lines of connections that are over, and three 64-bit numbers of each."""

    def finish(self) -> str:
        """What was seen, as JSON."""
