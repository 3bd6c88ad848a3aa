"""Recipes for Arm's backends, on the fork server of their own toolchain."""

import importlib.util
import json

import pytest
from toolchain_client import Client, find_own_toolchain
from toolchain_requests import build, completed_results, reference, sqnr_db

from assay.toolchain.errors import RequestError
from assay.toolchain.quantize.arm import make_quantizer
from assay.toolchain.recipes import availability

TOSA = ("fp32", "int8", "int16")


@pytest.fixture(scope="module")
def arm_server():
    toolchain = find_own_toolchain("arm")
    if toolchain is None:
        pytest.skip("no toolchain for Arm's backends: make arm")
    client = Client([str(toolchain), "-m", "assay.toolchain.server", "--jobs", "1"])
    assert client.next_event()["event"] == "ready"
    yield client
    assert client.close() == 0


@pytest.fixture(scope="module")
def built(arm_server, factory, tmp_path_factory):
    """The small net by the recipes for TOSA."""
    root = tmp_path_factory.mktemp("built")
    ref = factory("small")
    done = {name: build(arm_server, ref, f"tosa/{name}", root / name) for name in TOSA}
    return root, completed_results(done)


@pytest.mark.engine
def test_the_manifest_says_what_the_program_exchanges(built):
    root, results = built
    manifest = results["int8"]
    assert manifest == json.loads((root / "int8/manifest.json").read_text())
    roles = {file["name"]: file["role"] for file in manifest["files"]}
    assert roles == {"program.tosa": "program", "program.io.json": "data"}
    (method,) = manifest["program"]["methods"]
    (x,), (y,) = method["inputs"], method["outputs"]
    assert (x["dtype"], x["shape"], y["dtype"], y["shape"]) == (
        "int8",
        [1, 3, 16, 16],
        "int8",
        [1, 10],
    )
    assert x["quantization"]["scale"] > 0 < y["quantization"]["scale"]
    (plain,) = results["fp32"]["program"]["methods"]
    assert [value["dtype"] for value in plain["inputs"] + plain["outputs"]] == ["float32"] * 2
    (wide,) = results["int16"]["program"]["methods"]
    assert wide["inputs"][0]["quantization"]["quant_min"] == -32767


@pytest.mark.engine
def test_everything_is_one_delegate(built):
    _, results = built
    for name in TOSA:
        program = results[name]["program"]
        assert results[name]["delegation"] == "full", name
        assert program["operators_left"] == []
        (delegate,) = program["delegates"]
        assert (delegate["backend"], delegate["count"]) == ("TOSABackend", 1)
        assert program["operators_made"]["CONV2D"] == 2  # A linear layer is one, too.
    assert results["int8"]["program"]["operators_made"]["RESCALE"] >= 1
    assert "RESCALE" not in results["fp32"]["program"]["operators_made"]


@pytest.mark.engine
def test_what_stays_outside_refuses_the_program_and_is_named(arm_server, factory, tmp_path):
    done = build(arm_server, factory("odd"), "tosa/fp32", tmp_path)
    assert done["outcome"] == "unsupported"
    assert "1 assay_tests.odd.default" in done["text"], done["text"]
    assert "outside of TOSABackend" in done["text"]


@pytest.mark.engine
def test_a_model_with_a_state_is_refused(arm_server, tmp_path):
    done = build(arm_server, "conform:buffer_written_first", "tosa/fp32", tmp_path)
    assert done["outcome"] == "unsupported"
    assert "changes the buffer last, which nothing keeps" in done["text"], done["text"]


@pytest.mark.engine
def test_a_second_build_gives_the_same_bytes(arm_server, factory, built, tmp_path):
    _, results = built
    again = build(arm_server, factory("small"), "tosa/int8", tmp_path)["result"]
    assert again["files"] == results["int8"]["files"]


@pytest.mark.engine
def test_a_program_can_be_looked_into(arm_server, built, tmp_path):
    root, results = built
    path = root / "int8/program.tosa"
    found = arm_server.run(job="inspect", file=str(path))["result"]
    counts = {one["name"]: one["count"] for one in found["operators"]}
    assert (found["format"], counts) == ("tosa", results["int8"]["program"]["operators_made"])
    assert found["methods"][0]["inputs"][0]["dtype"] == "int8"
    for name, content in (("half", path.read_bytes()[:500]), ("other", b"0123TOSB" * 9)):
        damaged = tmp_path / f"{name}.tosa"
        damaged.write_bytes(content)
        refused = arm_server.run(job="inspect", file=str(damaged))
        assert refused["reason_code"] == "corrupt_program", name


@pytest.mark.engine
def test_a_program_for_vgf_exchanges_integers(arm_server, factory, tmp_path):
    done = build(arm_server, factory("small"), "vgf/int8", tmp_path)
    (result,) = completed_results({"int8": done}).values()
    assert [file["name"] for file in result["files"]] == ["program.vgf", "program.io.json"]
    (delegate,) = result["program"]["delegates"]
    assert (delegate["backend"], delegate["count"]) == ("VgfBackend", 1)
    found = arm_server.run(job="inspect", file=str(tmp_path / "program.vgf"))["result"]
    (method,) = found["methods"]
    assert [value["dtype"] for value in method["inputs"] + method["outputs"]] == ["int8"] * 2
    assert method["inputs"][0]["shape"] == [1, 3, 16, 16]


@pytest.mark.engine
def test_a_program_for_ethos_u_has_what_vela_models(arm_server, factory, tmp_path):
    made = {
        name: build(arm_server, factory("small"), f"executorch/{name}", tmp_path / name)
        for name in ("ethos-u55-128", "ethos-u85-256")
    }
    results = completed_results(made)
    figures = {name: result["program"]["modelled"] for name, result in results.items()}
    for name, one in figures.items():
        assert one["target"] == name
        assert one["by"].startswith("vela ")
        assert one["cycles"] == pytest.approx(one["inference_ns"] * one["core_clock_hz"] / 1e9)
        assert one["inferences_per_s"] == pytest.approx(1e9 / one["inference_ns"])
        assert 0 < one["sram_bytes"] < 1 << 20
        assert one["macs"] > 10_000
    # Twice the clock and the multipliers.
    assert figures["ethos-u55-128"]["inference_ns"] > figures["ethos-u85-256"]["inference_ns"]
    (delegate,) = results["ethos-u55-128"]["program"]["delegates"]
    assert (delegate["backend"], delegate["count"]) == ("EthosUBackend", 1)
    left = {one["name"] for one in results["ethos-u55-128"]["program"]["operators_left"]}
    kinds = ("quantize", "dequantize")
    assert left == {f"quantized_decomposed.{kind}_per_tensor.default" for kind in kinds}


@pytest.mark.engine
def test_a_program_for_cortex_m_computes_the_quantized_graph_in_eager(
    arm_server, factory, tmp_path
):
    from safetensors.torch import load_file

    ref = factory("small")
    quantized = {"quantization": "cortex-m-int8", "lowering": {"flow": "cortex_m"}}
    done = {
        "built": build(arm_server, ref, "executorch/cortex-m-int8", tmp_path / "built"),
        **{
            kind: reference(arm_server, ref, tmp_path / kind, kind=kind, **quantized)
            for kind in ("qdq", "lowered_eager")
        },
    }
    program = completed_results(done)["built"]["program"]
    assert program["operators_delegated"]["cortex_m.quantized_conv2d_nhwc.default"] == 1
    assert program["operators_delegated"]["cortex_m.quantized_linear.default"] == 1
    assert program["nodes_delegated"] == sum(program["operators_delegated"].values())
    outputs = {
        kind: load_file(tmp_path / kind / "outputs.safetensors")
        for kind in ("qdq", "lowered_eager")
    }
    for name, expected in outputs["qdq"].items():
        assert sqnr_db(expected, outputs["lowered_eager"][name]) > 40


def test_without_its_toolchain_a_recipe_says_how_to_get_it(monkeypatch):
    found = importlib.util.find_spec
    lacking = ("tosa_serializer", "tosa_reference_model")
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in lacking else found(name)
    )
    missing = availability.describe()["missing"]
    for name in (
        *(f"tosa/{name}" for name in TOSA),
        "executorch/ethos-u55-128",
        "executorch/cortex-m-int8",
    ):
        assert "make arm" in missing[name]


@pytest.mark.parametrize(
    ("options", "words"),
    [({"activations": "int9"}, "did you mean int8"), ({"targt": "vgf"}, "did you mean target")],
)
def test_options_of_the_quantizer_are_checked(options, words):
    with pytest.raises(RequestError, match=words):
        make_quantizer(options)
