import hashlib

import numpy as np
import pytest

pytest.importorskip("torch")

from assay.toolchain.errors import RequestError
from assay.toolchain.models import inputs
from assay.toolchain.models.inputs import (
    generate_sample,
    input_set_from_json,
    make_samples,
    spec_from_tensor,
)
from assay.toolchain.types import InputSet, InputSpec

pytestmark = pytest.mark.engine

IMAGE = (InputSpec((1, 3, 4, 4)),)


def test_generated_values_never_change():
    (tensor,) = generate_sample(InputSet("normal", 1), IMAGE, 0)
    digest = hashlib.sha256(tensor.numpy().tobytes()).hexdigest()
    assert digest == "3440f2a9a5a1c41611e10c01272d54f241dcf3e655e231e8274976a742b250cc"


def test_samples_depend_on_seed_number_and_position_only():
    one = InputSet("normal", 1, 2)
    both = (*IMAGE, *IMAGE)
    first, second = make_samples(one, both)
    assert not np.array_equal(first[0], second[0])
    assert not np.array_equal(first[0], first[1])
    assert np.array_equal(first[0], generate_sample(one, IMAGE, 0)[0])


def test_neighbouring_seeds_share_no_batch():
    drawn = [make_samples(InputSet("normal", seed, 8), IMAGE) for seed in range(4)]
    values = {batch[0].numpy().tobytes() for batches in drawn for batch in batches}
    assert len(values) == 32


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        *[("int64", 3, 9), ("int8", -4, 4), ("uint8", 0, 255), ("uint16", 0, 60_000)],
        *[("uint32", 3_000_000_000, 4_000_000_000), ("uint64", 0, 2**62)],
    ],
)
def test_integers_keep_their_range(dtype, low, high):
    (tensor,) = generate_sample(InputSet(), (InputSpec((1000,), dtype, low, high),), 0)
    assert str(tensor.dtype) == f"torch.{dtype}"
    assert low <= tensor.numpy().min() <= tensor.numpy().max() < high
    drawn = spec_from_tensor(tensor)
    assert (drawn.low, drawn.high - 1) == (tensor.numpy().min(), tensor.numpy().max())


def test_booleans_are_mixed():
    (tensor,) = generate_sample(InputSet(), (InputSpec((1000,), "bool"),), 0)
    assert 400 < tensor.sum() < 600


def test_normal_and_uniform_are_what_they_say():
    spec = (InputSpec((10000,)),)
    normal = generate_sample(InputSet("normal"), spec, 0)[0]
    uniform = generate_sample(InputSet("uniform"), spec, 0)[0]
    assert abs(float(normal.mean())) < 0.05
    assert abs(float(normal.std()) - 1) < 0.05
    assert 0 <= uniform.min() <= uniform.max() < 1


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"generator": "gauss"}, "known: model, normal"),
        ({"count": 0}, "at least one"),
        ({"seeed": 1}, "did you mean seed"),
        ({"role": "calibration"}, "cannot serve as evaluation"),
        ({"seed": "x"}, "cannot be read"),
    ],
)
def test_refuses_bad_input_sets(document, words):
    with pytest.raises(RequestError, match=words):
        input_set_from_json(document, role="evaluation")


def test_the_same_seed_may_not_calibrate_and_evaluate():
    evaluation = InputSet("normal", 5)
    inputs.refuse_shared(evaluation, InputSet("uniform", 5))
    inputs.refuse_shared(evaluation, None)
    with pytest.raises(RequestError, match="another seed"):
        inputs.refuse_shared(evaluation, InputSet("normal", 5, 8, "calibration"))


def test_reads_npz_and_checks_it(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, **{"0.0": np.ones((1, 3, 4, 4), np.float32)})
    file = input_set_from_json({"file": str(path)}, role="evaluation")
    assert make_samples(file, IMAGE)[0][0].sum() == 48
    with pytest.raises(RequestError, match="the model takes float32"):
        make_samples(file, (InputSpec((1, 3, 5, 5)),))
    with pytest.raises(RequestError, match=r"lacks 0\.1"):
        make_samples(file, (*IMAGE, *IMAGE))
