"""Turns a float model into a program of integers in a few calls, for tests and measurements."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from executorch.exir import EdgeCompileConfig, EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.exir.passes.quantize_io_pass import QuantizeInputs, QuantizeOutputs
from torch.export import ExportedProgram
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from fixedpoint.backend import FixedPointBackend, options_of
from fixedpoint.lower import lower
from fixedpoint.match import DEQUANTIZE, QUANTIZE, is_call
from fixedpoint.partitioner import FixedPointPartitioner
from fixedpoint.program import Program
from fixedpoint.quantizer import FixedPointQuantizer

Sample = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Converted:
    """The quantized program in ATen, the lowered one, and why nodes were left."""

    quantized: ExportedProgram
    edge: EdgeProgramManager
    reasons: dict[str, str]

    def programs(self) -> list[tuple[Program, bytes]]:
        """The primitives of each delegate, lowered once more, with its blob."""
        modules = get_lowered_backend_modules(self.edge.exported_program().graph_module)
        return [
            (lower(m.original_module, **options_of(m.compile_specs)), bytes(m.processed_bytes))
            for m in modules
            if m.backend_id == FixedPointBackend.__name__
        ]


def quantize(
    model: torch.nn.Module, example: Sample, batches: Sequence[Sample], **options: Any
) -> ExportedProgram:
    """PT2E with this package's quantizer; `batches` calibrate it."""
    captured = torch.export.export(model.eval(), example).module()
    prepared = prepare_pt2e(captured, FixedPointQuantizer(**options))
    with torch.no_grad():
        for batch in batches:
            prepared(*batch)
    return torch.export.export(convert_pt2e(prepared), example)


def convert(quantized: ExportedProgram, **options: Any) -> Converted:
    """Lowers what `quantize` returned; options are the partitioner's."""
    partitioner = FixedPointPartitioner(**options)
    edge = to_edge_transform_and_lower(
        quantized,
        partitioner=[partitioner],
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    return Converted(quantized, edge, partitioner.reasons)


def strip_boundary(edge: EdgeProgramManager) -> EdgeProgramManager:
    """The program with integers in and out: outer quantize and dequantize are gone.

    For what the partitioner's `boundary="int8"` left outside. Their parameters are constant methods
    of the program: input0_scale, input0_zp, input0_quant_min, input0_quant_max, input0_dtype
    (ExecuTorch's number of the type), output0_scale and so on. What is quantized in no one way
    stays floating.
    """
    program = edge.exported_program()
    nodes = {node.name: node for node in program.graph.nodes}
    users = [list(nodes[name].users) for name in program.graph_signature.user_inputs]
    inputs = [i for i, u in enumerate(users) if len(u) == 1 and is_call(u[0], QUANTIZE)]
    (returned,) = program.graph.output_node().args
    outputs = [i for i, node in enumerate(returned) if is_call(node, DEQUANTIZE)]
    edge = edge.transform([QuantizeInputs(edge, inputs)])
    stripped: EdgeProgramManager = edge.transform([QuantizeOutputs(edge, outputs)])
    return stripped
