"""The JSON schemas of scenarios and experiments: shipped files fit, a misspelt key does not."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from aqmlab.experiment.folders import SHIPPED
from aqmlab.infer import spec
from aqmlab.io import documents
from aqmlab.pipeline import schema
from aqmlab.simulator import engine

EXAMPLES = sorted((SHIPPED / "examples").glob("*.toml"))
TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool,
    "number": (int, float), "integer": int,
}  # fmt: skip


class Validator:
    """The keywords of draft 2020-12 that our schema uses; any other is a mistake."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema

    def fits(self, value: Any, schema: dict[str, Any] | None = None) -> bool:
        schema = self.schema if schema is None else schema
        return all(
            getattr(self, f"_{key.strip('$')}")(value, of, schema) for key, of in schema.items()
        )

    def _ignored(self, *_: Any) -> bool:
        return True

    _schema = _title = _description = _default = _defs = _ignored

    def _ref(self, value: Any, name: str, _: Any) -> bool:
        return self.fits(value, self.schema["$defs"][name.removeprefix("#/$defs/")])

    def _type(self, value: Any, name: str, _: Any) -> bool:
        if name in ("number", "integer") and isinstance(value, bool):
            return False
        whole = name == "integer" and isinstance(value, float) and value.is_integer()
        return whole or isinstance(value, TYPES[name])

    def _properties(self, value: Any, of: dict[str, Any], _: Any) -> bool:
        return not isinstance(value, dict) or all(
            self.fits(inner, of[key]) for key, inner in value.items() if key in of
        )

    def _additionalProperties(self, value: Any, of: Any, schema: dict[str, Any]) -> bool:  # noqa: N802
        if not isinstance(value, dict):
            return True
        patterns = schema.get("patternProperties", {})
        others = [
            inner
            for key, inner in value.items()
            if key not in schema.get("properties", {})
            and not any(re.search(pattern, key) for pattern in patterns)
        ]
        return not others if of is False else all(self.fits(inner, of) for inner in others)

    def _patternProperties(self, value: Any, of: dict[str, Any], _: Any) -> bool:  # noqa: N802
        return not isinstance(value, dict) or all(
            self.fits(inner, one)
            for key, inner in value.items()
            for pattern, one in of.items()
            if re.search(pattern, key)
        )

    def _required(self, value: Any, names: list[str], _: Any) -> bool:
        return not isinstance(value, dict) or value.keys() >= set(names)

    def _items(self, value: Any, of: Any, schema: dict[str, Any]) -> bool:
        rest = value[len(schema.get("prefixItems", [])) :] if isinstance(value, list) else []
        return not rest if of is False else all(self.fits(item, of) for item in rest)

    def _prefixItems(self, value: Any, of: list[Any], _: Any) -> bool:  # noqa: N802
        return all(self.fits(item, one) for item, one in zip(value, of, strict=False))

    def _minItems(self, value: Any, least: int, _: Any) -> bool:  # noqa: N802
        return len(value) >= least

    def _anyOf(self, value: Any, of: list[Any], _: Any) -> bool:  # noqa: N802
        return any(self.fits(value, one) for one in of)

    def _oneOf(self, value: Any, of: list[Any], _: Any) -> bool:  # noqa: N802
        return sum(self.fits(value, one) for one in of) == 1

    def _enum(self, value: Any, names: list[Any], _: Any) -> bool:
        return value in names

    def _const(self, value: Any, one: Any, _: Any) -> bool:
        return value == one

    def _pattern(self, value: Any, pattern: str, _: Any) -> bool:
        return not isinstance(value, str) or re.search(pattern, value) is not None

    def _minimum(self, value: Any, least: float, _: Any) -> bool:
        return not isinstance(value, int | float) or value >= least

    def _exclusiveMinimum(self, value: Any, least: float, _: Any) -> bool:  # noqa: N802
        return not isinstance(value, int | float) or value > least

    def _maximum(self, value: Any, most: float, _: Any) -> bool:
        return not isinstance(value, int | float) or value <= most


@pytest.fixture(scope="module")
def validator() -> Validator:
    return Validator(engine.schema())


def scenario_of(path) -> dict[str, Any]:
    document = documents.read_toml(path)
    document.pop("calibration", None)
    return document.get("scenario", document)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_shipped_example_fits(validator, path):
    scenario = scenario_of(path)
    assert validator.fits(scenario)
    for section in (scenario, scenario["link"][0], scenario["traffic"][0]):
        section["ratee"] = "1 Mbit/s"
        assert not validator.fits(scenario)
        del section["ratee"]


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({"duration": "90 min"}, True),
        ({"duration": 90}, False),
        ({"duration": "90 miles"}, False),
        ({"seed": -1}, False),
        ({"engine": "fast"}, False),
        ({"network": {"rtt": ["10 ms", "0.2 s"]}}, True),
        ({"network": {"rtt": {"min": "1 ms", "maximum": "2 ms"}}}, False),
        ({"link": [{"rate_steps": [["0 s", "1 Mbit/s"]]}]}, True),
        ({"link": [{"rate_steps": [["0 s"]]}]}, False),
        ({"link": [{"access": "cable", "forward": "codel"}]}, True),
        ({"link": [{"access": "cabel"}]}, False),
        ({"link": [{"rate": "1 Mbit/s", "forward": {"aqm": "red", "max_p": 2}}]}, False),
        ({"link": [{"rate": "1 Mbit/s", "forward": {"aqm": "codel", "max_p": 0.1}}]}, False),
        ({"link": [{"rate": "1 Mbit/s", "forward": {"aqm": "my.py:Mine", "g": 3}}]}, True),
        ({"link": [{"rate": "1 Mbit/s", "forward": "./libmine.so"}]}, True),
        ({"link": [{"rate": "1 Mbit/s", "forward": "mine.rs"}]}, False),
        ({"traffic": [{"app": "bulk", "flows": 2, "tcp": {"profile": "linux"}}]}, True),
        ({"traffic": [{"app": "bulk", "flows": 2, "tcp": {"profile": "linx"}}]}, False),
        ({"traffic": [{"app": "bulk", "flows": 2, "script": [{"drop": [3, 4]}]}]}, True),
        ({"traffic": [{"app": "bulk", "flows": 2, "think": 3}]}, False),
    ],
)
def test_what_fits_and_what_does_not(validator, change, fits):
    whole = {
        "duration": "1 s",
        "link": [{"rate": "1 Mbit/s"}],
        "traffic": [{"app": "web", "load": "90%"}],
    }
    assert validator.fits(copy.deepcopy(whole) | change) == fits


def test_every_default_fits_its_own_field(validator):
    def check(of: Any) -> None:
        if isinstance(of, dict):
            if "default" in of and "description" in of:
                assert validator.fits(of["default"], of), of
            for inner in of.values():
                check(inner)
        elif isinstance(of, list):
            for inner in of:
                check(inner)

    check(validator.schema["$defs"])


OF_INFERENCES = ("infer.toml", "inferred.toml", "by-hand.toml", "reconstructed.toml")
STUDIES = sorted(
    path
    for path in SHIPPED.glob("*/*.toml")
    if path.parent.name != "examples" and path.name not in OF_INFERENCES
)


@pytest.fixture(scope="module")
def of_experiments() -> Validator:
    return Validator(schema.experiment())


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_file_of_the_studies_fits(of_experiments, path):
    assert of_experiments.fits(documents.read_toml(path))


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("**/infer.toml")), ids=lambda p: p.parent.name)
def test_every_inference_fits_and_a_strange_key_does_not(path):
    of_inferences, document = Validator(spec.schema()), documents.read_toml(path)
    assert of_inferences.fits(document)
    assert not of_inferences.fits(document | {"unknwon": {}})


@pytest.mark.parametrize(
    "mistake",
    [
        {"grup": []},
        {"group": [{"name": "a", "axess": []}]},
        {"scenario": {"durration": "1 s"}},
        {"metric": {"x": {"sumary": "queue_mean_packets"}}},
        {"figure": [{"id": "a", "kind": "lines", "x": "load", "band": 1}]},
        {"figure": [{"id": "a", "kind": "lines", "x": "load", "upto_ms": 1.0}]},
        {"figure": {"a": {"kind": "linse"}}},
        {"claim": [{"id": "C", "condition": [{"let": {}, "value": "a", "at_mst": 1}]}]},
        {"claim": [{"id": "C", "condition": [{"let": {}, "value": "a", "at_most": "one"}]}]},
    ],
)
def test_a_misspelt_key_of_an_experiment_does_not_fit(of_experiments, mistake):
    assert not of_experiments.fits(mistake)


@pytest.mark.parametrize(
    "figure",
    [
        {"id": "a", "kind": "lines", "x": "load", "metric": "m", "band": True},
        {"id": "a", "like": "b", "upto_ms": 3.0},
        {"kind": "cdf", "for": {"load": [80, 90]}, "upto_ms": 1e3},
    ],
)
def test_a_figure_has_the_keys_of_its_kind(of_experiments, figure):
    assert of_experiments.fits({"figure": [figure]})


def test_the_command_prints_a_schema_or_its_place(aqmlab_command):
    described = aqmlab_command("schema", "experiment").stdout
    assert json.loads(described) == schema.experiment()
    place = Path(aqmlab_command("schema", "experiment", "--path").stdout.rstrip("\n"))
    assert place.read_text("utf-8") == described
    place.write_text("another version's", "utf-8")
    again = aqmlab_command("schema", "experiment", "--path").stdout
    assert again.rstrip("\n") == str(place)
    assert place.read_text("utf-8") == described
    refused = aqmlab_command("schema", "study")
    assert refused.returncode == 2
    assert 'no schema of "study": give scenario, experiment or infer' in refused.stderr
