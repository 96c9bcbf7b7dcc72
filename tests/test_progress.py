import io
import sys
import types

import pytest

from aqmlab.runs import progress


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_ratio_and_time_left():
    clock = Clock()
    board = progress.Progress(clock)
    board.begin("runs", [1000, 3000], already=1)
    clock.now = 10
    board.advance(0, 500)
    board.finish(0)
    board.advance(1, 1000)
    assert board.fraction == 0.5
    assert board.ratio == 200
    assert board.left_s == 10
    assert board.sentence() == "runs: 2 of 3, 50 %, 200 x real time, 0:10 left"


def test_time_left_goes_by_what_each_kind_of_run_costs():
    # A scenario that stands still after a second and one that works for ten: of equal length.
    clock = Clock()
    board = progress.Progress(clock)
    board.begin("runs", [100.0] * 4, kinds=["idle", "busy"] * 2)
    for run, seconds in ((0, 1), (1, 10)):
        board.start(run)
        clock.now += seconds
        board.finish(run)
    assert board.left_s == pytest.approx(11)
    board.start(2)
    clock.now += 1
    board.finish(2)
    assert board.left_s == pytest.approx(10)
    assert board.fraction == pytest.approx(12 / 22)


def test_time_left_covers_what_comes_after_the_batch():
    clock = Clock()
    board = progress.Progress(clock)
    board.expect({"known": 50.0, "new": 200.0}, "more seeds")
    board.begin("first", [100.0, 100.0], kinds=["known", "known"])
    board.start(0)
    clock.now = 10
    board.finish(0)
    # A second of any kind costs 0.1 s of a core: 10 s here, 5 and 20 s afterwards.
    assert board.sentence() == "first: 1 of 2, 22 %, 10 x real time, 0:35 left with more seeds"
    board.start(1)
    clock.now = 20
    board.finish(1)
    assert board.fraction == pytest.approx(20 / 45)
    board.end()
    board.expect({})
    board.begin("later", [50.0], kinds=["known"])
    # It goes on where it was, and knows the pace already.
    assert board.left_s == pytest.approx(5)
    assert board.fraction == pytest.approx(20 / 25)
    clock.now = 25
    board.finish(0)
    assert (board.fraction, board.left_s) == (1.0, 0.0)


def test_two_cores_halve_the_time_left():
    clock = Clock()
    board = progress.Progress(clock)
    board.begin("runs", [10.0] * 4)
    for run in (0, 1):
        board.start(run)
    clock.now = 8
    for run in (0, 1):
        board.finish(run)
    assert board.left_s == pytest.approx(8)


def test_a_file_that_is_read():
    clock = Clock()
    board = progress.Progress(clock)
    board.begin("capture", [400_000_000], of_bytes=True)
    clock.now = 2
    board.advance(0, 300_000_000)
    assert board.sentence() == "capture: 75 %, 150 MB/s, 0:01 left"


def test_nothing_to_do():
    board = progress.Progress(Clock())
    board.begin("runs", [])
    assert board.fraction == 1
    assert board.ratio is None


def test_lines_are_rare():
    clock, stream = Clock(), io.StringIO()
    board = progress.Lines(stream, clock)
    board.begin("runs", [100.0])
    for k in range(1, 101):
        clock.now = k / 4
        board.advance(0, k)
    lines = stream.getvalue().splitlines()
    assert lines == [
        "runs: 0 of 1, 40 %, 4 x real time, 0:15 left",
        "runs: 0 of 1, 80 %, 4 x real time, 0:05 left",
    ]


def test_a_terminal_gets_a_bar_and_a_pipe_lines():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    assert isinstance(progress.for_stream(io.StringIO()), progress.Lines)
    stream = Terminal()
    bar = progress.for_stream(stream)
    assert isinstance(bar, progress.Bar)
    bar.begin("calibration", [10.0])
    bar.advance(0, 5)
    bar.begin("runs", [10.0])
    bar.finish(0)
    bar.end()
    assert "runs" in stream.getvalue()


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (61, "1:01"), (3723, "1:02:03"), (-1, "0:00")]
)
def test_clock_text(seconds, text):
    assert progress.clock_text(seconds) == text


@pytest.fixture
def notebook(monkeypatch):
    """A notebook's kernel, as far as a bar needs one: what is shown is kept."""
    shown = []

    class Handle:
        def update(self, what):
            shown.append(what._repr_html_())

    shell = type("ZMQInteractiveShell", (), {})()
    display = types.ModuleType("IPython.display")
    vars(display)["display"] = lambda what, display_id: Handle()
    ipython = types.ModuleType("IPython")
    vars(ipython).update(get_ipython=lambda: shell, display=display)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


def test_a_notebook_gets_a_bar_that_goes_away(notebook):
    board = progress.for_python(None)
    assert board is not None
    board.begin("<b>runs</b>", [10.0])
    board.finish(0)
    board.end()
    assert '<progress max="1"' in notebook[0]
    assert "&lt;b&gt;runs" in notebook[0]
    assert notebook[-1] == ""


def test_python_shows_progress_in_terminals_and_notebooks_alone(monkeypatch, notebook):
    assert isinstance(progress.for_python(None), progress.Notebook)
    assert progress.for_python(False) is None
    monkeypatch.delitem(sys.modules, "IPython")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert progress.for_python(None) is None
    assert isinstance(progress.for_python(True), progress.Lines)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert isinstance(progress.for_python(None), progress.Bar)
