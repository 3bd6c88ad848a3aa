"""Finished programs: what their files say of their inputs, what binds it, and the stimulus job."""

import json

import numpy as np
import pytest

pytest.importorskip("torch")

from stimulus_files import bundle, onnx_scale, onnx_test_data

from assay.toolchain.errors import RequestError
from assay.toolchain.programs.program_inputs import make_stimulus
from assay.toolchain.programs.signature import Signature, Value, bind_inputs, read_signature
from assay.toolchain.stages import StageLog
from assay.toolchain.types import InputSpec

pytestmark = pytest.mark.engine

OPEN = Signature(
    (Value("ids", "int64", ("batch", "length")), Value("mask", "float32", ("batch", 4))), ()
)
RANDOM = {"generator": "normal", "seed": 1, "count": 2}


def run(folder, program, inputs=RANDOM, kind="inputs", **more):
    log = StageLog(lambda event: None)
    document = make_stimulus(
        program={"ref": str(program), **more},
        kind=kind,
        inputs=inputs,
        folder=folder,
        stages=log,
    )
    from safetensors.torch import load_file

    files = {entry["name"] for entry in document["files"]}
    tensors = {name: load_file(folder / name) for name in files if name.endswith(".safetensors")}
    return document, tensors


def test_dimensions_bind_by_name():
    ids, mask = bind_inputs(OPEN, None, {"batch": 2, "length": 16})
    assert (ids.shape, ids.dtype, ids.name) == ((2, 16), "int64", "ids")
    assert (mask.shape, mask.dtype) == ((2, 4), "float32")


def test_whole_shapes_bind_too_and_keep_the_programs_types():
    given = [InputSpec((2, 16)), InputSpec((2, 4))]
    assert [spec.dtype for spec in bind_inputs(OPEN, given, {})] == ["int64", "float32"]


@pytest.mark.parametrize(
    ("given", "dimensions", "words"),
    [
        (None, {"batch": 1}, r"dimension 'length' of input 'ids' int64 \[batch, length\] is not"),
        (None, {"batsh": 1, "length": 2}, "unknown open dimension 'batsh'; did you mean batch"),
        (None, {"batch": 0, "length": 2}, "size of at least 1, not 0"),
        ([InputSpec((1, 2))], {}, "1 inputs are given, the program takes 'ids'"),
        (
            [InputSpec((1, 2)), InputSpec((1, 5))],
            {},
            r"input 1 'mask' takes .*, but float32 \[1, 5\] is given",
        ),
        (
            [InputSpec((1, 2), "int8"), InputSpec((1, 4))],
            {},
            "input 0 'ids' takes int64 .*, but int8",
        ),
    ],
)
def test_what_stays_open_or_does_not_fit_is_named(given, dimensions, words):
    with pytest.raises(RequestError, match=words):
        bind_inputs(OPEN, given, dimensions)


def test_a_dimension_without_name_is_told_by_its_place():
    signature = Signature((Value("x", "float32", (1, "")),), ())
    with pytest.raises(RequestError, match=r"dimension 1 of input 'x' float32 \[1, \?\]"):
        bind_inputs(signature, None, {})


def test_a_format_that_tells_nothing_wants_shapes(tmp_path):
    program = tmp_path / "net.toy"
    program.write_text("{}")
    assert read_signature(program) is None
    with pytest.raises(RequestError, match=r"give .* --input-shape 1,8"):
        bind_inputs(None, None, {})
    assert bind_inputs(None, [InputSpec((1, 4))], {})[0].shape == (1, 4)


def test_random_inputs_follow_the_signature(tmp_path):
    program = onnx_scale(tmp_path / "net.onnx")
    document, tensors = run(tmp_path, program, dimensions={"batch": 2})
    assert document["kind"] == "inputs"
    assert document["binds"] == "x:2x3"
    assert document["input_specs"] == [{"shape": [2, 3], "dtype": "float32", "name": "x"}]
    assert set(tensors) == {"inputs.safetensors"}
    assert list(tensors["inputs.safetensors"]["1.0"].shape) == [2, 3]
    assert json.loads((tmp_path / "reference.json").read_text()) == document


def test_a_file_binds_what_is_open_and_brings_outputs(tmp_path):
    program = onnx_scale(tmp_path / "net.onnx")
    x = np.ones((4, 3), np.float32)
    data = onnx_test_data(tmp_path / "data", [[x], [x * 2]], [[x * 2], [x * 4]])
    document, tensors = run(tmp_path, program, {"file": str(data)}, "file")
    assert (document["binds"], document["samples"]) == ("x:4x3", 2)
    assert tensors["outputs.safetensors"]["1.0"][0, 0] == 4
    assert document["outputs"][0]["shape"] == [4, 3]


def test_samples_of_different_shapes_bind_nothing(tmp_path):
    program = onnx_scale(tmp_path / "net.onnx")
    path = tmp_path / "x.npz"
    np.savez(path, **{f"{n}.x": np.ones((n + 1, 3), np.float32) for n in range(2)})
    document, _ = run(tmp_path, program, {"file": str(path)})
    assert document["binds"] == ""


def test_a_format_that_tells_nothing_takes_what_the_file_has(tmp_path):
    program = tmp_path / "net.toy"
    program.write_text("{}")
    path = tmp_path / "x.npz"
    np.savez(path, **{"0.0": np.ones((1, 3), np.float32), "1.0": np.ones((2, 3), np.float32)})
    document, tensors = run(tmp_path, program, {"file": str(path)})
    assert (document["samples"], document["binds"]) == (2, "")
    assert list(tensors["inputs.safetensors"]["1.0"].shape) == [2, 3]


def test_expected_outputs_from_a_file_of_their_own(tmp_path):
    program = onnx_scale(tmp_path / "net.onnx")
    x = np.ones((1, 3), np.float32)
    np.savez(tmp_path / "x.npz", x=x)
    np.savez(tmp_path / "y.npz", y=x * 2)
    files = {"file": str(tmp_path / "x.npz"), "expected": str(tmp_path / "y.npz")}
    _, tensors = run(tmp_path, program, files, "file")
    assert tensors["outputs.safetensors"]["0.0"].tolist() == [[2, 2, 2]]
    np.savez(tmp_path / "y.npz", **{"0.y": x, "1.y": x})
    with pytest.raises(RequestError, match=r"expects outputs of 2 samples, .* inputs of 1"):
        run(tmp_path, program, files, "file")
    np.savez(tmp_path / "y.npz", z=x)
    with pytest.raises(RequestError, match="lacks output 'y'"):
        run(tmp_path, program, files, "file")


@pytest.mark.parametrize("is_folder", [False, True])
def test_inputs_without_outputs_are_kept_and_say_so(tmp_path, is_folder):
    program = onnx_scale(tmp_path / "net.onnx")
    x = np.ones((1, 3), np.float32)
    path = tmp_path / "x.npz"
    np.savez(path, x=x)
    if is_folder:
        path = onnx_test_data(tmp_path / "data", [[x]], [[x]])
        (path / "test_data_set_0" / "output_0.pb").unlink()
    document, tensors = run(tmp_path, program, {"file": str(path)}, "file")
    assert (
        'holds no expected outputs; name a file of them under "expected"'
        in (document["missing_outputs"])
    )
    assert tensors["inputs.safetensors"]["0.0"].tolist() == [[1, 1, 1]]


def test_a_bundle_gives_its_program_away(tmp_path):
    path = bundle(tmp_path / "net.bpte")
    document, tensors = run(tmp_path, path, {"file": str(path)}, "file")
    assert (tmp_path / "program.pte").read_bytes()[4:8] == b"ET12"
    assert {"name": "program.pte", "role": "program"}.items() <= document["files"][-1].items()
    assert tensors["outputs.safetensors"]["0.0"].tolist() == [[2, -4, 6, 1]]
    random, _ = run(tmp_path, path)
    assert random["input_specs"][0]["shape"] == [1, 4]


def test_tflite_and_ir_tell_their_inputs(tmp_path):
    openvino = pytest.importorskip("openvino")
    model = openvino.convert_model(str(onnx_scale(tmp_path / "net.onnx", shape=[1, 3])))
    openvino.save_model(model, str(tmp_path / "net.xml"))
    signature = read_signature(tmp_path / "net.xml")
    assert [(one.name, one.shape) for one in signature.inputs] == [("x", (1, 3))]


def test_the_server_makes_a_stimulus(server, tmp_path):
    program = onnx_scale(tmp_path / "net.onnx")
    asked = {"program": {"ref": str(program), "dimensions": {}}, "inputs": RANDOM}
    done = server.run(job="stimulus", out_dir=str(tmp_path / "out"), **asked)
    assert (done["outcome"], done["reason_code"]) == ("aot_error", "invalid_request")
    assert "dimension 'batch' of input 'x' float32 [batch, 3] is not bound" in done["text"]
    asked["program"]["dimensions"] = {"batch": 1}
    done = server.run(job="stimulus", out_dir=str(tmp_path / "out"), **asked)
    assert done["outcome"] == "completed", done
    program.write_bytes(program.read_bytes()[:20])
    done = server.run(job="stimulus", out_dir=str(tmp_path / "out"), **asked)
    assert (done["outcome"], done["reason_code"]) == ("aot_error", "corrupt_program")


def test_a_model_is_held_against_outputs_of_a_file(server, tmp_path, factory):
    np.savez(tmp_path / "x.npz", **{"0.0": np.ones((1, 3, 4, 4), np.float32)})
    np.savez(tmp_path / "y.npz", **{"0.0": np.full((1, 2), 7, np.float32)})
    (tmp_path / "net.py").write_text(
        "import torch\n\ndef make():\n    pool = torch.nn.AdaptiveAvgPool2d(1)\n"
        "    return torch.nn.Sequential(pool, torch.nn.Flatten()), (torch.zeros(1, 3, 4, 4),)\n"
    )
    files = {"file": str(tmp_path / "x.npz"), "expected": str(tmp_path / "y.npz")}
    done = server.run(
        job="reference",
        model={"ref": f"{tmp_path / 'net.py'}:make"},
        kind="file",
        inputs=files,
        out_dir=str(tmp_path / "out"),
    )
    assert done["outcome"] == "completed", done
    assert done["result"]["kind"] == "file"
    assert done["result"]["outputs"][0]["abs_max"] == 7
