"""Builds: a model and a recipe in, a program with its manifest out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.toolchain.files import write_json
from assay.toolchain.flows.base import LoweringJob
from assay.toolchain.flows.registry import POST_LOWERING
from assay.toolchain.graph.intermediate_outputs import ExposedLayers, expose_layers
from assay.toolchain.graph.isolated_layers import IsolatedLayers, isolate_layers
from assay.toolchain.graph.operators import random_operators
from assay.toolchain.models import loader
from assay.toolchain.programs.manifest import make_manifest
from assay.toolchain.quantize import quantization
from assay.toolchain.recipes import recipes
from assay.toolchain.stages import StageLog

MANIFEST = "manifest.json"


def build(
    *,
    model: Mapping[str, Any] | str,
    recipe: Mapping[str, Any] | str,
    calibration: Mapping[str, Any] | None,
    stop_after: str | None,
    folder: Path,
    stages: StageLog,
    with_layers: bool = False,
    pieces: Sequence[str] = (),
    families: loader.Families = loader.NO_FAMILIES,
) -> dict[str, Any]:
    """Makes the program in `folder` and returns its manifest, which it writes there as well.

    `with_layers`: the program also returns the results of its layers (intermediate_outputs.py).
    `pieces`: the program consists of these layers, each by itself (isolated_layers.py).
    `families`: the makers of Assay's own models (models/loader.py).
    """
    plan = recipes.recipe_from_json(recipe)
    flow = plan.flow
    flow.check(plan.lowering)
    calibration_set = quantization.calibration_from_json(calibration)
    stop_after = recipes.check_stop(stop_after) or plan.stop_after
    with stages.stage("model"):
        made = loader.load_model(loader.model_spec_from_json(model), families)
    quantized = quantization.run_stage(
        made, plan.quantization, calibration_set, stages, POST_LOWERING
    )
    changed: ExposedLayers | IsolatedLayers | None = None
    if pieces:
        changed = isolate_layers(made, quantized, pieces)
    elif with_layers:
        changed = expose_layers(made, quantized)
    quantized = quantized if changed is None else changed.quantized
    with stages.stage("export"):
        exported = flow.export_program(made, quantized, plan.lowering)
    job = LoweringJob(
        exported,
        plan.lowering,
        None if stop_after else folder,
        stages,
        quantized.quantize_lowered,
        () if made.sampled is None else made.sampled.parts,
    )
    drawn = random_operators(exported)
    files, program = flow.make(job)
    if drawn:
        program["random"] = drawn
    if changed is not None:
        program["layers"] = [layer.to_json() for layer in changed.layers]
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
