"""From a quantized module to an exported program: what every lowering starts from."""

import torch

from assay.aot.flow import Lowering
from assay.aot.flows import FLOWS
from assay.aot.models import Model
from assay.aot.quantize import Quantized


def export(model: Model, quantized: Quantized, lowering: Lowering) -> torch.export.ExportedProgram:
    """Exports the quantized module; an exported model that nothing quantized stays as it is."""
    if model.exported is not None and quantized.module is model.module:
        return model.exported
    own = FLOWS[lowering.flow].export
    return export_module(quantized) if own is None else own(model, quantized, lowering)


def export_module(quantized: Quantized) -> torch.export.ExportedProgram:
    """torch.export of the module, with the shapes of its example."""
    with torch.no_grad():
        return torch.export.export(quantized.module, quantized.example)
