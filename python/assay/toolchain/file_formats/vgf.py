"""Reads VGF files: Arm's format of neural graphs for Vulkan.

Its library has a program that describes a file as a scenario: the tensors that the graph is bound
to, with their sizes and formats.
"""

import importlib.util
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.toolchain.errors import MissingDependency
from assay.toolchain.separate_toolchains import find_separate_toolchain
from assay.toolchain.types import BoundaryValue

ENDING = ".vgf"
FORMATS = {
    "VK_FORMAT_R8_BOOL_ARM": ("bool", "R8BoolArm"),
    "VK_FORMAT_R8_SINT": ("int8", "R8Sint"),
    "VK_FORMAT_R8_UINT": ("uint8", "R8Uint"),
    "VK_FORMAT_R16_SINT": ("int16", "R16Sint"),
    "VK_FORMAT_R32_SINT": ("int32", "R32Sint"),
    "VK_FORMAT_R64_SINT": ("int64", "R64Sint"),
    "VK_FORMAT_R16_SFLOAT": ("float16", "R16Sfloat"),
    "VK_FORMAT_R32_SFLOAT": ("float32", "R32Sfloat"),
}
"""Keyed by Vulkan's name: the element type, and the scenario runner's name of the format."""


@dataclass(frozen=True)
class VgfTensor:
    """An input or output and where the graph is bound to it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    format: str
    descriptor_set: int
    binding: int


@dataclass(frozen=True)
class VgfProgram:
    """The boundary of a program."""

    inputs: tuple[VgfTensor, ...]
    outputs: tuple[VgfTensor, ...]


def read_program(path: Path) -> VgfProgram:
    """Describes a program.

    Raises:
        MissingDependency: Arm's library of the format is not installed.
        ValueError: this is no VGF file, or it is damaged.
    """
    command = [str(_find_dump()), "--input", str(path), "--scenario-template"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise ValueError(said[-1] if said else f"vgf_dump ended with {done.returncode}")
    return program_from_scenario(json.loads(done.stdout))


def _find_dump() -> Path:
    found = importlib.util.find_spec("vgf_lib")
    if found is None or found.origin is None:
        way = find_separate_toolchain("vgf")
        raise MissingDependency(f"a .vgf file needs Arm's library of the format: {way}")
    return Path(found.origin).parent / "binaries/bin/vgf_dump"


def program_from_scenario(document: Mapping[str, Any]) -> VgfProgram:
    """The boundary that a scenario of one graph tells.

    Raises:
        ValueError: there is not one graph, or a tensor of a type without counterpart.
    """
    dispatches = [entry["dispatch_graph"] for entry in document["commands"]]
    if len(dispatches) != 1:
        raise ValueError(f"it holds {len(dispatches)} graphs, and one is executed")
    places = {one["resource_ref"]: one for one in dispatches[0]["bindings"]}
    tensors = [entry["tensor"] for entry in document["resources"] if "tensor" in entry]
    sides = [[one for one in tensors if key in one] for key in ("src", "dst")]
    inputs, outputs = (tuple(_tensor(one, places[one["uid"]]) for one in side) for side in sides)
    return VgfProgram(inputs, outputs)


def _tensor(document: Mapping[str, Any], place: Mapping[str, Any]) -> VgfTensor:
    known = FORMATS.get(document["format"])
    if known is None:
        raise ValueError(f"'{document['uid']}' is of {document['format']}, unknown here")
    return VgfTensor(
        document["uid"].removesuffix("_ref"),
        known[0],
        tuple(int(size) for size in document["dims"]),
        known[1],
        int(place["set"]),
        int(place["id"]),
    )


def values_from_tensors(tensors: Sequence[VgfTensor]) -> list[BoundaryValue]:
    """Inputs or outputs as manifests have them."""
    return [
        {"name": one.name, "dtype": one.dtype, "shape": list(one.shape), "quantization": None}
        for one in tensors
    ]
