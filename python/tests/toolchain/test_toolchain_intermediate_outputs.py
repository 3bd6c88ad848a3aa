import pytest
import torch

from assay.toolchain.errors import Unsupported
from assay.toolchain.graph.intermediate_outputs import (
    expose_float_layers,
    expose_layers,
)
from assay.toolchain.graph.isolated_layers import isolate_float_layers, isolate_layers
from assay.toolchain.models.loader import load_model, model_spec_from_json
from assay.toolchain.quantize.quantization import quantize
from assay.toolchain.reference.reference import with_exposed_layers
from assay.toolchain.types import InputSet, InputSpec, Model, ModelSpec

pytestmark = pytest.mark.slow

CALIBRATION = InputSet("normal", 1000, 2, "calibration")
XNNPACK = {"flow": "pt2e", "quantizer": "xnnpack", "is_per_channel": True, "is_dynamic": False}

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.project = nn.Sequential(nn.Conv2d(8, 8, 1), nn.BatchNorm2d(8))
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        x = self.stem(x)
        x = x + self.project(x)
        return self.head(x.mean((2, 3)))

def make():
    torch.manual_seed(0)
    return Net().eval(), (torch.randn(1, 3, 8, 8),)
"""


@pytest.fixture
def model(tmp_path) -> Model:
    (tmp_path / "net.py").write_text(NET)
    return load_model(model_spec_from_json(f"{tmp_path / 'net.py'}:make"))


def names(marked):
    return [layer.operator.split(".")[1] for layer in marked.layers]


def test_float_layers_are_what_engines_keep(model):
    marked = expose_layers(model, quantize(model, None, CALIBRATION))
    assert names(marked) == ["relu", "batch_norm", "add", "mean", "linear"]
    assert marked.layers[0].module.startswith("stem")
    by_name = {layer.name: layer for layer in marked.layers}
    (add,) = (layer for layer in marked.layers if layer.operator.startswith("aten.add"))
    assert {by_name[name].operator.split(".")[1] for name in add.inputs} == {"relu", "batch_norm"}


def test_the_outputs_stay_and_the_layers_follow(model):
    marked = expose_layers(model, quantize(model, None, CALIBRATION))
    (x,) = model.example
    with torch.no_grad():
        own, *values = marked.quantized.module(x)
        expected = model.module(x)
    torch.testing.assert_close(own, expected)
    torch.testing.assert_close(values[-1], expected)
    assert len(values) == len(marked.layers)


def test_quantized_layers_are_in_the_float_network_too(model):
    quantized = quantize(model, dict(XNNPACK), CALIBRATION)
    marked = expose_layers(model, quantized)
    assert len(marked.layers) >= 4
    floating = expose_float_layers(model, marked)
    (x,) = model.example
    with torch.no_grad():
        exact, rounded = floating(x), marked.quantized.module(x)
    assert len(exact) == len(rounded)
    for of_float, of_quantized in zip(exact, rounded, strict=True):
        noise = (of_float - of_quantized).square().sum() / of_float.square().sum()
        assert noise < 0.05


def test_what_is_changed_in_place_is_kept_as_it_was(tmp_path):
    (tmp_path / "net.py").write_text(NET.replace("nn.ReLU()", "nn.Hardswish(inplace=True)"))
    model = load_model(model_spec_from_json(f"{tmp_path / 'net.py'}:make"))
    quantized = quantize(model, dict(XNNPACK), CALIBRATION)
    marked = expose_layers(model, quantized)
    floating = expose_float_layers(model, marked)
    (x,) = model.example
    with torch.no_grad():
        pairs = zip(floating(x), marked.quantized.module(x), strict=True)
        noises = [(a - b).square().sum() / a.square().sum() for a, b in pairs]
    assert max(noises) < 0.05


def test_a_marked_graph_can_be_exported(model):
    marked = expose_layers(model, quantize(model, dict(XNNPACK), CALIBRATION))
    with torch.no_grad():
        exported = torch.export.export(marked.quantized.module, model.example)
    assert len(exported.graph_signature.user_outputs) == 1 + len(marked.layers)


def test_a_network_without_layers_is_refused():
    class Same(torch.nn.Module):
        def forward(self, x):
            return x.view(4, 2)

    spec = ModelSpec("same")
    made = Model(spec, Same(), (InputSpec((2, 4)),), (torch.zeros(2, 4),), {}, "", 0)
    with pytest.raises(Unsupported):
        expose_layers(made, quantize(made, None, CALIBRATION))


OTHERS = """
import torch
from torch import nn

class Preactivated(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = (nn.Conv2d(3, 8, 3, padding=1) for _ in range(2))
        self.norm = nn.BatchNorm2d(8)
        nn.init.normal_(self.norm.running_mean)
        self.c = nn.Conv2d(8, 4, 1)

    def forward(self, x):
        return self.c(torch.sigmoid(self.norm(self.a(x) + self.b(x))))

class Late(Preactivated):
    def forward(self, x):
        return self.c(self.norm(torch.relu(self.a(x))))

class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(32, 32), nn.Linear(32, 32)

    def forward(self, x):
        return torch.relu(self.b(nn.functional.gelu(self.a(x))))

def make(name):
    torch.manual_seed(0)
    x = torch.randn(4, 32) if name == "Mlp" else torch.randn(1, 3, 8, 8)
    return globals()[name]().eval(), (x,)
"""

TORCHAO = {"flow": "torchao", "config": "8da4w", "group_size": 32}


@pytest.mark.parametrize(
    ("name", "quantization", "operators"),
    [
        ("Preactivated", XNNPACK, None),
        ("Late", XNNPACK, None),
        ("Mlp", {**XNNPACK, "is_dynamic": True}, ["linear", "gelu", "relu"]),
        ("Mlp", TORCHAO, ["linear", "gelu", "relu"]),
    ],
    ids=["norm_behind_a_sum", "norm_behind_an_activation", "dynamic", "weights_only"],
)
def test_each_layer_is_held_against_the_same_value(tmp_path, name, quantization, operators):
    (tmp_path / "net.py").write_text(OTHERS)
    spec = {"ref": f"{tmp_path / 'net.py'}:make", "args": {"name": name}}
    model = load_model(model_spec_from_json(spec))
    quantized = quantize(model, dict(quantization), CALIBRATION)
    marked = expose_layers(model, quantized)
    if operators is not None:
        assert names(marked) == operators
    floating = expose_float_layers(model, marked)
    (x,) = model.example
    with torch.no_grad():
        exact, rounded = floating(x), marked.quantized.module(x)
        torch.export.export(marked.quantized.module, model.example)
    assert len(exact) == len(rounded) == len(marked.layers) + 1
    noises = [
        float((a - b).square().sum() / a.square().sum())
        for a, b in zip(exact, rounded, strict=True)
    ]
    assert max(noises) < 0.05, dict(zip(["", *names(marked)], noises, strict=True))


def test_a_module_that_torchao_quantized_is_exported_once(tmp_path, monkeypatch):
    (tmp_path / "net.py").write_text(OTHERS)
    spec = {"ref": f"{tmp_path / 'net.py'}:make", "args": {"name": "Mlp"}}
    model = load_model(model_spec_from_json(spec))
    quantized = quantize(model, dict(TORCHAO), CALIBRATION)
    export, exported = torch.export.export, []

    def export_and_note(module, *rest):
        exported.append(module)
        return export(module, *rest)

    monkeypatch.setattr(torch.export, "export", export_and_note)
    with_exposed_layers(model, quantized, quantize(model, None, CALIBRATION))
    assert exported == [quantized.module, model.module]
    exported.clear()
    isolate_float_layers(model, isolate_layers(model, quantized, ["*"]))
    assert exported == [quantized.module, model.module]
