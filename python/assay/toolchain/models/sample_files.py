"""Inputs and expected outputs from files: one reader for each format, found by name or content.

A format is a row of FORMATS. Its reader returns FileSamples; `arrange` checks them against the
model's inputs or outputs and brings them into their order. docs/reference/specs.md describes
the formats.
"""

import re
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from assay.toolchain.dtypes import dtype_name
from assay.toolchain.errors import RequestError
from assay.toolchain.file_formats.bundled_program import read_bundle
from assay.toolchain.models.sample_archives import check_archive
from assay.toolchain.models.sample_folders import (
    RAW_DOCUMENT,
    TEST_SETS,
    Named,
    corrupt_inputs,
    describe,
    read_onnx_sets,
    read_raw,
)
from assay.toolchain.suggest import unknown_name
from assay.toolchain.tensors import tensor_from_array

_NUMBERED = re.compile(r"(\d+)\.(.+)")


@dataclass(frozen=True)
class Port:
    """One input or output of a model. "" and None: unknown; -1: any size."""

    name: str = ""
    dtype: str | None = None
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True)
class FileSamples:
    """Samples of a file: inputs, and the outputs that it expects, if it does."""

    inputs: list[Named] = field(default_factory=list)
    outputs: list[Named] = field(default_factory=list)


@dataclass(frozen=True)
class Format:
    """One format: what it is called, whether a path is of it, and its reader."""

    name: str
    fits: Callable[[Path], bool]
    read: Callable[[Path], FileSamples]


def read_sample_file(path: Path) -> FileSamples:
    """All samples that a file or folder holds.

    Raises:
        RequestError: there is no such file, it is of no known format, or it contradicts itself.
        JobError: it is corrupt (reason corrupt_inputs or corrupt_program).
    """
    if not path.exists():
        raise RequestError(f"no input file {path}")
    for known in FORMATS:
        if known.fits(path):
            return known.read(path)
    raise RequestError(f"{path} holds no inputs; known: {', '.join(f.name for f in FORMATS)}")


def read_expected(path: Path) -> list[Named]:
    """The outputs that a file of its own expects: its outputs, or all it has."""
    stimulus = read_sample_file(path)
    return stimulus.outputs or stimulus.inputs


def arrange(
    path: Path, samples: Sequence[Named], ports: Sequence[Port], what: str
) -> list[tuple[torch.Tensor, ...]]:
    """The samples in the order of `ports`, checked against them.

    `what`: "input" or "output", for messages.

    Raises:
        RequestError: a tensor is missing, unknown, or of another type or shape.
    """
    arranged = [_order(path, number, one, ports, what) for number, one in enumerate(samples)]
    for number, sample in enumerate(arranged):
        for index, (tensor, port) in enumerate(zip(sample, ports, strict=True)):
            _check(f"{path}: {number}.{port.name or index}", tensor, port, what)
    return arranged


def _order(
    path: Path, number: int, sample: Named, ports: Sequence[Port], what: str
) -> tuple[torch.Tensor, ...]:
    names = [name for name, _ in sample]
    wanted = [port.name for port in ports]
    is_by_name = all(names) and len(set(names)) == len(names)
    if is_by_name and all(wanted) and set(names) == set(wanted):
        tensors = dict(sample)
        return tuple(tensors[name] for name in wanted)
    is_the_only_one = len(names) == len(ports) == 1 and not all(wanted)
    if is_by_name and not sample.is_ordered and not is_the_only_one:
        raise RequestError(_why_unmatched(path, number, names, wanted, what))
    if len(sample) < len(ports):
        raise RequestError(
            f"{path} lacks {number}.{len(sample)}; tensors are named <sample>.<{what}>"
        )
    if len(sample) > len(ports):
        text = f"{path}: sample {number} has {len(sample)} {what}s, the model has {len(ports)}"
        raise RequestError(text)
    return tuple(tensor for _, tensor in sample)


def _why_unmatched(
    path: Path, number: int, names: Sequence[str], wanted: Sequence[str], what: str
) -> str:
    if not all(wanted):
        return (
            f"{path} names its tensors, but the model's {what}s have no names; "
            f"call them <sample>.<index>: 0.0, 0.1"
        )
    for name in wanted:
        if name not in names:
            had = ", ".join(names)
            return f"{path} lacks {what} '{name}' of sample {number}; it has: {had}"
    name = next(name for name in names if name not in wanted)
    return f"{path}: " + unknown_name(what, name, wanted)


def _check(place: str, tensor: torch.Tensor, port: Port, what: str) -> None:
    dtype = dtype_name(tensor.dtype)
    is_shaped = port.shape is None or (
        len(port.shape) == tensor.dim()
        and all(size in (-1, got) for size, got in zip(port.shape, tensor.shape, strict=True))
    )
    if is_shaped and port.dtype in (None, dtype):
        return
    takes = "takes" if what == "input" else "gives"
    shape = "any shape" if port.shape is None else str(list(port.shape))
    raise RequestError(
        f"{place} is {describe(tensor)}, the model {takes} {port.dtype or 'any type'} {shape}"
    )


def _read_npz(path: Path) -> FileSamples:
    check_archive(path)
    try:
        with np.load(path, allow_pickle=False) as arrays:
            tensors = {name: tensor_from_array(arrays[name]) for name in arrays.files}
    except (OSError, ValueError, TypeError) as error:
        raise RequestError(f"{path} is no .npz of plain arrays: {error}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise corrupt_inputs(path, f"{error}; write it anew with numpy.savez") from error
    return FileSamples(_samples_from_tensors(path, tensors))


def _read_safetensors(path: Path) -> FileSamples:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        tensors = load_file(path)
    except SafetensorError as error:
        raise RequestError(f"{path} is no safetensors file: {error}") from error
    return FileSamples(_samples_from_tensors(path, tensors))


def _samples_from_tensors(path: Path, tensors: Mapping[str, torch.Tensor]) -> list[Named]:
    """Samples of tensors named "<sample>.<index>", "<sample>.<name>", or "<name>": one sample."""
    if not tensors:
        raise RequestError(f"{path} holds no tensors")
    matches = {name: _NUMBERED.fullmatch(name) for name in tensors}
    if not any(matches.values()):
        return [Named(tuple(tensors.items()))]
    odd = [name for name, match in matches.items() if match is None]
    if odd:
        raise RequestError(f"{path}: '{odd[0]}' has no sample in front, such as '0.{odd[0]}'")
    samples: dict[int, dict[str, torch.Tensor]] = {}
    for name, match in matches.items():
        assert match is not None
        samples.setdefault(int(match[1]), {})[match[2]] = tensors[name]
    for number in range(1 + max(samples)):
        if number not in samples:
            raise RequestError(f"{path} lacks sample {number}; samples count from 0")
    return [_named(path, number, samples[number]) for number in sorted(samples)]


def _named(path: Path, number: int, tensors: Mapping[str, torch.Tensor]) -> Named:
    if not all(name.isdecimal() for name in tensors):
        return Named(tuple(tensors.items()))
    for index in range(len(tensors)):
        if str(index) not in tensors:
            raise RequestError(f"{path} lacks {number}.{index}; tensors count from 0")
    return Named(tuple(("", tensors[str(index)]) for index in range(len(tensors))))


def _read_bundle(path: Path) -> FileSamples:
    bundle = read_bundle(path)
    return FileSamples(
        [Named(_unnamed(case.inputs)) for case in bundle.cases],
        [Named(_unnamed(case.outputs)) for case in bundle.cases],
    )


def _unnamed(tensors: Sequence[torch.Tensor]) -> tuple[tuple[str, torch.Tensor], ...]:
    return tuple(("", tensor) for tensor in tensors)


def _read_onnx_sets(path: Path) -> FileSamples:
    return FileSamples(*read_onnx_sets(path))


def _read_raw(path: Path) -> FileSamples:
    return FileSamples(*read_raw(path))


def _ends(ending: str) -> Callable[[Path], bool]:
    return lambda path: path.is_file() and path.name.endswith(ending)


def _holds(pattern: str) -> Callable[[Path], bool]:
    return lambda path: path.is_dir() and any(path.glob(pattern))


FORMATS: tuple[Format, ...] = (
    Format(".npz", _ends(".npz"), _read_npz),
    Format(".safetensors", _ends(".safetensors"), _read_safetensors),
    Format("an ExecuTorch bundle (.bpte)", _ends(".bpte"), _read_bundle),
    Format(f"a folder with {TEST_SETS} (ONNX)", _holds(TEST_SETS), _read_onnx_sets),
    Format("a folder with input_0.pb (ONNX)", _holds("input_0.pb"), _read_onnx_sets),
    Format(f"a folder with {RAW_DOCUMENT} and raw files", _holds(RAW_DOCUMENT), _read_raw),
)
"""The formats, the first that fits."""
