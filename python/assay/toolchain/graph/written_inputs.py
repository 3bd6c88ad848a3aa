"""Finds the inputs that a program writes to: who calls it again has to give them anew."""

from typing import Any

from assay.toolchain.graph.written_values import written_values


def find_written_inputs(exported: Any) -> list[int]:
    """The places of the inputs that an exported program writes to.

    The signature tells them only once in-place operators are taken out of the graph.
    """
    signature = exported.graph_signature
    written = {node.name for node in written_values(exported.graph)}
    written.update(signature.user_inputs_to_mutate.values())
    return [place for place, name in enumerate(signature.user_inputs) if name in written]
