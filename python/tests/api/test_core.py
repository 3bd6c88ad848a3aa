import numpy as np
import pytest

from assay import AssayError

core = pytest.importorskip("assay._core")
BLOB = np.arange(5, dtype=np.uint8)


def test_crc32c_has_the_published_value():
    assert core.crc32c(np.frombuffer(b"123456789", np.uint8)) == 0xE3069283


def test_frames_come_back_as_they_went():
    frames = [core.encode_frame("infer", n, '{"repeat":1}', BLOB) for n in (7, 8)]
    decoded = core.decode_frames(np.concatenate(frames))
    assert [(kind, request, body) for kind, request, body, _ in decoded] == [
        ("infer", 7, '{"repeat":1}'),
        ("infer", 8, '{"repeat":1}'),
    ]
    np.testing.assert_array_equal(decoded[0][3], BLOB)


def test_a_damaged_frame_is_corrupt():
    data = core.encode_frame("bye", 1, "{}", BLOB).copy()
    data[-1] ^= 1
    with pytest.raises(AssayError, match="checksum") as caught:
        core.decode_frames(data)
    assert caught.value.code == "corrupt"


def test_an_unknown_message_is_refused():
    with pytest.raises(AssayError, match="unknown message type 'hallo'"):
        core.encode_frame("hallo", 1, "{}", BLOB)


def test_a_closed_pipe_is_a_crash_of_the_other_side():
    import os

    read, write = os.pipe()
    os.close(read)
    with pytest.raises(AssayError) as caught:
        core.Channel(0, write).send("bye", 1, "{}", BLOB)
    os.close(write)
    assert caught.value.code == "crashed"


def test_differences_are_those_of_the_metrics():
    found = core.difference(np.array([1.0, 2.5]), np.array([1.0, 2.0]), step=0.25)
    assert found["max_abs"] == 0.5
    assert found["max_steps"] == 2.0
    assert found["compared"] == 2
    with pytest.raises(AssayError, match="the result has 1 elements, the reference 2"):
        core.difference(np.array([1.0]), np.array([1.0, 2.0]))


def test_random_tensors_depend_on_the_seed_alone():
    first, again, other = (core.random_bytes("float32", [3, 4], seed) for seed in (1, 1, 2))
    assert first.size == 48
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
