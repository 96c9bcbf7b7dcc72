"""`aqmlab lab`: loopback only, a token, a list of files, a strict policy, results read only."""

from __future__ import annotations

import base64
import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import aqmlab
from aqmlab.errors import AqmlabError
from aqmlab.experiment.experiment import load
from aqmlab.lab import link, results
from aqmlab.lab.server import Laboratory
from aqmlab.pipeline.study import Study


@pytest.fixture
def page(tmp_path: Path) -> Path:
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html>")
    (folder / "aqmlab.wasm").write_bytes(b"\0asm")
    (folder / "outside.txt").symlink_to("/etc/hostname")
    return folder


@pytest.fixture
def server(page: Path, tmp_path: Path) -> Iterator[Laboratory]:
    with Laboratory(page, tmp_path / "results") as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def get(server: Laboratory, path: str, host: str | None = None) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=10)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", host or server.host)
    connection.endheaders()
    answer = connection.getresponse()
    answer.content = answer.read()  # type: ignore[attr-defined]
    connection.close()
    return answer


def test_the_page_is_served_behind_its_token_under_a_strict_policy(server):
    answer = get(server, f"/{server.token}/")
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert "'unsafe-eval'" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert get(server, f"/{server.token}/aqmlab.wasm").headers["Content-Type"] == "application/wasm"
    assert server.server_address[0] == "127.0.0.1"
    assert server.token not in str(answer.headers)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/index.html",
        "/wrong-token/index.html",
        "/{token}/../index.html",
        "/{token}/..%2f..%2fetc/passwd",
        "/{token}//etc/passwd",
        "/{token}/outside.txt",
        "/{token}/results/../../page/index.html",
        "/{token}/results/none.json",
    ],
)
def test_nothing_else_is_served(server, path):
    assert get(server, path.format(token=server.token)).status == 404


def test_a_scenario_is_a_link_with_the_fingerprint_of_its_run(tmp_path, real_core):
    file = tmp_path / "one.toml"
    text = """
duration = "2 s"
[[link]]
rate = "3 Mbit/s"
forward = { aqm = "codel" }
[[traffic]]
app = "bulk"
flows = 2
"""
    file.write_text(text)
    given = link.opened(file).fragment
    shared = json.loads(base64.urlsafe_b64decode(given + "=" * (-len(given) % 4)))
    print = aqmlab.run(file).summary["fingerprint"]
    assert shared["fingerprints"] == [print, print]
    assert shared["state"]["sides"] == [{"link": [{"forward": {"aqm": "codel"}}]}] * 2
    assert aqmlab.run(shared["state"]["shared"]).summary["fingerprint"] == print
    scenario = text.replace("[[", "[[scenario.").replace("duration", "[scenario]\nduration")
    for wrong, why in (
        (
            f"{scenario}[sweep]\n'link.0.forward.aqm' = ['codel', 'pie']\n",
            "it holds 2 runs, the page shows one",
        ),
        (text.replace("flows = 2", 'flows = 2\ntcp = { congestion = "own.py" }'), "--trust"),
        (text.replace("bulk", "web").replace("flows = 2", "load = 0.5"), "give users"),
    ):
        file.write_text(wrong)
        (tmp_path / "own.py").write_text("import aqmlab\n")
        with pytest.raises(AqmlabError, match=why):
            link.opened(file)


def test_another_name_for_this_machine_is_another_site(server):
    assert get(server, f"/{server.token}/", host="evil.example").status == 404


def test_what_comes_later_is_not_on_the_list(server, page):
    (page / "later.js").write_text("1")
    assert get(server, f"/{server.token}/later.js").status == 404


def test_without_a_page_it_says_how_to_get_one(tmp_path):
    with pytest.raises(AqmlabError, match="make web"):
        Laboratory(tmp_path, tmp_path)


@pytest.fixture
def swept(tmp_path: Path, fake, scenario) -> Path:
    """A results folder of two variants and two seeds."""
    folder = tmp_path / "results" / "swept"
    experiment = load(
        {"scenario": scenario, "sweep": {"seeds": 2, "link.0.rate": ["1 Mbit/s", "2 Mbit/s"]}}
    )
    Study(experiment).carry_out(out=folder)
    return folder


def test_a_sweep_is_shown_with_intervals(server, swept):
    lab = json.loads(get(server, f"/{server.token}/lab.json").content)
    assert lab == {"results": ["swept"], "controls": []}
    found = json.loads(get(server, f"/{server.token}/results/swept.json").content)
    assert found["sweeps"]
    cells = [cell for row in found["sweeps"][0]["rows"] for cell in row["cells"]]
    assert len(cells) == 2
    assert all(cell["half"] is not None for cell in cells)


def test_damaged_results_are_one_sentence_and_links_are_not_followed(swept, tmp_path):
    (swept.parent / "link").symlink_to(swept)
    assert results.names(swept.parent) == ["swept"]
    manifest = swept / "manifest.json"
    manifest.write_text(manifest.read_text().replace("swept", "other", 1) + " ")
    (swept / "manifest.json").write_text('{"name": "x"}')
    assert "damaged" in results.shown(swept)["error"]
