"""The lowering flows. A new one is a file with a Flow in it and a row here."""

from collections.abc import Mapping
from typing import Any

from assay.toolchain.flows import aoti, litert, onnx, openvino, torch_export
from assay.toolchain.flows.arm import cortex_m, ethos_u, tosa, vgf
from assay.toolchain.flows.base import Flow
from assay.toolchain.flows.executorch import flows as executorch
from assay.toolchain.quantize.post_lowering import PostLoweringQuantization

FLOWS: dict[str, Flow] = {
    flow.name: flow
    for flow in (
        executorch.EDGE,
        executorch.NATIVE,
        openvino.FLOW,
        onnx.FLOW,
        torch_export.FLOW,
        aoti.FLOW,
        litert.FLOW,
        tosa.FLOW,
        ethos_u.FLOW,
        vgf.FLOW,
        cortex_m.FLOW,
    )
}

POST_LOWERING: dict[str, PostLoweringQuantization] = {
    flow.post_lowering.name: flow.post_lowering
    for flow in FLOWS.values()
    if flow.post_lowering is not None
}
"""Quantizations of a lowered program, by name."""


def find_flow_of_quantization(quantization: Mapping[str, Any] | None) -> Flow | None:
    """The flow whose lowered program a quantization works on; None for one of a torch module."""
    name = None if quantization is None else quantization.get("flow")
    for flow in FLOWS.values():
        if flow.post_lowering is not None and flow.post_lowering.name == name:
            return flow
    return None


def products() -> dict[str, list[str]]:
    """The formats that this toolchain makes, by engine."""
    made: dict[str, list[str]] = {}
    for flow in FLOWS.values():
        formats = made.setdefault(flow.engine, [])
        if flow.product not in formats:
            formats.append(flow.product)
    return made
