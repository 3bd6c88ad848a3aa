"""PyTorch as an engine with a fault in its kernels, on order: what Assay has to find.

assay engine add torch@mutants --file studies/mutation/mutant_engine.py:MutantEngine
assay conform --recipe torch/eager --engine torch@mutants --option fault=zeros --match 'aten.add*'
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from assay.engines import Description, LoadRequest, Session
from assay.engines.base import Option
from assay.engines.packages import import_package
from assay.engines.torch.engine import TorchEngine

GENERATION = "generation:"
OPTION = Option(
    "fault",
    "string",
    "A fault of all kernels by name, or generation:N: of each operator its N-th; empty: none.",
    default_value="",
)
HELPERS = ("_assert", "sym_")
LAYOUT = ("contiguous", "transpose", "stack", "select", "clone")
"""Operators that lay out the inputs and outputs of a case, besides the one under test."""


@dataclass
class Mutant:
    """The operator of one case, the fault in it, and which outputs of the program it feeds."""

    overload: Any
    fault: str
    outputs: tuple[int, ...]
    is_changed: bool = False
    memory: dict[str, Any] = field(default_factory=dict)


class MutantEngine(TorchEngine):
    """The engine torch with one option more."""

    def prepare(self) -> None:
        """Imports torch, and not what quantized programs need: no case is quantized."""
        self._torch: Any = import_package("torch", "torch")

    def describe(self) -> Description:
        """Describes the engine torch, with one more option."""
        description = super().describe()
        return replace(description, options=(*description.options, OPTION))

    def load(self, request: LoadRequest) -> Session:
        """An exported program, with the fault in it."""
        session = super().load(request)
        session._call = FaultyProgram(session._call, request.options["fault"])  # type: ignore[attr-defined]
        return session


class FaultyProgram:
    """An exported program's graph, executed node by node with a fault.

    `fault`: a name, or "generation:N" for the N-th fault of each operator. `mutants` are those of
    the cases whose operators have it.
    """

    def __init__(self, module: Any, fault: str) -> None:
        import torch
        from faults import faults_of

        self.mutants: dict[Any, Mutant] = {}
        for node, outputs in subjects_of(module.graph):
            name = name_of_fault(list(faults_of(node.target)), fault)
            if name in faults_of(node.target):
                self.mutants[node] = Mutant(node.target, name, outputs)
        mutants = self.mutants

        class Faulty(torch.fx.Interpreter):
            """Puts what the fault makes in place of what is right."""

            def run_node(self, node: Any) -> Any:
                right = super().run_node(node)
                if node not in mutants:
                    return right
                args, kwargs = self.fetch_args_kwargs_from_env(node)
                return faulty_answer(mutants[node], args, kwargs, right)

        self._interpreter = Faulty(module)

    def __call__(self, *inputs: Any) -> Any:
        """The outputs of the program."""
        return self._interpreter.run(*inputs)


def name_of_fault(names: Sequence[str], fault: str) -> str:
    """The fault of an operator that is meant; "" for none."""
    if not fault.startswith(GENERATION):
        return fault
    number = int(fault.removeprefix(GENERATION))
    return names[number] if number < len(names) else ""


def faulty_answer(mutant: Mutant, args: Sequence[Any], kwargs: Any, right: Any) -> Any:
    """Answers of a kernel with the fault, in the shapes and types that the program promises.

    A fault that raises is none that a kernel could have in silence: the answer is right then.
    """
    import torch
    from faults import faults_of
    from kernel_call import Call, arguments_by_name, fitted, is_same, tensors_in

    leaves = [one.detach().clone() for one in tensors_in(right)]
    call = Call(
        mutant.overload,
        arguments_by_name(mutant.overload, args, dict(kwargs)),
        leaves,
        mutant.memory,
    )
    try:
        made = fitted(faults_of(mutant.overload)[mutant.fault](call), leaves)
    except (RuntimeError, ValueError, TypeError, IndexError, KeyError, NotImplementedError):
        return right
    if all(is_same(one, like) for one, like in zip(made, leaves, strict=True)):
        return right
    mutant.is_changed = True
    waiting = iter(made)
    return torch.utils._pytree.tree_map(
        lambda leaf: next(waiting) if isinstance(leaf, torch.Tensor) else leaf, right
    )


def subjects_of(graph: Any) -> Iterator[tuple[Any, tuple[int, ...]]]:
    """Lists for each part of a joint program its operator node and the outputs that it feeds.

    Parts share nothing, so they are the connected pieces of the graph.
    """
    piece: dict[Any, Any] = {}

    def root(node: Any) -> Any:
        while piece.setdefault(node, node) is not node:
            node = piece[node]
        return node

    answers = next(node for node in graph.nodes if node.op == "output")
    for node in graph.nodes:
        # The check of all inputs' shapes, a module, and the answers would join everything.
        for source in node.all_input_nodes if node.op == "call_function" else ():
            piece[root(source)] = root(node)
    members: dict[Any, list[Any]] = {}
    for node in graph.nodes:
        if hasattr(node.target, "_schema") and not any(one in str(node.target) for one in HELPERS):
            members.setdefault(root(node), []).append(node)
    outputs: dict[Any, list[int]] = {}
    for number, node in enumerate(_flat(answers.args[0])):
        outputs.setdefault(root(node), []).append(number)
    for key, nodes in members.items():
        yield _subject(nodes), tuple(outputs.get(key, ()))


def _flat(answers: Any) -> list[Any]:
    import torch

    return [one for one in torch.utils._pytree.tree_leaves(answers) if hasattr(one, "op")]


def _subject(nodes: Sequence[Any]) -> Any:
    """The last node that does more than lay memory out; the last but for a closing copy else."""
    from kernel_call import packet_of

    working = [node for node in nodes if packet_of(node.target) not in LAYOUT]
    closing = len(nodes) > 1 and packet_of(nodes[-1].target) == "contiguous"
    return working[-1] if working else nodes[-2 if closing else -1]
