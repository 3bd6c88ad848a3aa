import contextlib
import gc
import os
import signal
import threading

import numpy as np
import pytest

import assay
from assay._paths import find_runner
from assay._runner import Runner

X = np.array([[1, 2], [3, 4]], np.float32)


def test_a_program_is_a_function_of_arrays(fake_program):
    with assay.load(fake_program()) as f:
        np.testing.assert_array_equal(f(X), 2 * X + 1)
        np.testing.assert_array_equal(f(-X), 1 - 2 * X)


def test_the_signature_and_the_options_are_the_engines(fake_program):
    with assay.load(fake_program(), options={"threads": 64}) as f:
        assert str(f.signature) == "(x: float32[2, 2]) -> (y: float32[2, 2])"
        assert f.effective_options["threads"] == 4
        assert "x: float32[2, 2]" in repr(f)


def test_inputs_that_are_not_contiguous_are_made_so(fake_program):
    with assay.load(fake_program()) as f:
        np.testing.assert_array_equal(f(X.T), 2 * X.T + 1)


def test_results_own_their_memory(fake_program):
    with assay.load(fake_program()) as f:
        first = f(X)
        f(X * 100)
    np.testing.assert_array_equal(first, 2 * X + 1)


def test_several_outputs_come_as_a_tuple(fake_program):
    spec = {"name": "y", "dtype": "float32", "shape": [2, 2]}
    with assay.load(fake_program(outputs=[spec, {**spec, "name": "z"}])) as f:
        outputs = f(X)
        assert isinstance(outputs, tuple)
        assert len(outputs) == 2


def test_more_than_ten_inputs_keep_their_order(fake_program):
    specs = [{"name": f"x{i}", "dtype": "float32", "shape": [1]} for i in range(12)]
    program = fake_program(inputs=specs, outputs=[{**specs[0], "name": "y"}])
    with assay.load(program) as f:
        one = [np.array([float(i + 1)], np.float32) for i in range(12)]
        assert f(*one) == 3.0


def test_a_wrong_dtype_names_both(fake_program):
    with assay.load(fake_program()) as f:
        with pytest.raises(assay.AssayError, match=r"input 0 \(x\) is float64.*float32") as caught:
            f(X.astype(np.float64))
        assert caught.value.code == "invalid_argument"
        f(X)  # and the program is still usable


def test_a_wrong_shape_names_both(fake_program):
    with assay.load(fake_program()) as f:
        with pytest.raises(assay.AssayError, match="3") as caught:
            f(np.zeros((3, 3), np.float32))
        assert caught.value.code == "invalid_argument"
        assert "2" in caught.value.message
        f(X)


def test_a_wrong_count_is_refused_before_anything_is_sent(fake_program):
    with assay.load(fake_program()) as f, pytest.raises(assay.AssayError, match="2 inputs for"):
        f(X, X)


def test_what_is_no_tensor_is_refused(fake_program):
    with assay.load(fake_program()) as f, pytest.raises(assay.AssayError, match="is a list"):
        f([1.0, 2.0])


def test_a_killed_runner_is_told_once_and_then_refused(fake_program):
    with assay.load(fake_program()) as f:
        f(X)
        os.kill(f.pid, signal.SIGKILL)
        with pytest.raises(assay.AssayError, match="died of SIGKILL") as caught:
            f(X)
        assert caught.value.code == "crashed"
        with pytest.raises(assay.AssayError, match=r"no longer loaded.*SIGKILL") as caught:
            f(X)
        assert caught.value.code == "unavailable"


def test_a_lost_device_is_named_and_its_runner_is_not_blamed():
    fake = find_runner("fake")
    with contextlib.closing(Runner([str(fake)], device="board", probe=["false"])) as runner:
        os.kill(runner.pid, signal.SIGKILL)
        with pytest.raises(assay.UnavailableError, match="lost device 'board': ") as caught:
            runner.request("hello", {})
        assert caught.value.code == "unavailable"
        with pytest.raises(assay.AssayError, match="device 'board' was lost; load it again"):
            runner.request("hello", {})


def test_a_runner_that_dies_on_a_device_that_lives_is_told():
    fake = find_runner("fake")
    with contextlib.closing(Runner([str(fake)], device="board", probe=["true"])) as runner:
        os.kill(runner.pid, signal.SIGKILL)
        with pytest.raises(assay.AssayError, match="died of SIGKILL") as caught:
            runner.request("hello", {})
        assert caught.value.code == "crashed"


def test_a_crash_inside_an_inference_names_signal_and_stage(fake_program):
    with (
        assay.load(fake_program(misbehave={"at": "first", "do": "segfault"})) as f,
        pytest.raises(assay.AssayError, match="SIGSEGV") as caught,
    ):
        f(X)
    assert caught.value.stage == "first"


def test_a_crash_while_loading_names_it(fake_program):
    with pytest.raises(assay.AssayError) as caught:
        assay.load(fake_program(misbehave={"at": "load", "do": "abort"}))
    assert "SIGABRT" in caught.value.message
    assert caught.value.stage == "load"


def test_a_closed_program_says_so(fake_program):
    f = assay.load(fake_program())
    f.close()
    f.close()
    with pytest.raises(assay.AssayError, match="it was closed"):
        f(X)


def test_closing_ends_the_process(fake_program):
    f = assay.load(fake_program())
    pid = f.pid
    f.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_threads_take_turns(fake_program):
    results = {}
    with assay.load(fake_program()) as f:

        def call(number):
            for _ in range(20):
                results[number] = f(X * number)

        threads = [threading.Thread(target=call, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for number, result in results.items():
        np.testing.assert_array_equal(result, 2 * X * number + 1)


def test_unknown_options_are_refused_by_the_engine(fake_program):
    with pytest.raises(assay.AssayError, match="thread"):
        assay.load(fake_program(), options={"tread": 1})


def test_a_damaged_program_is_the_runners_error_not_its_death(fake_program, tmp_path):
    path = tmp_path / "damaged.fake.json"
    path.write_text("{")
    with pytest.raises(assay.AssayError) as caught:
        assay.load(path)
    assert caught.value.code == "corrupt"
    assert caught.value.stage == "load"


@pytest.mark.parametrize(
    ("model", "options", "text"),
    [
        ("absent.pte", {}, "no program file"),
        ("torchvision:mobilenet_v2", {}, "pass recipe="),
        ("x.pte", {"recipe": "executorch/portable"}, "finished program"),
        (7, {}, "a int is no model"),
    ],
)
def test_wrong_use_says_what_to_do(model, options, text):
    with pytest.raises(assay.AssayError, match=text):
        assay.load(model, **options)


def test_an_unknown_engine_lists_those_that_are_here(fake_program):
    with pytest.raises(assay.AssayError, match=r"no engine 'nope'; here: .*fake") as caught:
        assay.load(fake_program(), engine="nope")
    assert caught.value.code == "not_found"


def test_a_program_that_nobody_closed_ends_with_its_last_reference(fake_program):
    f = assay.load(fake_program())
    pid = f.pid
    del f
    gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
