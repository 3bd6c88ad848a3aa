"""One rule an operator: from a pattern of the edge graph to primitives.

A rule appends to the builder and returns the value that the pattern's quantize stands for, or
raises `NotLowered` with the reason.
"""

from fixedpoint.functions import UNARY
from fixedpoint.match import MOVES
from fixedpoint.rules import attention, elementwise, moving, of_one, weighted, windows
from fixedpoint.rules.common import Rule

RULES: dict[str, Rule] = {
    "aten.convolution": weighted.convolution,
    "aten.conv1d": weighted.convolution,
    "aten.conv2d": weighted.convolution,
    "aten.linear": weighted.linear,
    "aten.add": elementwise.add,
    "aten.mul": elementwise.mul,
    "aten.sub": of_one.with_number,
    "aten.div": of_one.with_number,
    "requantize": of_one.requantize,
    **dict.fromkeys(UNARY, of_one.unary),
    "aten.mean": windows.mean,
    "aten.adaptive_avg_pool2d": windows.adaptive_avg_pool2d,
    "aten.avg_pool2d": windows.avg_pool2d,
    "aten.max_pool2d": windows.max_pool2d,
    "aten.matmul": attention.matmul,
    "aten.bmm": attention.matmul,
    "aten.mm": attention.matmul,
    "aten.softmax": attention.softmax,
    "aten._softmax": attention.softmax,
    "aten.layer_norm": attention.layer_norm,
    "aten.cat": moving.cat,
    "aten.constant_pad_nd": moving.pad,
    "aten.pad": moving.pad,
    **dict.fromkeys(MOVES, moving.move),
}
"""Rules by the operator's name."""
