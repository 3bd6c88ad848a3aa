"""Input sets: generated from a seed, or read from a file.

Generated values depend on numpy's Philox generator only, so every toolchain sees the same inputs.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from assay.aot.errors import RequestError, reading
from assay.aot.plugins import import_object
from assay.aot.suggest import check_keys, unknown_name

GENERATORS = ("normal", "uniform", "zeros", "ones")
DTYPES: dict[str, torch.dtype] = {
    "float64": torch.float64,
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "int64": torch.int64,
    "int32": torch.int32,
    "int16": torch.int16,
    "int8": torch.int8,
    "uint8": torch.uint8,
    "bool": torch.bool,
}
Sample = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class InputSpec:
    """One input of a model. Integers are drawn from [low, high)."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: int = 0
    high: int = 8

    def to_json(self) -> dict[str, Any]:
        """As requests and manifests write it."""
        document: dict[str, Any] = {"shape": list(self.shape), "dtype": self.dtype}
        if not DTYPES[self.dtype].is_floating_point and self.dtype != "bool":
            document |= {"low": self.low, "high": self.high}
        return document


@dataclass(frozen=True)
class InputSet:
    """Which inputs: `count` samples of a generator and a seed, or those of a file."""

    generator: str | None = "normal"
    seed: int = 0
    count: int = 1
    role: str = "evaluation"
    file: str | None = None
    document: dict[str, Any] = field(default_factory=dict, compare=False)


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
    check_keys(
        "key of an input set", document, ("generator", "seed", "count", "batches", "role", "file")
    )
    if document.get("role", role) != role:
        raise RequestError(f"inputs of role '{document['role']}' cannot serve as {role} inputs")
    if document.get("file") is not None:
        return InputSet(None, 0, 0, role, str(document["file"]), dict(document))
    generator = str(document.get("generator", "normal"))
    if generator not in GENERATORS:
        raise RequestError(unknown_name("generator", generator, GENERATORS))
    count = int(document.get("batches", document.get("count", 1)))
    if count < 1:
        raise RequestError(f"an input set needs at least one sample, not {count}")
    return InputSet(generator, int(document.get("seed", 0)), count, role, None, dict(document))


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


def samples_of(inputs: InputSet, specs: Sequence[InputSpec]) -> list[Sample]:
    """All samples of the set, each a tuple with one tensor for each spec."""
    return labelled_samples_of(inputs, specs)[0]


def labelled_samples_of(
    inputs: InputSet, specs: Sequence[InputSpec]
) -> tuple[list[Sample], list[torch.Tensor] | None]:
    """All samples of the set, and the labels of each, int64 of one dimension.

    Labels are None for a set that has none.

    Raises:
        RequestError: the samples do not fit the specs, or some have labels and some have not.
    """
    if inputs.file is None:
        return [generate_sample(inputs, specs, sample) for sample in range(inputs.count)], None
    if ".py:" in inputs.file:
        return _call(inputs.file, specs)
    return _samples_of_file(Path(inputs.file), specs), None


def generate_sample(inputs: InputSet, specs: Sequence[InputSpec], sample: int) -> Sample:
    """Sample number `sample` of a generated set."""
    generator = inputs.generator or "normal"
    return tuple(
        torch.from_numpy(_draw(generator, spec, f"{inputs.seed}/{sample}/{index}")).to(
            DTYPES[spec.dtype]
        )
        for index, spec in enumerate(specs)
    )


def _draw(generator: str, spec: InputSpec, stream: str) -> npt.NDArray[Any]:
    """Draws one input. Each (seed, sample, index) has a stream of its own: none can overlap."""
    key = hashlib.sha256(f"assay/inputs/1/{generator}/{stream}".encode()).digest()[:16]
    random = np.random.Generator(np.random.Philox(key=int.from_bytes(key, "little")))
    if generator in ("zeros", "ones"):
        return np.full(spec.shape, float(generator == "ones"), dtype=np.float32)
    if spec.dtype == "bool":
        return random.random(spec.shape) < 0.5
    if not DTYPES[spec.dtype].is_floating_point:
        return random.integers(spec.low, spec.high, spec.shape, dtype=np.int64)
    if generator == "uniform":
        return random.random(spec.shape, dtype=np.float64)
    return random.standard_normal(spec.shape, dtype=np.float64)


def _call(
    reference: str, specs: Sequence[InputSpec]
) -> tuple[list[Sample], list[torch.Tensor] | None]:
    """What "FILE.py:callable" yields: (inputs, labels), with inputs a tensor or a tuple of them."""
    samples: list[Sample] = []
    labels: list[Any] = []
    for item in import_object(reference)():
        if not isinstance(item, tuple) or len(item) != 2:
            raise RequestError(
                f"{reference} must yield pairs of inputs and labels (None for no labels), "
                f"not {type(item).__name__}"
            )
        given, label = item
        tensors = given if isinstance(given, tuple) else (given,)
        if len(tensors) != len(specs):
            raise RequestError(
                f"{reference} yields {len(tensors)} inputs, the model takes {len(specs)}"
            )
        samples.append(tuple(torch.as_tensor(tensor) for tensor in tensors))
        labels.append(label)
    if not samples:
        raise RequestError(f"{reference} yields no sample")
    _check_shapes(Path(reference), samples, specs)
    return samples, _tensors_of_labels(reference, labels)


def _tensors_of_labels(reference: str, labels: Sequence[Any]) -> list[torch.Tensor] | None:
    if all(label is None for label in labels):
        return None
    if any(label is None for label in labels):
        raise RequestError(f"{reference} gives labels for some samples only")
    return [torch.as_tensor(label, dtype=torch.int64).reshape(-1) for label in labels]


def _samples_of_file(path: Path, specs: Sequence[InputSpec]) -> list[Sample]:
    """Reads tensors named "<sample>.<index>" from .npz or .safetensors."""
    tensors = _load_tensors(path)
    count = 1 + max((int(name.split(".")[0]) for name in tensors), default=-1)
    samples = []
    for sample in range(count):
        names = [f"{sample}.{index}" for index in range(len(specs))]
        missing = [name for name in names if name not in tensors]
        if missing:
            raise RequestError(f"{path} lacks {missing[0]}; tensors are named <sample>.<input>")
        samples.append(tuple(tensors[name] for name in names))
    if not samples:
        raise RequestError(f"{path} holds no tensors")
    _check_shapes(path, samples, specs)
    return samples


def _load_tensors(path: Path) -> dict[str, torch.Tensor]:
    if not path.exists():
        raise RequestError(f"no input file {path}")
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return {name: torch.from_numpy(arrays[name]) for name in arrays.files}
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        return dict(load_file(path))
    raise RequestError(f"inputs are .npz or .safetensors files, not {path.name}")


def _check_shapes(path: Path, samples: Sequence[Sample], specs: Sequence[InputSpec]) -> None:
    for number, sample in enumerate(samples):
        for index, (tensor, spec) in enumerate(zip(sample, specs, strict=True)):
            if tuple(tensor.shape) != spec.shape or tensor.dtype != DTYPES[spec.dtype]:
                found = f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"
                text = f"{path}: {number}.{index} is {found}, the model takes {spec.dtype} "
                raise RequestError(text + str(list(spec.shape)))
