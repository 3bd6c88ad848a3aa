import json

import pytest
import torch
from safetensors.torch import load_file

from assay.conformance.listing import operator_cases
from assay.conformance.operator_model import make_operator
from assay.toolchain.errors import RequestError
from assay.toolchain.models.dynamic_shapes import dynamic_shapes
from assay.toolchain.models.loader import model_spec_from_json
from assay.toolchain.reference.reference import make_reference
from assay.toolchain.sampled_model import OpenDimension
from assay.toolchain.server.model_families import FAMILIES, load
from assay.toolchain.stages import StageLog

ADD = {
    "args": [
        {"shape": [4, 3], "dtype": "float32", "open": ["n", None]},
        {"shape": [4, 1], "dtype": "float32", "open": ["n", None]},
    ],
    "dimensions": {"n": [2, 9]},
}
ADD_MODEL = {"ref": "aten:add.Tensor", "args": ADD}
RELU_MODEL = {
    "ref": "aten:relu.default",
    "args": {
        "args": [{"shape": [5], "dtype": "float32", "open": ["n"]}],
        "dimensions": {"n": [3, 5]},
    },
}


def exported(sampled):
    shapes = dynamic_shapes(sampled.module, sampled)
    return torch.export.export(
        sampled.module, sampled.make_sample(0, 0), dynamic_shapes=shapes
    ).module()


def test_samples_have_the_least_a_middle_the_greatest_and_the_least_size_again():
    sampled = make_operator("aten:add.Tensor", ADD)
    samples = [sampled.make_sample(1, index) for index in range(5)]
    assert [tuple(sample[0].shape) for sample in samples] == [(n, 3) for n in (2, 5, 9, 2, 5)]
    assert [tuple(sample[1].shape) for sample in samples] == [(n, 1) for n in (2, 5, 9, 2, 5)]
    assert not torch.equal(samples[0][0], samples[3][0])


def test_an_exported_program_takes_every_size_and_no_other():
    sampled = make_operator("aten:add.Tensor", ADD)
    program = exported(sampled)
    for index in range(4):
        sample = sampled.make_sample(1, index)
        assert torch.equal(program(*sample)[0], sample[0] + sample[1])
    with pytest.raises(AssertionError, match="9"):
        program(torch.zeros(10, 3), torch.zeros(10, 1))


def test_parts_of_a_joint_program_have_sizes_of_their_own():
    spec = model_spec_from_json({"ref": "joint", "args": {"models": [ADD_MODEL, RELU_MODEL]}})
    sampled = load(spec).sampled
    assert [places[0] for places in sampled.dynamic] == [
        OpenDimension("n_0", 2, 9),
        OpenDimension("n_0", 2, 9),
        OpenDimension("n_1", 3, 5),
    ]
    program = exported(sampled)
    for index in range(3):
        shapes = [tuple(one.shape) for one in program(*sampled.make_sample(1, index))]
        assert shapes == [((2, 3), (5, 3), (9, 3))[index], ((3,), (4,), (5,))[index]]


def test_a_reference_holds_each_sample_in_its_own_shape(tmp_path):
    inputs = {"generator": "model", "count": 4, "seed": 1}
    make_reference(
        model=ADD_MODEL,
        quantization=None,
        lowering=None,
        kind="float64",
        inputs=inputs,
        calibration=None,
        folder=tmp_path,
        stages=StageLog(),
        families=FAMILIES,
    )
    outputs = load_file(tmp_path / "outputs.safetensors")
    bounds = load_file(tmp_path / "bounds.safetensors")
    for sample, size in enumerate((2, 5, 9, 2)):
        assert outputs[f"{sample}.0"].shape == bounds[f"{sample}.0"].shape == (size, 3)
    assert json.loads((tmp_path / "reference.json").read_text())["samples"] == 4


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"dimensions": {}}, "differ by n"),
        ({"dimensions": {"n": [2, 9], "m": [2, 3]}}, "differ by m"),
        ({"dimensions": {"n": [1, 9]}}, "at least 2"),
        ({"dimensions": {"n": [9, 9]}}, "goes from 9 to 9"),
        ({"args": [{"shape": [4, 3], "dtype": "float32", "open": ["n"]}]}, "a name or null"),
    ],
)
def test_what_does_not_fit_is_refused(change, text):
    with pytest.raises(RequestError, match=text):
        make_operator("aten:add.Tensor", ADD | change)


def test_the_suite_has_open_dimensions_of_every_kind_of_operator():
    dynamic = [case for case in operator_cases() if case.shape_class == "dynamic"]
    plain = {case.operator for case in operator_cases() if case.shape_class != "zero_size"}
    assert len({case.operator for case in dynamic}) > len(plain) / 2
    assert {case.inputs["count"] % 4 for case in dynamic if not case.refuses} == {0}
    assert any(case.tier == "quick" for case in dynamic)
    several = [case for case in dynamic if len(case.model["args"]["dimensions"]) > 1]
    assert several
