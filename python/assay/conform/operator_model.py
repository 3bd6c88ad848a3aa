"""One call of one operator as a model: "aten:add.Tensor" with its arguments.

    {"ref": "aten:add.Tensor", "args": {"args": […], "kwargs": {…}, "values": "normal" | "edge"}}

"same": true beside them says that the answer is alike for any values, such as a softmax of one
element; "dimensions": {"n": [2, 9]} are bounds of the sizes that tensors leave "open". The tensors
of the call that are no constants are the program's inputs, in order.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._prims_common import is_contiguous_or_false

from assay.conform import bounds
from assay.conform.calls import (
    TensorSpec,
    decode,
    find_overload,
    map_tensors,
    refused_form,
    tensors_of,
)
from assay.conform.dimensions import open_dimensions, ranges_from_json, sizes_beyond, sizes_of
from assay.conform.values import draw_tensor
from assay.toolchain.errors import RequestError
from assay.toolchain.models.inputs import Sample
from assay.toolchain.sampled_model import Bound, Brought
from assay.toolchain.suggest import check_keys, unknown_name

VALUES = ("normal", "edge", "refused")
BESIDE = ("values", "same", "dimensions")
"""What an operator's arguments hold beside the call."""


def make_operator(ref: str, args: Mapping[str, Any]) -> Brought:
    """The model of a reference "aten:NAME.OVERLOAD" and the arguments that it names."""
    check_keys(f"argument of {ref}", args, ("args", "kwargs", *BESIDE))
    values = str(args.get("values", "normal"))
    if values not in VALUES:
        raise RequestError(unknown_name("kind of values", values, VALUES))
    operator = ref.replace(":", ".", 1)
    call = {"args": list(args.get("args") or []), "kwargs": dict(args.get("kwargs") or {})}
    module = OperatorModule(operator, call, is_same=bool(args.get("same", False)))
    ranges = ranges_from_json(args.get("dimensions") or {}, module.specs)
    double = copy.deepcopy(module).double()
    double.is_double = True

    def draw(seed: int, sample: int) -> Sample:
        return draw_inputs(module.specs, sizes_of(ranges, sample), seed, sample, values)

    def refused(seed: int, sample: int) -> Sample:
        specs = tensors_of(map_tensors(call, refused_form))
        return draw_inputs(specs, sizes_beyond(ranges), seed, sample, values)

    def bound(
        sample: Sample, own: Sequence[torch.Tensor], exact: Sequence[torch.Tensor]
    ) -> list[Bound]:
        return bounds.bound_outputs(module, double, sample, own, exact)

    inputs = [spec for spec in module.specs if not spec.is_constant]
    return Brought(
        module,
        draw,
        double,
        bound,
        dynamic=tuple(open_dimensions(spec, ranges) for spec in inputs),
        refused=refused if values == "refused" else None,
    )


def draw_inputs(
    specs: Sequence[TensorSpec], sizes: Mapping[str, int], seed: int, sample: int, values: str
) -> Sample:
    """One sample: a tensor for each that is no constant, open dimensions of these sizes."""
    return tuple(
        draw_tensor(spec.sized(sizes), seed=seed, sample=sample, place=place, values=values)
        for place, spec in enumerate(specs)
        if not spec.is_constant
    )


class OperatorModule(torch.nn.Module):  # type: ignore[misc]
    """Calls one overload; returns its tensor outputs as a tuple.

    `is_same`: it answers alike to any values. `is_double`: floating types named among the
    arguments become float64.
    """

    def __init__(self, operator: str, call: Mapping[str, Any], *, is_same: bool = False) -> None:
        super().__init__()
        self.operator = operator
        self.call = call
        self.is_same = is_same
        self.specs = tensors_of(call)
        self.overload = find_overload(operator)
        self.is_double = False
        for place, spec in enumerate(self.specs):
            if spec.is_constant:
                value = draw_tensor(spec, seed=0, sample=0, place=place)
                self.register_buffer(f"constant_{place}", value)

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The outputs; those with gaps or in another order of memory are made contiguous.

        A program may not give out such a one: ExecuTorch refuses an expanded output.
        """
        args, kwargs = self.arguments(inputs)
        leaves = torch.utils._pytree.tree_leaves(self.overload(*args, **kwargs))
        outputs = (leaf for leaf in leaves if isinstance(leaf, torch.Tensor))
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
    """The same values in another order of memory: what makes a contiguous input not so."""
    if spec.layout == "channels_last":
        formats = {4: torch.channels_last, 5: torch.channels_last_3d}
        return tensor.contiguous(memory_format=formats[tensor.dim()])
    if spec.layout == "transposed" and tensor.dim() > 1:
        return tensor.transpose(0, -1).contiguous().transpose(0, -1)
    if spec.layout == "gapped" and tensor.dim() > 0:
        return torch.stack((tensor, tensor), -1).select(-1, 0)
    return tensor
