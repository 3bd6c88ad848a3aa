"""A PT2E quantizer for everything that the delegate computes.

int8 or int16 activations per tensor, int8 weights per output channel in [-127, 127], float biases
(lowering carries them in 64 bits). Operators that only move data share the parameters of their
input.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node
from torchao.quantization.pt2e import (
    HistogramObserver,
    MinMaxObserver,
    PerChannelMinMaxObserver,
)
from torchao.quantization.pt2e.quantizer import (
    FixedQParamsQuantizationSpec,
    QuantizationAnnotation,
    QuantizationSpec,
    Quantizer,
    SharedQuantizationSpec,
)
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from fixedpoint.functions import UNARY, base_name, bounds_of, fixed_output
from fixedpoint.integer_types import INT8, INT16, TYPES, IntegerType
from fixedpoint.observers import (
    PowerOfTwoChannelObserver,
    PowerOfTwoHistogramObserver,
    PowerOfTwoMinMaxObserver,
)
from fixedpoint.rewrite import rewrite

_WEIGHTED = ("aten.conv1d", "aten.conv2d", "aten.convolution", "aten.linear")
_BINARY = ("aten.matmul", "aten.bmm", "aten.mm")
_WITH_NUMBER = ("aten.add", "aten.mul", "aten.sub", "aten.div")
_OF_NUMBERS_ONLY = ("aten.sub", "aten.div")
_POOLED = (
    "aten.adaptive_avg_pool2d", "aten.avg_pool2d", "aten.mean", "aten.softmax", "aten.layer_norm",
)  # fmt: skip
_MOVING = (
    "aten.max_pool2d",
    "aten.view",
    "aten.reshape",
    "aten.flatten",
    "aten.permute",
    "aten.transpose",
    "aten.squeeze",
    "aten.unsqueeze",
    "aten.dropout",
    "aten.clone",
    "aten.contiguous",
    "aten.slice",
    "aten.select",
    "aten.expand",
    "aten.constant_pad_nd",
    "aten.pad",
)
_DTYPES = {INT8: torch.int8, INT16: torch.int16}
_OBSERVERS = {
    "any": {"histogram": HistogramObserver, "minmax": MinMaxObserver},
    "power_of_two": {"histogram": PowerOfTwoHistogramObserver, "minmax": PowerOfTwoMinMaxObserver},
}
_EPSILON = {INT8: 2.0**-12, INT16: 2.0**-20}
"""The smallest scale of activations."""

_LOW = {INT8: INT8.low, INT16: -INT16.high}
"""The smallest activation: that of int16 is as far from zero as the largest."""


@dataclass(frozen=True)
class _Specs:
    activation: Any
    weight: QuantizationSpec
    is_power_of_two: bool
    type: IntegerType


class FixedPointQuantizer(Quantizer):  # type: ignore[misc]
    """Annotates a graph for the fixed-point delegate."""

    def __init__(
        self,
        observer: str = "histogram",
        scales: str = "any",
        fraction_bits: int | None = None,
        activations: str = "int8",
    ) -> None:
        """Takes how ranges of activations are found: `histogram` or `minmax`.

        `scales`: `any`, or `power_of_two`, with zero points of 0: the Q formats. `fraction_bits`
        gives every activation of a Q format that many bits behind the point (a scale of
        2^-fraction_bits) in the place of what is observed; functions of a known range keep theirs.
        `activations`: `int8`, or `int16`, whose zero points are 0.

        Raises:
            ValueError: another observer, other scales or activations, fraction bits without a Q
                format.
        """
        if activations not in TYPES:
            raise ValueError(f"no activations {activations!r}; there are {', '.join(TYPES)}")
        kind = TYPES[activations]
        if scales not in _OBSERVERS:
            raise ValueError(f"no scales {scales!r}; there are {', '.join(_OBSERVERS)}")
        if observer not in _OBSERVERS[scales]:
            known = ", ".join(_OBSERVERS[scales])
            raise ValueError(f"no observer {observer!r}; there are {known}")
        is_power_of_two = scales == "power_of_two"
        if fraction_bits is not None and not is_power_of_two:
            raise ValueError("fraction_bits are of Q formats; give scales='power_of_two', too")
        observed = _OBSERVERS[scales][observer].with_args(eps=_EPSILON[kind])
        is_symmetric = is_power_of_two or not kind.has_zero_points
        channels = PowerOfTwoChannelObserver if is_power_of_two else PerChannelMinMaxObserver
        activation = QuantizationSpec(
            dtype=_DTYPES[kind],
            quant_min=_LOW[kind],
            quant_max=kind.high,
            qscheme=torch.per_tensor_symmetric if is_symmetric else torch.per_tensor_affine,
            observer_or_fake_quant_ctr=observed,
        )
        self._specs = _Specs(
            activation=(
                activation if fraction_bits is None else _fixed(2.0**-fraction_bits, 0, kind)
            ),
            weight=QuantizationSpec(
                dtype=torch.int8,
                quant_min=-127,
                quant_max=127,
                qscheme=torch.per_channel_symmetric,
                ch_axis=0,
                observer_or_fake_quant_ctr=channels.with_args(),
            ),
            is_power_of_two=is_power_of_two,
            type=kind,
        )

    def transform_for_annotation(self, model: torch.fx.GraphModule) -> torch.fx.GraphModule:
        """Attention in pieces that integers compute, lists in slices."""
        return rewrite(model)

    def annotate(self, model: torch.fx.GraphModule) -> torch.fx.GraphModule:
        """Annotates each operator that has a rule, in the order of the graph."""
        for node in model.graph.nodes:
            rule = _RULES.get(base_name(node.target)) if node.op == "call_function" else None
            if rule is not None and Q_ANNOTATION_KEY not in node.meta:
                rule(node, self._specs)
        return model

    def validate(self, model: torch.fx.GraphModule) -> None:
        """Nothing to refuse: what has no rule stays as it is."""


def _fixed(scale: float, zero_point: int, kind: IntegerType) -> FixedQParamsQuantizationSpec:
    return FixedQParamsQuantizationSpec(
        _DTYPES[kind], scale, zero_point, kind.low, kind.high, torch.per_tensor_affine
    )


def _is_float(node: Any) -> bool:
    value = node.meta.get("val") if isinstance(node, Node) else None
    return isinstance(value, torch.Tensor) and value.dtype == torch.float32


def _input_spec(node: Node, specs: _Specs) -> Any:
    """What is quantized where it is made is not quantized again where it is read."""
    annotation = node.meta.get(Q_ANNOTATION_KEY)
    made = annotation.output_qspec if annotation is not None else None
    return specs.activation if made is None else SharedQuantizationSpec(node)


def _fused_activation(node: Node) -> Node:
    """The clamp that alone reads the node, or the node itself."""
    users = list(node.users)
    if len(users) != 1 or users[0].op != "call_function":
        return node
    is_clamp = bounds_of(base_name(users[0].target), users[0].args) is not None
    return users[0] if is_clamp else node


def _put(node: Node, inputs: dict[Node, Any], output: Any) -> None:
    node.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(
        input_qspec_map=inputs, output_qspec=output, _annotated=True
    )


def _put_fused(node: Node, inputs: dict[Node, Any], specs: _Specs) -> None:
    last = _fused_activation(node)
    if last is node:
        _put(node, inputs, specs.activation)
    else:
        _put(node, inputs, None)
        _put(last, {}, specs.activation)


def _annotate_weighted(node: Node, specs: _Specs) -> None:
    x, weight = node.args[0], node.args[1]
    if not (_is_float(x) and isinstance(weight, Node) and weight.op == "get_attr"):
        return
    assert isinstance(x, Node)
    _put_fused(node, {x: _input_spec(x, specs), weight: specs.weight}, specs)


def _annotate_binary(node: Node, specs: _Specs) -> None:
    if not all(_is_float(arg) for arg in node.args[:2]):
        return
    inputs = {arg: _input_spec(arg, specs) for arg in node.args[:2] if isinstance(arg, Node)}
    _put_fused(node, inputs, specs)


def _annotate_with_number(node: Node, specs: _Specs) -> None:
    """An operator of two tensors, or of a tensor and a number."""
    if not isinstance(node.args[1], Node):
        _annotate_unary(node, specs)
    elif base_name(node.target) not in _OF_NUMBERS_ONLY:
        _annotate_binary(node, specs)


def _annotate_moving(node: Node, specs: _Specs) -> None:
    x = node.args[0]
    if _is_float(x) and isinstance(x, Node):
        _put(node, {x: _input_spec(x, specs)}, SharedQuantizationSpec((x, node)))


def _annotate_cat(node: Node, specs: _Specs) -> None:
    parts = node.args[0]
    if not (isinstance(parts, list | tuple) and all(_is_float(part) for part in parts)):
        return
    inputs = {part: _input_spec(part, specs) for part in parts if isinstance(part, Node)}
    _put(node, inputs, specs.activation)


def _annotate_unary(node: Node, specs: _Specs) -> None:
    x = node.args[0]
    if not (_is_float(x) and isinstance(x, Node)):
        return
    fixed = fixed_output(base_name(node.target), specs.is_power_of_two, specs.type)
    output = specs.activation if fixed is None else _fixed(*fixed, specs.type)
    _put(node, {x: _input_spec(x, specs)}, output)


_RULES: dict[str, Callable[[Node, _Specs], None]] = {
    **dict.fromkeys(_WEIGHTED, _annotate_weighted),
    **dict.fromkeys(_BINARY, _annotate_binary),
    **dict.fromkeys(_WITH_NUMBER, _annotate_with_number),
    **dict.fromkeys(_POOLED, _annotate_unary),
    **dict.fromkeys(_MOVING, _annotate_moving),
    **dict.fromkeys(UNARY, _annotate_unary),
    "aten.cat": _annotate_cat,
}
