"""Says which nodes the delegate takes, and why it leaves the others."""

import logging
from collections.abc import Callable

import torch
from executorch.exir.backend.backend_details import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import WhyNoPartition, tag_constant_data
from torch.export import ExportedProgram
from torch.fx import Node

from fixedpoint.backend import FixedPointBackend  # ExecuTorch finds backends by their classes
from fixedpoint.builder import Modes
from fixedpoint.choice import Choice, choose, floating_operators
from fixedpoint.functions import UNARY, base_name
from fixedpoint.match import DEQUANTIZE, QUANTIZE, is_call

logger = logging.getLogger("executorch.backends.fixedpoint")
_KNOWN = {
    "bias": ("int64", "int32"),
    "boundary": ("float", "int8"),
    "rounding": ("half_up", "half_even"),
}
_WHOLE = (
    "linear", "max_pool2d", "adaptive_avg_pool2d", "avg_pool2d", "conv1d", "matmul", "layer_norm",
    "rsub",
)  # fmt: skip


_MASKED = ("_safe_softmax", "masked_fill", "where")
"""Those that stay whole where they mask quantized scores."""


class NotIntegerError(RuntimeError):
    """A program that has to be integer only has operators left in floating point."""


class FixedPointPartitioner(Partitioner):  # type: ignore[misc]
    """Tags dq -> operator -> q patterns that the delegate has a primitive for."""

    def __init__(
        self,
        require_integer: bool = False,
        bias: str = "int64",
        boundary: str = "float",
        rounding: str = "half_up",
    ) -> None:
        """Takes whether a float operator that is left is an error, and modes.

        `bias`: `int64` carries it exactly, `int32` rounds it to the scale of the products as other
        integer runtimes do. `boundary`: `float` takes the program's outer quantize and dequantize
        in, `int8` leaves them outside, where they can be stripped, those of int16 too. `rounding`:
        where a result between two integers goes, `half_up` or `half_even`.

        Raises:
            ValueError: a mode that there is not.
        """
        super().__init__()
        for kind, mode in (("bias", bias), ("boundary", boundary), ("rounding", rounding)):
            if mode not in _KNOWN[kind]:
                raise ValueError(f"no {kind} mode {mode!r}; there are {', '.join(_KNOWN[kind])}")
        self._boundary = boundary
        self._modes = Modes(bias, rounding)
        self.require_integer = require_integer
        self.reasons: dict[str, str] = {}
        """The reasons why nodes of the last program were left, by the node's name.

        Operators that were decomposed have the reason why they did not stay whole.
        """
        self._decomposed: dict[str, str] = {}
        self._spec_of_all = DelegationSpec(
            FixedPointBackend.__name__,
            [CompileSpec("bias", bias.encode()), CompileSpec("rounding", rounding.encode())],
        )

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        """Tags what is taken.

        Raises:
            NotIntegerError: `require_integer`, and something floating is left.
        """
        choice = choose(exported_program, self._boundary, self._modes)
        self.reasons, self._decomposed = choice.reasons | self._decomposed, {}
        self._report(exported_program)
        if self.require_integer:
            check_integer(exported_program, choice.taken, self.reasons)
        tags = self._tag(choice)
        tag_constant_data(exported_program)
        return PartitionResult(exported_program, tags)

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Callable[[Node], bool] | None]:
        """Operators that the delegate takes as they are stay whole, and no others.

        What stays whole without being taken has no kernel in ExecuTorch; so the choice is made of
        the program in which they are whole, once for all nodes that the filter is asked about.
        """
        wanted = {name.removeprefix("aten.") for name in UNARY} | set(_WHOLE) | set(_MASKED)
        found = {
            node.target
            for node in ep.graph.nodes
            if node.op == "call_function"
            and isinstance(node.target, torch._ops.OpOverload)
            and base_name(node.target).removeprefix("aten.") in wanted
        }
        taken: list[set[Node]] = []

        def stays_whole(node: Node) -> bool:
            if found and not taken:
                choice = choose(ep, self._boundary, self._modes)
                taken.append(choice.taken)
                refused = [n.name for n in ep.graph.nodes if n.target in found]
                self._decomposed |= {n: r for n, r in choice.reasons.items() if n in refused}
            return bool(found) and node in taken[0]

        return sorted(found, key=str), stays_whole

    def _tag(self, choice: Choice) -> dict[str, DelegationSpec]:
        tags = {}
        for number, partition in enumerate(choice.partitions):
            tag = f"fixedpoint_{number}"
            for node in partition:
                node.meta["delegation_tag"] = tag
            tags[tag] = self._spec_of_all
        return tags

    def _report(self, exported: ExportedProgram) -> None:
        why = WhyNoPartition(logger=logger)
        for node in exported.graph.nodes:
            if node.name in self.reasons:
                why(node, self.reasons[node.name])


def check_integer(exported: ExportedProgram, taken: set[Node], reasons: dict[str, str]) -> None:
    """Refuses a program with an operator in floating point, or a boundary that does not meet it.

    Quantizing an input and dequantizing an output of the program are no operators.

    Raises:
        NotIntegerError: names each of them with its reason.
    """
    left = [node for node in floating_operators(exported) if node not in taken]
    left += [n for n in exported.graph.nodes if n not in taken and _is_inner(n)]
    if not left:
        return
    lines = [f"  {n.name} ({base_name(n.target)}): {reasons.get(n.name, 'left')}" for n in left]
    names = {node.name for node in exported.graph.nodes}
    lines += [f"  {name}: {why}" for name, why in reasons.items() if name not in names]
    raise NotIntegerError("not integer only; left in floating point:\n" + "\n".join(lines))


def _is_inner(node: Node) -> bool:
    """A quantize that is not of an input, or a dequantize that is not of an output."""
    if is_call(node, QUANTIZE):
        return isinstance(node.args[0], Node) and node.args[0].op != "placeholder"
    return is_call(node, DEQUANTIZE) and any(user.op != "output" for user in node.users)
