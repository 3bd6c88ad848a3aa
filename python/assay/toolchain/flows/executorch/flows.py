"""ExecuTorch's lowering flows: through a partitioner, or by one of ExecuTorch's own recipes."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from assay.toolchain import executorch_recipes
from assay.toolchain.errors import RequestError
from assay.toolchain.flows.base import Flow, LoweringJob, LoweringOutput
from assay.toolchain.flows.executorch.partitioners import (
    PARTITIONERS,
    find_preparation,
    make_partitioner,
)
from assay.toolchain.packages import why_missing
from assay.toolchain.suggest import check_keys
from assay.toolchain.types import DEFAULT, Evaluate, Lowering

if TYPE_CHECKING:
    import torch

    from assay.toolchain.flows.executorch.edge import Lowered
    from assay.toolchain.types import Model, Quantized

BACKEND_OPTIONS = {
    "external_constants": bool,
    "do_quant_fusion_and_const_prop": bool,
    "remove_view_copy": bool,
    "run_reinplace_pass": bool,
    "segment_alignment": int,
    "quantized_io": bool,
}
"""Lowering options that are not the partitioner's but of the last step, with their types."""


def split_options(lowering: Lowering) -> tuple[dict[str, Any], dict[str, Any]]:
    """The partitioner's options and those of the last step, checked.

    Raises:
        RequestError: an option of the last step has the wrong type.
    """
    options = dict(lowering.options)
    backend = {key: options.pop(key) for key in list(options) if key in BACKEND_OPTIONS}
    for key, value in backend.items():
        if type(value) is not BACKEND_OPTIONS[key]:
            raise RequestError(f"{key} takes {BACKEND_OPTIONS[key].__name__}, not {value!r}")
    return options, backend


def _check_edge(lowering: Lowering) -> None:
    options, _ = split_options(lowering)
    if lowering.partitioner in PARTITIONERS:
        known = PARTITIONERS[lowering.partitioner].options
        check_keys(f"option of the {lowering.partitioner} partitioner", options, known)


def _find_missing(lowering: Lowering) -> str | None:
    entry = PARTITIONERS.get(str(lowering.partitioner))
    if entry is None:
        return None
    missing = why_missing((entry.needs,))
    return entry.find_missing() if missing is None and entry.find_missing else missing


def _probe_edge(lowering: Lowering) -> None:
    make_partitioner(lowering.partitioner, split_options(lowering)[0])


def _export_edge(
    model: "Model", quantized: "Quantized", lowering: Lowering
) -> "torch.export.ExportedProgram":
    from assay.toolchain.flows.executorch import edge
    from assay.toolchain.graph import export

    exported = export.export_module(model, quantized)
    if lowering.options.get("external_constants"):
        return edge.tag_constants(exported, model, quantized)
    return exported


def _lower_edge(exported: "torch.export.ExportedProgram", lowering: Lowering) -> "Lowered":
    from assay.toolchain.flows.executorch import edge

    options, backend = split_options(lowering)
    partitioner = make_partitioner(lowering.partitioner, options)
    prepare = find_preparation(lowering.partitioner)
    return edge.lower_edge(exported, partitioner, lowering.partitioner, backend, prepare)


def _recipe(lowering: Lowering) -> Any:
    return executorch_recipes.make_recipe(str(lowering.partitioner), lowering.options)


def _check_native(lowering: Lowering) -> None:
    _recipe(lowering)


def _export_native(
    model: "Model", quantized: "Quantized", lowering: Lowering
) -> "torch.export.ExportedProgram":
    exported: torch.export.ExportedProgram = executorch_recipes.run_export(
        _recipe(lowering), quantized.module, quantized.example
    )
    return exported


def _lower_native(exported: "torch.export.ExportedProgram", lowering: Lowering) -> "Lowered":
    from assay.toolchain.flows.executorch import edge

    return edge.lower_native(exported, _recipe(lowering), lowering.partitioner)


def _native_quantization(lowering: Lowering) -> dict[str, Any] | None:
    """An executorch recipe brings its own quantization."""
    if not executorch_recipes.is_quantizing(_recipe(lowering)):
        return None
    name, options = lowering.partitioner, lowering.options
    return {"flow": executorch_recipes.FLOW, "recipe": name, "options": options}


def make_program(
    lower_program: "Callable[[Any, Lowering], Lowered]", job: LoweringJob
) -> LoweringOutput:
    """The .pte of what `lower_program` makes, and what was delegated of it."""
    from assay.toolchain.flows.executorch import edge
    from assay.toolchain.flows.executorch.delegation import describe_delegation
    from assay.toolchain.flows.executorch.manifest import describe_program

    lowered = job.lower(lower_program)
    delegation = describe_delegation(lowered, job.parts)  # serializing rewrites the edge graph
    files = job.serialize(partial(edge.serialize, lowered))
    return files, {**describe_program(job.exported, files), **delegation}


def evaluate_lowered(
    lower_program: "Callable[[Any, Lowering], Lowered]",
    exported: "torch.export.ExportedProgram",
    lowering: Lowering,
) -> Evaluate:
    """The edge program as a function; delegates run their original graphs. It takes real inputs."""
    options = {key: value for key, value in lowering.options.items() if key != "quantized_io"}
    lowering = replace(lowering, options=options)
    function: Evaluate = lower_program(exported, lowering).edge.exported_program().module()
    return function


EDGE = Flow(
    name=DEFAULT,
    engine="executorch",
    product="pte",
    make=partial(make_program, _lower_edge),
    check=_check_edge,
    chooses_by="partitioner",
    needs=("executorch",),
    find_missing=_find_missing,
    probe=_probe_edge,
    export=_export_edge,
    eager=partial(evaluate_lowered, _lower_edge),
)

NATIVE = Flow(
    name=executorch_recipes.FLOW,
    engine="executorch",
    product="pte",
    make=partial(make_program, _lower_native),
    check=_check_native,
    chooses_by="recipe",
    must_choose=True,
    needs=("executorch",),
    probe=_check_native,
    export=_export_native,
    own_quantization=_native_quantization,
    eager=partial(evaluate_lowered, _lower_native),
)
