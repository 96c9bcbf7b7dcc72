import math
import os
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from scipy import stats

from aqmlab.errors import CalibrationError
from aqmlab.io import files
from aqmlab.runs import calibrate, calibration_cache
from aqmlab.runs.laboratory import Laboratory
from aqmlab.runs.run_files import Cache
from aqmlab.runs.store import Store
from aqmlab.simulator import engine


@pytest.fixture
def loaded(scenario):
    web = scenario["traffic"][0]
    del web["users"]
    web["load"] = "98%"
    return scenario


def test_the_fit_is_least_squares_through_the_origin():
    points = [(100, 41_000.0), (200, 79_000.0), (300, 121_500.0), (400, 160_000.0)]
    line = calibrate.fit(points)
    x, y = np.array(points).T
    slope = np.linalg.lstsq(x[:, None], y, rcond=None)[0][0]
    assert line.bytes_per_user_s == pytest.approx(slope)
    residual = y - slope * x
    error = math.sqrt(residual @ residual / 3 / (x @ x))
    half = stats.t.ppf(0.975, 3) * error
    assert line.ci == pytest.approx((slope - half, slope + half))
    assert line.r_squared == pytest.approx(1 - residual @ residual / (y @ y))


def test_users_are_spread_evenly():
    line = calibrate.Calibration(400.0, 1.0, [], (400, 400))
    assert line.users_for(0.98, 10e6) == 3062  # 1,225,000 / 400 = 3,062.5, to even
    assert line.users_for(0.98, 10e6, 7) == 3066  # 437.5 a machine
    assert line.users_for(1e-9, 10e6, 7) == 7
    assert line.load_of(3066, 10e6) == pytest.approx(3066 * 400 * 8 / 10e6)


def test_the_uncongested_scenario(loaded):
    loaded["traffic"].append({"app": "bulk", "flows": 3})
    fast, group = calibrate.uncongested(loaded, 60, 10)
    assert group == 0
    assert fast["link"][0]["rate"] == "100000000 bit/s"
    assert fast["link"][0]["forward"] == {"aqm": "droptail", "limit": calibrate.ROOM_PACKETS}
    assert fast["traffic"] == [{"app": "web", "model": "mah-fit"}]
    assert (fast["duration"], fast["warmup"]) == ("60 s", "10 s")
    assert fast["network"] == loaded["network"]
    assert fast["record"]["queues"] == ["bottleneck.forward"]
    # Neither load nor discipline nor name is part of it: the variants of a study share it.
    other = {**loaded, "name": "x", "link": [{**loaded["link"][0], "forward": {"aqm": "red"}}]}
    other["traffic"] = [{**loaded["traffic"][0], "load": "80%"}]
    assert calibrate.uncongested(other, 60, 10) == (fast, 0)


def test_users_on_the_other_side_are_measured_there(loaded):
    loaded["traffic"][0]["side"] = "servers"
    loaded["network"]["servers"] = 3
    fast, _ = calibrate.uncongested(loaded, 60, 10)
    assert fast["record"]["queues"] == ["bottleneck.reverse"]


def test_a_reverse_rate_is_what_the_users_behind_it_load(fake, loaded):
    loaded["link"][0]["reverse_rate"] = "2 Mbit/s"
    fast, _ = calibrate.uncongested(loaded, 60, 10)
    link = fast["link"][0]
    assert (link["rate"], link["reverse_rate"]) == ("100000000 bit/s", "20000000 bit/s")
    line = calibrate.Calibration(400.0, 1.0, [], (400, 400))
    assert calibrate.rate_of(loaded, 0) == 10e6
    loaded["traffic"][0]["side"] = "servers"
    assert calibrate.rate_of(loaded, 0) == 2e6
    assert calibrate.apply(loaded, line)["traffic"][0]["users"] == 616


def test_a_load_is_a_share_of_the_first_link_the_group_crosses(fake, loaded):
    second = {**loaded["link"][0], "rate": "2 Mbit/s"}
    del second["name"]
    loaded["link"].append(second)
    loaded["traffic"][0]["via"] = ["link1"]
    fast, _ = calibrate.uncongested(loaded, 60, 10)
    assert fast["record"]["queues"] == ["link1.forward"]
    line = calibrate.Calibration(400.0, 1.0, [], (400, 400))
    assert (
        calibrate.apply(loaded, line)["traffic"][0]["users"] == 616
    )  # 245,000 / 400 = 612.5, 88 a machine
    loaded["traffic"][0]["via"] = []
    with pytest.raises(CalibrationError, match="crosses no link"):
        calibrate.uncongested(loaded, 60, 10)


def test_few_users_are_measured_longer(fake, loaded, monkeypatch):
    real, lengths = engine.simulate, set()

    def simulate(scenario, progress=None, capture=None):
        lengths.add(scenario["duration"])
        return real(scenario, progress)

    monkeypatch.setattr(engine, "simulate", simulate)
    loaded["link"][0]["rate"] = "1.092 Mbit/s"  # 350 users at the double's estimate of 390 B/s
    calibrate.calibrate(loaded)
    assert lengths == {f"{1200 + 1200 * 2500 / 350:.9g} s"}


def test_run_lengths(scenario):
    assert calibrate.times_of(scenario) == (2400, 1200)
    long = {**scenario, "duration": "90 min", "warmup": "20 min"}
    assert calibrate.times_of(long) == (5400, 1200)
    assert calibrate.times_of(scenario, "10 min", "2 min") == (600, 120)
    assert calibrate.times_of(scenario, 600) == (600, 300)
    with pytest.raises(CalibrationError, match="lengthen its duration"):
        calibrate.times_of(scenario, "1 min", "1 min")


def test_a_calibration(fake, loaded, tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    cache = tmp_path / "cache"
    line = calibrate.calibrate(loaded, cache=Cache(cache), duration="60 s", warmup=0)
    # The double's users ask for 400 B/s, +-0.1 % by seed; 390 B/s is its estimate.
    assert line.bytes_per_user_s == pytest.approx(400)
    assert line.r_squared > 0.99999
    assert line.ci[0] < 400 < line.ci[1]
    sizes = [users for users, _ in line.points]
    assert sorted(set(sizes)) == [798, 1603, 2408, 3206]
    assert all(users % 7 == 0 for users in sizes)
    assert len(sizes) == 12
    again = calibrate.calibrate(loaded, cache=Cache(cache), duration="60 s", warmup=0)
    assert again == line
    assert len((tmp_path / "log").read_text().split()) == 12
    calibrate.calibrate(loaded, cache=Cache(cache), duration="61 s", warmup=0)
    assert len((tmp_path / "log").read_text().split()) == 24


class TestKnownElsewhere:
    """A calibration is known for every folder of a user."""

    def measured(self, folder, loaded):
        """The line, for a results folder of this name."""
        return Laboratory(Store.open(folder), jobs=1).calibrate(loaded, duration="2 min", warmup=0)

    def test_another_folder_has_it_too(self, fake, loaded, tmp_path, monkeypatch):
        monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
        first = self.measured(tmp_path / "one", loaded)
        assert self.measured(tmp_path / "two", loaded) == first
        assert len((tmp_path / "log").read_text().split()) == 12
        names = [sorted(p.name for p in (tmp_path / x / "cache").iterdir()) for x in ("one", "two")]
        assert len(names[0]) == 12 and names[0] == names[1]

    def test_a_cache_that_cannot_be_written_is_none(self, fake, loaded, tmp_path, monkeypatch):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
        (tmp_path / "file").write_text("")
        assert self.measured(tmp_path / "one", loaded).bytes_per_user_s > 0

    def test_a_user_without_a_home_has_none(self, fake, loaded, tmp_path, monkeypatch):
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setattr(Path, "home", Mock(side_effect=RuntimeError("no home")))
        monkeypatch.chdir(tmp_path)
        assert self.measured(tmp_path / "one", loaded).bytes_per_user_s > 0
        assert sorted(path.name for path in tmp_path.iterdir()) == ["one"]

    def test_a_relative_cache_is_none(self, fake, loaded, tmp_path, monkeypatch):
        monkeypatch.setenv("XDG_CACHE_HOME", "relative")
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.chdir(tmp_path)
        self.measured(tmp_path / "one", loaded)
        assert not (tmp_path / "relative").exists()
        assert (tmp_path / "home/.cache/aqmlab/calibrations").is_dir()

    def test_a_damaged_number_is_measured_again(self, fake, loaded, tmp_path, capsys):
        first = self.measured(tmp_path / "one", loaded)
        for path in (files.user_cache() / "calibrations").iterdir():
            path.write_text(path.read_text().replace('"rate": ', '"rate": 9'))
        assert self.measured(tmp_path / "two", loaded) == first
        assert "is damaged" in capsys.readouterr().err

    def test_the_older_half_goes_where_there_are_too_many(self, monkeypatch):
        monkeypatch.setattr(calibration_cache, "MOST", 3)
        known = calibration_cache.KnownCalibrations(None)
        for number in range(4):
            known.put(f"calibration-{number}", {"rate": 1.0, "requested": 1.0})
            os.utime(files.user_cache() / f"calibrations/calibration-{number}.json", (number,) * 2)
        known.put("calibration-4", {"rate": 1.0, "requested": 1.0})
        kept = [number for number in range(5) if known.get(f"calibration-{number}")]
        assert kept == [2, 3, 4]


def test_a_load_becomes_users(fake, loaded):
    line = calibrate.Calibration(400.0, 1.0, [], (400, 400))
    changed = calibrate.apply(loaded, line)
    assert changed["traffic"] == [{"app": "web", "model": "mah-fit", "users": 3066}]
    assert loaded["traffic"][0]["load"] == "98%"
    assert calibrate.apply(changed, line) == changed


def test_a_curve_is_no_calibration(fake, loaded, monkeypatch):
    monkeypatch.setattr(calibrate, "SPEED_UP", 0.8)  # the link limits the largest population
    with pytest.raises(
        CalibrationError, match=r"798 to 3206 users is not proportional.*R\^2.*\[calibration\]"
    ):
        calibrate.calibrate(loaded, duration=60, warmup=0)


def test_a_line_may_be_asked_to_be_less_straight(fake, loaded, monkeypatch):
    monkeypatch.setattr(calibrate, "SPEED_UP", 0.8)
    line = calibrate.calibrate(loaded, duration=60, warmup=0, least_r_squared=0.5)
    assert 0.5 < line.r_squared < calibrate.MIN_R_SQUARED


def test_groups_are_measured_together(fake, loaded, monkeypatch):
    other = {"app": "web", "model": "mah-fit", "side": "servers", "users": 5}
    loaded["traffic"].append(other)
    seen = []

    def simulate_all(scenarios, finish, **_):
        seen.extend(scenarios)
        for place, scenario in enumerate(scenarios):
            rate = 450.0 * scenario["traffic"][0]["users"]
            finish(place, engine.Outcome({"throughput_bytes_per_s": rate}, {}))

    monkeypatch.setattr(calibrate.pool, "simulate_all", simulate_all)
    line = calibrate.calibrate(loaded, duration=60, warmup=0, also=[1])
    assert line.bytes_per_user_s == pytest.approx(450)
    assert len(seen) == 12
    for scenario in seen:
        first, second = scenario["traffic"]
        assert second == {**other, "users": first["users"]}
    seen.clear()
    calibrate.calibrate(loaded, duration=60, warmup=0)
    assert all(len(scenario["traffic"]) == 1 for scenario in seen)


def test_traffic_without_users_cannot_be_calibrated(fake, loaded):
    loaded["traffic"] = [{"app": "bulk", "load": "50%"}]
    with pytest.raises(CalibrationError, match=r"traffic\.0\.load: .* has no users"):
        calibrate.calibrate(loaded)
    loaded["traffic"] = [{"app": "web", "users": 1}, {"app": "web", "users": 2}]
    with pytest.raises(CalibrationError, match="2 traffic groups with users"):
        calibrate.calibrate(loaded)
