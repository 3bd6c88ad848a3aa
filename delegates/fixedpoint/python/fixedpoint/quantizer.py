"""A PT2E quantizer for everything that the delegate computes.

int8 or int16 activations per tensor, weights of up to 8 bits per output channel with a zero point
of 0, [-127, 127], float biases (lowering carries them in 64 bits). Operators that only move data
share the parameters of their input.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Node
from torchao.quantization.pt2e.quantizer import (
    QuantizationAnnotation,
    Quantizer,
    SharedQuantizationSpec,
)
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from fixedpoint.constant_values import is_written, is_written_through_view
from fixedpoint.functions import (
    SHARES,
    UNARY,
    base_name,
    bounds_of,
    fixed_output,
    named_arguments,
)
from fixedpoint.graph_edit import attribute_of
from fixedpoint.integer_types import INT8
from fixedpoint.masking import LEFT_KEY, masked_inner
from fixedpoint.match import is_integer
from fixedpoint.rewrite import rewrite
from fixedpoint.specs import Options, Specs, make_specs

_WEIGHTED = ("aten.conv1d", "aten.conv2d", "aten.convolution", "aten.linear")
_BINARY = ("aten.matmul", "aten.bmm", "aten.mm")
_WITH_NUMBER = ("aten.add", "aten.mul", "aten.sub", "aten.rsub", "aten.div")
_OF_NUMBERS_ONLY = ("aten.sub", "aten.rsub", "aten.div")
_POOLED = (
    "aten.adaptive_avg_pool2d", "aten.avg_pool2d", "aten.mean", "aten.layer_norm",
)  # fmt: skip
NEVER_LARGEST = -1e4
"""Padding from here down is what a maximum never takes beside values as they are in use."""

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
    "aten.unflatten",
)


class FixedPointQuantizer(Quantizer):  # type: ignore[misc]
    """Annotates a graph for the fixed-point delegate."""

    def __init__(
        self,
        observer: str = "histogram",
        scales: str = "any",
        fraction_bits: int | None = None,
        activations: str = "int8",
        headroom_bits: int = 0,
        weight_bits: int = 8,
    ) -> None:
        """Takes how ranges of activations are found: `histogram` or `minmax`.

        `scales`: `any`, or `power_of_two`, with zero points of 0: the Q formats. `fraction_bits`
        gives every activation of a Q format that many bits behind the point (a scale of
        2^-fraction_bits) in the place of what is observed; functions of a known range keep theirs.
        `activations`: `int8`, or `int16`, whose zero points are 0. `headroom_bits`: what is left
        above the observed range, where zero points are 0; functions of a known range need none.
        `weight_bits`: 2 to 8; with 7 or less AVX2 without VNNI multiplies faster.

        Raises:
            ValueError: another observer, other scales or activations, fraction bits without a Q
                format, headroom beside zero points, bits of weights that int8 does not hold.
        """
        self._specs = make_specs(
            Options(observer, scales, fraction_bits, activations, headroom_bits, weight_bits)
        )

    def transform_for_annotation(self, model: torch.fx.GraphModule) -> torch.fx.GraphModule:
        """Attention in pieces that integers compute, lists in slices."""
        return rewrite(model)

    def annotate(self, model: torch.fx.GraphModule) -> torch.fx.GraphModule:
        """Annotates each operator that has a rule, in the order of the graph."""
        for node in model.graph.nodes:
            rule = _RULES.get(base_name(node.target)) if node.op == "call_function" else None
            if rule is not None and Q_ANNOTATION_KEY not in node.meta and _may_quantize(node):
                rule(node, self._specs)
        return model

    def validate(self, model: torch.fx.GraphModule) -> None:
        """Nothing to refuse: what has no rule stays as it is."""


def _may_quantize(node: Node) -> bool:
    """Leaves results of other types, and what makes or reads values that are written to in part.

    A value is quantized where it is made: its readers would not see what is written later.
    """
    if node.meta.get(LEFT_KEY, False) or not _is_float(node):
        return False
    values = (*node.all_input_nodes, _fused_activation(node))
    return not any(is_written_through_view(value) for value in values)


def _is_parameter(node: Any) -> bool:
    """True if a node is a constant of the model, which nothing writes to."""
    return isinstance(node, Node) and node.op == "get_attr" and not is_written(node)


def _is_float(node: Any) -> bool:
    value = node.meta.get("val") if isinstance(node, Node) else None
    return isinstance(value, torch.Tensor) and value.dtype == torch.float32


def _input_spec(node: Node, specs: Specs) -> Any:
    """Shares the quantization of a value between its producer and its consumers."""
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


def _put_fused(node: Node, inputs: dict[Node, Any], specs: Specs) -> None:
    last = _fused_activation(node)
    if last is node:
        _put(node, inputs, specs.activation)
    else:
        _put(node, inputs, None)
        _put(last, {}, specs.activation)


def _annotate_weighted(node: Node, specs: Specs) -> None:
    x, weight = node.args[0], node.args[1]
    if not (_is_float(x) and isinstance(weight, Node) and _is_parameter(weight)):
        return
    assert isinstance(x, Node)
    _put_fused(node, {x: _input_spec(x, specs), weight: specs.weight}, specs)


def _annotate_binary(node: Node, specs: Specs) -> None:
    if not all(_is_float(arg) for arg in node.args[:2]):
        return
    inputs = {arg: _input_spec(arg, specs) for arg in node.args[:2] if isinstance(arg, Node)}
    _put_fused(node, inputs, specs)


def _annotate_with_number(node: Node, specs: Specs) -> None:
    """Annotates an operator of two tensors, or of a tensor and a number."""
    if not isinstance(node.args[1], Node):
        _annotate_unary(node, specs)
    elif base_name(node.target) not in _OF_NUMBERS_ONLY:
        _annotate_binary(node, specs)


def _annotate_moving(node: Node, specs: Specs) -> None:
    x = node.args[0]
    if _is_float(x) and isinstance(x, Node):
        _put(node, {x: _input_spec(x, specs)}, SharedQuantizationSpec((x, node)))


def _annotate_pad(node: Node, specs: Specs) -> None:
    """Keeps what a maximum never takes out of the range, which is that of the input then."""
    a = named_arguments(node.target, node.args, dict(node.kwargs))
    value, x = float(a.get("value") or 0.0), node.args[0]
    if a.get("mode", "constant") != "constant":
        return
    if value > NEVER_LARGEST and math.isfinite(value):
        _annotate_moving(node, specs)
    elif value <= NEVER_LARGEST and _is_float(x) and isinstance(x, Node) and _feeds_maxima(node):
        _put(node, {x: _input_spec(x, specs)}, specs.like(x, node))


def _feeds_maxima(node: Node) -> bool:
    return bool(node.users) and all(
        user.op == "call_function" and base_name(user.target) == "aten.max_pool2d"
        for user in node.users
    )


def _annotate_embedding(node: Node, specs: Specs) -> None:
    """The table's range is that of the rows, also of those that no sample has chosen.

    In int8 the table has the parameters of the result; in int16 it is int8, each row by itself.
    """
    table = node.args[0]
    if not (isinstance(table, Node) and _is_parameter(table) and is_integer(node.args[1])):
        return
    if specs.type is INT8:
        _put(node, {table: specs.table}, SharedQuantizationSpec((table, node)))
    else:
        _put(
            node,
            {table: specs.weight},
            specs.up_to(float(attribute_of(table).detach().abs().max())),
        )


def _annotate_softmax(node: Node, specs: Specs) -> None:
    """Scores are quantized before a mask takes places from them."""
    scores = masked_inner(node.args[0])
    if scores is None:
        _annotate_unary(node, specs)
    elif _is_float(scores):
        _put(node.all_input_nodes[0], {scores: _input_spec(scores, specs)}, None)
        output = fixed_output("aten.softmax", specs.is_power_of_two, specs.type)
        assert output is not None
        _put(node, {}, specs.fixed(*output))


def _annotate_cat(node: Node, specs: Specs) -> None:
    parts = node.args[0]
    if not (isinstance(parts, list | tuple) and all(_is_float(part) for part in parts)):
        return
    inputs = {part: _input_spec(part, specs) for part in parts if isinstance(part, Node)}
    _put(node, inputs, specs.activation)


def _annotate_unary(node: Node, specs: Specs) -> None:
    x = node.args[0]
    if not (_is_float(x) and isinstance(x, Node)) or _takes_tensors(node):
        return
    name = "aten.sigmoid" if _is_rest_of_share(node) else base_name(node.target)
    fixed = fixed_output(name, specs.is_power_of_two, specs.type)
    output = specs.activation if fixed is None else specs.fixed(*fixed)
    _put(node, {x: _input_spec(x, specs)}, output)


def _takes_tensors(node: Node) -> bool:
    """Tells a clamp between tensors, which the delegate does not have."""
    is_clamp = base_name(node.target) == "aten.clamp"
    return is_clamp and any(isinstance(arg, Node) for arg in node.args[1:])


def _is_rest_of_share(node: Node) -> bool:
    """Tells 1 - x of a share, between 0 and 1, or of a part of one: such a share, too."""
    if node.target is not torch.ops.aten.rsub.Scalar or tuple(node.args[1:]) != (1,):
        return False
    source = node.args[0]
    while isinstance(source, Node) and source.op == "call_function":
        if base_name(source.target) in SHARES:
            return True
        source = source.args[0] if base_name(source.target) in _MOVING else None
    return False


_RULES: dict[str, Callable[[Node, Specs], None]] = {
    **dict.fromkeys(_WEIGHTED, _annotate_weighted),
    **dict.fromkeys(_BINARY, _annotate_binary),
    **dict.fromkeys(_WITH_NUMBER, _annotate_with_number),
    **dict.fromkeys(_POOLED, _annotate_unary),
    **dict.fromkeys(_MOVING, _annotate_moving),
    **dict.fromkeys(UNARY, _annotate_unary),
    **dict.fromkeys(("aten.constant_pad_nd", "aten.pad"), _annotate_pad),
    "aten.cat": _annotate_cat,
    "aten.embedding": _annotate_embedding,
    **dict.fromkeys(("aten.softmax", "aten._safe_softmax"), _annotate_softmax),
}
