"""Builds: a model and a recipe in, a program with its manifest out."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from assay.aot import lower, models, openvino_ir, quantize, recipes
from assay.aot.delegation import describe_delegation
from assay.aot.files import write_json
from assay.aot.manifest import describe_program, make_manifest
from assay.aot.stages import StageLog

MANIFEST = "manifest.json"


def build(
    *,
    model: Mapping[str, Any] | str,
    recipe: Mapping[str, Any] | str,
    calibration: Mapping[str, Any] | None,
    stop_after: str | None,
    folder: Path,
    stages: StageLog,
) -> dict[str, Any]:
    """Makes the program in `folder` and returns its manifest, which it writes there as well."""
    plan = recipes.recipe_from_json(recipe)
    lower.check_lowering(plan.lowering)
    calibration_set = quantize.calibration_from_json(calibration)
    stop_after = recipes.check_stop(stop_after) or plan.stop_after
    with stages.stage("model"):
        made = models.load_model(models.model_spec_from_json(model))
    with stages.stage("quantize"):
        quantized = quantize.quantize(made, plan.quantization, calibration_set)
    with stages.stage("export"):
        exported = lower.export(made, quantized, plan.lowering)
    make = _make_ir if plan.lowering.flow == openvino_ir.FLOW else _make_pte
    files, program = make(exported, plan.lowering, None if stop_after else folder, stages)
    document = make_manifest(
        model=made,
        recipe=plan,
        calibration=calibration_set if plan.quantization else None,
        program=program,
        files=files,
        stages=stages,
    )
    write_json(folder / MANIFEST, document)
    return document


Made = tuple[list[Path], dict[str, Any]]
"""The files, none when the build stops after lowering, and the manifest's program."""


def _make_pte(
    exported: torch.export.ExportedProgram,
    lowering: recipes.Lowering,
    folder: Path | None,
    stages: StageLog,
) -> Made:
    with stages.stage("lower"):
        lowered = lower.lower(exported, lowering)
    delegation = describe_delegation(lowered)  # serializing rewrites the edge graph
    files: list[Path] = []
    if folder is not None:
        with stages.stage("serialize"):
            files = lower.serialize(lowered, lowering, folder)
    return files, {**describe_program(exported, files), **delegation}


def _make_ir(
    exported: torch.export.ExportedProgram,
    lowering: recipes.Lowering,
    folder: Path | None,
    stages: StageLog,
) -> Made:
    source = openvino_ir.describe_source(exported)
    with stages.stage("lower"):
        model = openvino_ir.convert(exported)
    files: list[Path] = []
    if folder is not None:
        with stages.stage("serialize"):
            files = openvino_ir.serialize(model, lowering.options, folder)
    return files, openvino_ir.describe_program(source, model, files)
