"""Says which nodes the delegate takes, and why it leaves the others."""

import logging
from collections.abc import Callable, Iterable
from typing import Any

import torch
from executorch.exir.backend.backend_details import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import WhyNoPartition, tag_constant_data
from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from fixedpoint.backend import FixedPointBackend  # ExecuTorch finds backends by their classes
from fixedpoint.builder import Builder, Modes
from fixedpoint.constants import Constants
from fixedpoint.functions import UNARY, base_name
from fixedpoint.lower import lower_pattern
from fixedpoint.masking import masked_inner
from fixedpoint.match import (
    DEQUANTIZE,
    QUANTIZE,
    Match,
    NotLowered,
    find_match,
    is_call,
    is_dequantize,
    is_of_input,
)
from fixedpoint.rules.integers import integer_source

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
        """Why nodes were left, by the node's name; of the last program."""
        self._spec_of_all = DelegationSpec(
            FixedPointBackend.__name__,
            [CompileSpec("bias", bias.encode()), CompileSpec("rounding", rounding.encode())],
        )

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        """Tags what is taken.

        Raises:
            NotIntegerError: `require_integer`, and something floating is left.
        """
        taken, self.reasons = find_taken(exported_program, self._boundary, self._modes)
        self._report(exported_program)
        if self.require_integer:
            check_integer(exported_program, taken, self.reasons)
        tags = self._tag(exported_program, taken)
        tag_constant_data(exported_program)
        return PartitionResult(exported_program, tags)

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Callable[[Node], bool] | None]:
        """Operators that have a rule of their own stay whole where their input is quantized."""
        wanted = {name.removeprefix("aten.") for name in UNARY} | set(_WHOLE) | set(_MASKED)
        found = {
            node.target
            for node in ep.graph.nodes
            if node.op == "call_function"
            and isinstance(node.target, torch._ops.OpOverload)
            and base_name(node.target).removeprefix("aten.") in wanted
        }
        return sorted(found, key=str), _stays_whole

    def _tag(self, exported: ExportedProgram, taken: set[Node]) -> dict[str, DelegationSpec]:
        proposed = CapabilityBasedPartitioner(
            exported.graph_module, _Taken(taken), allows_single_node_partition=True
        ).propose_partitions()
        tags = {}
        for partition in proposed:
            tag = f"fixedpoint_{partition.id}"
            for node in partition.nodes:
                node.meta["delegation_tag"] = tag
            tags[tag] = self._spec_of_all
        return tags

    def _report(self, exported: ExportedProgram) -> None:
        why = WhyNoPartition(logger=logger)
        for node in exported.graph.nodes:
            if node.name in self.reasons:
                why(node, self.reasons[node.name])


class _Taken(OperatorSupportBase):  # type: ignore[misc]
    def __init__(self, nodes: set[Node]) -> None:
        self._nodes = nodes

    def is_node_supported(self, submodules: Any, node: Node) -> bool:
        return node in self._nodes


def find_taken(
    exported: ExportedProgram, boundary: str = "int8", modes: Modes | None = None
) -> tuple[set[Node], dict[str, str]]:
    """The nodes of all patterns that lower, and reasons by name for operators that do not."""
    constants = Constants(exported)
    matches: list[Match] = []
    reasons: dict[str, str] = {}
    for node in exported.graph.nodes:
        if not is_call(node, QUANTIZE):
            continue
        match, at = None, node
        try:
            match = find_match(node)
            at = match.core or node
            lower_pattern(Builder(constants, modes), match)
            matches.append(match)
        except NotLowered as error:
            reasons[_blamed(at).name] = str(error)
    matches = _drop_shared(matches, reasons)
    taken = {node for match in matches for node in match.nodes()}
    taken |= _integer_views(matches, taken)
    if boundary == "float":
        taken |= _boundary(exported, taken)
    for node in _operators(exported):
        if node not in taken and node.name not in reasons:
            reasons[node.name] = "its result is not quantized"
    return taken, reasons


def _stays_whole(node: Node) -> bool:
    """Whether an operator's input is quantized: it is no more what it was once it is kept."""
    _, _, name = base_name(node.target).rpartition(".")
    first = node.args[0] if node.args else None
    if name in ("masked_fill", "where"):
        return is_dequantize(masked_inner(node))
    if name == "_safe_softmax":
        sources = first.all_input_nodes if isinstance(first, Node) else []
        return any(is_dequantize(source) for source in sources)
    return is_dequantize(first)


def _integer_views(matches: list[Match], taken: set[Node]) -> set[Node]:
    """Views of indices and masks that nothing outside reads: integers do not leave the delegate."""
    views = {
        view for match in matches for node in match.integers() for view in integer_source(node)[1]
    }
    while True:
        outside = {view for view in views if not set(view.users) <= taken | views}
        if not outside:
            return views
        views -= outside


def _boundary(exported: ExportedProgram, taken: set[Node]) -> set[Node]:
    """Quantizes of inputs that patterns read, and dequantizes of results that are outputs."""
    found = set()
    for node in exported.graph.nodes:
        if is_call(node, QUANTIZE) and is_of_input(node):
            readers = {reader for user in node.users for reader in user.users}
            if readers and readers <= taken:
                found.add(node)
        is_result = is_call(node, DEQUANTIZE) and node.args[0] in taken
        if is_result and all(user.op == "output" for user in node.users):
            found.add(node)
    return found


def _blamed(node: Node) -> Node:
    """The operator behind a quantize, where there is one."""
    source = node.args[0] if is_call(node, QUANTIZE) else node
    is_operator = isinstance(source, Node) and source.op == "call_function"
    return source if is_operator and not is_dequantize(source) else node


def _drop_shared(matches: list[Match], reasons: dict[str, str]) -> list[Match]:
    """Drops patterns whose dequantize is read outside too: floats would leave the delegate."""
    while True:
        taken = {node for match in matches for node in match.nodes()}
        kept = []
        for match in matches:
            outside = [u for d in match.dequantizes for u in d.users if u not in taken]
            if outside:
                name = (match.core or match.quantize).name
                reasons[name] = f"its dequantized input is also read by {outside[0].name}"
            else:
                kept.append(match)
        if len(kept) == len(matches):
            return kept
        matches = kept


def _operators(exported: ExportedProgram) -> Iterable[Node]:
    """Calls that compute in floating point: neither quantize nor dequantize."""
    for node in exported.graph.nodes:
        is_boundary = is_call(node, QUANTIZE) or is_dequantize(node)
        if node.op == "call_function" and not is_boundary and _makes_float(node):
            yield node


def _makes_float(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype.is_floating_point


def check_integer(exported: ExportedProgram, taken: set[Node], reasons: dict[str, str]) -> None:
    """Refuses a program with an operator in floating point, or a boundary that does not meet it.

    Quantizing an input and dequantizing an output of the program are no operators.

    Raises:
        NotIntegerError: names each of them with its reason.
    """
    left = [node for node in _operators(exported) if node not in taken]
    left += [n for n in exported.graph.nodes if n not in taken and _is_inner(n)]
    if not left:
        return
    lines = [f"  {n.name} ({base_name(n.target)}): {reasons.get(n.name, 'left')}" for n in left]
    raise NotIntegerError("not integer only; left in floating point:\n" + "\n".join(lines))


def _is_inner(node: Node) -> bool:
    """A quantize that is not of an input, or a dequantize that is not of an output."""
    if is_call(node, QUANTIZE):
        return isinstance(node.args[0], Node) and node.args[0].op != "placeholder"
    return is_call(node, DEQUANTIZE) and any(user.op != "output" for user in node.users)
