"""Lowers an edge program whose boundary is int8 to primitives. The rules are in rules/."""

from torch.export import ExportedProgram
from torch.fx import Node

from fixedpoint.builder import Builder, Modes
from fixedpoint.constants import Constants
from fixedpoint.fuse import fuse_tables
from fixedpoint.match import QUANTIZE, Match, NotLowered, find_match, is_call, is_of_input
from fixedpoint.program import Program
from fixedpoint.rules import RULES


def lower_pattern(builder: Builder, match: Match) -> None:
    """Appends the primitives of one pattern by the rule for its operator.

    Raises:
        NotLowered: the operator has no rule, or its rule refuses the pattern.
    """
    rule = RULES.get(match.name())
    if rule is None:
        raise NotLowered("the delegate has no primitive for it")
    builder.apply(rule, match)


def lower_quantize(builder: Builder, quantize: Node) -> None:
    """Appends the primitives of the pattern that ends in a quantize, or of the boundary's.

    Raises:
        NotLowered: the delegate does not have them.
    """
    if is_of_input(quantize):
        builder.quantize(quantize)
    else:
        lower_pattern(builder, find_match(quantize))


def lower(exported: ExportedProgram, **modes: str) -> Program:
    """The primitives of a partition: every node of it belongs to a pattern.

    Raises:
        NotLowered: one does not.
    """
    constants = Constants(exported)
    builder = Builder(constants, Modes(**modes))
    for node in exported.graph.nodes:
        # In the order of the signature, not of first use.
        if node.op == "placeholder" and not constants.is_constant(node):
            builder.value_of(node)
    for node in exported.graph.nodes:
        if is_call(node, QUANTIZE):
            lower_quantize(builder, node)
    (returned,) = exported.graph.output_node().args
    return fuse_tables(builder.finish(returned))
