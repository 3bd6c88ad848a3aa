"""ExecuTorch's lowering flows: through a partitioner, or by one of ExecuTorch's own recipes."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.aot import native
from assay.aot.errors import RequestError
from assay.aot.flow import DEFAULT, Evaluate, Flow, Lowering, Made, Order
from assay.aot.packages import why_missing
from assay.aot.partitioners import PARTITIONERS, make_partitioner
from assay.aot.suggest import check_keys

if TYPE_CHECKING:
    import torch

    from assay.aot.lower import Lowered
    from assay.aot.models import Model
    from assay.aot.quantize import Quantized

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
    return None if entry is None else why_missing((entry.needs,))


def _probe_edge(lowering: Lowering) -> None:
    make_partitioner(lowering.partitioner, split_options(lowering)[0])


def _export_edge(
    model: "Model", quantized: "Quantized", lowering: Lowering
) -> "torch.export.ExportedProgram":
    from assay.aot import export, lower

    exported = export.export_module(model, quantized)
    if lowering.options.get("external_constants"):
        return lower.tag_constants(exported, model, quantized)
    return exported


def _lower_edge(exported: "torch.export.ExportedProgram", lowering: Lowering) -> "Lowered":
    from assay.aot import lower

    options, backend = split_options(lowering)
    partitioner = make_partitioner(lowering.partitioner, options)
    return lower.lower_edge(exported, partitioner, lowering.partitioner, backend)


def _recipe(lowering: Lowering) -> Any:
    return native.make_recipe(str(lowering.partitioner), lowering.options)


def _check_native(lowering: Lowering) -> None:
    _recipe(lowering)


def _export_native(
    model: "Model", quantized: "Quantized", lowering: Lowering
) -> "torch.export.ExportedProgram":
    exported: torch.export.ExportedProgram = native.run_export(
        _recipe(lowering), quantized.module, quantized.example
    )
    return exported


def _lower_native(exported: "torch.export.ExportedProgram", lowering: Lowering) -> "Lowered":
    from assay.aot import lower

    return lower.lower_native(exported, _recipe(lowering), lowering.partitioner)


def _native_quantization(lowering: Lowering) -> dict[str, Any] | None:
    """An executorch recipe brings its own quantization."""
    if not native.is_quantizing(_recipe(lowering)):
        return None
    return {"flow": native.FLOW, "recipe": lowering.partitioner, "options": lowering.options}


def _make(lower_program: "Callable[[Any, Lowering], Lowered]", order: Order) -> Made:
    from assay.aot import lower
    from assay.aot.delegation import describe_delegation
    from assay.aot.manifest import describe_program

    with order.stages.stage("lower"):
        lowered = lower_program(order.exported, order.lowering)
    delegation = describe_delegation(lowered, order.parts)  # serializing rewrites the edge graph
    files: list[Path] = []
    if order.folder is not None:
        with order.stages.stage("serialize"):
            files = lower.serialize(lowered, order.folder)
    return files, {**describe_program(order.exported, files), **delegation}


def _eager(
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
    make=partial(_make, _lower_edge),
    check=_check_edge,
    chooses_by="partitioner",
    needs=("executorch",),
    find_missing=_find_missing,
    probe=_probe_edge,
    export=_export_edge,
    eager=partial(_eager, _lower_edge),
)

NATIVE = Flow(
    name=native.FLOW,
    engine="executorch",
    product="pte",
    make=partial(_make, _lower_native),
    check=_check_native,
    chooses_by="recipe",
    must_choose=True,
    needs=("executorch",),
    probe=_check_native,
    export=_export_native,
    own_quantization=_native_quantization,
    eager=partial(_eager, _lower_native),
)
