"""Lowering for Ethos-U: ExecuTorch's partitioner, and Vela, which compiles what it takes.

Nothing here executes the program. Its manifest has what Vela models of it.
"""

from functools import partial
from typing import TYPE_CHECKING

from assay.toolchain.errors import RequestError
from assay.toolchain.flows.base import Flow, LoweringJob, LoweringOutput
from assay.toolchain.flows.executorch.flows import evaluate_lowered, make_program
from assay.toolchain.suggest import check_keys
from assay.toolchain.types import Lowering

if TYPE_CHECKING:
    import torch

    from assay.toolchain.flows.executorch.edge import Lowered

NAME = "ethos_u"
OPTIONS = ("target", "system_config", "memory_mode")
"""`target`: accelerator and number of multipliers, ethos-u55-128. The others: sections of Vela's
configuration; ExecuTorch's choice for the target unless given."""


def _check(lowering: Lowering) -> None:
    check_keys("option of the ethos_u lowering", lowering.options, OPTIONS)
    target = lowering.options.get("target")
    if not isinstance(target, str) or not target.startswith("ethos-u"):
        raise RequestError(f"the ethos_u lowering needs a target such as ethos-u55-128: {target!r}")


def lower(exported: "torch.export.ExportedProgram", lowering: Lowering) -> "Lowered":
    """The edge program with its Ethos-U delegates, compiled by Vela."""
    from assay.toolchain.flows.arm.partitioning import import_arm, lower_with

    ethosu = import_arm("arm.ethosu", NAME)
    compile_spec = ethosu.EthosUCompileSpec(**lowering.options)
    return lower_with(exported, ethosu.EthosUPartitioner(compile_spec), NAME)


def _make(job: LoweringJob) -> LoweringOutput:
    from assay.toolchain.flows.arm.vela_figures import describe_figures, keep_summaries

    with keep_summaries() as summaries:
        files, program = make_program(lower, job)
    if summaries:
        target = str(job.lowering.options["target"])
        program = {**program, "modelled": describe_figures(target, summaries)}
    return files, program


FLOW = Flow(
    name=NAME,
    engine="executorch",
    product="pte",
    make=_make,
    check=_check,
    needs=("executorch", "tosa_serializer", "ethosu"),
    eager=partial(evaluate_lowered, lower),
)
