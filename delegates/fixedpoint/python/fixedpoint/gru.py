"""GRU layers in steps.

    r_t = sigmoid(W_ir x_t + W_hr h_(t-1) + b_ir + b_hr),  z_t likewise
    n_t = tanh(W_in x_t + b_in + r_t (W_hn h_(t-1) + b_hn))
    h_t = (1 - z_t) n_t + z_t h_(t-1)

as torch.nn.GRU has them. The products of the gates r and z are apart from those of n, so that each
has its own scale.
"""

from dataclasses import dataclass

import torch
from torch.fx import Node

from fixedpoint.functions import named_arguments
from fixedpoint.graph_edit import (
    attribute_of,
    buffer_before,
    call_before,
    constant_before,
    linear_before,
)
from fixedpoint.recurrent import Cell, State, Step, unroll

_aten = torch.ops.aten


def unroll_gru(node: Node) -> None:
    """Replaces aten.gru.input; one of packed sequences stays."""
    if node.target is not _aten.gru.input:
        return
    a = named_arguments(node.target, node.args, dict(node.kwargs))
    unroll(node, a, (a["hx"],), _begin)


@dataclass(frozen=True)
class _Weights:
    """Those of the gates r and z, and those of n; biases are None in a layer without."""

    gates_h: Node
    new_h: Node
    new_bias_h: torch.Tensor | None
    bias_node: Node | None


def _begin(node: Node, cell: Cell, x: Node, time: int) -> Step:
    gates_end = 2 * cell.units
    of_x, of_h = (attribute_of(weight) for weight in (cell.weight_x, cell.weight_h))

    def buffer(name: str, value: torch.Tensor) -> Node:
        return buffer_before(node, f"{cell.name}_{name}", value.clone())

    gates_bias = new_bias = hidden_bias = None
    if cell.biases:
        bias_x, bias_h = (attribute_of(bias) for bias in cell.biases)
        gates_bias = buffer("gates_bias", (bias_x + bias_h)[:gates_end])
        new_bias = buffer("new_bias", bias_x[gates_end:])
        hidden_bias = bias_h[gates_end:].detach().clone()
    x_gates = linear_before(node, x, buffer("gates_x", of_x[:gates_end]), gates_bias)
    x_new = linear_before(node, x, buffer("new_x", of_x[gates_end:]), new_bias)
    weights = _Weights(
        buffer("gates_h", of_h[:gates_end]),
        buffer("new_h", of_h[gates_end:]),
        hidden_bias,
        None if hidden_bias is None else buffer("new_bias_h", hidden_bias),
    )

    def step(position: int, state: State) -> tuple[Node, ...]:
        gates, new = (
            call_before(node, _aten.select.int, source, time, position)
            for source in (x_gates, x_new)
        )
        return (_step(node, cell, weights, (gates, new), state[0]),)

    return step


def _step(
    node: Node, cell: Cell, weights: _Weights, of_x: tuple[Node, Node], h: Node | None
) -> Node:
    """The next hidden state."""
    gates, new = of_x
    if h is not None:
        of_h = linear_before(node, h, weights.gates_h, None)
        gates = call_before(node, _aten.add.Tensor, gates, of_h)
    shares = call_before(node, _aten.sigmoid.default, gates)
    hidden = _hidden(node, cell, weights, h)
    if hidden is not None:
        reset = call_before(node, _aten.slice.Tensor, shares, 1, 0, cell.units)
        new = call_before(
            node, _aten.add.Tensor, new, call_before(node, _aten.mul.Tensor, reset, hidden)
        )
    new = call_before(node, _aten.tanh.default, new)
    kept = call_before(node, _aten.slice.Tensor, shares, 1, cell.units, 2 * cell.units)
    made = call_before(node, _aten.mul.Tensor, call_before(node, _aten.rsub.Scalar, kept, 1), new)
    if h is None:
        return made
    return call_before(node, _aten.add.Tensor, made, call_before(node, _aten.mul.Tensor, kept, h))


def _hidden(node: Node, cell: Cell, weights: _Weights, h: Node | None) -> Node | None:
    """W_hn h + b_hn: a constant, or nothing, where the state is zero."""
    if h is not None:
        return linear_before(node, h, weights.new_h, weights.bias_node)
    if weights.new_bias_h is None:
        return None
    return constant_before(node, f"{cell.name}_first_bias", weights.new_bias_h)
