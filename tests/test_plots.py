"""Figures of any result, its frame, and what it shows of itself."""

from __future__ import annotations

import pytest

import aqmlab
from aqmlab.errors import AqmlabError, SpecError

pytestmark = pytest.mark.usefixtures("real_core")
SWEEP = {
    "scenario": {
        "name": "small",
        "duration": "8 s",
        "warmup": "2 s",
        "network": {"rtt": "40 ms"},
        "link": [{"name": "line", "rate": "2 Mbit/s", "forward": {"aqm": "red", "limit": 60}}],
        "traffic": [{"app": "web", "users": 150}],
        "record": {"queues": ["line.forward"]},
    },
    "sweep": {
        "link.0.forward.max_p": [0.02, 0.1, 0.5],
        "network.rtt": ["20 ms", "80 ms"],
        "seeds": 2,
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("plots") / "small"


@pytest.fixture(scope="module")
def result(folder):
    return aqmlab.run(SWEEP, out=folder)


def lines_of(axes):
    """What stands at the axes."""
    return axes.get_xlabel(), axes.get_ylabel()


def caption(axes):
    return axes.figure.get_supxlabel()


def test_a_result_says_what_it_is_in_a_line(result, folder):
    assert repr(result) == f"<Result {result.name}: 6 variants, 2 seeds, in {folder}>"
    html = result._repr_html_()
    assert "&lt;Result" in html
    assert "<table" in html


def test_the_frame_has_a_row_for_every_run_and_numbers_for_axes(result):
    frame = result.frame()
    assert frame.height == 12
    assert frame["rtt_s"].unique().sort().to_list() == [0.02, 0.08]
    assert frame["max_p"].unique().sort().to_list() == [0.02, 0.1, 0.5]
    first = result.runs[0]
    assert frame["response_p50_s"][0] == first.summary["response_p50_s"]
    assert "ports.line.forward.drops" in frame.columns


def test_what_a_folder_holds_is_the_same_result(result, folder):
    loaded = aqmlab.load(folder)
    assert loaded.frame().equals(result.frame())
    assert loaded.select(rtt=0.02).variants["max_p"].to_list() == [0.02, 0.1, 0.5]
    assert loaded.table("responses").equals(result.table("responses"))


def test_lines_are_means_with_their_bands(result):
    axes = result.plot.lines("response_p50_s", x="max_p", by="rtt")
    assert lines_of(axes) == ("max_p", "Response time, median (ms)")
    assert caption(axes) == "Mean of 2 seeds; bands: 95 % intervals."
    slow = result.select(rtt=0.08, max_p=0.5)
    mean = 1000 * sum(run.summary["response_p50_s"] for run in slow.runs) / 2
    drawn = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
    assert drawn["80 ms"][-1] == pytest.approx(mean)
    bars = result.plot.lines("response_p50_s", x="max_p", by="rtt", band=False)
    assert "bars" in caption(bars)
    assert len(axes.collections) == 2
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["20 ms", "80 ms"]


def test_a_heatmap_has_a_field_for_every_variant(result):
    axes = result.plot.heatmap("drop_rate", x="max_p", y="rtt")
    assert lines_of(axes) == ("max_p", "rtt (s)")
    (picture,) = axes.get_images()
    means = picture.get_array()
    assert means.shape == (2, 3)
    lost = [r.summary["drop_rate"] for r in result.select(rtt=0.02, max_p=0.02).runs]
    assert means[0, 0] == pytest.approx(100 * sum(lost) / 2)
    lost = [r.summary["drop_rate"] for r in result.select(rtt=0.08, max_p=0.5).runs]
    assert means[1, 2] == pytest.approx(100 * sum(lost) / 2)
    assert picture.colorbar.ax.get_ylabel() == "Loss (%)"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0.02", "0.1", "0.5"]


def test_distributions_have_a_curve_for_each_variant_or_value(result):
    one = result.select(rtt=0.02)
    axes = one.plot.cdf()
    assert lines_of(axes) == ("response time (ms)", "cumulative share of responses (%)")
    assert len(axes.get_legend().get_texts()) == 3
    tail = one.plot.tail(by="max_p")
    assert (tail.get_xscale(), tail.get_yscale()) == ("log", "log")


def test_a_trace_is_the_queue_over_time(result):
    axes = result.plot.trace(from_s=3, upto_s=5)
    assert lines_of(axes) == ("time (s)", "queue (packets)")
    low, high = axes.get_xlim()
    assert 2.9 < low < high < 5.1


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (lambda plot: plot.lines("respons_p50_s", x="max_p"), 'did you mean "response_p50_s"'),
        (lambda plot: plot.lines("drop_rate", x="max_q"), 'did you mean "max_p"'),
        (lambda plot: plot.lines("voip_r_mean", x="max_p"), "undefined everywhere"),
        (lambda plot: plot.heatmap("drop_rate", x="rtt", y="rtt"), "wants two axes"),
    ],
)
def test_what_cannot_be_drawn_is_told(result, draw, sentence):
    with pytest.raises(AqmlabError, match=sentence):
        draw(result.plot)


def test_a_single_scenario_has_no_axis_to_draw_along(result):
    alone = aqmlab.run({**SWEEP["scenario"], "duration": "3 s"})
    assert "1 seed" in repr(alone)
    with pytest.raises(SpecError, match="no sweep to draw along"):
        alone.plot.lines("drop_rate")


@pytest.mark.parametrize("kind", ["cdf", "tail"])
def test_without_requests_the_sentence_names_what_can_be_drawn(kind):
    traffic = [{"app": "bulk", "flows": 1}]
    bulk = aqmlab.run({**SWEEP["scenario"], "duration": "3 s", "traffic": traffic})
    with pytest.raises(AqmlabError, match="no run has responses; trace draws its queue"):
        getattr(bulk.plot, kind)()
    assert bulk.plot.trace().get_lines()


def test_the_command_draws_from_a_folder(aqmlab_command, result, folder, tmp_path):
    for words, file in (
        (("cdf",), "a.svg"),
        (("lines", "drop_rate", "--x", "max_p", "--by", "rtt"), "b.png"),
    ):
        path = tmp_path / file
        answer = aqmlab_command("plot", folder, *words, "--out", path)
        assert answer.returncode == 0, answer.stderr
        assert path.stat().st_size > 5000
    answer = aqmlab_command("plot", folder, "cdf", "--x", "max_p")
    assert (answer.returncode, "cdf takes no --x" in answer.stderr) == (2, True)
    answer = aqmlab_command("plot", folder, "lines")
    assert "give a measure" in answer.stderr
    answer = aqmlab_command("plot", folder, "pie")
    assert "give trace, cdf, tail, lines or heatmap" in answer.stderr


def test_one_call_shows_what_each_queue_costs(result):
    axes = result.plot("max_p")
    over, against = axes.figure.axes
    assert lines_of(over) == ("time (s)", "packets wait (ms)")
    assert lines_of(against) == ("used of the line (%)", "packets wait, mean (ms)")
    assert len(over.get_lines()) == 6  # three values at two round trips
    assert caption(axes) == "Means of 2 seeds with 95 % intervals."


def test_one_line_plots_results_folders_and_scenarios_over_each_other(result, folder):
    small = result.select(max_p=0.1, rtt=0.02)
    axes = aqmlab.plot(small, "example:ns3-red", seeds=1, set={"duration": "6s", "warmup": "1s"})
    names = [text.get_text() for legend in axes.figure.legends for text in legend.get_texts()]
    assert names == [small.name, "ns3-red"]
    assert lines_of(axes) == ("time (s)", "packets wait (ms)")
    kept = aqmlab.plot(folder, kind="lines", measure="drop_rate", x="max_p", by="rtt")
    assert kept.get_xlabel() == "max_p"


def test_the_axis_of_a_share_ends_where_shares_end(result):
    against = aqmlab.plot(result, by="rtt").figure.axes[1]
    low, high = against.get_xlim()
    assert 0 <= low < high <= 101


@pytest.mark.parametrize(
    ("shown", "how", "says"),
    [
        ((), {}, "nothing to plot"),
        ((1,), {"kind": "cfd"}, 'did you mean "cdf"'),
        ((1,), {"upto_ms": 3}, "known: by, port"),
    ],
)
def test_a_plot_that_cannot_be_says_what_can(shown, how, says):
    with pytest.raises(SpecError, match=says):
        aqmlab.plot(*shown, **how)
