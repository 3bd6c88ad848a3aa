"""One call of one operator as a model: "aten:add.Tensor" with its arguments.

    {"ref": "aten:add.Tensor", "args": {"args": […], "kwargs": {…}, "values": "normal" | "edge"}}

"same": true next to them says that the answer is alike for any values, such as a softmax of one
element; "unchanged": true, that it is an input, as of a shift by 0; "dimensions": {"n": [2, 9]} are
bounds of the sizes that tensors leave "open". The tensors of the call that are no
constants are the program's inputs, in order.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from assay.conformance import bounds
from assay.conformance.calls import (
    TensorSpec,
    get_tensors,
    map_tensors,
    refused_form,
)
from assay.conformance.dimensions import (
    open_dimensions,
    ranges_from_json,
    sizes_beyond,
    sizes_from_ranges,
)
from assay.conformance.operator_module import OperatorModule
from assay.conformance.values import draw_tensor
from assay.toolchain.errors import RequestError
from assay.toolchain.sampled_model import Bound, SampledModel
from assay.toolchain.suggest import check_keys, unknown_name
from assay.toolchain.tensors import Sample

VALUES = ("normal", "edge", "refused")
BESIDE = ("values", "same", "unchanged", "dimensions")
"""Keys of an operator's arguments besides the call."""


def make_operator(ref: str, args: Mapping[str, Any]) -> SampledModel:
    """The model of a reference "aten:NAME.OVERLOAD" and the arguments that it names."""
    check_keys(f"argument of {ref}", args, ("args", "kwargs", *BESIDE))
    values = str(args.get("values", "normal"))
    if values not in VALUES:
        raise RequestError(unknown_name("kind of values", values, VALUES))
    operator = ref.replace(":", ".", 1)
    call = {"args": list(args.get("args") or []), "kwargs": dict(args.get("kwargs") or {})}
    module = OperatorModule(operator, call, is_same=bool(args.get("same", False)))
    module.is_copy = bool(args.get("unchanged", False))
    ranges = ranges_from_json(args.get("dimensions") or {}, module.specs)
    double = copy.deepcopy(module).double()
    double.is_double = True

    def make_sample(seed: int, sample: int) -> Sample:
        return draw_inputs(module.specs, sizes_from_ranges(ranges, sample), seed, sample, values)

    def invalid_sample(seed: int, sample: int) -> Sample:
        specs = get_tensors(map_tensors(call, refused_form))
        return draw_inputs(specs, sizes_beyond(ranges), seed, sample, values)

    def bound(
        sample: Sample, own: Sequence[torch.Tensor], exact: Sequence[torch.Tensor]
    ) -> list[Bound]:
        return bounds.bound_outputs(module, double, sample, own, exact)

    inputs = [spec for spec in module.specs if not spec.is_constant]
    return SampledModel(
        module,
        make_sample,
        double,
        bound,
        dynamic=tuple(open_dimensions(spec, ranges) for spec in inputs),
        invalid_sample=invalid_sample if values == "refused" else None,
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
