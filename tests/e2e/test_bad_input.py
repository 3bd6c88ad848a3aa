"""Mistakes of users: each is named, with what to do, and nothing is measured in vain."""

import json
import struct
from pathlib import Path

import pytest
from driver import Document, Workplace, assert_told, case_of

USAGE, UNAVAILABLE, NOTHING_MATCHED = 2, 3, 5


# ---- the command line


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["bensh", "x"], ["unknown verb 'bensh'; did you mean 'bench'?"]),
        (["benhc", "x", "--recipie", "y"], ["unknown verb 'benhc'; did you mean 'bench'?"]),
        (["bench", "x", "--recipie", "y"], ["unknown flag '--recipie'; did you mean '--recipe'?"]),
        (["engine", "ad", "x"], ["unknown verb 'ad'; did you mean 'add'?"]),
        (["run", "--drry-run"], ["unknown flag '--drry-run'; did you mean '--dry-run'?"]),
        (["run"], ["give a spec file", "--resume latest"]),
        (["list", "engins"], ["'engins' cannot be listed; did you mean 'engines'?"]),
        (["report", "--format", "jsn"], ["no report format 'jsn'; there are: console, json"]),
        (["report", "--report", "x.doc"], ["no format has the extension '.doc'", ".html"]),
        (["report", "--out", "x.doc"], ["--out x.doc: no format has the extension '.doc'"]),
        (["report", "0000"], ["the store has no runs yet"]),
        (["list", "runs", "--store", "typo.db"], ["--store typo.db: there is no such store"]),
        (["report"], ["no run"]),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else None,
)
def test_command_line_that_cannot_be_meant(
    place: Workplace, arguments: list[str], parts: list[str]
) -> None:
    assert_told(place.run(*arguments), USAGE, *parts)


def test_without_a_verb_the_overview_is_shown(place: Workplace) -> None:
    finished = place.run()
    assert (finished.code, finished.out) == (USAGE, "")
    assert finished.err == place.run("--help").out


def test_a_suggestion_is_the_whole_complaint(place: Workplace) -> None:
    assert place.run("benhc", "x").err == "error: unknown verb 'benhc'; did you mean 'bench'?\n"


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        (["--jobs", "many"], ["--jobs", "many"]),
        (["--jobs", "0"], ["--jobs", "range"]),
        (["--launch-timeout", "5"], ["'5' is not a duration", "20s"]),
        (["--launch-timeout", "0s"], ["--launch-timeout"]),
        (["--memory-limit", "500 MBit"], ["--memory-limit"]),
        (["--label", "nightly"], ["--label nightly: write key=value"]),
        (["--format", "jsn"], ["no report format 'jsn'", "html"]),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else None,
)
def test_flag_with_a_value_that_cannot_be_used(
    place: Workplace, flags: list[str], parts: list[str]
) -> None:
    spec = place.spec(place.program("net"))
    assert_told(place.run("run", spec, *flags), USAGE, *parts)
    assert not place.store.exists() or place.query("select * from launch") == []


# ---- spec files


@pytest.mark.parametrize(
    ("fields", "parts"),
    [
        ({"measur": {}}, ["spec.json: unknown key 'measur'; did you mean 'measure'?"]),
        (
            {"measure": {"lanches": 3}},
            ["spec.json: measure: unknown key 'lanches'; did you mean 'launches'?"],
        ),
        ({"recipes": ["executorch/xnnpack-fp23"]}, ["did you mean 'executorch/xnnpack-fp32'?"]),
        ({"engines": ["fakee"]}, ["engines[0]: unknown engine 'fakee'; did you mean 'fake'?"]),
        ({"schema": "assay/spec/9"}, ["this Assay reads 'assay/spec/1'", "update Assay"]),
        ({"schema": "mlperf"}, ["'mlperf' cannot be read, this Assay reads 'assay/spec/1'"]),
        ({"measure": {"launches": "three"}}, ["measure.launches", "number"]),
        ({"measure": {"time_budget": "20"}}, ["measure.time_budget", "'20' is not a duration"]),
        ({"require": {"steady_nz": "<1s"}}, ["'steady_nz'; did you mean 'steady_ns'?"]),
        ({"require": {"steady_ns": "fast"}}, ["require.steady_ns"]),
        ({"models": []}, ["models", "is empty"]),
        ({"models": ["mobilenet_v2"]}, ["did you mean 'torchvision:mobilenet_v2'?"]),
        ({"models": ["torchvision:resnt18"]}, ["'resnt18'; did you mean 'resnet18'?"]),
        ({"models": ["torchvison:resnet18"]}, ["did you mean 'torchvision'?"]),
        ({"recipes": ["xnnpack-fp32"]}, ["did you mean 'executorch/xnnpack-fp32'?"]),
        (
            {"recipes": ["executorch/fixedpoint-int8"]},
            ["--plugin delegates/fixedpoint/assay_plugin.py --library executorch="],
        ),
        ({"engines": ["onnx"]}, ["unknown engine 'onnx'; did you mean 'onnxruntime'?"]),
        ({"scenario": {"gap": "20"}}, ["scenario.gap: '20' is not a duration"]),
    ],
    ids=lambda value: json.dumps(value)[:40] if isinstance(value, dict) else None,
)
def test_spec_with_a_mistake(place: Workplace, fields: Document, parts: list[str]) -> None:
    spec = place.spec(place.program("net"), **fields)
    code = UNAVAILABLE if fields.get("schema") == "assay/spec/9" else USAGE
    assert_told(place.run("run", spec), code, *parts)
    assert not place.store.exists()


def test_all_mistakes_of_a_spec_are_told_at_once(place: Workplace) -> None:
    spec = place.spec(place.program("net"), measur={}, require={"steady_nz": "<1s"})
    assert_told(place.run("run", spec), USAGE, "'measur'", "'steady_nz'")


def test_spec_that_is_no_json_or_not_there(place: Workplace) -> None:
    spec = place.folder / "spec.json"
    spec.write_text('{"schema": "assay/spec/1",\n "models": [}', encoding="utf-8")
    assert_told(place.run("run", spec), USAGE, "spec.json", "line 2")
    assert_told(place.run("run", "nothing.json"), USAGE, "nothing.json")


def test_model_file_that_is_missing(place: Workplace) -> None:
    spec = place.spec(
        {"ref": "absent.fake.json", "url": "https://example.org/net"}, place.program("net")
    )
    finished = place.run("run", spec)
    assert_told(finished, USAGE, "models[0].ref", "absent.fake.json", "https://example.org/net")


def test_model_file_with_another_digest(place: Workplace) -> None:
    spec = place.spec({"ref": str(place.program("net")), "sha256": "0" * 64})
    finished = place.run("run", spec)
    remedy = "fetch the file again or correct the spec"
    assert_told(finished, UNAVAILABLE, "the spec says 0000", remedy)


def test_engine_that_is_known_but_not_installed(place: Workplace) -> None:
    spec = place.spec(place.program("net"), engines=["fake@7"])
    finished = place.run("run", spec)
    assert_told(finished, NOTHING_MATCHED, "fake@7 is not installed; installed:", "fake@1")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"thread": 1}, "'thread'; did you mean 'threads'?"),
        ({"threads": "two"}, "threads"),
        ({"threads": 0}, "option 'threads' takes 1 to 1024, not 0"),
        ({"mode": "slw"}, "slw"),
    ],
    ids=str,
)
def test_option_that_the_engine_does_not_take(
    place: Workplace, options: Document, text: str
) -> None:
    spec = place.spec(place.program("net"), options=options)
    finished = place.run("run", spec, "--format", "json")
    assert finished.code == 2, finished
    assert text in finished.err
    assert finished.out == ""


# ---- Mistakes that only the engine can see: they make a row and do not end the run.


def safetensors(path: Path, dtype: str, shape: list[int], item_bytes: int) -> Path:
    """One sample with one input of zeros."""
    size = item_bytes
    for length in shape:
        size *= length
    tensor = {"dtype": dtype, "shape": shape, "data_offsets": [0, size]}
    header = json.dumps({"0.0": tensor}).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(size))
    return path


@pytest.mark.parametrize(
    ("dtype", "shape", "item_bytes", "text"),
    [
        ("F32", [1, 5], 4, "float32 1x5, the program takes float32 1x4"),
        ("I64", [1, 4], 8, "int64 1x4, the program takes float32 1x4"),
    ],
)
def test_inputs_that_do_not_fit_name_both(
    place: Workplace, dtype: str, shape: list[int], item_bytes: int, text: str
) -> None:
    file = safetensors(place.folder / "inputs.safetensors", dtype, shape, item_bytes)
    model = {"ref": str(place.program("net")), "inputs": str(file)}
    finished = place.run("run", place.spec(model), "--format", "json")
    assert finished.code == 1, finished
    assert text in case_of(finished.json(), "net")["text"]


def test_inputs_that_fit_are_taken(place: Workplace) -> None:
    file = safetensors(place.folder / "inputs.safetensors", "F32", [1, 4], 4)
    model = {"ref": str(place.program("net")), "inputs": str(file)}
    finished = place.run("run", place.spec(model), "--format", "json")
    assert finished.code == 0, finished


def test_inputs_cut_short_are_an_error_of_the_case(place: Workplace) -> None:
    file = safetensors(place.folder / "inputs.safetensors", "F32", [1, 4], 4)
    file.write_bytes(file.read_bytes()[:-3])
    model = {"ref": str(place.program("net")), "inputs": str(file)}
    finished = place.run("run", place.spec(model), "--format", "json")
    assert finished.code == 1, finished
    assert "inputs.safetensors" in case_of(finished.json(), "net")["text"]


# ---- the toolchain and plug-ins


def test_a_factory_that_its_file_does_not_define(place: Workplace) -> None:
    net = place.folder / "net.py"
    net.write_text("def make():\n    raise SystemExit('never run')\n", encoding="utf-8")
    assert_told(place.run("bench", f"{net}:mke"), USAGE, "net.py defines no 'mke'", "'make'")
    assert_told(place.run("bench", str(net)), USAGE, "net.py:make")
    assert not place.store.exists()


def test_a_request_that_the_toolchain_finds_wrong_is_the_users(place: Workplace) -> None:
    place.use_script_as_toolchain(Path(__file__).parent / "scripted_toolchain.py")
    place.register_fake_as("executorch", "scripted", fmt="pte")
    (place.folder / "net.py").write_text("def make():\n    pass\n", encoding="utf-8")
    asked = ("net.py:make", "--recipe", "executorch/portable", "--engine", "executorch@scripted")
    wrong = place.run("bench", *asked, "--args", '{"behaves": "invalid_request"}', "-q")
    assert_told(wrong, USAGE, "net does not run with the inputs that are given")
    assert wrong.out == ""
    made = place.run("aot", *asked, "--args", '{"behaves": "invalid_request"}')
    assert made.code == USAGE, made
    faulty = place.run("bench", *asked, "--args", '{"behaves": "aot_error"}', "-q")
    assert (faulty.code, "aot_error on order" in faulty.out) == (1, True), faulty


@pytest.mark.slow
def test_a_plugin_that_does_not_load_is_named(place: Workplace) -> None:
    broken = place.folder / "my_plugin.py"
    broken.write_text("import no_such_package\n", encoding="utf-8")
    told = (str(broken), "No module named 'no_such_package'")
    python = ("--python", place.python)
    model = "torchvision:resnet18"
    assert_told(place.run("bench", model, "--plugin", str(broken), *python), USAGE, *told)
    assert_told(place.run("list", "recipes", "--plugin", str(broken), *python), USAGE, *told)
    place.env["ASSAY_PLUGINS"] = str(broken)
    assert_told(place.run("list", "models", *python), USAGE, *told)
    absent = place.run("bench", model, "--plugin", "absent.py", *python)
    assert_told(absent, USAGE, "plug-in", "absent.py' does not exist")


def test_lists_show_what_plugins_bring(place: Workplace) -> None:
    plugin = place.folder / "my_plugin.py"
    plugin.write_text(
        "def net():\n    'A net of mine.'\n\n"
        "models = {'my:net': net}\n"
        "recipes = [{'name': 'my/fp32', 'lowering': {'partitioner': 'xnnpack'}}]\n",
        encoding="utf-8",
    )
    python = ("--python", place.python, "--plugin", str(plugin))
    assert "my:net" in place.run("list", "models", *python).out
    recipes = place.run("list", "recipes", *python).out
    assert "my/fp32" in recipes
    assert "(needs --plugin delegates/fixedpoint/assay_plugin.py --library" in recipes


def test_the_schema_of_specs_is_printed(place: Workplace) -> None:
    schema = place.run("list", "schema").json()
    assert "$schema" in schema["properties"]
