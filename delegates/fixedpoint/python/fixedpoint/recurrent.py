"""LSTM layers, unrolled over time into operators that each have one int8 result.

    gates_t = W_ih x_t + W_hh h_(t-1) + b_ih + b_hh     in the order i, f, g, o
    c_t = sigmoid(f) c_(t-1) + sigmoid(i) tanh(g)
    h_t = sigmoid(o) tanh(c_t)

as torch.nn.LSTM has them. The part of x is one product over all steps; a state that starts at zero
adds no operator to the first step.
"""

from dataclasses import dataclass

import torch
from torch.fx import Node

from fixedpoint.functions import base_name, named_arguments
from fixedpoint.graph_edit import (
    attribute_of,
    buffer_before,
    call_before,
    linear_before,
    replace,
)

_aten = torch.ops.aten
_ZEROS = ("aten.zeros", "aten.zeros_like", "aten.new_zeros")


@dataclass(frozen=True)
class _Cell:
    """One layer in one direction; `name` is free for constants."""

    weight_x: Node
    weight_h: Node
    biases: tuple[Node, ...]
    name: str

    @property
    def units(self) -> int:
        return int(attribute_of(self.weight_h).shape[1])


def unroll_lstm(node: Node) -> None:
    """Replaces aten.lstm.input; one with projections stays."""
    a = named_arguments(node.target, node.args, dict(node.kwargs))
    x, (h0, c0) = a["input"], a["hx"]
    directions = 2 if a["bidirectional"] else 1
    cells = _cells_of(node, a["params"], 4 if a["has_biases"] else 2)
    if len(cells) != a["num_layers"] * directions:
        return
    time = 1 if a["batch_first"] else 0
    last: list[tuple[Node, Node]] = []
    for layer in range(a["num_layers"]):
        sides = []
        for direction in range(directions):
            place = layer * directions + direction
            state = (_initial(node, h0, place), _initial(node, c0, place))
            outputs, end = _unroll(node, cells[place], x, state, time, direction == 1)
            sides.append(outputs)
            last.append(end)
        x = sides[0] if directions == 1 else call_before(node, _aten.cat.default, sides, 2)
    for user in list(node.users):
        index = user.args[1]
        replace(user, x if index == 0 else _stacked(node, [end[index - 1] for end in last], 0))
    node.graph.erase_node(node)
    for state_node in (h0, c0):
        if not state_node.users and state_node.op == "call_function":
            node.graph.erase_node(state_node)


def _cells_of(node: Node, weights: list[Node], each: int) -> list[_Cell]:
    """Weights as they stand in the list; none where there are other numbers of them."""
    if len(weights) % each:
        return []
    return [
        _Cell(weights[i], weights[i + 1], tuple(weights[i + 2 : i + each]), f"{node.name}_{i}_bias")
        for i in range(0, len(weights), each)
    ]


def _initial(node: Node, states: Node, place: int) -> Node | None:
    """The first state of a cell; None where it is zero."""
    if states.op == "call_function" and base_name(states.target) in _ZEROS:
        return None
    return call_before(node, _aten.select.int, states, 0, place)


def _unroll(
    node: Node,
    cell: _Cell,
    x: Node,
    state: tuple[Node | None, Node | None],
    time: int,
    is_reversed: bool,
) -> tuple[Node, tuple[Node, Node]]:
    """Outputs of all steps in their order, and the last state."""
    bias = None
    if cell.biases:
        total = sum(attribute_of(bias) for bias in cell.biases)
        assert isinstance(total, torch.Tensor)
        bias = buffer_before(node, cell.name, total)
    of_x = linear_before(node, x, cell.weight_x, bias)
    steps = list(range(int(x.meta["val"].shape[time])))
    outputs: dict[int, Node] = {}
    h, c = state
    for step in reversed(steps) if is_reversed else steps:
        gates = call_before(node, _aten.select.int, of_x, time, step)
        if h is not None:
            of_h = linear_before(node, h, cell.weight_h, None)
            gates = call_before(node, _aten.add.Tensor, gates, of_h)
        h, c = _step(node, cell, gates, c)
        outputs[step] = h
    assert h is not None
    assert c is not None
    return _stacked(node, [outputs[step] for step in steps], time), (h, c)


def _step(node: Node, cell: _Cell, gates: Node, c: Node | None) -> tuple[Node, Node]:
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


def _stacked(node: Node, parts: list[Node], dim: int) -> Node:
    rows = [call_before(node, _aten.unsqueeze.default, part, dim) for part in parts]
    return call_before(node, _aten.cat.default, rows, dim)
