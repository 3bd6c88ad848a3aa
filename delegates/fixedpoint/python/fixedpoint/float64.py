"""The quantized graph in float64: what integers are compared with.

Quantize and dequantize are written out as in the graph, everything between them is computed in
double precision, so that nothing but quantization itself is rounded.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.export import ExportedProgram

from fixedpoint.functions import base_name


def run_float64(exported: ExportedProgram, *inputs: torch.Tensor) -> list[torch.Tensor]:
    """Outputs of a program that `convert_pt2e` made and torch.export exported, in float64."""
    module = exported.module()
    with torch.no_grad():
        made = _Float64(module).run(*inputs)
    return [made] if isinstance(made, torch.Tensor) else list(made)


class _Float64(torch.fx.Interpreter):  # type: ignore[misc]
    def run_node(self, n: torch.fx.Node) -> Any:
        result = super().run_node(n)
        is_float = isinstance(result, torch.Tensor) and result.dtype == torch.float32
        is_float = is_float and n.op != "placeholder"
        return result.double() if is_float else result

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        own = _OWN.get(base_name(target))
        return own(*args, **kwargs) if own else super().call_function(target, args, kwargs)


def _quantize(x: Any, scale: float, zero_point: int, low: int, high: int, dtype: Any) -> Any:
    if x.dtype == torch.float32:  # an input: what the boundary does is PyTorch's own
        scaled = x * (1.0 / scale)
        return (torch.round(scaled) + zero_point).clamp(low, high).to(dtype)
    return (torch.round(x.double() / scale) + zero_point).clamp(low, high).to(dtype)


def _dequantize(x: Any, scale: float, zero_point: int, low: int, high: int, dtype: Any) -> Any:
    return (x.double() - zero_point) * scale


def _dequantize_channels(
    x: Any, scales: Any, zero_points: Any, axis: int, low: int, high: int, dtype: Any
) -> Any:
    shape = [-1 if i == axis else 1 for i in range(x.dim())]
    return (x.double() - zero_points.reshape(shape)) * scales.double().reshape(shape)


_OWN: dict[str, Callable[..., Any]] = {
    "quantized_decomposed.quantize_per_tensor": _quantize,
    "quantized_decomposed.dequantize_per_tensor": _dequantize,
    "quantized_decomposed.dequantize_per_channel": _dequantize_channels,
}
