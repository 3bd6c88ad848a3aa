"""Warms the fork server up once, so that its jobs start with everything imported."""

import importlib
import importlib.util

import torch

from assay.toolchain import compat
from assay.toolchain.server import torch_caching

JOB_MODULES = tuple(
    f"assay.{name}"
    for name in (
        "conformance.joint",
        "conformance.operator_model",
        "toolchain.flows.executorch.edge",
        "toolchain.models.loader",
        "toolchain.programs.inspection",
        "toolchain.programs.manifest",
        "toolchain.quantize.quantization",
        "toolchain.recipes.catalog",
        "toolchain.recipes.recipes",
        "toolchain.reference.reference",
    )
)


def import_toolchain() -> None:
    """Imports what jobs need, with torch kept at one thread."""
    compat.prepare_torch()
    compat.prepare_torchvision()
    wanted = (
        *JOB_MODULES,
        "torchvision.models",
        "executorch.exir",
        "executorch.backends.xnnpack.partition.xnnpack_partitioner",
        "executorch.backends.xnnpack.quantizer.xnnpack_quantizer",
        "torchao.quantization.pt2e.quantize_pt2e",
        "safetensors.torch",
    )
    for name in wanted:
        if importlib.util.find_spec(name.split(".")[0]) is not None:
            importlib.import_module(name)
    torch_caching.prepare_torch()


class _One(torch.nn.Module):  # type: ignore[misc]
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)


def lower_one_operator() -> None:
    """Exports, lowers and serializes one operator through XNNPACK: the first time is slow.

    A toolchain without executorch only exports it.
    """
    exported = torch.export.export(_One(), (torch.ones(2),))
    if importlib.util.find_spec("executorch") is None:
        return
    from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower

    from assay.toolchain.flows.executorch.partitioners import make_partitioner

    partitioner = make_partitioner("xnnpack", {})
    edge = to_edge_transform_and_lower(exported, partitioner=[partitioner])
    assert edge.to_executorch(ExecutorchBackendConfig()).buffer
