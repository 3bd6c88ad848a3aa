"""LSTM layers in steps.

    gates_t = W_ih x_t + W_hh h_(t-1) + b_ih + b_hh     in the order i, f, g, o
    c_t = sigmoid(f) c_(t-1) + sigmoid(i) tanh(g)
    h_t = sigmoid(o) tanh(c_t)

as torch.nn.LSTM has them.
"""

import torch
from torch.fx import Node

from fixedpoint.functions import named_arguments
from fixedpoint.graph_edit import attribute_of, buffer_before, call_before, linear_before
from fixedpoint.recurrent import Cell, State, Step, unroll

_aten = torch.ops.aten


def unroll_lstm(node: Node) -> None:
    """Replaces aten.lstm.input."""
    a = named_arguments(node.target, node.args, dict(node.kwargs))
    unroll(node, a, tuple(a["hx"]), _begin)


def _begin(node: Node, cell: Cell, x: Node, time: int) -> Step:
    bias = None
    if cell.biases:
        total = sum(attribute_of(bias) for bias in cell.biases)
        assert isinstance(total, torch.Tensor)
        bias = buffer_before(node, f"{cell.name}_bias", total)
    of_x = linear_before(node, x, cell.weight_x, bias)

    def step(position: int, state: State) -> tuple[Node, ...]:
        h, c = state
        gates = call_before(node, _aten.select.int, of_x, time, position)
        if h is not None:
            of_h = linear_before(node, h, cell.weight_h, None)
            gates = call_before(node, _aten.add.Tensor, gates, of_h)
        return _step(node, cell, gates, c)

    return step


def _step(node: Node, cell: Cell, gates: Node, c: Node | None) -> tuple[Node, Node]:
    """The next hidden and cell state."""
    begins = range(0, 4 * cell.units, cell.units)
    i, f, g, o = (
        call_before(node, _aten.slice.Tensor, gates, 1, begin, begin + cell.units)
        for begin in begins
    )
    added = call_before(
        node,
        _aten.mul.Tensor,
        call_before(node, _aten.sigmoid.default, i),
        call_before(node, _aten.tanh.default, g),
    )
    if c is None:
        node.graph.erase_node(f)
    else:
        forget = call_before(node, _aten.sigmoid.default, f)
        kept = call_before(node, _aten.mul.Tensor, forget, c)
        added = call_before(node, _aten.add.Tensor, kept, added)
    shown = call_before(node, _aten.tanh.default, added)
    h = call_before(node, _aten.mul.Tensor, call_before(node, _aten.sigmoid.default, o), shown)
    return h, added
