"""Programs that take and give integers: the option quantized_io of the last step."""

import pytest
import torch

pytest.importorskip("executorch")
pytestmark = pytest.mark.engine

SAMPLE = (torch.randn(1, 3, 8, 8),)


def exported(is_quantized):
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    from assay.toolchain.quantize.quantization import _xnnpack_quantizer

    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU()).eval()
    graph = torch.export.export(net, SAMPLE)
    if not is_quantized:
        return graph
    prepared = prepare_pt2e(graph.module(), _xnnpack_quantizer({}))
    prepared(*SAMPLE)
    return torch.export.export(convert_pt2e(prepared), SAMPLE)


def test_quantize_and_dequantize_leave_and_their_parameters_stay():
    from assay.toolchain.flows.executorch.edge import lower_edge
    from assay.toolchain.graph.operators import boundary

    given = exported(is_quantized=True)
    edge = lower_edge(given, None, None, {"quantized_io": True}).edge
    program = edge.exported_program()
    nodes = {node.name: node for node in program.graph.nodes}
    (source,) = program.graph_signature.user_inputs
    assert nodes[source].meta["val"].dtype == torch.int8
    (returned,) = program.graph.output_node().args
    assert returned[0].meta["val"].dtype == torch.int8
    ((_, of_input),), ((_, of_output),) = boundary(given)
    methods = edge._config_methods
    for place, found in (("input0", of_input), ("output0", of_output)):
        assert methods[f"{place}_scale"] == found["scale"]
        assert methods[f"{place}_zp"] == found["zero_point"]


def test_the_edge_of_a_lowered_program_is_read_like_that_of_an_exported_one():
    from assay.toolchain.flows.executorch.edge import lower_edge
    from assay.toolchain.graph.operators import boundary

    given = exported(is_quantized=True)
    program = lower_edge(given, None, None, {}).edge.exported_program()
    parameters = [[found for _, found in side] for side in boundary(given)]
    assert [[found for _, found in side] for side in boundary(program)] == parameters
    assert None not in parameters[0] + parameters[1]


def test_a_program_without_quantize_at_its_edge_is_refused():
    from assay.toolchain.errors import Unsupported
    from assay.toolchain.flows.executorch.edge import lower_edge

    with pytest.raises(Unsupported, match="quantized_io needs a quantize"):
        lower_edge(exported(is_quantized=False), None, None, {"quantized_io": True})
