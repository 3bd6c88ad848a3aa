"""Quantized weights are compared with their float ones, whatever quantizes."""

import pytest
import torch
from toolchain_requests import sqnr_db
from torch import nn

from assay.toolchain.errors import JobError
from assay.toolchain.models.inputs import make_samples
from assay.toolchain.models.loader import load_model, model_spec_from_json
from assay.toolchain.quantize import nncf as nncf_quantize
from assay.toolchain.quantize.held_weights import check_linear_weights, hold_weights
from assay.toolchain.quantize.quantization import DEFAULT_CALIBRATION, quantize
from assay.toolchain.tensors import run_module
from assay.toolchain.types import InputSet

pytestmark = pytest.mark.engine

NETS = """
import torch
from torch import nn

def layers():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(32, 32), nn.LayerNorm(32), nn.Linear(32, 8))
    return net, (torch.ones(4, 32),)

def groups():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(2, 8), nn.Conv2d(8, 4, 1))
    return net, (torch.ones(1, 3, 8, 8),)

def batches():
    torch.manual_seed(0)
    norm = nn.BatchNorm2d(8)
    nn.init.constant_(norm.weight, 5.0)
    return nn.Sequential(nn.Conv2d(3, 8, 3), norm, nn.Conv2d(8, 4, 1)), (torch.ones(1, 3, 8, 8),)

class First(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells, self.last = nn.LSTM(12, 16, bidirectional=True), nn.Linear(32, 4)
    def forward(self, x):
        return self.last(self.cells(x)[0])

def recurrent():
    torch.manual_seed(0)
    return First(), (torch.ones(3, 1, 12),)

class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(4, 4)
        self.register_buffer("total", torch.zeros(4))
        self.register_buffer("count", torch.zeros((), dtype=torch.long))
    def forward(self, x):
        self.total.add_(x.abs().sum(0))
        self.total[:2].mul_(0.5)
        self.count.add_(1)
        return self.last(x) + self.total

def counts():
    torch.manual_seed(0)
    return Counts(), (torch.ones(2, 4),)
"""

XNNPACK = {"flow": "pt2e", "quantizer": "xnnpack", "is_per_channel": True}
NNCF = {"flow": "nncf"}


@pytest.fixture
def load(tmp_path, one_thread):
    """Loads one of the nets by its name."""
    (tmp_path / "nets.py").write_text(NETS)
    return lambda name: load_model(model_spec_from_json(f"{tmp_path / 'nets.py'}:{name}"))


def float_sqnr_db(model, quantized):
    """SQNR of the quantized graph against the float network."""
    samples = make_samples(InputSet("normal", 1, 3), model.inputs)
    pairs = [(run_module(model.module, x)[0], run_module(quantized, x)[0]) for x in samples]
    return sqnr_db(*(torch.stack(outputs) for outputs in zip(*pairs, strict=True)))


@pytest.mark.parametrize("name", ["layers", "groups"])
def test_nncf_leaves_norms_with_positive_weights_whole(load, name):
    pytest.importorskip("nncf")
    model = load(name)
    assert float_sqnr_db(model, quantize(model, dict(NNCF), DEFAULT_CALIBRATION).module) > 25


def test_a_quantizer_that_halves_a_weight_is_blamed_by_name(load, monkeypatch):
    pytest.importorskip("nncf")
    monkeypatch.setattr(nncf_quantize, "_LEFT_OUT", ())
    with pytest.raises(JobError, match=r"0\.498 of 1, the largest weight of layer_norm") as raised:
        quantize(load("layers"), dict(NNCF), DEFAULT_CALIBRATION)
    assert raised.value.reason_code == "quantize_failed"


@pytest.mark.parametrize(
    "quantization",
    [
        XNNPACK,
        {**XNNPACK, "is_per_channel": False},
        NNCF,
        {**NNCF, "model_type": "transformer"},
        {"flow": "torchao", "config": "8da4w", "group_size": 32},
    ],
    ids=["channels", "tensor", "nncf", "smooth", "int4"],
)
@pytest.mark.parametrize("name", ["layers", "batches"])
def test_rounding_folding_and_smoothing_are_no_faults(load, quantization, name):
    if quantization["flow"] == "nncf":
        pytest.importorskip("nncf")
    quantize(load(name), dict(quantization), DEFAULT_CALIBRATION)


@pytest.mark.parametrize("is_smoothed", [True, False])
def test_transformers_are_smoothed_unless_told_otherwise(load, monkeypatch, is_smoothed):
    nncf = pytest.importorskip("nncf")
    quantize_graph, strengths = nncf.quantize, []

    def noted(graph, *rest, advanced_parameters, **options):
        strengths.append(advanced_parameters.smooth_quant_alphas.matmul)
        return quantize_graph(graph, *rest, advanced_parameters=advanced_parameters, **options)

    monkeypatch.setattr(nncf, "quantize", noted)
    options = {**NNCF, "model_type": "transformer", "smooth_quant": is_smoothed}
    quantize(load("layers"), options, DEFAULT_CALIBRATION)
    assert (strengths[0] > 0) == is_smoothed


def test_weights_are_held_and_biases_are_not():
    graph = torch.export.export(nn.Linear(4, 2), (torch.ones(1, 4),)).module()
    held = hold_weights(graph)
    assert set(held.extracts) == {("linear", 1)}
    with torch.no_grad():
        graph.get_parameter("bias").mul_(0.5)
        held.check(graph)
        graph.get_parameter("weight").mul_(0.5)
    with pytest.raises(JobError, match="linear"):
        held.check(graph)


class Adds(nn.Module):
    """Adds a constant to what a layer makes."""

    def __init__(self, constant):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.register_buffer("constant", constant)

    def forward(self, x):
        return self.layer(x) + self.constant


def capture(module, size=8):
    return torch.export.export(module, (torch.ones(size, size),)).module()


def test_a_mask_of_infinities_is_no_weight():
    graph = capture(Adds(torch.full((8, 8), -torch.inf).triu(1)))
    hold_weights(graph).check(graph)


def test_what_an_observer_clips_is_no_fault():
    torch.manual_seed(0)
    constant = 0.1 * torch.randn(8, 8)
    constant[0, 0] = 4.5
    graph = capture(Adds(constant))
    with torch.no_grad():
        graph.layer.weight.normal_()[0, 0] = 4.5
        held = hold_weights(graph)
        graph.constant.clamp_(max=1)
        graph.layer.weight.clamp_(max=3)
    held.check(graph)


def test_a_weight_with_an_infinity_is_not_judged():
    graph = capture(Adds(torch.zeros(8)))
    with torch.no_grad():
        graph.layer.weight[0, 0] = torch.inf
    hold_weights(graph).check(graph)


def test_holding_weights_moves_no_state(load):
    graph = capture(load("counts").module, 4)
    hold_weights(graph).check(graph)
    assert not graph.count.any()
    assert not graph.total.any()


@pytest.mark.parametrize("quantization", [XNNPACK, NNCF], ids=["pt2e", "nncf"])
def test_a_quantized_network_begins_in_the_state_of_the_float_one(load, quantization):
    if quantization["flow"] == "nncf":
        pytest.importorskip("nncf")
    model = load("counts")
    quantized = quantize(model, dict(quantization), DEFAULT_CALIBRATION)
    for module in (model.module, quantized.module):
        assert module.get_buffer("count") == 0
        assert not module.get_buffer("total").any()


def test_layers_that_torchao_quantized_are_held():
    from torchao.quantization import Int8WeightOnlyConfig, quantize_

    module, other = (nn.Sequential(nn.Linear(32, 4)) for _ in range(2))
    other.load_state_dict(module.state_dict())
    quantize_(other, Int8WeightOnlyConfig())
    check_linear_weights(module, other)
    with torch.no_grad():
        module[0].weight.mul_(2)
    with pytest.raises(JobError, match="the largest weight of 0"):
        check_linear_weights(module, other)


@pytest.fixture
def quantize_onnx(load):
    """Quantizes one of the nets, lowered, in a mode of ONNX Runtime's quantization."""
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from assay.toolchain.flows import onnx as flow
    from assay.toolchain.graph.export import export_module
    from assay.toolchain.types import Lowering

    def run(name, mode):
        model = load(name)
        quantized = quantize(model, None, DEFAULT_CALIBRATION)
        lowered = flow.lower(export_module(model, quantized), Lowering("onnx"))
        return flow.FLOW.post_lowering.apply(lowered, {"mode": mode}, [model.example])

    return run


def test_weights_of_recurrent_cells_may_lie_otherwise(quantize_onnx):
    quantized = quantize_onnx("recurrent", "dynamic")
    assert "DynamicQuantizeLSTM" in {node.op_type for node in quantized.graph.node}


@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_weights_of_an_onnx_model_are_held(quantize_onnx, monkeypatch, mode):
    onnx = pytest.importorskip("onnx")
    quantize_onnx("layers", mode)
    load_file = onnx.load

    def halved(path, **options):
        made = load_file(path, **options)
        for tensor in made.graph.initializer:
            if tensor.name.endswith("_scale") and tensor.name.startswith("0.weight"):
                half = onnx.numpy_helper.to_array(tensor) / 2
                tensor.CopyFrom(onnx.numpy_helper.from_array(half, tensor.name))
        return made

    monkeypatch.setattr(onnx, "load", halved)
    with pytest.raises(JobError, match=r"0\.weight"):
        quantize_onnx("layers", mode)
