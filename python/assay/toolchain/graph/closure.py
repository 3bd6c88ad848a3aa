"""The nodes of a graph that others lead to, without torch: flows are listed where it is absent."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def closure(nodes: Iterable[Node], neighbors: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """The nodes and all that can be reached from them."""
    reached: set[Node] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.add(node)
            waiting += neighbors(node)
    return reached
