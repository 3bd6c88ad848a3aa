"""Between the values of a model and those of a program that knows integers and no scales."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from assay._errors import AssayError
from assay.engines.base import Array, TensorSpec
from assay.toolchain.file_formats.program_ports import ProgramPort, ProgramPorts, read_ports


class ProgramTensor(Protocol):
    """An input or output as a program's own format tells it."""

    @property
    def name(self) -> str:
        """Its name in the program."""

    @property
    def dtype(self) -> str:
        """Its element type."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""


@dataclass(frozen=True)
class PortMap:
    """Maps each value of the model to one of the program, and converts between them."""

    ports: ProgramPorts
    inputs: Sequence[ProgramTensor]
    outputs: Sequence[ProgramTensor]

    def input_specs(self) -> list[TensorSpec]:
        """The model's inputs; Assay quantizes by what a spec says."""
        return [_spec(port) for port in self.ports.inputs]

    def output_specs(self) -> list[TensorSpec]:
        """The model's outputs."""
        return [_spec(port) for port in self.ports.outputs]

    def arrange(self, values: Sequence[Array]) -> list[Array]:
        """The program's inputs, in its order, types and shapes: some formats have no scalars."""
        arranged: list[Any] = [None] * len(self.inputs)
        for port, value in zip(self.ports.inputs, values, strict=True):
            wanted = self.inputs[port.place]
            typed = _clip(value, port).astype(wanted.dtype, copy=False)
            arranged[port.place] = np.ascontiguousarray(typed).reshape(wanted.shape)
        return arranged

    def collect(self, values: Sequence[Array]) -> list[Array]:
        """The model's outputs, in its order, types and shapes."""
        return [
            _typed(values[port.place], self.outputs[port.place])
            .astype(port.dtype, copy=False)
            .reshape(port.shape)
            for port in self.ports.outputs
        ]


def map_ports(
    path: Path, inputs: Sequence[ProgramTensor], outputs: Sequence[ProgramTensor]
) -> PortMap:
    """The map that lies next to the program, or one value to one value where none does.

    Raises:
        AssayError: corrupt, when the map is not this program's.
    """
    try:
        ports = read_ports(path)
    except ValueError as error:
        raise AssayError(f"{error}; make the program again", code="corrupt") from error
    if ports is None:
        ports = ProgramPorts(_plain(inputs), _plain(outputs))
    places = [port.place for port in ports.inputs]
    is_whole = sorted(places) == list(range(len(inputs)))
    if not is_whole or any(port.place >= len(outputs) for port in ports.outputs):
        raise AssayError(f"{path} and the ports beside it do not belong together", code="corrupt")
    return PortMap(ports, inputs, outputs)


def _plain(tensors: Sequence[ProgramTensor]) -> tuple[ProgramPort, ...]:
    return tuple(
        ProgramPort(tensor.name, place, tensor.dtype, tensor.shape)
        for place, tensor in enumerate(tensors)
    )


def _spec(port: ProgramPort) -> TensorSpec:
    quantization = port.quantization
    return TensorSpec(
        port.name,
        port.dtype,
        list(port.shape),
        None if quantization is None else _steps(quantization),
    )


def _steps(quantization: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "scales": [quantization["scale"]],
        "zero_points": [quantization["zero_point"]],
        "axis": -1,
    }


def _clip(value: Array, port: ProgramPort) -> Array:
    """Clamps values if a graph quantizes to fewer values than its type has."""
    quantization = port.quantization
    if quantization is None:
        return value
    limits = np.iinfo(value.dtype)
    low, high = quantization["quant_min"], quantization["quant_max"]
    if (low, high) == (limits.min, limits.max):
        return value
    clipped: Array = np.clip(value, low, high)
    return clipped


def _typed(value: Array, tensor: ProgramTensor) -> Array:
    """The output in its type; some libraries give out bytes."""
    if value.dtype == tensor.dtype:
        return value
    return np.ascontiguousarray(value).reshape(-1).view(tensor.dtype)
