"""Runs a partitioner of ExecuTorch's Arm backend and keeps its reasons for what it left."""

from collections import Counter
from dataclasses import replace
from typing import Any

import torch

from assay.toolchain.errors import MissingDependency, Unsupported, walk_causes
from assay.toolchain.flows.executorch.edge import Lowered, lower_edge
from assay.toolchain.graph.operators import operator_name
from assay.toolchain.separate_toolchains import find_separate_toolchain

_REFUSALS = ("is not supported", "not supported", "unsupported")


def lower_with(exported: torch.export.ExportedProgram, partitioner: Any, name: str) -> Lowered:
    """The edge program with the partitioner's delegates, and why operators stayed outside.

    Raises:
        Unsupported: the backend took what it then cannot lower, and says so.
    """
    reporters = _keep_reporters(partitioner)
    try:
        lowered = lower_edge(exported, partitioner, name, {})
    except Exception as error:
        refusal = next((text for text in walk_causes(error) if _is_refusal(text)), None)
        if refusal is None:
            raise
        raise Unsupported(f"the Arm backend does not lower this: {refusal}") from error
    reasons = Counter(
        (node.name, operator_name(node.target), str(reason))
        for reporter in reporters
        for node, reason in reporter._rejected_nodes.items()
    )
    return replace(lowered, rejections=lowered.rejections + reasons)


def _keep_reporters(partitioner: Any) -> list[Any]:
    """Collects the reporters that the partitioner makes, one for each graph.

    It logs them as a table and hands them to nobody; this is where it passes them on.
    """
    reporters: list[Any] = []
    make_support = partitioner._create_operator_support

    def keep_and_make(program: Any, reporter: Any) -> Any:
        reporters.append(reporter)
        return make_support(program, reporter)

    partitioner._create_operator_support = keep_and_make
    return reporters


def _is_refusal(text: str) -> bool:
    return any(mark in text.lower() for mark in _REFUSALS)


def import_arm(module: str, flow: str) -> Any:
    """A module of ExecuTorch's Arm backend.

    Raises:
        MissingDependency: it does not import, mostly for want of tosa-tools.
    """
    import importlib

    try:
        return importlib.import_module(f"executorch.backends.{module}")
    except ImportError as error:
        way = find_separate_toolchain(flow)
        raise MissingDependency(f"the {flow} lowering: {error}; {way}") from error
