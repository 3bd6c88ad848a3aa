"""Lowering to a VGF file, which Arm's neural GPUs load: by ExecuTorch and Arm's model converter."""

import importlib.util
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay.toolchain.errors import MissingDependency
from assay.toolchain.flows.arm.tosa import check_specification, make_compile_spec, make_whole
from assay.toolchain.flows.base import Flow
from assay.toolchain.flows.executorch.flows import evaluate_lowered
from assay.toolchain.separate_toolchains import find_separate_toolchain
from assay.toolchain.types import Lowering

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
    vgf = import_arm("arm.vgf", NAME)
    compile_spec = make_compile_spec(vgf.VgfCompileSpec, lowering)
    return lower_with(exported, vgf.VgfPartitioner(compile_spec), NAME)


FLOW = Flow(
    name=NAME,
    engine="vgf",
    product="vgf",
    make=partial(make_whole, lower, BACKEND, PROGRAM, None),
    check=check_specification,
    needs=("executorch", "tosa_serializer", "model_converter"),
    eager=partial(evaluate_lowered, lower),
)
