"""The ready specs and the JSON Schema that editors check them with."""

import json
import re
from pathlib import Path

import pytest

jsonschema = pytest.importorskip("jsonschema")

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "python/assay/data/spec.schema.json").read_text())
SPECS = sorted((ROOT / "specs").glob("*.json"))
MINIMAL = {
    "schema": "assay/spec/1",
    "models": ["torchvision:mobilenet_v2"],
    "recipes": ["executorch/xnnpack-fp32"],
}
COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def without_comments(text: str) -> str:
    return COMMENT.sub(lambda match: match.group(1) or "", text)


def faults(document: object) -> list[str]:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    return [error.message for error in validator.iter_errors(document)]


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name)
def test_ready_specs_follow_the_schema(path: Path) -> None:
    assert faults(json.loads(without_comments(path.read_text()))) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"models": [{"ref": "a:b", "inputs": [[1, 3], {"shape": [], "dtype": "int8"}]}]},
        {"models": [{"ref": "a:b", "inputs": [[[1, 3], {"shape": [1]}]]}]},
        {"models": [{"ref": "n.onnx", "inputs": "x.npz", "weight_init": True}]},
        {"recipes": [{"name": "m", "lowering": {}, "quantization": None}]},
        {"recipes": [{"name": "m", "engine": "openvino", "lowering": {"flow": "openvino"}}]},
        {"options": {"threads": [1, 2], "mmap": True}},
        {"measure": {"time_budget": "1.5min", "passes": ["timing", "profile"]}},
        {"measure": {"interval": "0.5%", "most_launches": 30, "case_budget": "2min"}},
        {"scenario": {"gap": ["0ms", "250us"], "streams": [1, 2], "page_cache": "cold"}},
        {"scenario": {"duration": ["burst", "5min"]}, "measure": {"sensors": "250ms"}},
        {"scenario": {"cores": ["own", "0,2-3"], "background": "cpu:1", "cool_below": 45}},
        {"require": {"steady_ns": "<= 12ms", "qdq.sqnr_db": ">=30"}, "evaluate": {}},
        {"exclude": [{"options": {"threads": 2}}], "expand": "pairwise"},
    ],
)
def test_the_schema_accepts_what_the_reader_accepts(fields: dict) -> None:
    assert faults(MINIMAL | fields) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"modles": []},
        {"schema": "assay/spec/2"},
        {"models": []},
        {"models": [{"seed": 1}]},
        {"models": [{"ref": "a:b", "inputs": [1, 3, 224, 224]}]},
        {"models": [{"ref": "a:b", "inputs": [[1, 0]]}]},
        {"models": [{"ref": "a:b", "sha256": "ABC"}]},
        {"recipes": [{"name": "m"}]},
        {"engines": ["executorch@"]},
        {"engines": ["executorch", "executorch"]},
        {"options": {"threads": []}},
        {"measure": {"time_budget": "20"}},
        {"measure": {"launches": 0}},
        {"measure": {"passes": ["time"]}},
        {"evaluate": {"against": ["fp32"]}},
        {"require": {"sqnr_db": 30}},
        {"exclude": [{}]},
        {"seed": -1},
        {"expand": "pairs"},
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(fields: dict) -> None:
    assert faults(MINIMAL | fields) != []
