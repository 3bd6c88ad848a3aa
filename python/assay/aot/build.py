"""Builds: a model and a recipe in, a program with its manifest out."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.aot import lower, models, quantize, recipes
from assay.aot.delegation import describe_delegation
from assay.aot.files import write_json
from assay.aot.manifest import make_manifest
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
    with stages.stage("lower"):
        lowered = lower.lower(exported, plan.lowering)
    delegation = describe_delegation(lowered)  # serializing rewrites the edge graph
    files: list[Path] = []
    if stop_after is None:
        with stages.stage("serialize"):
            files = lower.serialize(lowered, plan.lowering, folder)
    document = make_manifest(
        model=made,
        recipe=plan,
        calibration=calibration_set if plan.quantization else None,
        exported=exported,
        delegation=delegation,
        files=files,
        stages=stages,
    )
    write_json(folder / MANIFEST, document)
    return document
