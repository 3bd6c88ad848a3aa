"""Google's own post-training quantization of a TensorFlow Lite program: ai-edge-quantizer.

It is what LiteRT's users do, and its result is no torch graph. What it should compute is told by
LiteRT's reference kernels: plain loops over the integers of TensorFlow Lite's quantization
specification, which neither XNNPACK nor LiteRT's optimized kernels have anything to do with.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.toolchain.errors import RequestError
from assay.toolchain.file_formats.litert_interpreter import make_interpreter
from assay.toolchain.packages import import_package
from assay.toolchain.suggest import check_keys, unknown_name
from assay.toolchain.types import Evaluate

if TYPE_CHECKING:
    import torch

    from assay.toolchain.tensors import Sample

NAME = "litert"
MODES = {
    "static": "static_wi8_ai8",
    "dynamic": "dynamic_wi8_afp32",
    "weight_only": "weight_only_wi8_afp32",
}
"""Names of the quantizer's recipes: 8-bit weights per channel, and activations in 8 bits, in 8 bits
while an operator computes, or in float."""

OPTIONS = ("mode",)
SIGNATURE = "serving_default"
"""The converter's name for the one function of a program."""

_WANTED_BY = "this quantization"


def check_options(options: Mapping[str, Any]) -> None:
    """Refuses unknown options and values.

    Raises:
        RequestError: as it says.
    """
    check_keys("option of the litert quantization", options, OPTIONS)
    mode = options.get("mode", "static")
    if mode not in MODES:
        raise RequestError(unknown_name("mode of litert", str(mode), MODES))


def apply(model: bytes, options: Mapping[str, Any], samples: "Sequence[Sample]") -> bytes:
    """The program with quantized weights, and activations as the mode says.

    Static ranges come from all of `samples`; the other modes look at none. Inputs and outputs of
    the program stay as they are.

    Raises:
        MissingDependency: the quantizer is not installed.
    """
    aeq = import_package("ai_edge_quantizer", wanted_by=_WANTED_BY)
    recipe = getattr(aeq.recipe, MODES[options.get("mode", "static")])()
    quantizer = aeq.Quantizer(bytearray(model), [*recipe, *_untouched_ends(aeq)])
    ranges = None
    if quantizer.need_calibration:
        feeds = [_feed(sample) for sample in samples]
        ranges = quantizer.calibrate({SIGNATURE: feeds}, num_threads=1)
    quantized = bytes(quantizer.quantize(ranges).quantized_model)
    check_weights(*(make_interpreter(made, "BUILTIN_REF") for made in (model, quantized)))
    return quantized


def check_weights(floating: Any, quantized: Any) -> None:
    """Compares the weights of two programs, given as interpreters (held_weights.py).

    The quantizer keeps their names. A bias has 32 bits and is left out.

    Raises:
        JobError: the quantizer changed a weight more than rounding does.
    """
    import torch

    from assay.toolchain.quantize.held_weights import check_weight, find_extract

    made = _constants(quantized)
    for name, detail in _constants(floating).items():
        if name not in made or made[name]["dtype"].__name__ != "int8":
            continue
        weight = torch.from_numpy(floating.get_tensor(detail["index"]))
        if extract := find_extract(weight):
            check_weight(name, extract, _dequantized(quantized, made[name]))


def _constants(interpreter: Any) -> dict[str, Any]:
    """Descriptions by name of the tensors that are neither given nor computed."""
    nodes = interpreter._get_ops_details()
    computed = {int(tensor) for node in nodes for tensor in node["outputs"]}
    given = {detail["index"] for detail in interpreter.get_input_details()}
    taken = {int(tensor) for node in nodes for tensor in node["inputs"]} - computed - given
    return {
        detail["name"]: detail
        for detail in interpreter.get_tensor_details()
        if detail["index"] in taken
    }


def _dequantized(interpreter: Any, detail: Mapping[str, Any]) -> "torch.Tensor":
    import torch

    steps = detail["quantization_parameters"]
    scales, zero_points = (
        torch.from_numpy(steps[key]).double() for key in ("scales", "zero_points")
    )
    numbers = torch.from_numpy(interpreter.get_tensor(detail["index"])).double()
    axis = int(steps["quantized_dimension"])
    shape = [-1 if place == axis else 1 for place in range(numbers.dim())]
    if scales.numel() == 1:
        shape = [1] * numbers.dim()
    return (numbers - zero_points.reshape(shape)) * scales.reshape(shape)


def _untouched_ends(aeq: Any) -> list[dict[str, Any]]:
    """Entries of a quantizer's recipe that leave the program's inputs and outputs in float."""
    names = aeq.qtyping.TFLOperationName
    algorithm = aeq.algorithm_manager.AlgorithmName.NO_QUANTIZE
    ends = (names.INPUT, names.OUTPUT)
    return [{"regex": ".*", "operation": end, "algorithm_key": algorithm} for end in ends]


def _feed(sample: "Sample") -> dict[str, Any]:
    """A sample as the converter names the inputs of a program."""
    return {f"args_{place}": tensor.numpy() for place, tensor in enumerate(sample)}


def evaluate(model: bytes) -> Evaluate:
    """A function that executes the program by LiteRT's reference kernels, on one thread."""
    import torch

    interpreter = make_interpreter(model, "BUILTIN_REF")
    inputs = [detail["index"] for detail in interpreter.get_input_details()]
    outputs = [detail["index"] for detail in interpreter.get_output_details()]

    def run(*sample: torch.Tensor) -> list[torch.Tensor]:
        for index, tensor in zip(inputs, sample, strict=True):
            interpreter.set_tensor(index, tensor.numpy())
        interpreter.invoke()
        return [torch.from_numpy(interpreter.get_tensor(index)) for index in outputs]

    return run
