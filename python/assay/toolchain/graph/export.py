"""Exports a quantized module: every lowering starts from the exported program."""

import torch
from torch.export import ExportedProgram

from assay.toolchain.models.dynamic_shapes import dynamic_shapes
from assay.toolchain.types import Model, Quantized


def export_module(model: Model, quantized: Quantized) -> ExportedProgram:
    """Exports the module with the shapes of its example and the dimensions that it leaves open."""
    shapes = dynamic_shapes(quantized.module, model.sampled)
    with torch.no_grad():
        return torch.export.export(quantized.module, quantized.example, dynamic_shapes=shapes)


def export_lean(model: Model, quantized: Quantized) -> ExportedProgram:
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
