"""Lowering to ExecuTorch's edge dialect, and serialization."""

import contextlib
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from assay.toolchain import executorch_recipes
from assay.toolchain.errors import Unsupported
from assay.toolchain.flows.executorch.preparation import Prepare, Prepared
from assay.toolchain.flows.executorch.qnn import describe_refusal
from assay.toolchain.graph.export import export_module
from assay.toolchain.graph.operators import boundary, operator_name
from assay.toolchain.types import Model, Quantized

PROGRAM, DATA = "program.pte", "weights"
"""Names of the program, and of the .ptd file that external constants go to."""

_LOGGER = "executorch"


@dataclass(frozen=True)
class Lowered:
    """An edge program, and why operators stayed out of the delegates.

    `rejections` counts (node name, operator, reason); `rules` are the operators that the
    partitioner has a rule for, None if it does not tell; `config` is for the last step, None
    for its defaults.
    """

    edge: Any
    partitioner: str | None
    rejections: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    rules: frozenset[str] | None = None
    config: Any = None


def tag_constants(
    exported: torch.export.ExportedProgram, model: Model, quantized: Quantized
) -> torch.export.ExportedProgram:
    """Marks constants so that delegates, too, put them outside of the program."""
    from executorch.exir.passes.external_constants_pass import (
        delegate_external_constants_pass_unlifted,
    )

    module = exported.module()
    delegate_external_constants_pass_unlifted(module, gen_tag_fn=lambda node: DATA)
    return export_module(model, replace(quantized, module=module))


def lower_edge(
    exported: torch.export.ExportedProgram,
    partitioner: Any,
    name: str | None,
    options: Mapping[str, Any],
    prepare: Prepare | None = None,
) -> Lowered:
    """Decomposes to the edge dialect and hands what the partitioner takes to its backend.

    `name` is the partitioner's; `options` are those of the last step; `prepare`: what the backend
    wants done before.
    """
    from executorch.exir import (
        EdgeCompileConfig,
        ExecutorchBackendConfig,
        to_edge_transform_and_lower,
    )

    prepared = (prepare or _as_it_is)(exported, partitioner)
    with collect_rejections() as rejections, prepared as ready:
        edge = to_edge_transform_and_lower(
            ready.exported,
            transform_passes=ready.edge_passes,
            partitioner=None if partitioner is None else [partitioner],
            compile_config=EdgeCompileConfig(_check_ir_validity=False),
        )
    last = dict(options)
    if last.pop("quantized_io", False):
        edge = quantize_boundary(edge)
    if last.get("external_constants"):
        last["external_constants"] = lambda node: DATA
    config = ExecutorchBackendConfig(**last)
    return Lowered(edge, name, rejections, _rules([partitioner]), config)


def _as_it_is(
    exported: torch.export.ExportedProgram, partitioner: Any
) -> contextlib.AbstractContextManager[Prepared]:
    return contextlib.nullcontext(Prepared(exported))


def quantize_boundary(edge: Any) -> Any:
    """Drops the outer quantize and dequantize: the program takes and gives integers.

    Their parameters become constant methods of the program (input0_scale, input0_zp, output0_scale
    and so on), where the runner finds them.

    Raises:
        Unsupported: no input and no output is quantized at the edge of the program.
    """
    from executorch.exir.passes.quantize_io_pass import QuantizeInputs, QuantizeOutputs

    inputs, outputs = boundary(edge.exported_program())
    quantized = [
        [i for i, (_, quantization) in enumerate(side) if quantization is not None]
        for side in (inputs, outputs)
    ]
    if not any(quantized):
        raise Unsupported(
            "quantized_io needs a quantize behind an input or a dequantize before an output; a"
            " partitioner may have taken them in (the option boundary of some)"
        )
    edge = edge.transform([QuantizeInputs(edge, quantized[0])])
    return edge.transform([QuantizeOutputs(edge, quantized[1])])


def lower_native(exported: torch.export.ExportedProgram, recipe: Any, name: str | None) -> Lowered:
    """Lowers as one of executorch's own recipes says; `name` is its name."""
    with collect_rejections() as rejections:
        edge = executorch_recipes.run_lower(recipe, exported)
    partitioners = getattr(recipe.lowering_recipe, "partitioners", None) or []
    rules = _rules(partitioners if isinstance(partitioners, list) else [])
    return Lowered(edge, name, rejections, rules, recipe.executorch_backend_config)


def _rules(partitioners: Sequence[Any]) -> frozenset[str] | None:
    """The operators that the partitioners have rules for; None if one has no table of rules."""
    rules = [
        getattr(partitioner, "target_partitioner_configs", None) for partitioner in partitioners
    ]
    known = [frozenset(names) for names in rules if names is not None]
    return frozenset().union(*known) if known and len(known) == len(rules) else None


def serialize(lowered: Lowered, folder: Path) -> list[Path]:
    """Writes the program, and its .ptd files where constants are external.

    Returns:
        The files, the program first.
    """
    from executorch.exir import ExecutorchBackendConfig

    config = lowered.config
    for stale in folder.glob("*.ptd"):
        stale.unlink()
    program = lowered.edge.to_executorch(ExecutorchBackendConfig() if config is None else config)
    path = folder / PROGRAM
    with path.open("wb") as file:
        program.write_to_file(file)
    program.write_tensor_data_to_file(str(folder))
    return [path, *sorted(folder.glob("*.ptd"))]


class _RejectionHandler(logging.Handler):
    """Keeps the reasons that partitioners log, through executorch's WhyNoPartition or as QNN's."""

    def __init__(self, found: Counter[tuple[str, str, str]]) -> None:
        super().__init__(logging.DEBUG)
        self._found = found

    def emit(self, record: logging.LogRecord) -> None:
        """Counts a rejection; other messages pass by."""
        why: Any = record.msg
        if type(why).__name__ == "WhyNoPartition" and why.node is not None:
            key = (why.node.name, operator_name(why.node.target), str(why.reason))
            self._found[key] += 1
        elif refusal := describe_refusal(str(why)):
            self._found[("", *refusal)] += 1


@contextlib.contextmanager
def collect_rejections() -> Iterator[Counter[tuple[str, str, str]]]:
    """Counts (node, operator, reason) of every rejection that a partitioner logs."""
    rejections: Counter[tuple[str, str, str]] = Counter()
    logger = logging.getLogger(_LOGGER)
    handler, level, propagate = _RejectionHandler(rejections), logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        yield rejections
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate
