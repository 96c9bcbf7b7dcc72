"""The distributions of traffic models: in numbers, as pictures, and tables of one's own."""

import io
from pathlib import Path

import numpy as np
import pytest

from aqmlab import figures
from aqmlab.cli import distributions, reference
from aqmlab.errors import AqmlabError, SpecError
from aqmlab.experiment import inlining, spec
from aqmlab.experiment.experiment import load
from aqmlab.runs import calibrate
from aqmlab.simulator import engine
from conftest import planned

EXAMPLES = Path(spec.__file__).parent / "experiments" / "examples"
CSV = "# unit: bytes\nvalue,prob\n1000,0.5\n9000,0.5\n"


def shown(variables) -> str:
    from rich.console import Console

    out = io.StringIO()
    distributions.show(variables, Console(file=out, width=160))
    return out.getvalue()


def test_a_model_is_found_under_its_application(fake):
    assert reference.find("mah")["name"] == "web"
    assert distributions.of_entry(reference.find("mah"))[0]["mean"] == 12.5
    assert distributions.of_entry(reference.find("red")) == []


def test_numbers_say_what_is_infinite(fake):
    text = shown(distributions.of_entry(reference.find("mah")))
    assert "size, B" in text
    assert "infinite" in text
    assert "4,321" in text


def test_the_unit_of_a_table_is_in_its_comments(fake, tmp_path):
    path = tmp_path / "sizes.csv"
    path.write_text(CSV)
    [variable] = distributions.of_file(path)
    assert (variable["name"], variable["unit"]) == ("sizes", "bytes")
    path.write_text("# unit: seconds\nvalue,prob\n1,1\n")
    assert distributions.of_file(path)[0]["unit"] == "time"
    path.write_text("nothing")
    with pytest.raises(SpecError, match=r"sizes\.csv: line 1: no header"):
        distributions.of_file(path)
    with pytest.raises(SpecError, match="no such file"):
        distributions.of_file(tmp_path / "other.csv")
    (tmp_path / "bad.csv").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(SpecError, match="not UTF-8"):
        distributions.of_file(tmp_path / "bad.csv")


def test_the_command_draws_beside_a_table(fake, tmp_path, capsys):
    from aqmlab.cli import answering as cli

    path = tmp_path / "sizes.csv"
    path.write_text(CSV)
    assert cli._code(["describe", str(path), "--plot"]) == 0
    picture = tmp_path / "sizes.svg"
    assert str(picture) in capsys.readouterr().out
    assert picture.read_text().startswith("<?xml")
    assert cli._code(["describe", "mah", "--plot", "--out", str(tmp_path / "mah.png")]) == 0
    assert (tmp_path / "mah.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["red", "--plot"], "red draws from no distribution"),
        (["mah", "--out", "x.svg"], "give --plot"),
        (["mah", "--plot", "--out", "x.pdf"], "a picture is .svg or .png"),
        (["nothing.csv"], "no such file"),
    ],
)
def test_what_cannot_be_drawn(fake, capsys, arguments, words):
    from aqmlab.cli import answering as cli

    assert cli._code(["describe", *arguments]) != 0
    answer = capsys.readouterr()
    assert words in answer.err
    assert len(answer.err.splitlines()) == 1


def test_equal_distributions_are_equal_pictures():
    variable = {"name": "a", "unit": "bytes", "curve": [[0.0, 0.0], [5.0, 0.5], [50.0, 1.0]]}
    other = {"name": "b", "unit": "count", "curve": [[3.0, 0.0], [3.0, 1.0]]}
    data = {"variables": [variable, other, {**variable, "name": "c", "curve": [[0.0, 1.0]]}]}
    pictures = {figures.to_svg(figures.draw("distributions", data, title="t")) for _ in range(2)}
    assert len(pictures) == 1
    [svg] = pictures
    assert "size (bytes)" in svg
    assert "share above" in svg


def test_every_real_model_is_described(real_core):
    models = [m for e in engine.catalogue()["traffic"] for m in e["models"]]
    known = "mah unc packmime 3gpp webtraf http-archive-2024 ns2-http chariot"
    assert set(known.split()) == set(models)
    for model in models:
        variables = engine.variables(model)
        assert all(len(v["curve"]) > 100 and v["mean"] is not None for v in variables)
        assert shown(variables)
    with pytest.raises(SpecError, match='did you mean "mah"'):
        engine.variables("mha")


# ---- tables of one's own in scenarios -----------------------------------------------------------


def test_a_file_is_read_beside_the_scenario(tmp_path, scenario):
    (tmp_path / "sizes.csv").write_text(CSV)
    path = tmp_path / "mine.toml"
    path.write_text(
        'duration = "20 s"\n[[link]]\nrate = "1 Mbit/s"\n[[traffic]]\napp = "http"\nusers = 3\n'
        'reply = { dist = "table", file = "sizes.csv" }\n'
    )
    experiment = load(path)
    reply = experiment.scenario["traffic"][0]["reply"]
    assert reply == {"dist": "table", "file": "sizes.csv", "text": CSV}
    # In a part of a mixture, on an axis and in --set as well.
    nested = {"dist": "mixture", "parts": [{"dist": "table", "file": "sizes.csv"}], "weights": [1]}
    assert inlining.inline_tables(nested, tmp_path)["parts"][0]["text"] == CSV
    setting = 'traffic.0.request={ dist = "table", file = "sizes.csv" }'
    changed = load(path, overrides=[setting])
    assert changed.scenario["traffic"][0]["request"]["text"] == CSV
    (tmp_path / "sizes.csv").unlink()
    with pytest.raises(SpecError, match=r"mine\.toml: .*sizes\.csv: no such file"):
        load(path)


def test_the_content_of_a_table_is_part_of_the_runs_identity(real_core, scenario):
    def canonical(text):
        group = {"app": "http", "users": 7, "reply": {"dist": "table", "text": text}}
        return engine.check({**scenario, "traffic": [group]})

    assert canonical(CSV) == canonical(CSV)
    assert canonical(CSV) != canonical(CSV.replace("9000", "9001"))


# ---- loads of open-loop models ------------------------------------------------------------------


def test_an_open_loop_needs_no_calibration(fake, scenario):
    scenario["traffic"] = [{"app": "packmime", "load": "98%"}]
    assert calibrate.is_open_loop(scenario)
    [group] = calibrate.resolve(scenario)["traffic"]
    assert group == {
        "app": "packmime",
        "connections_per_s": pytest.approx(1_225_000 / 390, rel=1e-5),
    }
    scenario["traffic"] = [{"app": "web", "load": "98%"}]
    assert not calibrate.is_open_loop(scenario)
    assert not calibrate.is_open_loop({**scenario, "traffic": [{"app": "packmime", "users": 1}]})


def test_setting_a_rate_replaces_the_load(scenario):
    scenario["traffic"] = [{"app": "packmime", "load": "98%"}]
    changed = spec.set_path(scenario, "traffic.0.connections_per_s", 5)
    assert changed["traffic"] == [{"app": "packmime", "connections_per_s": 5}]


def test_a_load_of_packmime_is_the_load(real_core, scenario):
    import aqmlab

    scenario.update(duration="400 s", warmup="100 s")
    scenario["link"][0]["rate"] = "20 Mbit/s"
    scenario["link"][0]["forward"] = {"aqm": "droptail", "limit": 2000}
    scenario["traffic"] = [{"app": "packmime", "load": "40%", "download": "mah_reply_bytes"}]
    summary = aqmlab.run(scenario).summary
    # 40 % of 20 Mbit/s are 1 MB/s; Mah's sizes have a variance, so five minutes tell within 5 %.
    assert summary["throughput_bytes_per_s"] == pytest.approx(1e6, rel=0.05)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda p: p.stem)
def test_every_example_is_accepted(real_core, path):
    for run in planned(path).runs():
        try:
            engine.check(run.scenario)
        except AqmlabError as error:  # pragma: no cover
            pytest.fail(f"{run.label}: {error}")


class TestPicture:
    """The share above a value on a logarithmic axis, which has no place for a share of nothing."""

    def drawn(self, **variable):
        one = {"name": "size", "unit": "bytes", **variable}
        figure = figures.draw("distributions", {"variables": [one]})
        below, above = (axes.get_lines()[0] for axes in figure.axes)
        return below, above

    def test_what_was_counted_goes_in_steps_down_to_its_largest_value(self):
        below, above = self.drawn(curve=[[60, 0.5], [100, 1.0]], counted=True)
        assert below.get_drawstyle() == above.get_drawstyle() == "steps-post"
        assert above.get_xdata().tolist() == [60, 60, 100]
        # Half of them lie above 60, up to 100; above that nothing, below the axis's end.
        assert above.get_ydata()[:2].tolist() == [1.0, 0.5]
        assert 0 < above.get_ydata()[2] < above.axes.get_ylim()[0]

    def test_a_model_falls_to_nothing_at_its_largest_value(self):
        _, above = self.drawn(curve=[[10, 0.0], [100, 0.9], [1000, 1.0]])
        x, share = above.get_data()
        assert above.get_drawstyle() == "default"
        assert (share > 0).all() and share[-1] < above.axes.get_ylim()[0]
        # In proportion to the value, as it is drawn from: at 900 a ninth of the last tenth is left.
        assert np.interp(900, x, share) == pytest.approx(0.1 / 9, rel=0.01)
        assert x[-1] == pytest.approx(1000, rel=1e-3)

    def test_a_constant_is_there(self):
        below, above = self.drawn(curve=[[100, 1.0], [100, 1.0]])
        assert set(above.get_xdata()) == {100} == set(below.get_xdata())
        assert above.get_ydata()[0] == 1 and above.get_ydata()[-1] < 1e-6
