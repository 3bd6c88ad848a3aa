"""Partitioners by name, with the options that each of them really reads.

An unknown option is refused: a partitioner's own **kwargs would swallow it in silence.
"""

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from assay.toolchain import qnn_sdk
from assay.toolchain.errors import MissingDependency, RequestError
from assay.toolchain.flows.executorch import qnn
from assay.toolchain.flows.executorch.preparation import Prepare
from assay.toolchain.models.plugins import import_object
from assay.toolchain.suggest import check_keys, unknown_name


@dataclass(frozen=True)
class PartitionerEntry:
    """Recipe of a partitioner: its options, its maker and the Python package that it needs.

    `find_missing` says what else it lacks here; `prepare`: what its backend wants done before.
    """

    options: tuple[str, ...]
    make: Callable[[dict[str, Any]], Any]
    needs: str = "executorch"
    find_missing: Callable[[], str | None] | None = None
    prepare: Prepare | None = None


def make_partitioner(name: str | None, options: Mapping[str, Any]) -> Any | None:
    """The partitioner called `name`, or None for no delegation.

    `name` is a key of `PARTITIONERS`, "package.module:Class" or "FILE.py:factory".

    Raises:
        RequestError: an unknown name or option.
        MissingDependency: the backend's Python side is not installed.
    """
    if name is None:
        check_keys("lowering option without a partitioner", options, ())
        return None
    if ":" in name:
        return _make_foreign(name, options)
    if name not in PARTITIONERS:
        raise RequestError(unknown_name("partitioner", name, PARTITIONERS))
    entry = PARTITIONERS[name]
    check_keys(f"option of the {name} partitioner", options, entry.options)
    try:
        return entry.make(dict(options))
    except ImportError as error:
        text = f"the {name} partitioner needs {entry.needs}: {error}"
        raise MissingDependency(text) from error


def find_preparation(name: str | None) -> Prepare | None:
    """The work that a partitioner's backend wants done to a program before; None for none."""
    entry = PARTITIONERS.get(str(name))
    return None if entry is None else entry.prepare


def _make_foreign(reference: str, options: Mapping[str, Any]) -> Any:
    factory = import_object(reference)
    parameters = inspect.signature(factory).parameters.values()
    known = [p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    check_keys(f"option of {reference}", options, known)
    return factory(**options)


def _xnnpack(options: dict[str, Any]) -> Any:
    from executorch.backends.xnnpack.partition.config.xnnpack_config import ConfigPrecisionType
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    names = options.pop("config_precisions", None)
    if names is not None:
        known = {kind.name.lower(): kind for kind in ConfigPrecisionType}
        names = [names] if isinstance(names, str) else names
        options["config_precisions"] = [_choice("precision", name, known) for name in names]
    return XnnpackPartitioner(**options)


def _coreml(options: dict[str, Any]) -> Any:
    ct: Any = importlib.import_module("coremltools")
    from executorch.backends.apple.coreml.compiler import CoreMLBackend
    from executorch.backends.apple.coreml.partition import CoreMLPartitioner

    precisions = {"float16": ct.precision.FLOAT16, "float32": ct.precision.FLOAT32}
    precision = options.pop("compute_precision", "float16")
    target = options.pop("minimum_deployment_target", "iOS15")
    specs = CoreMLBackend.generate_compile_specs(
        compute_precision=_choice("precision", precision, precisions),
        minimum_deployment_target=_choice("target", target, ct.target.__members__),
    )
    return CoreMLPartitioner(compile_specs=specs, **options)


def _vulkan(options: dict[str, Any]) -> Any:
    from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner

    return VulkanPartitioner(options)


def _openvino(options: dict[str, Any]) -> Any:
    from executorch.backends.openvino.partitioner import OpenvinoPartitioner
    from executorch.exir.backend.backend_details import CompileSpec

    device = str(options.pop("device", "CPU"))
    return OpenvinoPartitioner([CompileSpec("device", device.encode())])


def _choice(kind: str, name: Any, known: Mapping[str, Any]) -> Any:
    lowered = {key.lower(): value for key, value in known.items()}
    if str(name).lower() not in lowered:
        raise RequestError(unknown_name(kind, str(name), known))
    return lowered[str(name).lower()]


PARTITIONERS: dict[str, PartitionerEntry] = {
    "xnnpack": PartitionerEntry(
        (
            "per_op_mode",
            "config_precisions",
            "enable_bf16",
            "force_non_static_weights_for_f32_linear",
        ),
        _xnnpack,
    ),
    "coreml": PartitionerEntry(
        (
            "compute_precision",
            "minimum_deployment_target",
            "skip_ops_for_coreml_delegation",
            "take_over_mutable_buffer",
            "take_over_constant_data",
            "lower_full_graph",
        ),
        _coreml,
        "coremltools",
    ),
    "vulkan": PartitionerEntry(
        ("require_dynamic_shapes", "force_fp16", "skip_bool_tensors", "skip_memory_planning"),
        _vulkan,
    ),
    "openvino": PartitionerEntry(("device",), _openvino, "openvino"),
    "qnn": PartitionerEntry(
        ("soc", "precision"),
        qnn.make_partitioner,
        find_missing=qnn_sdk.why_missing,
        prepare=qnn.prepare,
    ),
}
