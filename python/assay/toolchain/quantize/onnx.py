"""ONNX Runtime's own post-training quantization, of the ONNX model that the lowering made.

It is what ONNX Runtime's users do, and its result is no torch graph. So what it should compute is
told by ONNX Runtime itself with all graph optimizations off: it then executes every quantize and
dequantize as it is written, and what lies between them in float.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.toolchain.errors import RequestError, Unsupported
from assay.toolchain.file_formats.onnx_model import get_inputs, is_too_large
from assay.toolchain.packages import import_package
from assay.toolchain.suggest import check_keys, unknown_name
from assay.toolchain.temporary import TemporaryFolder, temporary_files_in
from assay.toolchain.types import Evaluate

if TYPE_CHECKING:
    from assay.toolchain.tensors import Sample

NAME = "onnxruntime"
MODES = ("static", "dynamic")
TYPES = {"int8": "QInt8", "uint8": "QUInt8"}
METHODS = {"minmax": "MinMax", "entropy": "Entropy", "percentile": "Percentile"}
STATIC_OPTIONS = ("activation_type", "calibrate_method")
OPTIONS = ("mode", "is_per_channel", "weight_type", "reduce_range", "operators", *STATIC_OPTIONS)
"""`operators`: the ONNX types that are quantized; all that ONNX Runtime quantizes unless given.

The others default to ONNX Runtime's own: int8 weights and activations, minmax; but per channel.
"""

_WANTED_BY = "this quantization"


def check_options(options: Mapping[str, Any]) -> None:
    """Refuses unknown options and values.

    Raises:
        RequestError: as it says.
    """
    check_keys("option of the onnxruntime quantization", options, OPTIONS)
    _choice("mode", options, MODES)
    for key in ("activation_type", "weight_type"):
        _choice(key, options, TYPES)
    _choice("calibrate_method", options, METHODS)
    for key in ("is_per_channel", "reduce_range"):
        if not isinstance(options.get(key, False), bool):
            raise RequestError(f"{key} takes bool, not {options[key]!r}")
    operators = options.get("operators", [])
    if not isinstance(operators, list) or not all(isinstance(one, str) for one in operators):
        raise RequestError(f'operators takes a list such as ["MatMul"], not {operators!r}')
    _check_together(options)


def _check_together(options: Mapping[str, Any]) -> None:
    """Refuses values that do not go with each other."""
    if options.get("mode") == "dynamic":
        for key in STATIC_OPTIONS:
            if key in options:
                text = f"{key} is for mode static: a dynamic range comes with each inference"
                raise RequestError(text)
    elif (options.get("weight_type"), options.get("activation_type", "int8")) == ("uint8", "int8"):
        raise RequestError("ONNX Runtime has no uint8 weights with int8 activations")


def _choice(key: str, options: Mapping[str, Any], known: Sequence[str] | Mapping[str, str]) -> None:
    value = options.get(key)
    if value is not None and value not in known:
        raise RequestError(unknown_name(f"{key} of onnxruntime", str(value), known))


def apply(model: Any, options: Mapping[str, Any], samples: "Sequence[Sample]") -> Any:
    """The model with quantize and dequantize in it, or with operators that quantize by themselves.

    Static ranges come from all of `samples`; dynamic quantization looks at none.

    Raises:
        MissingDependency: ONNX Runtime is not installed.
    """
    import_package("onnxruntime", wanted_by=_WANTED_BY)
    import onnx
    from onnxruntime.quantization.shape_inference import quant_pre_process

    _check_operators(options)
    is_large = is_too_large(model)
    with TemporaryFolder("onnx") as folder, temporary_files_in(folder):
        original, prepared, made = (folder / f"{name}.onnx" for name in ("a", "b", "c"))
        onnx.save_model(model, str(original), save_as_external_data=is_large)
        quant_pre_process(str(original), str(prepared), save_as_external_data=is_large)
        quantize = _dynamic if options.get("mode") == "dynamic" else _static
        quantize(prepared, made, options, samples, is_large)
        quantized = onnx.load(str(made))
        _check_weights(prepared, quantized)
        return quantized


def _check_weights(path: Path, quantized: Any) -> None:
    """Compares the quantized weights with those of the model at `path` (held_weights.py).

    ONNX Runtime names them W_quantized, W_scale and W_zero_point.
    """
    import onnx
    import torch
    from onnx.external_data_helper import load_external_data_for_tensor, uses_external_data
    from onnx.numpy_helper import to_array

    from assay.toolchain.quantize.held_weights import check_weight, find_extract

    made = {tensor.name: tensor for tensor in quantized.graph.initializer}
    floating = onnx.load(str(path), load_external_data=False)
    turned = _turned_weights(floating) - _turned_weights(quantized)
    known = _known_weights(quantized)
    for tensor in floating.graph.initializer:
        parts = [made.get(f"{tensor.name}_{part}") for part in ("quantized", "scale", "zero_point")]
        if None in parts or f"{tensor.name}_quantized" not in known:
            continue
        if uses_external_data(tensor):
            load_external_data_for_tensor(tensor, str(path.parent))
        weight = torch.from_numpy(to_array(tensor).copy())
        weight = weight.T if tensor.name in turned else weight
        axis = _axis_of(quantized, f"{tensor.name}_quantized", weight.dim())
        if extract := find_extract(weight):
            numbers, scale, zero_point = (torch.from_numpy(to_array(part).copy()) for part in parts)
            values = _dequantized(numbers, scale, zero_point, axis)
            if values is not None and values.shape == weight.shape:
                check_weight(tensor.name, extract, values)


def _dequantized(numbers: Any, scale: Any, zero_point: Any, axis: int) -> Any:
    """The values of a weight with one scale, or one for each slice along the axis, or None."""
    counts = {part.numel() for part in (scale, zero_point)}
    if not counts <= {1, numbers.shape[axis] if numbers.dim() else 1}:
        return None
    ones = [1] * numbers.dim()
    shapes = [[*ones[:axis], part.numel(), *ones[axis + 1 :]] for part in (scale, zero_point)]
    steps = numbers.double() - zero_point.double().reshape(shapes[1])
    return steps * scale.double().reshape(shapes[0])


_PLAIN_TAKERS = {"DequantizeLinear", "MatMulInteger", "ConvInteger"}
"""Operators whose quantized weight lies as the float one does; DynamicQuantizeLSTM's does not."""


def _known_weights(model: Any) -> set[str]:
    """The values that only such operators take."""
    known: set[str] = set()
    others: set[str] = set()
    for node in model.graph.node:
        (known if node.op_type in _PLAIN_TAKERS else others).update(node.input)
    return known - others


def _turned_weights(model: Any) -> set[str]:
    """The matrices that a Gemm transposes; ONNX Runtime may make a MatMul of it, which does not."""
    return {
        node.input[1].removesuffix("_DequantizeLinear_Output")
        for node in model.graph.node
        if node.op_type == "Gemm"
        and any(attribute.name == "transB" and attribute.i for attribute in node.attribute)
    }


def _axis_of(model: Any, name: str, rank: int) -> int:
    """The axis along which a quantized weight has scales of its own; the last where none is said.

    Of a weight with one scale it is any.
    """
    for node in model.graph.node:
        if node.op_type == "DequantizeLinear" and node.input[0] == name:
            axes = [attribute.i for attribute in node.attribute if attribute.name == "axis"]
            return axes[0] % rank if axes and rank else 0
    return rank - 1


def _check_operators(options: Mapping[str, Any]) -> None:
    """Refuses types that name no operator, or none that is quantized dynamically."""
    import onnx
    from onnxruntime.quantization.registry import IntegerOpsRegistry

    known = set(IntegerOpsRegistry)
    if options.get("mode") != "dynamic":
        known = {schema.name for schema in onnx.defs.get_all_schemas()}
    for name in options.get("operators", []):
        if name not in known:
            raise RequestError(unknown_name("operator to quantize", name, known))


def _common(options: Mapping[str, Any], is_large: bool) -> dict[str, Any]:
    from onnxruntime.quantization import QuantType

    return {
        "op_types_to_quantize": options.get("operators"),
        "per_channel": bool(options.get("is_per_channel", True)),
        "reduce_range": bool(options.get("reduce_range", False)),
        "weight_type": QuantType[TYPES[str(options.get("weight_type", "int8"))]],
        "use_external_data_format": is_large,
    }


def _static(
    source: Path,
    target: Path,
    options: Mapping[str, Any],
    samples: "Sequence[Sample]",
    is_large: bool,
) -> None:
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static

    quantize_static(
        str(source),
        str(target),
        _Reader(source, samples),
        quant_format=QuantFormat.QDQ,
        activation_type=QuantType[TYPES[str(options.get("activation_type", "int8"))]],
        calibrate_method=CalibrationMethod[METHODS[str(options.get("calibrate_method", "minmax"))]],
        **_common(options, is_large),
    )


def _dynamic(
    source: Path,
    target: Path,
    options: Mapping[str, Any],
    samples: "Sequence[Sample]",
    is_large: bool,
) -> None:
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(str(source), str(target), **_common(options, is_large))


class _Reader:
    """Hands the calibration samples to ONNX Runtime, one by one."""

    def __init__(self, path: Path, samples: "Sequence[Sample]") -> None:
        self._path = path
        self._samples = samples
        self._left: Iterator[dict[str, Any]] | None = None

    def get_next(self) -> dict[str, Any] | None:
        if self._left is None:
            names = _input_names(self._path)
            self._left = (_feed(names, sample) for sample in self._samples)
        return next(self._left, None)


def _input_names(path: Path) -> list[str]:
    import onnx

    model = onnx.load(str(path), load_external_data=False)
    return [str(value["name"]) for value in get_inputs(model)]


def _feed(names: Sequence[str], sample: "Sample") -> dict[str, Any]:
    """Inputs as ONNX Runtime takes them in Python.

    Raises:
        Unsupported: a type that NumPy does not have.
    """
    try:
        return {name: tensor.numpy() for name, tensor in zip(names, sample, strict=True)}
    except TypeError as error:
        from assay.toolchain.dtypes import dtype_name  # Loads PyTorch.

        types = sorted({dtype_name(tensor.dtype) for tensor in sample})
        why = f"ONNX Runtime takes no inputs of {', '.join(types)} in Python"
        raise Unsupported(f"{why}, and calibration needs them") from error


def evaluate(model: Any) -> Evaluate:
    """A function that executes the model as it is written, on one thread.

    Without graph optimizations ONNX Runtime fuses no quantize and no dequantize into an integer
    kernel.
    """
    ort = import_package("onnxruntime", wanted_by=_WANTED_BY)
    import torch

    session = _literal_session(ort, model)
    names = [value.name for value in session.get_inputs()]

    def run(*sample: torch.Tensor) -> list[torch.Tensor]:
        return [torch.from_numpy(output) for output in session.run(None, _feed(names, sample))]

    return run


def _literal_session(ort: Any, model: Any) -> Any:
    import onnx

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    providers = ["CPUExecutionProvider"]
    if not is_too_large(model):
        return ort.InferenceSession(model.SerializeToString(), options, providers=providers)
    with TemporaryFolder("onnx") as folder:
        path = folder / "model.onnx"
        onnx.save_model(model, str(path), save_as_external_data=True)
        return ort.InferenceSession(str(path), options, providers=providers)
