"""PyTorch's own exported program as what is executed: eager kernels, one call an operator."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay.toolchain.flows.base import Flow, LoweringJob, LoweringOutput
from assay.toolchain.flows.program_manifest import describe_source, describe_whole
from assay.toolchain.formats import TORCH_EXPORT_ENDING
from assay.toolchain.suggest import check_keys
from assay.toolchain.types import Evaluate, Lowering

if TYPE_CHECKING:
    import torch

    from assay.toolchain.types import Model, Quantized

PROGRAM = "program" + TORCH_EXPORT_ENDING
"""A bare .pt2 is a model; this ending says that it is to be executed as it is."""


def _check(lowering: Lowering) -> None:
    check_keys("option of the torch_export lowering", lowering.options, ())


def export(
    model: "Model", quantized: "Quantized", lowering: Lowering
) -> "torch.export.ExportedProgram":
    """The exported program without weights that nothing reads: it is written down as it is."""
    from assay.toolchain.graph.export import export_lean

    return export_lean(model, quantized)


def _make(job: LoweringJob) -> LoweringOutput:
    source = describe_source(job.exported, job.parts)
    files = job.serialize(partial(serialize, job.exported))
    return files, describe_whole(source, files)


def serialize(exported: "torch.export.ExportedProgram", folder: Path) -> list[Path]:
    """Writes the program."""
    import torch

    path = folder / PROGRAM
    _forget_origins(exported)
    torch.export.save(exported, path)
    return [path]


def _forget_origins(exported: "torch.export.ExportedProgram") -> None:
    """Drops from nodes of which graphs they were made: by addresses, another in every build."""
    from assay.toolchain.graph.operators import walk_graphs

    for graph in walk_graphs(exported.graph_module):
        for node in graph.graph.nodes:
            node.meta.pop("from_node", None)


def _eager(exported: "torch.export.ExportedProgram", lowering: Lowering) -> Evaluate:
    function: Evaluate = exported.module()
    return function


FLOW = Flow(
    name="torch_export",
    engine="torch",
    product="pt2",
    make=_make,
    check=_check,
    needs=("torch",),
    export=export,
    eager=_eager,
)
