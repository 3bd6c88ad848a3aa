import numpy as np
import pytest

from assay import AssayError, _tensors


def round_trip(raws):
    names = [f"0.{i}" for i in range(len(raws))]
    return list(_tensors.tensors_from_bytes(_tensors.bytes_from_tensors(names, raws)).values())


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int64, np.int8, np.uint16, np.bool_])
def test_arrays_survive_the_way_there_and_back(dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    (back,) = round_trip([_tensors.raw_from_value(array, "x")])
    result = _tensors.array_from_raw(back)
    assert result.dtype == array.dtype
    np.testing.assert_array_equal(result, array)


def test_scalars_and_empty_arrays_keep_their_shape():
    arrays = [np.array(3.0, np.float32), np.zeros((0, 4), np.int32)]
    raws = round_trip([_tensors.raw_from_value(array, "x") for array in arrays])
    assert [raw.shape for raw in raws] == [(), (0, 4)]
    assert _tensors.array_from_raw(raws[0]) == 3.0


def test_bfloat16_is_widened_for_numpy_and_kept_for_torch():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([1.5, -2.0, float("inf")], dtype=torch.bfloat16)
    raw = _tensors.raw_from_value(tensor, "x")
    np.testing.assert_array_equal(_tensors.array_from_raw(raw), tensor.float().numpy())
    assert torch.equal(_tensors.tensor_from_raw(raw), tensor)


def test_the_document_is_what_safetensors_reads():
    safetensors = pytest.importorskip("safetensors.numpy")
    array = np.arange(4, dtype=np.float32)
    blob = _tensors.bytes_from_tensors(["0.0"], [_tensors.raw_from_value(array, "x")])
    np.testing.assert_array_equal(safetensors.load(blob.tobytes())["0.0"], array)


def test_a_dtype_that_no_program_takes_is_refused():
    with pytest.raises(AssayError, match="input 0 is complex64"):
        _tensors.raw_from_value(np.zeros(1, np.complex64), "input 0")


def test_an_array_of_the_other_byte_order_keeps_its_numbers():
    for order in ("<", ">"):
        array = np.array([[1.0, 2.0]], f"{order}f4")
        raw = _tensors.raw_from_value(array, "x")
        assert raw.data.view("f4").tolist() == [1.0, 2.0]
