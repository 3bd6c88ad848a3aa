import pytest

from assay import AssayError
from assay.engines import TensorSpec
from assay.engines.loading import (
    Stages,
    bind_shapes,
    check_method,
    check_program,
    parse_input_shapes,
    refuse_libraries,
)


def code_of(call, *arguments):
    with pytest.raises(AssayError) as caught:
        call(*arguments)
    return caught.value.code


def test_stages_are_timed_in_order():
    stages = Stages()
    with stages("read"):
        pass
    with stages("compile"):
        sum(range(1000))
    assert list(stages.ns) == ["read", "compile"]
    assert stages.ns["compile"] > 0


def test_a_file_is_looked_at_before_the_engine_does(tmp_path):
    path = tmp_path / "net.onnx"
    assert code_of(check_program, path, (".onnx",), "X") == "not_found"
    path.write_bytes(b"")
    assert code_of(check_program, path, (".onnx",), "X") == "corrupt"
    path.write_bytes(b"1")
    check_program(path, (".onnx",), "X")
    assert code_of(check_program, path, (".tflite",), "X") == "invalid_argument"


def test_methods_and_libraries_are_refused(tmp_path):
    check_method("forward", "X")
    assert code_of(check_method, "other", "X") == "not_found"
    refuse_libraries([], "X")
    assert code_of(refuse_libraries, [tmp_path], "X") == "unsupported"


def test_shapes_are_read_by_name_or_for_the_only_input():
    names = ["x", "mask"]
    assert parse_input_shapes("x:1x3;mask:1x16", names) == {"x": [1, 3], "mask": [1, 16]}
    assert parse_input_shapes("2x4", ["x"]) == {"x": [2, 4]}
    assert parse_input_shapes("", names) == {}
    assert parse_input_shapes("serving:x:1x2", ["serving:x"]) == {"serving:x": [1, 2]}
    for bad in ("1x3", "y:1", "x:0", "x:1x", "x:ax3"):
        assert code_of(parse_input_shapes, bad, names) == "invalid_argument", bad


def test_only_open_dimensions_are_bound():
    specs = [TensorSpec("x", "float32", [-1, 3])]
    assert bind_shapes(specs, {"x": [7, 3]})[0].shape == [7, 3]
    assert bind_shapes(specs, {})[0].shape == [-1, 3]
    assert code_of(bind_shapes, specs, {"x": [7, 4]}) == "invalid_argument"
    assert code_of(bind_shapes, specs, {"x": [7]}) == "invalid_argument"
