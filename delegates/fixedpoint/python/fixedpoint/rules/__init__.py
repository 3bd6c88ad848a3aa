"""One rule an operator: from a pattern of the edge graph to primitives.

A rule appends to the builder and returns the value that the pattern's quantize stands for, or
raises `NotLowered` with the reason.
"""

from fixedpoint.functions import UNARY
from fixedpoint.match import MOVES
from fixedpoint.rules import (
    attention,
    conv_linear,
    data_movement,
    elementwise,
    embedding,
    pooling,
    unary,
)
from fixedpoint.rules.common import Rule

RULES: dict[str, Rule] = {
    "aten.convolution": conv_linear.convolution,
    "aten.conv1d": conv_linear.convolution,
    "aten.conv2d": conv_linear.convolution,
    "aten.linear": conv_linear.linear,
    "aten.add": elementwise.add,
    "aten.mul": elementwise.mul,
    "aten.sub": unary.with_number,
    "aten.rsub": unary.with_number,
    "aten.div": unary.with_number,
    "requantize": unary.requantize,
    **dict.fromkeys(UNARY, unary.unary),
    "aten.mean": pooling.mean,
    "aten.adaptive_avg_pool2d": pooling.adaptive_avg_pool2d,
    "aten.avg_pool2d": pooling.avg_pool2d,
    "aten.max_pool2d": pooling.max_pool2d,
    "aten.matmul": attention.matmul,
    "aten.bmm": attention.matmul,
    "aten.mm": attention.matmul,
    "aten.softmax": attention.softmax,
    "aten._softmax": attention.softmax,
    "aten._safe_softmax": attention.softmax,
    "aten.layer_norm": attention.layer_norm,
    "aten.embedding": embedding.embedding,
    "aten.cat": data_movement.cat,
    "aten.constant_pad_nd": data_movement.pad,
    "aten.pad": data_movement.pad,
    **dict.fromkeys(MOVES, data_movement.move),
}
"""Rules by the operator's name."""
