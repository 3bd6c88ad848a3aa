"""Export, lowering and serialization for ExecuTorch."""

import contextlib
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from assay.aot import native, openvino_ir
from assay.aot.errors import RequestError
from assay.aot.models import Model
from assay.aot.partitioners import PARTITIONERS, make_partitioner
from assay.aot.quantize import Quantized
from assay.aot.recipes import Lowering
from assay.aot.suggest import check_keys

PROGRAM, DATA = "program.pte", "weights"
"""Names of the program, and of the .ptd file that external constants go to."""

BACKEND_OPTIONS = {
    "external_constants": bool,
    "do_quant_fusion_and_const_prop": bool,
    "remove_view_copy": bool,
    "run_reinplace_pass": bool,
    "segment_alignment": int,
}
"""Lowering options that are not the partitioner's but of the last step, with their types."""

_LOGGER = "executorch"


@dataclass(frozen=True)
class Lowered:
    """An edge program, and why operators stayed out of the delegates.

    `rejections` counts (node name, operator, reason); `rules` are the operators that the
    partitioner has a rule for, None where it does not tell; `config` is what an executorch recipe
    wants of the last step.
    """

    edge: Any
    partitioner: str | None
    rejections: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    rules: frozenset[str] | None = None
    config: Any = None


def export(
    model: Model, quantized: Quantized, lowering: Lowering | None = None
) -> torch.export.ExportedProgram:
    """Exports the quantized module; an exported model that nothing quantized stays as it is."""
    if model.exported is not None and quantized.module is model.module:
        return model.exported
    if lowering is not None and lowering.flow == native.FLOW:
        return native.run_export(_recipe(lowering), quantized.module, quantized.example)
    with torch.no_grad():
        exported = torch.export.export(quantized.module, quantized.example)
        if lowering is not None and lowering.options.get("external_constants"):
            return _tag_constants(exported, quantized)
        return exported


def _tag_constants(
    exported: torch.export.ExportedProgram, quantized: Quantized
) -> torch.export.ExportedProgram:
    """Marks constants so that delegates, too, put them outside of the program."""
    from executorch.exir.passes.external_constants_pass import (
        delegate_external_constants_pass_unlifted,
    )

    module = exported.module()
    delegate_external_constants_pass_unlifted(module, gen_tag_fn=lambda node: DATA)
    return torch.export.export(module, quantized.example)


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


def check_lowering(lowering: Lowering) -> None:
    """Refuses unknown names and options before any work is done."""
    if lowering.flow == native.FLOW:
        _recipe(lowering)
        return
    if lowering.flow == openvino_ir.FLOW:
        openvino_ir.check_options(lowering.options)
        return
    options, _ = split_options(lowering)
    if lowering.partitioner is None or ":" in lowering.partitioner:
        return
    if lowering.partitioner in PARTITIONERS:
        known = PARTITIONERS[lowering.partitioner].options
        check_keys(f"option of the {lowering.partitioner} partitioner", options, known)


def lower(exported: torch.export.ExportedProgram, lowering: Lowering) -> Lowered:
    """Decomposes to the edge dialect and hands what the partitioner takes to its backend."""
    if lowering.flow == native.FLOW:
        return _lower_native(exported, lowering)
    from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

    partitioner = make_partitioner(lowering.partitioner, split_options(lowering)[0])
    with collect_rejections() as rejections:
        edge = to_edge_transform_and_lower(
            exported,
            partitioner=None if partitioner is None else [partitioner],
            compile_config=EdgeCompileConfig(_check_ir_validity=False),
        )
    return Lowered(edge, lowering.partitioner, rejections, _rules([partitioner]))


def _lower_native(exported: torch.export.ExportedProgram, lowering: Lowering) -> Lowered:
    recipe = _recipe(lowering)
    with collect_rejections() as rejections:
        edge = native.run_lower(recipe, exported)
    partitioners = getattr(recipe.lowering_recipe, "partitioners", None) or []
    rules = _rules(partitioners if isinstance(partitioners, list) else [])
    config = recipe.executorch_backend_config
    return Lowered(edge, lowering.partitioner, rejections, rules, config)


def _recipe(lowering: Lowering) -> Any:
    return native.make_recipe(str(lowering.partitioner), lowering.options)


def _rules(partitioners: Sequence[Any]) -> frozenset[str] | None:
    """The operators that the partitioners have rules for; None when one does not tell."""
    rules = [getattr(one, "target_partitioner_configs", None) for one in partitioners]
    known = [frozenset(names) for names in rules if names is not None]
    return frozenset().union(*known) if known and len(known) == len(rules) else None


def serialize(lowered: Lowered, lowering: Lowering, folder: Path) -> list[Path]:
    """Writes the program, and its .ptd files where constants are external.

    Returns:
        The files, the program first.
    """
    from executorch.exir import ExecutorchBackendConfig

    config = lowered.config
    if config is None:
        options = {} if lowering.flow == native.FLOW else split_options(lowering)[1]
        if options.get("external_constants"):
            options["external_constants"] = lambda node: DATA
        config = ExecutorchBackendConfig(**options)
    for stale in folder.glob("*.ptd"):
        stale.unlink()
    program = lowered.edge.to_executorch(config)
    path = folder / PROGRAM
    with path.open("wb") as file:
        program.write_to_file(file)
    program.write_tensor_data_to_file(str(folder))
    return [path, *sorted(folder.glob("*.ptd"))]


class _RejectionHandler(logging.Handler):
    """Keeps the reasons that partitioners log through executorch's WhyNoPartition."""

    def __init__(self, found: Counter[tuple[str, str, str]]) -> None:
        super().__init__(logging.DEBUG)
        self._found = found

    def emit(self, record: logging.LogRecord) -> None:
        """Counts a rejection; other messages pass by."""
        why: Any = record.msg
        if type(why).__name__ == "WhyNoPartition" and why.node is not None:
            key = (why.node.name, operator_name(why.node.target), str(why.reason))
            self._found[key] += 1


@contextlib.contextmanager
def collect_rejections() -> Iterator[Counter[tuple[str, str, str]]]:
    """Counts (node, operator, reason) of every rejection that a partitioner logs."""
    found: Counter[tuple[str, str, str]] = Counter()
    logger = logging.getLogger(_LOGGER)
    handler, level, propagate = _RejectionHandler(found), logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        yield found
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate


def operator_name(target: Any) -> str:
    """The operator with its namespace and overload: "aten.add.Tensor"."""
    # An edge operator holds the overload that it stands for; an overload holds what has no name.
    is_overload = isinstance(target, torch._ops.OpOverload)
    operator = target if is_overload else getattr(target, "_op", target)
    if isinstance(operator, torch._ops.OpOverload):
        return str(operator)
    return str(getattr(operator, "__name__", operator))
