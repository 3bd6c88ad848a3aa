"""The jobs of the fork server, each a function of its request."""

import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assay.aot.errors import RequestError, failure_of
from assay.aot.stages import Emit, StageLog
from assay.aot.suggest import check_keys, unknown_name

Request = Mapping[str, Any]
_COMMON = ("id", "job", "timeout_ns", "memory_limit_bytes", "out_dir")


def run_job(request: Request, emit: Emit) -> dict[str, Any]:
    """Runs a request and returns its done event, whatever happens in it."""
    stages = StageLog(emit)
    try:
        name = str(request.get("job"))
        if name not in JOBS:
            raise RequestError(unknown_name("job", name, JOBS))
        result = JOBS[name](request, stages)
    except BaseException as error:
        traceback.print_exc()
        failure = failure_of(error, stages.current)
        result = {"stages": stages.to_json()}
        return {"event": "done", **failure, "stage": stages.current, "result": result}
    done = {"outcome": "completed", "stage": stages.current, "reason_code": None, "text": ""}
    return {"event": "done", **done, "result": result}


def build(request: Request, stages: StageLog) -> dict[str, Any]:
    """Makes a program and its manifest in out_dir."""
    check_keys(
        "key of a build", request, (*_COMMON, "model", "recipe", "calibration", "stop_after")
    )
    from assay.aot import lower, manifest, models, quantize, recipes
    from assay.aot.delegation import describe_delegation
    from assay.aot.files import write_json

    folder = _folder(request)
    recipe = recipes.recipe_from_json(_required(request, "recipe"))
    lower.check_lowering(recipe.lowering)
    calibration = _calibration(request)
    stop_after = recipes.check_stop(request.get("stop_after")) or recipe.stop_after
    with stages.stage("model"):
        model = models.load_model(models.model_spec_from_json(_required(request, "model")))
    with stages.stage("quantize"):
        quantized = quantize.quantize(model, recipe.quantization, calibration)
    with stages.stage("export"):
        exported = lower.export(model, quantized)
    with stages.stage("lower"):
        lowered = lower.lower(exported, recipe.lowering)
    delegation = describe_delegation(lowered)  # serializing rewrites the edge graph
    files: list[Path] = []
    if stop_after is None:
        with stages.stage("serialize"):
            files = lower.serialize(lowered, recipe.lowering, folder)
    document = manifest.make_manifest(
        model=model,
        recipe=recipe,
        calibration=calibration if recipe.quantization else None,
        exported=exported,
        delegation=delegation,
        files=files,
        stages=stages,
    )
    write_json(folder / "manifest.json", document)
    return document


def reference(request: Request, stages: StageLog) -> dict[str, Any]:
    """Computes expected outputs and writes them to out_dir."""
    known = (*_COMMON, "model", "quantization", "lowering", "kind", "inputs", "calibration")
    check_keys("key of a reference", request, known)
    from assay.aot import inputs as input_sets
    from assay.aot import lower, models, quantize, recipes
    from assay.aot import reference as references

    folder = _folder(request)
    kind = str(request.get("kind", "float32"))
    if kind not in references.KINDS:
        raise RequestError(unknown_name("kind of reference", kind, references.KINDS))
    quantization = recipes.quantization_from_json(request.get("quantization"))
    references.check_kind(kind, quantization)
    lowering = recipes.lowering_from_json(request.get("lowering"))
    evaluation = input_sets.input_set_from_json(_required(request, "inputs"), role="evaluation")
    calibration = _calibration(request)
    input_sets.refuse_shared(evaluation, calibration)
    with stages.stage("model"):
        model = models.load_model(models.model_spec_from_json(_required(request, "model")))
    used = quantization if kind in ("qdq", "lowered_eager") else None
    with stages.stage("quantize"):
        quantized = quantize.quantize(model, used, calibration)
    samples = input_sets.samples_of(evaluation, model.inputs)
    if quantized.inputs != model.inputs:
        dtypes = [input_sets.DTYPES[spec.dtype] for spec in quantized.inputs]
        samples = [
            tuple(t.to(dtype) for t, dtype in zip(sample, dtypes, strict=True))
            for sample in samples
        ]
    if kind == "lowered_eager":
        with stages.stage("export"):
            exported = lower.export(model, quantized)
        with stages.stage("lower"):
            lowered = lower.lower(exported, lowering)
    with stages.stage("reference"):
        if kind == "float64":
            outputs = references.evaluate_double(model, samples)
        elif kind == "lowered_eager":
            outputs = references.evaluate(lowered.edge.exported_program().module(), samples)
        else:
            outputs = references.evaluate(quantized.module, samples)
        return references.write_reference(
            folder,
            model=model,
            quantized=quantized,
            kind=kind,
            quantization=used,
            inputs=evaluation,
            samples=samples,
            outputs=outputs,
        )


def _folder(request: Request) -> Path:
    folder = Path(str(_required(request, "out_dir")))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _required(request: Request, key: str) -> Any:
    if request.get(key) is None:
        raise RequestError(f'the request lacks "{key}"')
    return request[key]


def _calibration(request: Request) -> Any:
    from assay.aot import quantize
    from assay.aot.inputs import input_set_from_json

    document = request.get("calibration")
    if document is None:
        return quantize.DEFAULT_CALIBRATION
    return input_set_from_json(document, role="calibration")


JOBS: dict[str, Callable[[Request, StageLog], dict[str, Any]]] = {
    "build": build,
    "reference": reference,
}
