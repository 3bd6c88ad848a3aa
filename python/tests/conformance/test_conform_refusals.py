import json

import pytest
import torch
from safetensors.torch import load_file

from assay.conformance.child import in_child
from assay.conformance.listing import operator_cases
from assay.conformance.operator_model import make_operator
from assay.conformance.recorded_calls import read_calls
from assay.toolchain.models.inputs import input_set_from_json, make_samples
from assay.toolchain.reference.reference import make_reference
from assay.toolchain.sampled_model import VALID_SAMPLES
from assay.toolchain.server.model_families import FAMILIES
from assay.toolchain.stages import StageLog

REFUSALS = [case for case in operator_cases() if case.refuses]
GATHER = {
    "args": [
        {"shape": [4, 3], "dtype": "float32"},
        0,
        {
            "shape": [2, 3],
            "dtype": "int64",
            "low": 0,
            "high": 4,
            "refused": {"low": 4, "high": 5},
        },
    ],
    "values": "refused",
}
BEYOND = {
    "args": [{"shape": [4], "dtype": "float32", "open": ["n"]}],
    "dimensions": {"n": [2, 6]},
    "values": "refused",
}


def refer(model, folder, quantization=None):
    document = make_reference(
        model=model,
        quantization=quantization,
        lowering=None,
        kind="qdq" if quantization else "float64",
        inputs={"generator": "model", "count": 3, "seed": 1},
        calibration=None,
        folder=folder,
        stages=StageLog(),
        families=FAMILIES,
    )
    return (
        document,
        load_file(folder / "inputs.safetensors"),
        load_file(folder / "outputs.safetensors"),
    )


def test_the_first_samples_are_taken_and_those_after_them_refused():
    sampled = make_operator("aten:gather.default", GATHER)
    samples = sampled.samples(1, 4)
    for sample in samples[:VALID_SAMPLES]:
        sampled.module(*sample)
    for sample in samples[VALID_SAMPLES:]:
        assert set(sample[1].unique().tolist()) == {4}
        with pytest.raises((IndexError, RuntimeError)):
            sampled.module(*sample)


def test_a_reference_has_the_input_that_is_refused_and_no_answer_to_it(tmp_path):
    document, inputs, outputs = refer({"ref": "aten:gather.default", "args": GATHER}, tmp_path)
    assert set(inputs) == {f"{sample}.{index}" for sample in range(3) for index in range(2)}
    assert set(outputs) == {"0.0", "1.0"}
    assert document["samples"] == 3


def test_a_size_that_eager_takes_has_an_answer(tmp_path):
    _, inputs, outputs = refer({"ref": "aten:relu.default", "args": BEYOND}, tmp_path)
    assert [inputs[f"{sample}.0"].shape[0] for sample in range(3)] == [2, 4, 7]
    assert torch.equal(outputs["2.0"], inputs["2.0"].double().relu())


@pytest.mark.slow
def test_a_quantized_graph_answers_beyond_the_bounds_of_a_size_as_eager_does(tmp_path):
    quantization = {"flow": "pt2e", "quantizer": "xnnpack"}
    relu = {"ref": "aten:relu.default", "args": BEYOND}
    _, inputs, outputs = refer(relu, tmp_path, quantization)
    assert [outputs[f"{sample}.0"].shape[0] for sample in range(3)] == [2, 4, 7]
    eager = inputs["2.0"].relu().clamp(max=float(outputs["2.0"].max()))
    steps = 8 / 255  # of input and output together: calibration saw values in [-4, 4]
    torch.testing.assert_close(outputs["2.0"].float(), eager, rtol=0, atol=steps)
    assert outputs["2.0"].max() > 10 * steps


def test_calibration_sees_nothing_that_is_refused():
    sampled = make_operator("aten:gather.default", GATHER)
    document = {"generator": "model", "seed": 1000, "batches": 8}
    calibration = input_set_from_json(document, role="calibration")
    samples = make_samples(calibration, (), sampled)
    assert len(samples) == 8
    assert max(int(sample[1].max()) for sample in samples) < 4


def test_the_suite_refuses_indices_beyond_and_below_and_sizes_beyond():
    names = {case.name.rpartition("-")[2] for case in REFUSALS}
    assert names == {"beyond", "below"}
    operators = {case.operator.split(".")[1] for case in REFUSALS}
    assert {"embedding", "gather", "index_select", "scatter", "index"} <= operators
    assert {case.tier for case in REFUSALS} == {"quick"}
    assert not any(case.joinable for case in REFUSALS)


def _is_right(case):
    sampled = make_operator(case.model["ref"], case.model["args"])
    *taken, refused = sampled.samples(1, VALID_SAMPLES + 1)
    for sample in taken:
        sampled.module(*sample)
    try:
        sampled.module(*refused)
    except (IndexError, RuntimeError):
        return True
    return "dimensions" in case.model["args"]


@pytest.mark.slow
def test_eager_refuses_what_the_suite_says_that_it_does():
    wrong = [
        case.name for case in REFUSALS if in_child(lambda case=case: int(_is_right(case))) != 1
    ]
    assert wrong == []


def test_the_listing_says_what_is_to_be_refused():
    document = json.loads(json.dumps(REFUSALS[0].to_json()))
    assert document["refuses"] is True
    assert document["values"] == "refused"


def test_a_copy_beyond_its_sizes_is_still_a_copy() -> None:
    rows = {(row.operator, row.name): row for row in read_calls()}
    beyond = [row for row in rows.values() if row.name.endswith("-dynamic-beyond")]
    assert beyond
    for row in beyond:
        within = rows[row.operator, row.name.removesuffix("-beyond")]
        assert ("float32" in row.copies) == ("float32" in within.copies), row.operator
