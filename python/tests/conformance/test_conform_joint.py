import json

import pytest
import torch
from safetensors.torch import load_file

from assay.toolchain.errors import JobError, RequestError
from assay.toolchain.models.inputs import input_set_from_json, make_samples
from assay.toolchain.programs.build import build
from assay.toolchain.reference.reference import make_reference
from assay.toolchain.server.model_families import FAMILIES, load
from assay.toolchain.stages import StageLog
from assay.toolchain.types import ModelSpec

ADD = {
    "ref": "aten:add.Tensor",
    "args": {"args": [{"shape": [3, 4], "dtype": "float32"}, {"shape": [4], "dtype": "float32"}]},
}
SORT = {
    "ref": "aten:sort.default",
    "args": {"args": [{"shape": [7], "dtype": "float32", "order": "distinct"}]},
}
LINEAR = {
    "ref": "aten:linear.default",
    "args": {
        "args": [
            {"shape": [3, 8], "dtype": "float32"},
            {"shape": [5, 8], "dtype": "float32", "constant": True},
        ]
    },
}
FULL = {"ref": "aten:full.default", "args": {"args": [[2, 3], 1.5]}}
JOINT = {"ref": "joint", "args": {"models": [ADD, SORT, LINEAR, FULL]}}
SPANS = [([0, 2], [0, 1]), ([2, 3], [1, 3]), ([3, 4], [3, 4]), ([4, 4], [4, 5])]
OWN = {"generator": "model", "count": 3, "seed": 1}


def reference(model, folder, **more):
    request = {"quantization": None, "lowering": None, "kind": "float64", "inputs": OWN}
    request |= {
        "calibration": None,
        "folder": folder,
        "stages": StageLog(),
        "families": FAMILIES,
    } | more
    return make_reference(model=model, **request)


def build_joint(recipe, folder, model=JOINT):
    return build(
        model=model,
        recipe=recipe,
        calibration=None,
        stop_after=None,
        folder=folder,
        stages=StageLog(),
        families=FAMILIES,
    )


def test_the_parts_of_a_reference_are_those_of_each_part_alone(tmp_path):
    folders = [tmp_path / str(number) for number in range(5)]
    for folder in folders:
        folder.mkdir()
    document = reference(JOINT, folders[4])
    assert [(part["inputs"], part["outputs"]) for part in document["parts"]] == SPANS
    whole = load_file(folders[4] / "outputs.safetensors")
    bounds = load_file(folders[4] / "bounds.safetensors")
    assert bounds.keys() == whole.keys()
    for model, folder, (_, (begin, end)) in zip(
        (ADD, SORT, LINEAR, FULL), folders[:4], SPANS, strict=True
    ):
        alone = reference(model, folder)
        assert document["bounds"][begin:end] == alone["bounds"]
        values = load_file(folder / "outputs.safetensors")
        limits = load_file(folder / "bounds.safetensors")
        for number in range(begin, end):
            for sample in range(3):
                there, here = f"{sample}.{number}", f"{sample}.{number - begin}"
                assert torch.equal(whole[there], values[here])
                assert torch.equal(bounds[there], limits[here])
                assert bounds[there].dtype == torch.float64


def test_outputs_without_arithmetic_have_no_room(tmp_path):
    document = reference(JOINT, tmp_path)
    bounds = load_file(tmp_path / "bounds.safetensors")
    rules = [bound["rule"] for bound in document["bounds"]]
    assert rules == ["sum_of_two", "exact", "exact", "terms", "exact"]
    assert all((bounds[f"0.{number}"] == 0).all() for number in (1, 2, 4))
    assert (bounds["0.3"] > 0).all()


def test_a_joint_model_needs_models():
    with pytest.raises(RequestError, match='needs "models"'):
        load(ModelSpec("joint"))
    with pytest.raises(RequestError, match="brings no inputs of its own"):
        load(ModelSpec("joint", {"models": [f"{__file__}:plain"]}))


def plain():
    return torch.nn.Linear(2, 2), (torch.zeros(1, 2),)


def test_own_inputs_are_refused_for_a_model_that_has_none():
    inputs = input_set_from_json(OWN, role="evaluation")
    model = load(ModelSpec(f"{__file__}:plain"))
    with pytest.raises(RequestError, match="brings no inputs"):
        make_samples(inputs, model.inputs, model.sampled)


def test_a_model_with_inputs_of_its_own_takes_no_others():
    spec = ModelSpec(ADD["ref"], ADD["args"], inputs=())
    with pytest.raises(RequestError, match="brings its own inputs"):
        load(spec)


def test_own_inputs_may_not_calibrate_and_evaluate(tmp_path):
    calibration = {"generator": "model", "batches": 2, "seed": 1}
    with pytest.raises(RequestError, match="are the same"):
        reference(ADD, tmp_path, calibration=calibration)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("recipe", "delegated"),
    [
        ("executorch/portable", [0, 0, 0, 0]),
        ("executorch/xnnpack-fp32", [1, 0, 1, 0]),
    ],
)
def test_each_part_knows_what_of_it_was_delegated(recipe, delegated, tmp_path):
    program = build_joint(recipe, tmp_path)["program"]
    parts = [part["delegation"] for part in program["parts"]]
    assert [part["nodes_delegated"] for part in parts] == delegated
    for key in ("nodes_delegated", "nodes_not_delegated"):
        assert sum(part[key] for part in parts) == program[key]
    assert [left["name"] for left in parts[1]["operators_left"]] == ["aten.sort.default"]
    assert json.loads((tmp_path / "manifest.json").read_text())["program"] == program


@pytest.mark.engine
def test_quantize_nodes_count_for_the_part_that_they_serve(tmp_path):
    program = build_joint("executorch/xnnpack-int8", tmp_path)["program"]
    linear = program["parts"][2]["delegation"]
    assert linear["nodes_delegated"] + linear["nodes_not_delegated"] > 4
    total = sum(part["delegation"]["nodes_delegated"] for part in program["parts"])
    assert total == program["nodes_delegated"]


@pytest.mark.engine
def test_quantized_outputs_are_bounded_by_a_step(tmp_path):
    document = reference(JOINT, tmp_path, kind="qdq", quantization="xnnpack-int8")
    bounds, outputs = (
        load_file(tmp_path / f"{name}.safetensors") for name in ("bounds", "outputs")
    )
    rule = document["bounds"][3]
    assert rule["rule"] == "steps"
    rounding = 2**-23 * outputs["0.3"].double().abs()
    assert torch.equal(bounds["0.3"], 1.01 * rule["scale"] + rounding)
    steps = outputs["0.3"].double() / rule["scale"]
    assert torch.allclose(steps, steps.round(), atol=1e-3)
    assert document["bounds"][1]["rule"] == "exact"


@pytest.mark.engine
def test_what_a_quantizer_leaves_alone_is_bounded_as_without_it(tmp_path):
    mish = {"ref": "aten:mish.default", "args": {"args": [{"shape": [3], "dtype": "bfloat16"}]}}
    bounds = []
    for kind, quantization in (("float64", None), ("qdq", "xnnpack-int8")):
        folder = tmp_path / kind
        folder.mkdir()
        reference(mish, folder, kind=kind, quantization=quantization)
        bounds.append(load_file(folder / "bounds.safetensors"))
    assert torch.equal(bounds[0]["0.0"], bounds[1]["0.0"])


@pytest.mark.engine
def test_a_quantized_graph_that_cannot_be_evaluated_is_the_quantizers_fault(tmp_path):
    empty = {"shape": [0], "dtype": "int64"}
    cat = {"ref": "aten:cat.default", "args": {"args": [[empty, empty]]}}
    stages = StageLog()
    with pytest.raises(JobError, match="quantized graph cannot be evaluated"):
        reference(cat, tmp_path, kind="qdq", quantization="xnnpack-int8", stages=stages)
    assert stages.current == "quantize"


@pytest.mark.engine
def test_a_quantized_graph_of_other_shapes_is_the_quantizers_fault(tmp_path, monkeypatch):
    mish = {"ref": "aten:mish.default", "args": {"args": [{"shape": [3], "dtype": "float32"}]}}
    monkeypatch.setattr(
        "assay.toolchain.reference.reference.choose_function",
        lambda *_: lambda *_: [torch.zeros(3, 1)],
    )
    stages = StageLog()
    with pytest.raises(JobError, match=r"in the shapes \[\(3, 1\)\], and the float model in"):
        reference(mish, tmp_path, kind="qdq", quantization="xnnpack-int8", stages=stages)
    assert stages.current == "quantize"


def test_what_takes_all_delegates_every_part(tmp_path):
    program = build_joint("torch/eager", tmp_path)["program"]
    parts = [part["delegation"] for part in program["parts"]]
    assert [part["nodes_not_delegated"] for part in parts] == [0, 0, 0, 0]
    assert sum(part["nodes_delegated"] for part in parts) == program["nodes_delegated"]
