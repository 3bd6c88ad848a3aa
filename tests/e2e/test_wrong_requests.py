"""Assay refuses what a finished program does not take before it starts a toolchain."""

import re
from pathlib import Path

import pytest
from driver import Finished, Workplace

USAGE = 2
FLOAT32 = 1


def assert_refused(place: Workplace, finished: Finished, *parts: str) -> None:
    """It ended as wrong usage, said all the parts, and started no toolchain."""
    assert finished.code == USAGE, finished
    for part in parts:
        assert part in finished.err, finished
    assert "''" not in finished.err, finished
    assert not (place.folder / "started").exists(), finished
    assert not place.store.exists(), finished


@pytest.fixture(autouse=True)
def toolchain(place: Workplace) -> None:
    """A toolchain that leaves a mark when it is started."""
    script = place.folder / "toolchain.py"
    script.write_text(f"open({str(place.folder / 'started')!r}, 'w').close()\n", encoding="utf-8")
    place.use_script_as_toolchain(script)


def number(field: int, value: int) -> bytes:
    """A protobuf field that is a small number."""
    return bytes([field << 3, value])


def part(field: int, content: bytes) -> bytes:
    """A protobuf field that is a short message or text."""
    assert len(content) < 128
    return bytes([field << 3 | 2, len(content)]) + content


def onnx_program(place: Workplace) -> Path:
    """net.onnx, which takes x float32 [batch, 8]."""
    shape = part(1, part(2, b"batch")) + part(1, number(1, 8))
    tensor = number(1, FLOAT32) + part(2, shape)
    taken = part(11, part(1, b"x") + part(2, part(1, tensor)))
    path = place.folder / "net.onnx"
    path.write_bytes(number(1, 10) + part(7, taken))
    return path


@pytest.mark.parametrize("verb", ["bench", "eval"])
@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        (["--dimension", "btch=1"], ["'btch' in net.onnx", "did you mean 'batch'?"]),
        (
            ["--input-shape", "1,9"],
            ["input 0 'x' takes float32 [batch, 8], but float32 [1, 9] is given"],
        ),
        (["--input-shape", "1,8:int64"], ["takes float32 [batch, 8], but int64 [1, 8] is given"]),
        (
            ["--input-shape", "1,8", "--input-shape", "3"],
            ["2 shapes are given, the program takes 1 input: 'x' float32 [batch, 8]"],
        ),
        (["--input-shape", "1,x"], ["--input-shape 1,x: write dimensions such as 1,3,224,224"]),
    ],
)
def test_inputs_that_an_onnx_program_does_not_take(
    place: Workplace, verb: str, flags: list[str], parts: list[str]
) -> None:
    against = ["--against", "engine:fake"] if verb == "eval" else []
    assert_refused(place, place.run(verb, onnx_program(place), *flags, *against), *parts)


def test_a_dimension_of_what_names_none(place: Workplace) -> None:
    program = place.program("net")
    refused = place.run("bench", program, "--dimension", "btch=1")
    assert_refused(place, refused, "'btch' in net.fake.json", "--input-shape")
    refused = place.run("bench", f"{Path(__file__)}:make", "--dimension", "btch=1")
    assert_refused(place, refused, "'btch' is no open dimension", "--input-shape")


def test_a_recipe_for_a_finished_program(place: Workplace) -> None:
    program = place.program("net")
    unknown = place.run("bench", program, "--recipe", "executorch/xnnpack-fp23")
    assert_refused(place, unknown, "did you mean 'executorch/xnnpack-fp32'?")
    note = "recipe 'executorch/xnnpack-fp32' is not used"
    flags = ["--iterations", "4", "--launches", "1", "--quiet"]
    known = place.ok("bench", program, "--recipe", "executorch/xnnpack-fp32", *flags)
    assert (
        f"{note}: recipes make programs of models, and 'net.fake' is a finished program"
        in known.err
    )
    assert note not in place.ok("bench", program, *flags).err
    spec = place.spec(program, program, recipes=["executorch/xnnpack-fp32"])
    assert note in place.ok("run", spec).err


def test_a_list_takes_no_argument_behind_it(place: Workplace) -> None:
    program = place.program("net")
    place.ok("bench", "--label", "a=1", "--label", "b=2", "--engine", "fake", program, "--dry-run")


@pytest.mark.parametrize(
    ("option", "part"),
    [
        ("thraeds=2", "engine fake@1: unknown option 'thraeds'; did you mean 'threads'?"),
        ("threads=0", "option 'threads' takes 1 to 1024, not 0"),
        ("threads=many", "option 'threads' takes int"),
        ("mode=fats", "option 'mode' takes one of"),
    ],
)
def test_an_option_that_the_engine_does_not_have(place: Workplace, option: str, part: str) -> None:
    program = place.program("net")
    for verb in (["bench", program], ["profile", program], ["compare", program, program]):
        assert_refused(place, place.run(*verb, "--option", option), part)
    name, value = option.split("=")
    spec = place.spec(program, options={name: [int(value) if value.isdigit() else value]})
    assert_refused(place, place.run("run", spec), part)


def test_options_of_a_check_of_an_engine(place: Workplace) -> None:
    check = ["engine", "check", "fake", "--program", place.program("net")]
    assert_refused(place, place.run(*check, "--options", '{"thraeds": 1}'), "unknown option")
    assert_refused(place, place.run(*check, "--check", "honors_threads"), "'honours_threads'?")


@pytest.mark.parametrize("models", [["a.pte,b.pte"], ["a.pte", "b.pte"]])
def test_several_models_are_for_a_spec(place: Workplace, models: list[str]) -> None:
    finished = place.run("bench", *models)
    assert_refused(place, finished, "the command takes one model", '"models": [', "assay run FILE")


@pytest.mark.parametrize(
    ("flags", "part"),
    [
        (["--require", "steady_ns<=1"], "--require steady_ns: '<=1' lacks the unit of its value"),
        (["--require", "program_bytes<9"], "--require program_bytes: '<9' lacks the unit"),
        (["--time-budget", "5"], "--time-budget: '5' is not a duration"),
        (["--recipe", "x"], "--recipe: unknown recipe 'x'"),
        (["--library", "absent.so"], "--library absent.so: there is no file 'absent.so'"),
    ],
)
def test_a_mistake_is_told_in_the_words_of_its_flag(
    place: Workplace, flags: list[str], part: str
) -> None:
    finished = place.run("bench", place.program("net"), *flags)
    assert_refused(place, finished, part)
    assert not re.search(r"\w\[0\]|require\.|measure\.", finished.err), finished


def test_a_program_that_is_not_there(place: Workplace) -> None:
    assert_refused(place, place.run("bench", "absent.pte"), "assay bench: model: cannot", "absent")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["runs", "--limit", "0"], "'0' is no number of runs: give 1 or more, or -1 for all"),
        (["site", "pages", "--limit", "-5"], "'-5' is no number of runs"),
        (["runs", "--purpose", "bnch"], "--purpose bnch: no verb and no purpose"),
        (["runs", "prune", "--keep", "1", "--purpose", "bnch"], "did you mean 'bench'?"),
        (["serve", "--port", "99999"], "65535"),
    ],
)
def test_a_value_that_no_store_has(place: Workplace, words: list[str], part: str) -> None:
    finished = place.run(*words)
    assert_refused(place, finished, part)
    assert "Could not convert" not in finished.err, finished


def test_a_sandbox_is_switched_off_with_or_without_a_blank(place: Workplace) -> None:
    for flag in (["--sandbox", "off"], ["--sandbox=off"]):
        place.ok("bench", *flag, place.program("net"), "--dry-run")


def test_an_engine_that_does_not_start_is_told_with_its_reason(place: Workplace) -> None:
    place.register("executorch", "mine", place.folder / "absent-runner")
    program = place.folder / "net.pte"
    program.write_bytes(b"no program")
    finished = place.run("bench", program, "--engine", "executorch@mine")
    assert "executorch@mine is not installed" in finished.err, finished
    assert "absent-runner" in finished.err, finished
    assert "no case matched" in finished.err, finished
    assert "`assay doctor` shows what is missing" in finished.err, finished
