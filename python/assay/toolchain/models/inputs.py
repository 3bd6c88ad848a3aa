"""Input sets: generated from a seed, or read from a file.

Generated values depend on numpy's Philox generator only, so every toolchain sees the same inputs.
"""

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from assay.toolchain.dtypes import DTYPES as DTYPES
from assay.toolchain.dtypes import dtype_name
from assay.toolchain.errors import RequestError, reading
from assay.toolchain.models.plugins import import_object
from assay.toolchain.models.sample_files import Port, arrange, read_expected, read_sample_file
from assay.toolchain.models.sample_folders import Named
from assay.toolchain.sampled_model import FROM_MODEL, SampledModel
from assay.toolchain.suggest import check_keys, unknown_name
from assay.toolchain.tensors import Sample, tensor_from_array
from assay.toolchain.types import InputSet, InputSpec

_CALLABLE_SEEDS = {"evaluation": 0, "calibration": 1000}
"""A callable that draws from the global generators gives the same samples to every job."""

GENERATORS = ("normal", "uniform", "zeros", "ones", FROM_MODEL)


@reading("an input")
def input_spec_from_json(document: Mapping[str, Any] | Sequence[int]) -> InputSpec:
    """Reads {"shape", "dtype", "low", "high"} or a bare list of dimensions (float32)."""
    if not isinstance(document, Mapping):
        return InputSpec(tuple(int(size) for size in document))
    check_keys("key of an input", document, ("shape", "dtype", "low", "high"))
    if "shape" not in document:
        raise RequestError('an input needs a "shape", such as [1, 3, 224, 224]')
    dtype = str(document.get("dtype", "float32"))
    if dtype not in DTYPES:
        raise RequestError(unknown_name("dtype", dtype, DTYPES))
    shape = tuple(int(size) for size in document["shape"])
    return InputSpec(shape, dtype, int(document.get("low", 0)), int(document.get("high", 8)))


@reading("an input set")
def input_set_from_json(document: Mapping[str, Any], *, role: str) -> InputSet:
    """Reads an input set; `role` is evaluation or calibration, and a given one must agree."""
    known = ("generator", "seed", "count", "batches", "role", "file", "expected")
    check_keys("key of an input set", document, known)
    if document.get("role", role) != role:
        raise RequestError(f"inputs of role '{document['role']}' cannot serve as {role} inputs")
    if document.get("file") is not None:
        expected = document.get("expected")
        expected = None if expected is None else str(expected)
        return InputSet(None, 0, 0, role, str(document["file"]), expected, dict(document))
    generator = str(document.get("generator", "normal"))
    if generator not in GENERATORS:
        raise RequestError(unknown_name("generator", generator, GENERATORS))
    count = int(document.get("batches", document.get("count", 1)))
    if count < 1:
        raise RequestError(f"an input set needs at least one sample, not {count}")
    return InputSet(generator, int(document.get("seed", 0)), count, role, document=dict(document))


def refuse_shared(evaluation: InputSet, calibration: InputSet | None) -> None:
    """Refuses to evaluate on what calibrated.

    Raises:
        RequestError: both come from the same generator and seed, or from the same file.
    """
    if calibration is None:
        return
    same_file = evaluation.file is not None and evaluation.file == calibration.file
    same_seed = evaluation.generator is not None and (evaluation.generator, evaluation.seed) == (
        calibration.generator,
        calibration.seed,
    )
    if same_file or same_seed:
        raise RequestError("evaluation and calibration inputs are the same; give another seed")


def make_samples(
    inputs: InputSet,
    specs: Sequence[InputSpec],
    sampled: SampledModel | None = None,
    own: Sample | None = None,
) -> list[Sample]:
    """All samples of the set, each a tuple with one tensor for each spec."""
    return make_labelled_samples(inputs, specs, sampled, own)[0]


def make_labelled_samples(
    inputs: InputSet,
    specs: Sequence[InputSpec],
    sampled: SampledModel | None = None,
    own: Sample | None = None,
) -> tuple[list[Sample], list[torch.Tensor] | None]:
    """All samples of the set, and the labels of each, int64 of one dimension.

    Labels are None for a set that has none. `sampled` makes the samples of the generator "model".
    `own`: the inputs that a factory returned; they are the first sample of an evaluation, and the
    others are drawn in their shapes, types and ranges.

    Raises:
        RequestError: the samples do not fit the specs, or some have labels and some have not; own
            samples of a model that brings none.
    """
    if inputs.generator == FROM_MODEL:
        if sampled is None:
            return _factory_samples(inputs, specs, own), None
        if inputs.role == "calibration":
            return [
                sampled.make_sample(inputs.seed, sample) for sample in range(inputs.count)
            ], None
        return sampled.samples(inputs.seed, inputs.count), None
    if inputs.file is None:
        return [generate_sample(inputs, specs, sample) for sample in range(inputs.count)], None
    if ".py:" in inputs.file:
        seed_generators(_CALLABLE_SEEDS[inputs.role])
        return _call(inputs.file, specs)
    path = Path(inputs.file)
    return arrange(path, read_sample_file(path).inputs, _ports_from_specs(specs), "input"), None


class NoExpectedOutputs(RequestError):
    """Inputs that come without the outputs that are expected of them."""


def _factory_samples(
    inputs: InputSet, specs: Sequence[InputSpec], own: Sample | None
) -> list[Sample]:
    """Samples of a factory that returns one; what calibrates is drawn, all of it."""
    if own is None:
        raise RequestError(
            "this model brings no inputs: its factory returns no (module, inputs); "
            'leave "model" out, or give inputs from a file'
        )
    drawn = [
        generate_sample(replace(inputs, generator="normal"), specs, index)
        for index in range(inputs.count)
    ]
    return drawn if inputs.role == "calibration" else [own, *drawn[1:]]


def read_expected_outputs(
    inputs: InputSet, ports: Sequence[Port] | None, count: int
) -> list[Sample]:
    """The outputs that are expected of the set's samples, in order.

    `ports`: what the model says of its outputs; None: a program that tells nothing of them, so
    they stand as in the file.

    Raises:
        NoExpectedOutputs: there are none next to the inputs.
        RequestError: the file that is named for them has none, or there are not `count`, or they
            do not fit the outputs.
    """
    path = Path(inputs.expected or inputs.file or "")
    is_callable = inputs.expected is None and ".py:" in str(path)
    samples = [] if is_callable else _expected_samples(path, inputs.expected is not None)
    if not samples:
        missing = RequestError if inputs.expected is not None else NoExpectedOutputs
        raise missing(f'{path} holds no expected outputs; name a file of them under "expected"')
    if len(samples) != count:
        raise RequestError(
            f"{path} expects outputs of {len(samples)} samples, {inputs.file} has inputs of {count}"
        )
    if ports is None:
        ports = [Port(name) for name, _ in samples[0]]
    return arrange(path, samples, ports, "output")


def _expected_samples(path: Path, is_apart: bool) -> list[Named]:
    return read_expected(path) if is_apart else read_sample_file(path).outputs


def _ports_from_specs(specs: Sequence[InputSpec]) -> list[Port]:
    return [Port(spec.name, spec.dtype, spec.shape) for spec in specs]


def generate_sample(inputs: InputSet, specs: Sequence[InputSpec], sample: int) -> Sample:
    """Sample number `sample` of a generated set."""
    generator = inputs.generator or "normal"
    return tuple(
        tensor_from_array(_draw(generator, spec, f"{inputs.seed}/{sample}/{index}")).to(
            DTYPES[spec.dtype]
        )
        for index, spec in enumerate(specs)
    )


def spec_from_tensor(tensor: torch.Tensor) -> InputSpec:
    """The spec of an example input: integers are drawn from the range that it has."""
    dtype = dtype_name(tensor.dtype)
    if tensor.dtype.is_floating_point or tensor.dtype == torch.bool or not tensor.numel():
        return InputSpec(tuple(tensor.shape), dtype)
    values = tensor.detach().cpu().numpy()  # torch has no least element of wide unsigned types.
    return InputSpec(tuple(tensor.shape), dtype, int(values.min()), int(values.max()) + 1)


def cast_spec(spec: InputSpec, dtype: str) -> InputSpec:
    """The spec with `dtype` where it was floating."""
    return replace(spec, dtype=dtype) if DTYPES[spec.dtype].is_floating_point else spec


def seed_generators(seed: int) -> None:
    """Seeds the global generators of Python, numpy and torch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def _draw(generator: str, spec: InputSpec, stream: str) -> npt.NDArray[Any]:
    """Draws one input. Each (seed, sample, index) has a stream of its own: none can overlap."""
    key = hashlib.sha256(f"assay/inputs/1/{generator}/{stream}".encode()).digest()[:16]
    drawn = np.random.Generator(np.random.Philox(key=int.from_bytes(key, "little")))
    if generator in ("zeros", "ones"):
        return np.full(spec.shape, float(generator == "ones"), dtype=np.float32)
    if spec.dtype == "bool":
        return drawn.random(spec.shape) < 0.5
    if not DTYPES[spec.dtype].is_floating_point:
        return drawn.integers(spec.low, spec.high, spec.shape, dtype=np.int64)
    if generator == "uniform":
        return drawn.random(spec.shape, dtype=np.float64)
    return drawn.standard_normal(spec.shape, dtype=np.float64)


def _call(
    reference: str, specs: Sequence[InputSpec]
) -> tuple[list[Sample], list[torch.Tensor] | None]:
    """Samples and labels from "FILE.py:callable", which yields pairs of inputs and labels."""
    samples: list[Sample] = []
    labels: list[Any] = []
    for item in import_object(reference)():
        if not isinstance(item, tuple) or len(item) != 2:
            raise RequestError(
                f"{reference} must yield pairs of inputs and labels (None for no labels), "
                f"not {type(item).__name__}"
            )
        inputs, label = item
        tensors = inputs if isinstance(inputs, tuple) else (inputs,)
        if len(tensors) != len(specs):
            raise RequestError(
                f"{reference} yields {len(tensors)} inputs, the model takes {len(specs)}"
            )
        samples.append(tuple(_copied_tensor(reference, tensor) for tensor in tensors))
        labels.append(label)
    if not samples:
        raise RequestError(f"{reference} yields no sample")
    named = [Named(tuple(("", tensor) for tensor in sample)) for sample in samples]
    arrange(Path(reference), named, _ports_from_specs(specs), "input")
    return samples, _tensors_from_labels(reference, labels)


def _copied_tensor(reference: str, value: Any) -> torch.Tensor:
    """A copy: the callable may yield one buffer again and again."""
    try:
        return torch.as_tensor(value).detach().clone()
    except (TypeError, ValueError, RuntimeError) as error:
        raise RequestError(
            f"{reference} yields an input of type {type(value).__name__}, which is no tensor; "
            "several inputs are a tuple of tensors"
        ) from error


def _tensors_from_labels(reference: str, labels: Sequence[Any]) -> list[torch.Tensor] | None:
    if all(label is None for label in labels):
        return None
    if any(label is None for label in labels):
        raise RequestError(f"{reference} gives labels for some samples only")
    try:
        return [torch.as_tensor(label, dtype=torch.int64).reshape(-1) for label in labels]
    except (TypeError, ValueError, RuntimeError) as error:
        raise RequestError(f"{reference} yields a label that is no integer: {error}") from error
