"""What the fork server does once, so that its children start warm."""

import torch

from assay.aot import compat, quicker


def import_toolchain() -> None:
    """Imports what jobs need, with torch kept at one thread."""
    compat.prepare_torch()
    compat.prepare_torchvision()
    import importlib
    import importlib.util

    from assay.aot import (  # noqa: F401  # noqa: F401
        inspect_program,
        listing,
        lower,
        manifest,
        models,
        quantize,
        recipes,
        reference,
    )
    from assay.conform import joint, operator_model  # noqa: F401

    wanted = (
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
    quicker.prepare_torch()


class _One(torch.nn.Module):  # type: ignore[misc]
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)


def lower_one_operator() -> None:
    """Exports, lowers and serializes one operator through XNNPACK: the first time is slow.

    A toolchain without executorch only exports it.
    """
    import importlib.util

    exported = torch.export.export(_One(), (torch.ones(2),))
    if importlib.util.find_spec("executorch") is None:
        return
    from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower

    from assay.aot.partitioners import make_partitioner

    partitioner = make_partitioner("xnnpack", {})
    edge = to_edge_transform_and_lower(exported, partitioner=[partitioner])
    assert edge.to_executorch(ExecutorchBackendConfig()).buffer
