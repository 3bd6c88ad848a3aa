"""Signatures of finished programs, and the binding of their open sizes.

A format is a row of READERS, by the end of a file's name; a format that does not tell is none.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.toolchain.dtypes import DTYPES
from assay.toolchain.errors import RequestError, Unsupported
from assay.toolchain.file_formats.bundled_program import read_bundle
from assay.toolchain.file_formats.pt2 import UntrustedFile, load_exported
from assay.toolchain.file_formats.pte import (
    ProgramFile,
    corrupt,
    parse_program,
    read_program,
    tensor_json,
    unreadable,
)
from assay.toolchain.flows.program_manifest import describe_source
from assay.toolchain.formats import AOTI_ENDING, TORCH_EXPORT_ENDING
from assay.toolchain.models.sample_files import Port
from assay.toolchain.packages import import_package
from assay.toolchain.suggest import unknown_name
from assay.toolchain.types import InputSpec

METHOD = "forward"

Dimension = int | str
"""A size, the name of one that is open, or "" for an open one without name."""


@dataclass(frozen=True)
class Value:
    """One input or output. `shape` None: it has no fixed rank, or is no tensor."""

    name: str
    dtype: str
    shape: tuple[Dimension, ...] | None

    def open_names(self) -> list[str]:
        """Names of its open dimensions, without those that have none."""
        return [size for size in self.shape or () if isinstance(size, str) and size]

    def is_open(self) -> bool:
        """True if the inputs decide a size."""
        return self.shape is None or any(isinstance(size, str) for size in self.shape)

    def to_port(self) -> Port:
        """The port that samples of a file are checked against; open sizes fit anything."""
        if self.shape is None:
            return Port(self.name, self.dtype)
        sizes = tuple(size if isinstance(size, int) else -1 for size in self.shape)
        return Port(self.name, self.dtype, sizes)

    def type_text(self) -> str:
        """Its type and shape: "float32 [batch, 8]"."""
        shape = "of any rank" if self.shape is None else _text_from_shape(self.shape)
        return f"{self.dtype} {shape}"

    def __str__(self) -> str:
        return f"'{self.name}' {self.type_text()}" if self.name else self.type_text()


@dataclass(frozen=True)
class Signature:
    """Inputs and outputs in the program's order."""

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]


def read_signature(path: Path) -> Signature | None:
    """The signature of a program file; None for a format that does not tell.

    Raises:
        RequestError: there is no such file.
        JobError: the file is corrupt (reason corrupt_program).
        MissingDependency: the package that reads the format is not installed.
    """
    if not path.is_file():
        raise RequestError(f"no program {path}")
    for ending, read in READERS.items():
        if path.name.endswith(ending):
            return None if read is None else read(path)
    return None


def bind_inputs(
    signature: Signature | None,
    given: Sequence[InputSpec] | None,
    dimensions: Mapping[str, int],
) -> tuple[InputSpec, ...]:
    """The inputs to generate: the signature's, its open sizes by name, or by whole shapes.

    Raises:
        RequestError: a size stays open (the text names it), or what is given does not fit.
    """
    specs = bind_dimensions(signature, given, dimensions)
    for index, spec in enumerate(specs):
        if -1 in spec.shape:
            assert signature is not None
            raise RequestError(_why_open(signature.inputs[index], spec.shape.index(-1)))
    return specs


def bind_dimensions(
    signature: Signature | None,
    given: Sequence[InputSpec] | None,
    dimensions: Mapping[str, int],
) -> tuple[InputSpec, ...]:
    """Like bind_inputs, with -1 for sizes that stay open: a file of inputs decides them."""
    if signature is None:
        if given is None:
            raise RequestError(
                "this format does not tell its inputs; give a shape for each: --input-shape 1,8 "
                '(with its type: 2,5:int64), in a spec "inputs": '
                '[[{"shape": [1, 8], "dtype": "float32"}]]'
            )
        _check_names(dimensions, ())
        return tuple(given)
    _check_names(dimensions, [name for value in signature.inputs for name in value.open_names()])
    if given is None:
        return tuple(_bind(value, dimensions) for value in signature.inputs)
    if len(given) != len(signature.inputs):
        has = ", ".join(map(str, signature.inputs)) or "none"
        raise RequestError(f"{len(given)} inputs are given, the program takes {has}")
    return tuple(
        _fit(index, value, spec)
        for index, (value, spec) in enumerate(zip(signature.inputs, given, strict=True))
    )


def _check_names(dimensions: Mapping[str, int], known: Sequence[str]) -> None:
    for name, size in dimensions.items():
        if name not in known:
            raise RequestError(unknown_name("open dimension", name, sorted(set(known))))
        if size < 1:
            raise RequestError(f"dimension '{name}' needs a size of at least 1, not {size}")


def _bind(value: Value, dimensions: Mapping[str, int]) -> InputSpec:
    if value.shape is None:
        raise RequestError(
            f'input {value}: give its shape by --input-shape, in a spec under "inputs"'
        )
    sizes = tuple(
        size if isinstance(size, int) else dimensions.get(size, -1) for size in value.shape
    )
    return InputSpec(sizes, _known_dtype(value), name=value.name)


def _fit(index: int, value: Value, spec: InputSpec) -> InputSpec:
    """The given shape with the program's name and type; float32, the default, asks for no type."""
    is_fit = value.shape is None or (
        len(value.shape) == len(spec.shape)
        and all(
            isinstance(size, str) or size == got
            for size, got in zip(value.shape, spec.shape, strict=True)
        )
    )
    if not is_fit or spec.dtype not in ("float32", value.dtype):
        name = f" '{value.name}'" if value.name else ""
        raise RequestError(
            f"input {index}{name} takes {value.type_text()}, "
            f"but {spec.dtype} {list(spec.shape)} is given"
        )
    return InputSpec(spec.shape, _known_dtype(value), spec.low, spec.high, value.name)


def _known_dtype(value: Value) -> str:
    if value.dtype not in DTYPES:
        raise RequestError(f"input {value} is of a type that is not made here: {', '.join(DTYPES)}")
    return value.dtype


def _why_open(value: Value, axis: int) -> str:
    assert value.shape is not None
    name = value.shape[axis]
    whole = 'the whole shape by --input-shape (in a spec "inputs"), or a file of inputs'
    if not name:
        return f"dimension {axis} of input {value} is not bound: give {whole}"
    return (
        f"dimension '{name}' of input {value} is not bound: "
        f'give --dimension {name}=1 (in a spec "dimensions": {{"{name}": 1}}), {whole}'
    )


def _text_from_shape(shape: Sequence[Dimension]) -> str:
    return "[" + ", ".join(str(size) or "?" for size in shape) + "]"


def _read_onnx(path: Path) -> Signature:
    from assay.toolchain.file_formats import onnx_model

    model = onnx_model.read_onnx(path, wanted_by="reading an .onnx file's inputs")
    if any(
        not one.type.HasField("tensor_type") for one in (*model.graph.input, *model.graph.output)
    ):
        raise Unsupported(
            f"{path.name} takes or gives what is no tensor; only tensors are compared"
        )
    return Signature(
        _values(onnx_model.get_inputs(model), onnx_model.dimension_names(model.graph.input)),
        _values(onnx_model.get_outputs(model), onnx_model.dimension_names(model.graph.output)),
    )


def _read_openvino(path: Path) -> Signature:
    from assay.toolchain.flows.openvino import values_from_ports

    openvino = import_package("openvino", wanted_by=f"reading the inputs of {path.name}")
    try:
        model = openvino.Core().read_model(str(path))
    except RuntimeError as error:
        raise corrupt(path, f"{type(error).__name__} while reading it: {error}") from error
    inputs, outputs = values_from_ports(model.inputs), values_from_ports(model.outputs)
    return Signature(_values(inputs), _values(outputs))


def _read_tflite(path: Path) -> Signature:
    interpreters = import_package(
        "ai_edge_litert.interpreter", wanted_by="reading a .tflite file's inputs"
    )
    try:
        interpreter = interpreters.Interpreter(model_path=str(path))
    except (ValueError, RuntimeError) as error:
        raise corrupt(path, f"{type(error).__name__} while reading it: {error}") from error
    return Signature(
        tuple(map(_value_from_tflite, interpreter.get_input_details())),
        tuple(map(_value_from_tflite, interpreter.get_output_details())),
    )


def _value_from_tflite(details: Mapping[str, Any]) -> Value:
    sizes = tuple("" if size < 0 else int(size) for size in details["shape_signature"])
    return Value(str(details["name"]), str(details["dtype"].__name__), sizes)


def _read_tosa(path: Path) -> Signature:
    from assay.toolchain.file_formats import tosa

    try:
        program = tosa.read_program(path.read_bytes())
    except ValueError as error:
        raise corrupt(path, str(error)) from error
    sides = (program.inputs, program.outputs)
    inputs, outputs = (_values(tosa.values_from_tensors(side)) for side in sides)
    return Signature(inputs, outputs)


def _read_vgf(path: Path) -> Signature:
    from assay.toolchain.file_formats import vgf

    try:
        program = vgf.read_program(path)
    except ValueError as error:
        raise corrupt(path, str(error)) from error
    sides = (program.inputs, program.outputs)
    inputs, outputs = (_values(vgf.values_from_tensors(side)) for side in sides)
    return Signature(inputs, outputs)


def _read_pte(path: Path) -> Signature:
    return _signature_from_method(path, read_program(path))


def _read_bpte(path: Path) -> Signature:
    return _signature_from_method(path, parse_program(path, read_bundle(path).program))


def _signature_from_method(path: Path, file: ProgramFile) -> Signature:
    try:
        return _signature_from_plan(file)
    except Exception as error:
        raise corrupt(path, unreadable(error)) from error


def _signature_from_plan(file: ProgramFile) -> Signature:
    plans = list(file.program.execution_plan)
    plan = next((plan for plan in plans if plan.name == METHOD), plans[0])
    sides = [
        [tensor_json(plan.values[index], None) for index in indices]
        for indices in (plan.inputs, plan.outputs)
    ]
    return Signature(_values(sides[0]), _values(sides[1]))


def _values(
    described: Sequence[Mapping[str, Any]], names: Mapping[str, Sequence[str]] | None = None
) -> tuple[Value, ...]:
    """Values of {name, dtype, shape}; `names`: of the dimensions, where the format has them."""
    return tuple(
        Value(
            str(one["name"] or ""),
            str(one["dtype"]),
            None
            if one["shape"] is None
            else tuple(
                size if size >= 0 else (names[one["name"]][axis] if names else "")
                for axis, size in enumerate(one["shape"])
            ),
        )
        for one in described
    )


def _read_torch(path: Path) -> Signature:
    try:
        source = describe_source(load_exported(path))
    except UntrustedFile:
        raise
    except Exception as error:
        raise corrupt(path, f"{type(error).__name__} while reading it: {error}") from error
    return Signature(_values(source.inputs), _values(source.outputs))


READERS: dict[str, Callable[[Path], Signature] | None] = {
    ".onnx": _read_onnx,
    ".xml": _read_openvino,
    ".tflite": _read_tflite,
    ".tosa": _read_tosa,
    ".vgf": _read_vgf,
    ".pte": _read_pte,
    ".bpte": _read_bpte,
    TORCH_EXPORT_ENDING: _read_torch,
    AOTI_ENDING: None,
}
