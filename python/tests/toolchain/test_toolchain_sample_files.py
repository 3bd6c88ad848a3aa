"""Inputs and expected outputs from files: each format, and what is wrong with one."""

import json
import re
import zipfile

import numpy as np
import pytest

pytest.importorskip("torch")

from stimulus_files import bundle, onnx_test_data

from assay.toolchain.errors import JobError, RequestError, failure_from_error
from assay.toolchain.file_formats.bundled_program import read_bundle
from assay.toolchain.models import sample_archives
from assay.toolchain.models.sample_files import Port, arrange, read_expected, read_sample_file

pytestmark = pytest.mark.engine

TWO = [Port("a", "float32", (1, 2)), Port("b", "int64", (3,))]
A = np.array([[1, 2]], np.float32)
B = np.array([5, 6, 7], np.int64)


def samples_from(path, ports=TWO):
    return arrange(path, read_sample_file(path).inputs, ports, "input")


@pytest.mark.parametrize(
    "names",
    [("0.0", "0.1"), ("0.a", "0.b"), ("a", "b")],
    ids=["by index", "by sample and name", "by name"],
)
@pytest.mark.parametrize("ending", [".npz", ".safetensors"])
def test_named_tensors_stand_in_the_models_order(tmp_path, names, ending):
    path = tmp_path / f"x{ending}"
    tensors = dict(zip(names, (A, B), strict=True))
    if ending == ".npz":
        np.savez(path, **dict(reversed(tensors.items())))
    else:
        from safetensors.numpy import save_file

        save_file(tensors, path)
    ((a, b),) = samples_from(path)
    assert a.tolist() == A.tolist()
    assert b.tolist() == B.tolist()


def test_several_samples_by_name(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, **{"1.a": A + 1, "0.a": A, "0.b": B, "1.b": B})
    assert [sample[0][0, 0].item() for sample in samples_from(path)] == [1, 2]


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        ({"a": A}, "lacks input 'b' of sample 0; it has: a"),
        ({"a": A, "b": B, "bb": B}, "unknown input 'bb'; did you mean b"),
        ({"0.a": A, "b": B}, "'b' has no sample in front"),
        ({"1.a": A, "1.b": B}, "lacks sample 0"),
        ({"0.0": A, "0.2": B}, "lacks 0.1"),
        ({"0.0": A}, "lacks 0.1"),
        ({"0.0": A, "0.1": B, "0.2": B}, "has 3 inputs, the model has 2"),
        ({"a": A.astype(np.float64), "b": B}, "0.a is float64 [1, 2], the model takes float32"),
        ({"a": A[0], "b": B}, "0.a is float32 [2], the model takes float32 [1, 2]"),
        ({}, "holds no tensors"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_refuses_what_does_not_fit(tmp_path, tensors, words):
    path = tmp_path / "x.npz"
    np.savez(path, **tensors)
    with pytest.raises(RequestError, match=re.escape(words)):
        samples_from(path)


def test_names_need_a_model_with_names(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, a=A, b=A)
    with pytest.raises(RequestError, match=r"call them <sample>.<index>"):
        samples_from(path, [Port("", "float32", (1, 2)), Port("", "float32", (1, 2))])


def test_open_dimensions_take_any_size(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, x=A)
    ((x,),) = samples_from(path, [Port("x", "float32", (-1, 2))])
    assert list(x.shape) == [1, 2]


def test_what_is_no_file_of_inputs_is_told(tmp_path):
    with pytest.raises(RequestError, match="no input file"):
        read_sample_file(tmp_path / "none.npz")
    (tmp_path / "x.npz").write_bytes(b"no zip")
    with pytest.raises(RequestError, match=r"no .npz"):
        read_sample_file(tmp_path / "x.npz")
    (tmp_path / "x.safetensors").write_bytes(b"short")
    with pytest.raises(RequestError, match="no safetensors"):
        read_sample_file(tmp_path / "x.safetensors")
    with pytest.raises(RequestError, match=r"holds no inputs; known: .npz.*stimulus.json"):
        read_sample_file(tmp_path)


# ---- ONNX test data


def test_sets_of_onnx_are_samples_with_outputs(tmp_path):
    onnx_test_data(tmp_path, [[A, B], [A + 1, B]], [[A * 2], [A * 3]])
    stimulus = read_sample_file(tmp_path)
    assert [s[0][0, 0].item() for s in arrange(tmp_path, stimulus.inputs, TWO, "input")] == [1, 2]
    outputs = arrange(tmp_path, stimulus.outputs, [Port("y", "float32", (1, 2))], "output")
    assert [one[0].tolist() for one in outputs] == [[[2, 4]], [[3, 6]]]
    one = read_sample_file(tmp_path / "test_data_set_1")
    assert len(one.inputs) == len(one.outputs) == 1


def test_eleven_sets_stand_in_order_of_number(tmp_path):
    onnx_test_data(tmp_path, [[A + i, B] for i in range(11)])
    assert [one[0][0, 0].item() for one in samples_from(tmp_path)] == list(range(1, 12))
    assert read_sample_file(tmp_path).outputs == []


def test_damaged_sets_are_told_with_their_file(tmp_path):
    onnx_test_data(tmp_path, [[A, B], [A, B]], [[A], [A]])
    broken = tmp_path / "test_data_set_1" / "input_0.pb"
    whole = broken.read_bytes()
    for bad in (whole[:-3], b"\xff\xff\xff\xff", b""):
        broken.write_bytes(bad)
        with pytest.raises(JobError, match=r"input_0.pb is corrupt") as caught:
            read_sample_file(tmp_path)
        assert caught.value.reason_code == "corrupt_inputs"
    broken.unlink()
    with pytest.raises(RequestError, match=r"has input_1.pb but no input_0.pb"):
        read_sample_file(tmp_path)
    broken.write_bytes(whole)
    (tmp_path / "test_data_set_0" / "output_0.pb").unlink()
    with pytest.raises(RequestError, match=r"test_data_set_0 has no output_0.pb"):
        read_sample_file(tmp_path)


# ---- raw files


def write_raw(folder, **changes):
    (folder / "a0.raw").write_bytes(A.tobytes())
    (folder / "a1.raw").write_bytes((A + 1).tobytes())
    (folder / "b.raw").write_bytes(B.tobytes())
    a = {"name": "a", "dtype": "float32", "shape": [1, 2], "files": ["a0.raw", "a1.raw"]} | changes
    b = {"name": "b", "dtype": "int64", "shape": [3], "files": ["b.raw", "b.raw"]}
    y = {"dtype": "float32", "shape": [2], "files": ["a0.raw", "a0.raw"]}
    (folder / "stimulus.json").write_text(json.dumps({"inputs": [b, a], "outputs": [y]}))


def test_raw_files_have_the_declared_type_and_shape(tmp_path):
    write_raw(tmp_path)
    first, second = samples_from(tmp_path)
    assert (first[0].tolist(), second[0].tolist()) == ([[1, 2]], [[2, 3]])
    assert first[1].tolist() == B.tolist()
    assert read_sample_file(tmp_path).outputs[1].tensors[0][1].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shape": [1, 3]}, "a0.raw has 8 bytes, float32 [1, 3] takes 12"),
        ({"dtype": "float23"}, "unknown dtype 'float23'; did you mean float32"),
        ({"files": ["a0.raw", "none.raw"]}, "no raw file"),
        ({"files": ["a0.raw"]}, "there are 1, 2"),
        ({"filse": []}, "unknown key of a raw tensor 'filse'; did you mean files"),
        ({"shape": "x"}, "cannot be read"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_raw_files_that_are_not_as_declared(tmp_path, changes, words):
    write_raw(tmp_path, **changes)
    with pytest.raises(RequestError, match=re.escape(words)):
        read_sample_file(tmp_path)


def test_a_description_that_is_no_json(tmp_path):
    (tmp_path / "stimulus.json").write_text("{")
    with pytest.raises(JobError, match=r"stimulus.json is corrupt"):
        read_sample_file(tmp_path)


# ---- bundles


def test_a_bundle_has_program_inputs_and_outputs(tmp_path):
    path = bundle(tmp_path / "net.bpte")
    stimulus = read_sample_file(path)
    assert stimulus.inputs[1].tensors[0][1].tolist() == [[0, 4, -1, 7]]
    assert stimulus.outputs[1].tensors[0][1].tolist() == [[0, 8, -2, 14]]
    assert len(read_expected(path)) == len(stimulus.outputs) == 2
    assert read_bundle(path).program[4:8] == b"ET12"


def test_a_broken_bundle_is_told(tmp_path):
    path = bundle(tmp_path / "net.bpte")
    whole = path.read_bytes()
    for bad in (b"", whole[:40], b"\0" * 64, whole[:4] + b"XX08" + whole[8:]):
        path.write_bytes(bad)
        with pytest.raises(JobError, match=r"net.bpte is corrupt"):
            read_bundle(path)
    with pytest.raises(JobError, match="cannot read"):
        read_bundle(tmp_path / "none.bpte")


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "member", "claim"])
def test_a_damaged_npz_is_named_with_what_to_do(tmp_path, damage):
    path = tmp_path / "damaged.npz"
    np.savez(path, a=np.arange(1000, dtype=np.float32), b=B)
    data = bytearray(path.read_bytes())
    if damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "flipped":
        data[2000] ^= 0xFF
        path.write_bytes(data)
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "member":
        data[data.index(b"NUMPY")] ^= 0xFF
        path.write_bytes(data)
    else:
        with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "c.npz", "w") as claiming:
            for name in whole.namelist():
                claiming.writestr(name, whole.read(name).replace(b"(1000,)", b"(9000,)"))
        (tmp_path / "c.npz").replace(path)
    with pytest.raises(JobError, match=r"damaged\.npz") as caught:
        read_sample_file(path)
    assert caught.value.reason_code in ("corrupt_inputs", "invalid_request")
    assert "a bug in" not in failure_from_error(caught.value, None)["text"]
    if damage in ("cut", "flipped", "claim"):
        assert "write it anew with numpy.savez" in caught.value.text


def test_an_npz_that_unpacks_to_too_much_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, a=np.zeros(1 << 20, np.float32))
    assert path.stat().st_size < 10_000
    monkeypatch.setattr(sample_archives, "available_bytes", lambda: 2 << 20)
    monkeypatch.setattr(np, "load", None)
    with pytest.raises(RequestError, match=r"bomb\.npz unpacks to 4 MB; at most 1 MB"):
        read_sample_file(path)


def test_available_memory_is_known_here():
    assert 0 < sample_archives.available_bytes() < 1 << 50
