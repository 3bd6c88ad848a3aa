"""One call of one operator as a torch module."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._prims_common import is_contiguous_or_false

from assay.conformance.calls import TensorSpec, decode, find_overload, get_tensors
from assay.conformance.values import draw_tensor
from assay.toolchain.tensors import flatten_tensors


class OperatorModule(torch.nn.Module):  # type: ignore[misc]
    """Calls one overload; returns its tensor outputs as a tuple.

    `is_same`: it answers alike to any values. `is_copy`: with an input unchanged. `is_double`:
    floating types named among the arguments become float64.
    """

    def __init__(self, operator: str, call: Mapping[str, Any], *, is_same: bool = False) -> None:
        super().__init__()
        self.operator = operator
        self.call = call
        self.is_same = is_same
        self.is_copy = False
        self.specs = get_tensors(call)
        self.overload = find_overload(operator)
        self.is_double = False
        for place, spec in enumerate(self.specs):
            if spec.is_constant:
                value = draw_tensor(spec, seed=0, sample=0, place=place)
                self.register_buffer(f"constant_{place}", value)

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The outputs, made contiguous: ExecuTorch refuses an expanded output."""
        args, kwargs = self.arguments(inputs)
        outputs = flatten_tensors(self.overload(*args, **kwargs))
        return tuple(one if is_contiguous_or_false(one) else one.contiguous() for one in outputs)

    def arguments(
        self,
        inputs: Sequence[torch.Tensor],
        change: Callable[[torch.Tensor], torch.Tensor] = lambda tensor: tensor,
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments for these inputs; each tensor, constants too, goes through `change`."""
        waiting, place = iter(inputs), iter(range(len(self.specs)))

        def tensor(document: Mapping[str, Any]) -> torch.Tensor:
            number = next(place)
            spec = self.specs[number]
            value = getattr(self, f"constant_{number}") if spec.is_constant else next(waiting)
            return change(lay_out(value, spec))

        call = decode(self.call, tensor)
        return call["args"], self._kwargs(call["kwargs"])

    def _kwargs(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        if not self.is_double:
            return kwargs
        return {key: _widened(value) for key, value in kwargs.items()}


def _widened(value: Any) -> Any:
    is_float = isinstance(value, torch.dtype) and value.is_floating_point
    return torch.float64 if is_float else value


def lay_out(tensor: torch.Tensor, spec: TensorSpec) -> torch.Tensor:
    """Lays the values out in the order of memory that the spec asks for."""
    if spec.layout == "channels_last":
        formats = {4: torch.channels_last, 5: torch.channels_last_3d}
        return tensor.contiguous(memory_format=formats[tensor.dim()])
    if spec.layout == "transposed" and tensor.dim() > 1:
        return tensor.transpose(0, -1).contiguous().transpose(0, -1)
    if spec.layout == "gapped" and tensor.dim() > 0:
        return torch.stack((tensor, tensor), -1).select(-1, 0)
    return tensor
