"""From a quantized module to an exported program: what every lowering starts from."""

import torch
from torch.export import ExportedProgram

from assay.toolchain.flows.base import Lowering
from assay.toolchain.flows.registry import FLOWS
from assay.toolchain.models.dynamic_shapes import dynamic_shapes
from assay.toolchain.models.loader import Model
from assay.toolchain.quantize.quantization import Quantized


def export(model: Model, quantized: Quantized, lowering: Lowering) -> ExportedProgram:
    """Exports the quantized module; an exported model that nothing quantized stays as it is."""
    if model.exported is not None and quantized.module is model.module:
        return model.exported
    own = FLOWS[lowering.flow].export
    return export_module(model, quantized) if own is None else own(model, quantized, lowering)


def export_module(model: Model, quantized: Quantized) -> ExportedProgram:
    """torch.export of the module, with the shapes of its example, or what the model leaves open."""
    shapes = dynamic_shapes(quantized.module, model.brought)
    with torch.no_grad():
        return torch.export.export(quantized.module, quantized.example, dynamic_shapes=shapes)


def export_lean(model: Model, quantized: Quantized, lowering: Lowering) -> ExportedProgram:
    """`export_module` without weights that nothing reads: a quantized graph keeps the float ones.

    For flows that write down all that an exported program holds.
    """
    drop_unread(quantized.module)
    return export_module(model, quantized)


def drop_unread(module: torch.nn.Module) -> None:
    """Removes the parameters and buffers that a graph does not name; other modules stay as is."""
    if not isinstance(module, torch.fx.GraphModule):
        return
    named = [str(n.target) for n in module.graph.nodes if n.op in ("get_attr", "call_module")]
    inside = tuple(f"{name}." for name in named)
    held = [name for name, _ in (*module.named_parameters(), *module.named_buffers())]
    for name in held:
        if name not in named and not name.startswith(inside):
            folder, _, leaf = name.rpartition(".")
            delattr(module.get_submodule(folder), leaf)
