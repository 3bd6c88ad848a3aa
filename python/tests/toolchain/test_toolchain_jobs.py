"""Jobs on the real fork server: one server for the whole session, tiny models."""

import time
from pathlib import Path

import pytest
from toolchain_requests import (
    EVALUATION,
    FP32,
    INT8,
    PORTABLE,
    assert_builds_repeat,
    build,
    reference,
    sqnr_db,
)

pytestmark = pytest.mark.engine

XNNPACK = {"partitioner": "xnnpack"}


def execute(program, inputs, data=None):
    from executorch.extension.pybindings.portable_lib import _load_for_executorch

    arguments = [str(program)] + ([] if data is None else [str(data)])
    return _load_for_executorch(*arguments).run_method("forward", tuple(inputs))


def worst_sqnr_db(folder, expected, data=None):
    from safetensors.torch import load_file

    inputs = load_file(expected / "inputs.safetensors")
    outputs = load_file(expected / "outputs.safetensors")
    program = folder / "program.pte"
    data = None if data is None else folder / data
    return min(
        sqnr_db(outputs[name], execute(program, [value], data)[0]) for name, value in inputs.items()
    )


def test_announces_itself(server):
    assert server.ready["schema"] == "assay/aot/1"
    assert server.ready["toolchain"]["packages"]["executorch"]
    assert server.ready["import_ns"] > 0
    assert server.ready["warm_up_ns"] > 0


@pytest.mark.parametrize(
    ("name", "expected", "least_db"),
    [("portable", "float32", 90), ("fp32", "float32", 90), ("int8", "qdq", 30)],
)
def test_the_program_answers_like_its_reference(built, name, expected, least_db):
    root, _ = built
    assert worst_sqnr_db(root / name, root / expected) > least_db


def test_quantization_shows_in_its_reference_and_is_not_dead(built):
    root, results = built
    assert 5 < worst_sqnr_db(root / "int8", root / "float32") < 60
    output = results["qdq"]["outputs"][0]
    assert output["std_between_inputs"] > 0.1 * output["rms"] > 0


def test_a_second_build_gives_the_same_bytes(server, built, factory, tmp_path):
    _, results = built
    recipes = {"fp32": FP32, "int8": INT8}
    assert_builds_repeat(server, factory("small"), recipes, results, tmp_path)


def test_a_second_reference_gives_the_same_bytes(server, built, factory, tmp_path):
    _, results = built
    done = reference(server, factory("small"), tmp_path, kind="qdq", quantization="xnnpack-int8")
    assert done["result"]["files"] == results["qdq"]["files"]


def test_weights_follow_the_seed(server, factory, built, tmp_path):
    _, results = built
    model = {"ref": factory("small"), "weight_init": True, "seed": 7}
    other = build(server, model, PORTABLE, tmp_path, stop_after="lower")["result"]
    assert other["model"]["weights_sha256"] != results["portable"]["model"]["weights_sha256"]


def test_lowered_eager_runs_the_edge_program(server, factory, built, tmp_path):
    _, results = built
    done = reference(
        server,
        factory("small"),
        tmp_path,
        kind="lowered_eager",
        quantization="xnnpack-int8",
        lowering=XNNPACK,
    )
    assert done["outcome"] == "completed", done["text"]
    assert done["result"]["outputs"][0]["rms"] == pytest.approx(
        results["qdq"]["outputs"][0]["rms"], rel=1e-3
    )
    assert server.stages["job"] == ["model", "quantize", "export", "lower", "reference"]


def test_float64_reference_is_wide(server, factory, tmp_path):
    done = reference(server, factory("small"), tmp_path, kind="float64")
    assert done["result"]["outputs"][0]["dtype"] == "float64"
    assert done["result"]["outputs"][0]["own_dtype"] == "float32"
    assert done["result"]["nan_count"] == 0


def test_a_reference_says_what_float32_loses_in_the_network(server, built, factory, tmp_path):
    wide = reference(server, factory("small"), tmp_path, kind="float64")["result"]["outputs"][0]
    assert 0 < wide["sensitivity"]["relative_l2_error"] < 1e-5
    assert wide["sensitivity"]["relative_l2_error"] < wide["sensitivity"]["scaled_max_error"] < 1e-5
    _, results = built
    assert results["float32"]["outputs"][0]["sensitivity"] == wide["sensitivity"]
    assert "sensitivity" not in results["qdq"]["outputs"][0]


def test_several_inputs_and_outputs(server, factory, tmp_path):
    model = {"ref": factory("two_inputs")}
    manifest = build(server, model, PORTABLE, tmp_path / "a")["result"]
    (method,) = manifest["program"]["methods"]
    assert [value["dtype"] for value in method["inputs"]] == ["float32", "int64"]
    assert len(method["outputs"]) == 2
    request = {"model": model, "inputs": EVALUATION, "out_dir": str(tmp_path / "b")}
    document = server.run(job="reference", kind="float32", **request)["result"]
    assert [output["shape"] for output in document["outputs"]] == [[1, 8], [1, 3]]
    assert document["input_specs"][1] == {"shape": [3], "dtype": "int64", "low": 0, "high": 6}


def test_float16_casts_inputs_and_outputs(server, factory, tmp_path):
    manifest = build(server, factory("small"), "executorch/xnnpack-fp16", tmp_path)["result"]
    (method,) = manifest["program"]["methods"]
    assert method["inputs"][0]["dtype"] == "float16"
    done = reference(server, factory("small"), tmp_path, kind="qdq", quantization="float16")
    assert done["result"]["outputs"][0]["dtype"] == "float16"


@pytest.mark.parametrize(
    "recipe",
    [
        "executorch/portable-fp16",
        "executorch/xnnpack-int8-per-tensor",
        "executorch/xnnpack-int8-dynamic",
        {"quantization": {"flow": "torchao", "config": "8da8w"}, "lowering": XNNPACK},
        "executorch/recipe:xnnpack_fp32",
        "plugin/xnnpack-per-op",
    ],
)
def test_other_recipes_build(server, factory, tmp_path, recipe):
    done = build(server, factory("small"), recipe, tmp_path)
    assert done["outcome"] == "completed", done["text"]
    assert (tmp_path / "program.pte").stat().st_size > 0


def test_executorchs_own_recipe_makes_the_same_program(server, factory, built, tmp_path):
    _, results = built
    recipe = "executorch/recipe:xnnpack_pt2e_int8_static_per_channel"
    done = build(server, factory("small"), recipe, tmp_path)
    assert done["outcome"] == "completed", done["text"]
    assert (
        done["result"]["program"]["operators_delegated"]
        == (results["int8"]["program"]["operators_delegated"])
    )


def test_external_constants_leave_the_program(server, factory, built, tmp_path):
    root, _ = built
    lowering = {"partitioner": "xnnpack", "options": {"external_constants": True}}
    manifest = build(server, factory("small"), {"lowering": lowering}, tmp_path)["result"]
    assert [entry["role"] for entry in manifest["files"]] == ["program", "data"]
    assert worst_sqnr_db(tmp_path, root / "float32", "weights.ptd") > 90


def test_stopping_after_lowering_leaves_no_program(server, factory, tmp_path):
    manifest = build(server, factory("small"), FP32, tmp_path, stop_after="lower")["result"]
    assert (manifest["entry"], manifest["files"]) == (None, [])
    assert manifest["program"]["nodes_delegated"] > 0
    assert not (tmp_path / "program.pte").exists()


@pytest.mark.parametrize(
    ("lowering", "words"),
    [
        ({"partitioner": "xnnpack", "options": {"precision_type": "FP32"}}, "precision_type"),
        ({"partitioner": "xnpack"}, "did you mean xnnpack"),
        ({"partitioner": None, "options": {"per_op_mode": True}}, "without a partitioner"),
        ({"partitioner": "xnnpack", "options": {"external_constants": 1}}, "takes bool"),
        ({"partitioner": "xnnpack", "options": {"config_precisions": "fp33"}}, "fp32"),
        ({"flow": "executorch_recipe", "recipe": "xnnpack_fp31"}, "did you mean xnnpack_fp32"),
        (
            {"flow": "executorch_recipe", "recipe": "xnnpack_fp32", "options": {"group_size": 8}},
            "ignoring unexpected",
        ),
    ],
)
def test_unread_options_are_refused(server, factory, tmp_path, lowering, words):
    done = build(server, factory("small"), {"lowering": lowering}, tmp_path)
    assert (done["outcome"], done["reason_code"]) == ("aot_error", "invalid_request")
    assert words in done["text"]


@pytest.mark.parametrize(
    ("name", "outcome", "reason", "words"),
    [
        ("segfaults", "crashed", "SIGSEGV", "about to fall"),
        ("aborts", "crashed", "SIGABRT", "in stage model"),
        ("exits", "crashed", "exited", "status 0"),
        ("raises", "aot_error", "model_failed", "ValueError: no such weights"),
        ("hogs", "out_of_memory", "allocation_failed", "allocate"),
        ("not_a_model", "aot_error", "invalid_request", "not int"),
        ("bare", "aot_error", "invalid_request", '"inputs"'),
        ("smal", "aot_error", "invalid_request", "did you mean small"),
    ],
)
def test_a_bad_model_is_one_jobs_trouble(server, factory, tmp_path, name, outcome, reason, words):
    done = build(server, {"ref": factory(name)}, PORTABLE, tmp_path)
    assert (done["outcome"], done["stage"], done["reason_code"]) == (outcome, "model", reason)
    assert words in done["text"]


def test_a_deadline_ends_a_model_and_what_it_started(server, factory, tmp_path):
    pid_file = tmp_path / "pid"
    model = {"ref": factory("loops"), "args": {"pid_file": str(pid_file)}}
    done = build(server, model, PORTABLE, tmp_path, timeout_ns=1_500_000_000)
    assert (done["outcome"], done["stage"]) == ("timed_out", "model")
    time.sleep(0.3)
    stat = Path(f"/proc/{pid_file.read_text()}/stat")
    assert not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] == "Z"


def test_a_memory_limit_is_the_jobs_own(server, factory, tmp_path):
    model = {"ref": factory("hogs"), "args": {"size": 256 << 20}}
    more = {"stop_after": "lower", "memory_limit_bytes": 64 << 20}
    done = build(server, model, PORTABLE, tmp_path, **more)
    assert (done["outcome"], done["stage"]) == ("out_of_memory", "model")
    assert build(server, model, PORTABLE, tmp_path, stop_after="lower")["outcome"] == "completed"


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({"ref": "torchvision:mobilenet_v22"}, "did you mean mobilenet_v2"),
        ({"ref": "plugin:tinny"}, "did you mean plugin:tiny"),
        ({"ref": "/no/such.py:f"}, "no Python file"),
        ({"ref": "/no/such.pt2"}, "no exported program"),
        ({"ref": "torchvision:mobilenet_v2", "args": {"weights": "DEFAULT"}}, "not downloaded"),
        ({"ref": "plugin:tiny", "args": {"widht": 3}}, "does not take these arguments"),
        ({"ref": "plugin:tiny", "seed": "x"}, "cannot be read"),
        ({"reff": "plugin:tiny"}, "did you mean ref"),
    ],
)
def test_model_references_that_name_nothing(server, tmp_path, model, words):
    done = build(server, model, PORTABLE, tmp_path)
    assert (done["outcome"], done["reason_code"]) == ("aot_error", "invalid_request")
    assert words in done["text"]


def test_calibration_inputs_never_evaluate(server, factory, tmp_path):
    inputs = {"generator": "normal", "seed": 1000, "count": 2}
    done = reference(server, factory("small"), tmp_path, kind="float32", inputs=inputs)
    assert (done["outcome"], done["reason_code"]) == ("aot_error", "invalid_request")
    assert "another seed" in done["text"]


def test_inputs_from_a_file_are_used_as_they_are(server, factory, built, tmp_path):
    root, results = built
    file = {"file": str(root / "float32/inputs.safetensors")}
    done = reference(server, factory("small"), tmp_path, kind="float32", inputs=file)
    assert done["result"]["files"] == results["float32"]["files"]


def test_a_plugins_model_builds(server, tmp_path):
    done = build(server, {"ref": "plugin:tiny", "args": {"width": 2}}, FP32, tmp_path)
    assert done["result"]["program"]["methods"][0]["outputs"][0]["shape"] == [1, 2, 8, 8]


def test_lists_say_what_is_there_and_why_not(server):
    models = server.run(job="list", what="models")["result"]["items"]
    by_name = {item["name"]: item for item in models}
    assert sum(name.startswith("torchvision:") for name in by_name) >= 20
    assert by_name["plugin:tiny"]["available"]
    broken = [item for name, item in by_name.items() if name.endswith("broken_plugin.py")]
    assert "this plug-in is broken" in broken[0]["reason"]
    assert all(item["available"] or item["reason"] for item in models)


def test_lists_recipes_of_every_origin(server):
    items = server.run(job="list", what="recipes")["result"]["items"]
    by_name = {item["name"]: item for item in items}
    assert by_name[INT8]["available"]
    assert by_name["executorch/recipe:xnnpack_fp32"]["available"]
    assert by_name["plugin/xnnpack-per-op"]["available"]
    assert by_name["executorch/coreml-fp32"]["backend"] == "CoreMLBackend"
    assert by_name["executorch/cortex-m-int8"]["runtime"] == "unavailable here"
    assert server.run(job="list", what="modles")["outcome"] == "aot_error"


def test_vulkan_lowers_with_the_wheel_alone(server, factory, tmp_path):
    manifest = build(server, factory("small"), "executorch/vulkan-fp32", tmp_path)["result"]
    assert [delegate["backend"] for delegate in manifest["program"]["delegates"]] == [
        "VulkanBackend"
    ]
    assert [entry["role"] for entry in manifest["files"]] == ["program"]


def test_a_recipe_that_stops_after_lower_has_no_files(server, factory, tmp_path):
    recipe = {"name": "mine", "lowering": {"partitioner": "vulkan"}, "stop_after": "lower"}
    manifest = build(server, factory("small"), recipe, tmp_path)["result"]
    assert [delegate["backend"] for delegate in manifest["program"]["delegates"]] == [
        "VulkanBackend"
    ]
    assert manifest["files"] == []
