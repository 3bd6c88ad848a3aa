"""Lowering to a VGF file, which Arm's neural GPUs load: by ExecuTorch and Arm's model converter."""

import importlib.util
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay.toolchain.errors import MissingDependency, RequestError
from assay.toolchain.flows.arm.tosa import DEFAULT_SPECIFICATION, check_specification, serialize
from assay.toolchain.flows.base import Flow, LoweringJob, LoweringOutput
from assay.toolchain.flows.program_manifest import describe_source, describe_whole
from assay.toolchain.separate_toolchains import find_separate_toolchain
from assay.toolchain.types import Evaluate, Lowering

if TYPE_CHECKING:
    import torch

    from assay.toolchain.flows.executorch.edge import Lowered

NAME = "vgf"
PROGRAM = "program.vgf"
BACKEND = "VgfBackend"
_CONVERTER = "MODEL_CONVERTER_PATH"
"""The variable by which ExecuTorch finds the converter."""


def _find_converter() -> Path:
    """The converter of the package ai-ml-sdk-model-converter.

    Raises:
        MissingDependency: the package is not installed.
    """
    found = importlib.util.find_spec("model_converter")
    if found is None or found.origin is None:
        way = find_separate_toolchain(NAME)
        raise MissingDependency(f"the vgf lowering needs Arm's model converter: {way}")
    return Path(found.origin).parent / "binaries/bin/model-converter"


def lower(exported: "torch.export.ExportedProgram", lowering: Lowering) -> "Lowered":
    """The edge program with its VGF delegates."""
    from assay.toolchain.flows.arm.partitioning import import_arm, lower_with

    os.environ.setdefault(_CONVERTER, str(_find_converter()))
    specification = lowering.options.get("specification", DEFAULT_SPECIFICATION)
    vgf = import_arm("arm.vgf", NAME)
    try:
        compile_spec = vgf.VgfCompileSpec(specification)
    except ValueError as error:
        raise RequestError(f"no TOSA specification '{specification}': {error}") from error
    return lower_with(exported, vgf.VgfPartitioner(compile_spec), NAME)


def _make(job: LoweringJob) -> LoweringOutput:
    from assay.toolchain.flows.arm.whole_program import (
        refuse_open_sizes,
        take_whole,
        values_from_ports,
    )

    source = describe_source(job.exported, job.parts)
    refuse_open_sizes(source)
    whole = take_whole(job.lower(lower), BACKEND, source)
    files = job.serialize(partial(serialize, whole, PROGRAM))
    program = describe_whole(
        source,
        files,
        inputs=values_from_ports(whole.ports.inputs),
        outputs=values_from_ports(whole.ports.outputs),
    )
    return files, {**program, **whole.delegation}


def _eager(exported: "torch.export.ExportedProgram", lowering: Lowering) -> Evaluate:
    """The edge program as a function; delegates run their original graphs."""
    function: Evaluate = lower(exported, lowering).edge.exported_program().module()
    return function


FLOW = Flow(
    name=NAME,
    engine="vgf",
    product="vgf",
    make=_make,
    check=check_specification,
    needs=("executorch", "tosa_serializer", "model_converter"),
    eager=_eager,
)
