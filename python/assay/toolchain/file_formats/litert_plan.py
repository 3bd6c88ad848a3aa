"""Finds the operators of a program that a delegate of LiteRT took.

The interpreter does not tell, but it shows its nodes. Those that a delegate replaced stay beside
the delegate's own: whatever computes the delegate's outputs from its inputs is the delegate's.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

DELEGATE = "DELEGATE"


@dataclass(frozen=True)
class Plan:
    """Operators by type: what the delegates took, and what LiteRT's own kernels compute."""

    taken: Counter[str]
    left: Counter[str]
    delegates: int

    def to_text(self) -> str:
        """A sentence for people."""
        total = self.taken.total() + self.left.total()
        text = f"XNNPACK took {self.taken.total()} of {total} operators"
        if not self.left:
            return text
        return f"{text}; left: " + ", ".join(f"{n} {name}" for name, n in sorted(self.left.items()))


def plan_from_interpreter(interpreter: Any) -> Plan:
    """The plan of the main graph; tensors are allocated, which is when delegates take nodes."""
    return read_plan(interpreter._get_ops_details())


def read_plan(nodes: Sequence[Mapping[str, Any]]) -> Plan:
    """Reads nodes with `op_name`, `inputs` and `outputs`, which are indices of tensors."""
    delegates = [node for node in nodes if node["op_name"] == DELEGATE]
    operators = [node for node in nodes if node["op_name"] != DELEGATE]
    makers = {int(t): place for place, node in enumerate(operators) for t in node["outputs"]}
    taken: set[int] = set()
    for delegate in delegates:
        taken |= _between(delegate, operators, makers)
    return Plan(
        Counter(str(node["op_name"]) for place, node in enumerate(operators) if place in taken),
        Counter(str(node["op_name"]) for place, node in enumerate(operators) if place not in taken),
        len(delegates),
    )


def _between(
    delegate: Mapping[str, Any],
    operators: Sequence[Mapping[str, Any]],
    makers: Mapping[int, int],
) -> set[int]:
    """Places of the operators that a delegate's outputs are computed by."""
    given = {int(tensor) for tensor in delegate["inputs"]}
    waiting = [int(tensor) for tensor in delegate["outputs"]]
    found: set[int] = set()
    while waiting:
        tensor = waiting.pop()
        place = makers.get(tensor)
        if tensor in given or place is None or place in found:
            continue
        found.add(place)
        waiting += [int(before) for before in operators[place]["inputs"]]
    return found
