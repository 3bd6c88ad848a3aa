from pathlib import Path

import pytest
import torch

from assay.toolchain.errors import RequestError, Unsupported
from assay.toolchain.graph.intermediate_outputs import find_values, get_graph
from assay.toolchain.graph.isolated_layers import isolate_float_layers, isolate_layers, out_of_place
from assay.toolchain.models.loader import load_model, model_spec_from_json
from assay.toolchain.quantize import quantization
from assay.toolchain.tensors import run_module
from assay.toolchain.types import InputSet

pytestmark = pytest.mark.slow

CALIBRATION = InputSet("normal", 1000, 2, "calibration")
XNNPACK = {"flow": "pt2e", "quantizer": "xnnpack", "is_per_channel": True, "is_dynamic": False}
FACTORY = f"{Path(__file__).with_name('toolchain_factories.py')}:branched"


@pytest.fixture
def model():
    return load_model(model_spec_from_json(FACTORY))


@pytest.fixture(params=[None, XNNPACK], ids=["float", "int8"])
def quantized(request, model):
    return quantization.quantize(model, request.param and dict(request.param), CALIBRATION)


def noise(found, wanted):
    return float((found - wanted).square().sum() / wanted.square().sum())


def test_a_piece_computes_what_the_layer_does_in_the_network(model, quantized):
    apart = isolate_layers(model, quantized, ["*"])
    outputs = run_module(apart.marked, model.example)
    found = run_module(apart.quantized.module, apart.feed(model.example, outputs))
    values = apart.values(outputs)
    assert [layer.name for layer in apart.layers] == list(values)
    for layer, own in zip(apart.layers, found, strict=True):
        assert torch.equal(own, values[layer.name]), layer
    apart.check(outputs, found)


def test_an_error_before_a_piece_does_not_reach_it(model, quantized):
    apart = isolate_layers(model, quantized, ["*"])
    fed = apart.feed(model.example, run_module(apart.marked, model.example))
    exact = run_module(apart.quantized.module, fed)
    first = apart.layers[0].name
    wrong = [t * 2 if s == first else t for s, t in zip(apart.sources, fed, strict=True)]
    found = run_module(apart.quantized.module, tuple(wrong))
    changed = {
        layer.name
        for layer, a, b in zip(apart.layers, exact, found, strict=True)
        if not torch.equal(a, b)
    }
    assert changed
    assert changed == {layer.name for layer in apart.layers if first in layer.inputs}


def test_the_float_network_is_cut_at_the_same_places(model, quantized):
    apart = isolate_layers(model, quantized, ["*"])
    floating = isolate_float_layers(model, apart)
    fed = apart.feed(model.example, run_module(apart.marked, model.example))
    pairs = zip(
        run_module(apart.quantized.module, fed),
        run_module(floating.module, fed),
        strict=True,
    )
    # Eight bits, and what two calibration batches leave out of the classifier's range.
    assert all(noise(own, exact) < 0.05 for own, exact in pairs)


def test_one_piece_takes_only_what_it_is_computed_from(model, quantized):
    whole = isolate_layers(model, quantized, ["*"])
    (add,) = (layer for layer in whole.layers if layer.operator.startswith("aten.add"))
    apart = isolate_layers(model, quantized, [add.name])
    assert set(apart.sources) == set(add.inputs)
    assert len(apart.sources) == 2
    assert [tuple(spec.shape) for spec in apart.quantized.inputs] == [(1, 8, 8, 8)] * 2
    with torch.no_grad():
        exported = torch.export.export(apart.quantized.module, apart.quantized.example)
    assert len(exported.graph_signature.user_outputs) == 1


def test_inputs_of_the_network_stay_inputs(model, quantized):
    apart = isolate_layers(model, quantized, ["*"])
    first = isolate_layers(model, quantized, [apart.layers[0].name])
    assert first.sources == (0,)


def test_what_is_changed_in_place_changes_no_input(model):
    quantized = quantization.quantize(model, None, CALIBRATION)
    graph = get_graph(model, quantized)
    assert any(str(node.target).endswith("_.default") for node in graph.graph.nodes)
    changed = out_of_place(graph)
    assert not any(str(node.target).endswith("_.default") for node in changed.graph.nodes)
    assert list(find_values(changed)) == list(find_values(graph))
    found, wanted = (
        run_module(changed, model.example),
        run_module(graph, model.example),
    )
    torch.testing.assert_close(found, wanted)


def test_whoever_reads_an_argument_later_reads_what_became_of_it():
    class Shared(torch.nn.Module):
        def forward(self, x):
            y = x * 2.0
            z = torch.relu_(y)
            return y + z

    (x,) = example = (torch.randn(2, 3),)
    graph = torch.export.export(Shared(), example).module()
    (found,) = run_module(out_of_place(graph), example)
    torch.testing.assert_close(found, 4.0 * torch.relu(x))


def test_an_unknown_layer_is_refused_with_the_nearest(model, quantized):
    with pytest.raises(RequestError, match="unknown layer 'conv2d_33'"):
        isolate_layers(model, quantized, ["conv2d_33"])


def test_a_piece_that_computes_something_else_is_told(model, quantized):
    apart = isolate_layers(model, quantized, ["*"])
    outputs = run_module(apart.marked, model.example)
    found = run_module(apart.quantized.module, apart.feed(model.example, outputs))
    found[2] = found[2] * 1.5
    with pytest.raises(Unsupported, match=apart.layers[2].name):
        apart.check(outputs, found)
