"""The lowering flows. A new one is a file with a Flow in it and a row here."""

from assay.toolchain.flows import aoti, litert, onnx, openvino, torch_export
from assay.toolchain.flows.base import Flow
from assay.toolchain.flows.executorch import flows

FLOWS: dict[str, Flow] = {
    flow.name: flow
    for flow in (
        flows.EDGE,
        flows.NATIVE,
        openvino.FLOW,
        onnx.FLOW,
        torch_export.FLOW,
        aoti.FLOW,
        litert.FLOW,
    )
}

LATE: dict[str, Flow] = {flow.late.name: flow for flow in FLOWS.values() if flow.late is not None}
"""By the name of a quantization that works on what a flow's lowering made: that flow."""


def products() -> dict[str, list[str]]:
    """What this toolchain makes: formats by engine."""
    made: dict[str, list[str]] = {}
    for flow in FLOWS.values():
        formats = made.setdefault(flow.engine, [])
        if flow.product not in formats:
            formats.append(flow.product)
    return made
