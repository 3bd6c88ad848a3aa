"""Recurrent layers, unrolled over time into operators that each have one int8 result.

The part of the input is a product over all steps; a state that starts at zero adds no operator to
the first step. lstm.py and gru.py have the steps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from fixedpoint.constant_values import is_written
from fixedpoint.functions import base_name
from fixedpoint.graph_edit import attribute_of, call_before, replace

_aten = torch.ops.aten
_ZEROS = ("aten.zeros", "aten.zeros_like", "aten.new_zeros")

State = tuple[Node | None, ...]
"""Tensors that a step hands to the next; None where they are zero."""


@dataclass(frozen=True)
class Cell:
    """One layer in one direction; `name` is free for constants."""

    weight_x: Node
    weight_h: Node
    biases: tuple[Node, ...]
    name: str

    @property
    def units(self) -> int:
        """Values of a hidden state."""
        return int(attribute_of(self.weight_h).shape[1])


Step = Callable[[int, State], tuple[Node, ...]]
"""The state after the step at a position; its first tensor is the output."""

Begin = Callable[[Node, Cell, Node, int], Step]
"""Makes the step of a cell, before all steps, for an input whose dimension of time is given."""


def unroll(node: Node, a: dict[str, Any], states: tuple[Node, ...], begin: Begin) -> None:
    """Replaces a recurrent operator, whose arguments are `a`; one with projections stays."""
    x, directions = a["input"], 2 if a["bidirectional"] else 1
    cells = _cells_of(node, a["params"], 4 if a["has_biases"] else 2)
    time = 1 if a["batch_first"] else 0
    is_open = not isinstance(x.meta["val"].shape[time], int)
    if len(cells) != a["num_layers"] * directions or is_open or any(map(is_written, a["params"])):
        return
    last: list[tuple[Node, ...]] = []
    for layer in range(a["num_layers"]):
        sides = []
        for direction in range(directions):
            place = layer * directions + direction
            state = tuple(_initial(node, given, place) for given in states)
            step = begin(node, cells[place], x, time)
            steps = list(range(int(x.meta["val"].shape[time])))
            outputs, end = _run(step, state, steps[::-1] if direction == 1 else steps)
            sides.append(_stacked(node, [outputs[i] for i in steps], time))
            last.append(end)
        x = sides[0] if directions == 1 else call_before(node, _aten.cat.default, sides, 2)
    for user in list(node.users):
        index: Any = user.args[1]
        replace(user, x if index == 0 else _stacked(node, [end[index - 1] for end in last], 0))
    node.graph.erase_node(node)
    for given in states:
        if not given.users and given.op == "call_function":
            node.graph.erase_node(given)


def _run(step: Step, state: State, order: list[int]) -> tuple[dict[int, Node], tuple[Node, ...]]:
    """Outputs by position, and the last state."""
    outputs: dict[int, Node] = {}
    end: tuple[Node, ...] = ()
    for position in order:
        end = step(position, state)
        state = end
        outputs[position] = end[0]
    return outputs, end


def _cells_of(node: Node, weights: list[Node], each: int) -> list[Cell]:
    """Weights as they stand in the list; none where there are other numbers of them."""
    if len(weights) % each:
        return []
    return [
        Cell(weights[i], weights[i + 1], tuple(weights[i + 2 : i + each]), f"{node.name}_{i}")
        for i in range(0, len(weights), each)
    ]


def _initial(node: Node, states: Node, place: int) -> Node | None:
    """The first state of a cell; None if it is zero."""
    if states.op == "call_function" and base_name(states.target) in _ZEROS:
        return None
    return call_before(node, _aten.select.int, states, 0, place)


def _stacked(node: Node, parts: list[Node], dim: int) -> Node:
    rows = [call_before(node, _aten.unsqueeze.default, part, dim) for part in parts]
    return call_before(node, _aten.cat.default, rows, dim)
