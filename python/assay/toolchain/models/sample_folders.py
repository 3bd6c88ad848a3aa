"""Inputs and expected outputs in folders: ONNX's test data, and raw files with a description."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from assay.toolchain.dtypes import DTYPES, dtype_name
from assay.toolchain.errors import JobError, RequestError, readable_error, reading
from assay.toolchain.packages import import_package
from assay.toolchain.suggest import check_keys, unknown_name

TEST_SETS = "test_data_set_*"
RAW_DOCUMENT = "stimulus.json"
_NUMBER = re.compile(r"(\d+)(?:\.pb)?$")


@dataclass(frozen=True)
class Named:
    """The tensors of one sample with their names; "" where the file gives none.

    `is_ordered`: they also stand in the model's order, so names that it does not know are no fault.
    """

    tensors: tuple[tuple[str, torch.Tensor], ...]
    is_ordered: bool = False

    def __iter__(self) -> Iterator[tuple[str, torch.Tensor]]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)


def corrupt_inputs(path: Path, why: str) -> JobError:
    """The error for a file of inputs that cannot be read as what it claims to be."""
    return JobError(f"{path} is corrupt: {why}", reason_code="corrupt_inputs")


def describe(tensor: torch.Tensor) -> str:
    """Type and shape, for messages: "float32 [1, 3]"."""
    return f"{dtype_name(tensor.dtype)} {list(tensor.shape)}"


def read_onnx_sets(path: Path) -> tuple[list[Named], list[Named]]:
    """Inputs and outputs of test_data_set_0, test_data_set_1, …, or of the folder itself."""
    folders = sorted(path.glob(TEST_SETS), key=_number_from_path) or [path]
    inputs = [_read_set(folder, "input") for folder in folders]
    outputs = [_read_set(folder, "output") for folder in folders]
    for folder, sample in zip(folders, inputs, strict=True):
        if not len(sample):
            raise RequestError(f"{folder} has no input_0.pb")
    expecting = [len(sample) > 0 for sample in outputs]
    if any(expecting) and not all(expecting):
        raise RequestError(f"{folders[expecting.index(False)]} has no output_0.pb, other sets have")
    return inputs, outputs if all(expecting) else []


def _read_set(folder: Path, what: str) -> Named:
    files = sorted(folder.glob(f"{what}_*.pb"), key=_number_from_path)
    for index, file in enumerate(files):
        if _number_from_path(file) != index:
            raise RequestError(f"{folder} has {file.name} but no {what}_{index}.pb")
    return Named(tuple(_read_tensor(file) for file in files), is_ordered=True)


def _number_from_path(path: Path) -> int:
    match = _NUMBER.search(path.name)
    return -1 if match is None else int(match[1])


def _read_tensor(path: Path) -> tuple[str, torch.Tensor]:
    """The tensor of a .pb file, and its name."""
    onnx = import_package("onnx", wanted_by="reading ONNX test data")
    proto = onnx.TensorProto()
    try:
        proto.ParseFromString(path.read_bytes())
        if proto.data_type == onnx.TensorProto.UNDEFINED:
            raise ValueError("it tells no type; only tensors are read, no sequences or maps")
        array = onnx.numpy_helper.to_array(proto)
        if proto.data_type == onnx.TensorProto.BFLOAT16:
            return proto.name, torch.from_numpy(array.astype("float32")).to(torch.bfloat16)
        return proto.name, torch.from_numpy(array.copy())
    except Exception as error:
        raise corrupt_inputs(path, readable_error(error)) from error


def read_raw(path: Path) -> tuple[list[Named], list[Named]]:
    """Inputs and outputs that stimulus.json tells of: {"inputs": [{name, dtype, shape, files}]}.

    A file holds the elements of one tensor, row-major, little-endian; the n-th file is of the n-th
    sample.
    """
    place = path / RAW_DOCUMENT
    try:
        document = json.loads(place.read_text())
    except ValueError as error:
        raise corrupt_inputs(place, str(error)) from error
    with reading(str(place)):
        check_keys("key of stimulus.json", document, ("inputs", "outputs"))
        sides = [
            [_read_files(path, entry) for entry in document.get(side, [])]
            for side in ("inputs", "outputs")
        ]
    counts = {len(tensors) for side in sides for _, tensors in side}
    if len(counts) != 1 or counts == {0}:
        raise RequestError(
            f'{place}: every entry needs as many "files" as there are samples; '
            f"there are {', '.join(map(str, sorted(counts))) or 'none'}"
        )
    inputs, outputs = (_samples_from_tensors(side, counts.copy().pop()) for side in sides)
    return inputs, outputs


def _samples_from_tensors(
    side: Sequence[tuple[str, list[torch.Tensor]]], count: int
) -> list[Named]:
    if not side:
        return []
    return [
        Named(tuple((name, tensors[number]) for name, tensors in side), is_ordered=True)
        for number in range(count)
    ]


def _read_files(folder: Path, entry: Mapping[str, Any]) -> tuple[str, list[torch.Tensor]]:
    check_keys("key of a raw tensor", entry, ("name", "dtype", "shape", "files"))
    for key in ("dtype", "shape", "files"):
        if key not in entry:
            raise RequestError(f'{folder / RAW_DOCUMENT}: a raw tensor needs "{key}"')
    dtype = str(entry["dtype"])
    if dtype not in DTYPES:
        raise RequestError(unknown_name("dtype", dtype, DTYPES))
    shape = [int(size) for size in entry["shape"]]
    files = [folder / str(name) for name in entry["files"]]
    return str(entry.get("name", "")), [_read_elements(file, dtype, shape) for file in files]


def _read_elements(path: Path, dtype: str, shape: list[int]) -> torch.Tensor:
    if not path.is_file():
        raise RequestError(f"no raw file {path}")
    expected = math.prod(shape) * DTYPES[dtype].itemsize
    size = path.stat().st_size
    if size != expected:
        raise RequestError(f"{path} has {size} bytes, {dtype} {shape} takes {expected}")
    data = bytearray(path.read_bytes())
    if not data:
        return torch.empty(shape, dtype=DTYPES[dtype])
    return torch.frombuffer(data, dtype=DTYPES[dtype]).reshape(shape)
