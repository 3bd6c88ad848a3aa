"""Lowering for Cortex-M: quantized operators become calls of CMSIS-NN's kernels.

It is no delegate: operators of the edge program are replaced by those of the library cortex_m. The
wheel of ExecuTorch has their definitions in Python and no kernels for this machine, so that the
lowered program is evaluated in eager mode.
"""

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from assay.toolchain.errors import RequestError
from assay.toolchain.flows.base import Flow, LoweringJob, LoweringOutput
from assay.toolchain.flows.executorch.flows import evaluate_lowered
from assay.toolchain.suggest import check_keys
from assay.toolchain.types import Lowering

if TYPE_CHECKING:
    import torch

    from assay.toolchain.flows.executorch.edge import Lowered

NAME = "cortex_m"
LIBRARY = "cortex_m."
OPTIONS = ("target",)
"""`target`: the processor, cortex-m55 unless given."""


def _check(lowering: Lowering) -> None:
    check_keys("option of the cortex_m lowering", lowering.options, OPTIONS)
    target = lowering.options.get("target", "cortex-m55")
    if not isinstance(target, str) or not target.startswith("cortex-m"):
        raise RequestError(f"target takes a text such as cortex-m55, not {target!r}")


def lower(exported: "torch.export.ExportedProgram", lowering: Lowering) -> "Lowered":
    """The edge program with the library's operators in it."""
    from executorch.exir import to_edge_transform_and_lower

    from assay.toolchain.flows.arm.partitioning import import_arm
    from assay.toolchain.flows.executorch.edge import Lowered

    configuration = import_arm("cortex_m.edge_compile_config", NAME)
    passes = import_arm("cortex_m.passes.cortex_m_pass_manager", NAME)
    targets = import_arm("cortex_m.target_config", NAME)
    try:
        target = targets.CortexMTargetConfig.from_target_string(
            lowering.options.get("target", "cortex-m55")
        )
    except ValueError as error:
        raise RequestError(str(error)) from error
    edge = to_edge_transform_and_lower(
        exported, compile_config=configuration.cortex_m_edge_compile_config()
    )
    manager = passes.CortexMPassManager(
        edge.exported_program(), target_config=target, use_explicit_layout=True
    )
    edge._edge_programs["forward"] = manager.transform()
    return Lowered(edge, NAME)


def _make(job: LoweringJob) -> LoweringOutput:
    from assay.toolchain.flows.executorch import edge
    from assay.toolchain.flows.executorch.manifest import describe_program

    lowered = job.lower(lower)
    kernels = count_kernels(lowered)
    files = job.serialize(partial(edge.serialize, lowered))
    return files, {**describe_program(job.exported, files), **kernels}


def count_kernels(lowered: "Lowered") -> dict[str, Any]:
    """Operators that became the library's count as delegated, the others as left."""
    from assay.toolchain.graph.operators import count_operators

    operators = count_operators(lowered.edge.exported_program())
    taken = Counter({name: n for name, n in operators.items() if name.startswith(LIBRARY)})
    left = operators - taken
    return {
        "delegates": [],
        "nodes_delegated": taken.total(),
        "nodes_not_delegated": left.total(),
        "operators_delegated": dict(sorted(taken.items())),
        "operators_left": [
            {"name": name, "count": count, "reason": "the library cortex_m has no such operator"}
            for name, count in sorted(left.items())
        ],
    }


FLOW = Flow(
    name=NAME,
    engine="executorch",
    product="pte",
    make=_make,
    check=_check,
    needs=("executorch", "tosa_serializer"),
    eager=partial(evaluate_lowered, lower),
)
