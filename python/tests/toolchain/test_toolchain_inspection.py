"""Tests that inspecting a program agrees with its manifest."""

import hashlib
import json
import os

import pytest
from toolchain_requests import FP32, INT8, assert_calibrated, build

pytestmark = pytest.mark.engine


def test_manifest_says_what_was_made(built):
    root, results = built
    manifest = results["int8"]
    assert manifest == json.loads((root / "int8/manifest.json").read_text())
    assert manifest["schema"] == "assay/manifest/1"
    assert manifest["recipe"]["name"] == INT8
    assert_calibrated(manifest)
    assert results["fp32"]["calibration"] is None
    (entry,) = manifest["files"]
    data = (root / "int8" / manifest["entry"]).read_bytes()
    assert (entry["role"], entry["bytes"]) == ("program", len(data))
    assert entry["sha256"] == hashlib.sha256(data).hexdigest()
    names = [stage["name"] for stage in manifest["stages"]]
    assert names == ["model", "quantize", "export", "lower", "serialize"]
    assert all(stage["wall_ns"] > 0 and stage["peak_rss_bytes"] > 0 for stage in manifest["stages"])


def test_manifest_knows_the_boundary(built):
    _, results = built
    (method,) = results["int8"]["program"]["methods"]
    (x,), (y,) = method["inputs"], method["outputs"]
    assert (x["name"], x["dtype"], x["shape"]) == ("x", "float32", [1, 3, 16, 16])
    assert x["quantization"]["dtype"] == "int8"
    assert y["quantization"]["scale"] > 0
    assert len(method["planned_arena_bytes"]) == 1
    (method,) = results["fp32"]["program"]["methods"]
    assert method["inputs"][0]["quantization"] is None


def test_manifest_counts_delegation(built):
    _, results = built
    program = results["portable"]["program"]
    assert results["portable"]["delegation"] == "none"
    assert (program["nodes_delegated"], program["delegates"]) == (0, [])
    assert program["nodes_not_delegated"] == sum(e["count"] for e in program["operators_left"])
    assert {e["reason"] for e in program["operators_left"]} == {"the recipe has no partitioner"}
    program = results["fp32"]["program"]
    assert results["fp32"]["delegation"] == "full"
    assert program["operators_delegated"]["aten.convolution.default"] == 1
    (delegate,) = program["delegates"]
    assert (delegate["backend"], delegate["count"]) == ("XnnpackBackend", 1)
    assert delegate["named_data_bytes"] > 4 * (8 * 3 * 9 + 8 * 10)


def test_names_what_was_left_and_why(server, factory, tmp_path):
    manifest = build(server, factory("partial"), FP32, tmp_path)["result"]
    assert manifest["delegation"] == "partial"
    (left,) = manifest["program"]["operators_left"]
    assert (left["name"], left["count"]) == ("aten.cumsum.default", 1)
    assert left["reason"] == "the xnnpack partitioner has no rule for this operator"


def test_inspects_a_program(server, built):
    root, results = built
    found = server.run(job="inspect", file=str(root / "int8/program.pte"))["result"]
    assert found["sha256"] == results["int8"]["files"][0]["sha256"]
    (method,) = found["methods"]
    known = results["int8"]["program"]
    assert method["inputs"] == known["methods"][0]["inputs"]
    assert method["planned_arena_bytes"] == known["methods"][0]["planned_arena_bytes"]
    assert method["delegates"] == known["delegates"]
    assert method["instructions"] == {"total": 1, "delegate_calls": 1}
    assert sum(s["bytes"] for s in found["segments"]) + found["flatbuffer_bytes"] <= found["bytes"]
    assert "delegate 0 XnnpackBackend(" in found["text"]


def test_inspects_kernels(server, built):
    root, _ = built
    (method,) = server.run(job="inspect", file=str(root / "portable/program.pte"))["result"][
        "methods"
    ]
    counts = {entry["name"]: entry["count"] for entry in method["operators_left"]}
    assert counts["aten::convolution.out"] == 1
    assert method["instructions"]["kernel_calls"] == sum(counts.values())


@pytest.mark.parametrize("damage", ["cut", "magic", "garbage", "empty"])
def test_corrupt_programs_are_told_apart(server, built, tmp_path, damage):
    data = bytearray((built[0] / "fp32/program.pte").read_bytes())
    path = tmp_path / "broken.pte"
    if damage == "cut":
        data = data[: len(data) // 2]
    elif damage == "magic":
        data[4:8] = b"NOPE"
    elif damage == "garbage":
        data[64:2048] = os.urandom(2048 - 64)
    else:
        data = bytearray()
    path.write_bytes(data)
    done = server.run(job="inspect", file=str(path), timeout_ns=60_000_000_000)
    assert (done["outcome"], done["reason_code"]) == ("aot_error", "corrupt_program")
    assert "broken.pte is corrupt" in done["text"]


def test_an_exported_program_builds_and_inspects(server, tmp_path):
    import torch
    from toolchain_factories import image, small

    torch.manual_seed(0)
    path = tmp_path / "small.pt2"
    torch.export.save(torch.export.export(small()[0].eval(), image()), path)
    for recipe in (FP32, INT8):
        done = build(server, {"ref": str(path)}, recipe, tmp_path / recipe)
        assert done["outcome"] == "completed", done["text"]
        assert done["result"]["delegation"] == "full"
    assert "conv2d" in server.run(job="inspect", file=str(path))["result"]["text"]
    cast = build(server, {"ref": str(path)}, "executorch/xnnpack-fp16", tmp_path / "cast")
    assert (cast["outcome"], cast["stage"]) == ("unsupported", "quantize")


def test_a_flipped_byte_is_the_files_fault(built, tmp_path):
    from assay.toolchain.errors import failure_from_error
    from assay.toolchain.programs.inspection import inspect_file

    whole = (built[0] / "fp32/program.pte").read_bytes()
    path = tmp_path / "flipped.pte"
    reasons = set()
    for place in range(680, 1040, 4):
        data = bytearray(whole)
        data[place] ^= 0xFF
        path.write_bytes(data)
        try:
            inspect_file(path)
        except Exception as error:
            failure = failure_from_error(error, None)
            reasons.add(failure["reason_code"])
            assert "a bug in" not in failure["text"], f"byte {place}"
            assert "flipped.pte is corrupt" in failure["text"]
    assert reasons == {"corrupt_program"}


IR = """<net name="n" version="11"><layers>
<layer id="0" name="%s" type="Parameter" version="opset1"><data shape="1" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>1</dim></port></output></layer>
<layer id="1" name="r" type="Result" version="opset1">
<input><port id="0" precision="FP32"><dim>1</dim></port></input></layer></layers>
<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>"""


@pytest.mark.parametrize("text", ["<net", "<net/>", IR % "\xff"])
def test_a_damaged_ir_is_the_files_fault(tmp_path, text):
    pytest.importorskip("openvino")
    from assay.toolchain.errors import JobError
    from assay.toolchain.programs.inspection import inspect_file

    path = tmp_path / "broken.xml"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(JobError, match=r"broken\.xml is corrupt"):
        inspect_file(path)
