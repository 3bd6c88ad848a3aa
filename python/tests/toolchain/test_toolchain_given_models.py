"""Modules and inputs from factories, and expected outputs of models."""

import pytest
import torch
from safetensors.torch import load_file, save_file

from assay.toolchain.errors import InternalError, RequestError, failure_from_error
from assay.toolchain.models import loader
from assay.toolchain.models.inputs import input_set_from_json, make_labelled_samples
from assay.toolchain.models.plugins import import_object
from assay.toolchain.reference.reference import make_reference
from assay.toolchain.stages import StageLog
from assay.toolchain.types import InputSpec, ModelSpec

MODELS = """
import torch

class Net(torch.nn.Module):
    def forward(self, x): return x * 2, x * 3

class Named(torch.nn.Module):
    def forward(self, x): return {"logits": x * 2, "boxes": (x * 3,)}

def one(): return torch.nn.Conv2d(3, 4, 1), torch.randn(2, 3, 8, 8)
def graded(): return torch.nn.Linear(4, 4), (torch.randn(1, 4, requires_grad=True),)
def listed(): return Net(), [torch.randn(4)]
def wrong(): return Net(), {"x": torch.randn(4)}
def no_module(): return "net", torch.randn(4)
def two(): return Net(), torch.randn(4)
def named(): return Named(), torch.randn(4)
"""


@pytest.fixture
def models(tmp_path, one_thread):
    """The path of a file with these factories."""
    path = tmp_path / "models.py"
    path.write_text(MODELS)
    return path


@pytest.mark.parametrize(("name", "shape"), [("one", (2, 3, 8, 8)), ("listed", (4,))])
def test_one_tensor_is_one_input_of_its_own_shape(models, name, shape):
    model = loader.load_model(ModelSpec(f"{models}:{name}"))
    assert [spec.shape for spec in model.inputs] == [shape]


def test_inputs_of_a_factory_bear_no_gradient(models):
    model = loader.load_model(ModelSpec(f"{models}:graded"))
    assert not model.own[0].requires_grad


@pytest.mark.parametrize(("name", "word"), [("wrong", "not dict"), ("no_module", "not tuple")])
def test_a_factory_that_returns_something_else_is_told_what_to_return(models, name, word):
    with pytest.raises(RequestError, match=rf"\(module, inputs\).*{word}"):
        loader.load_model(ModelSpec(f"{models}:{name}"))


def test_a_fault_below_a_frame_of_torch_in_assays_own_work_is_assays(models, monkeypatch):
    def fails(*_):
        raise NotImplementedError("aten.view")

    monkeypatch.setattr(torch.nn.Module, "state_dict", fails)
    with pytest.raises(InternalError, match=r"digesting the model's weights.*aten\.view") as raised:
        loader.load_model(ModelSpec(f"{models}:two"))
    assert failure_from_error(raised.value, "model")["outcome"] == "harness_error"


def test_labels_that_are_no_integers_are_the_requests_fault(tmp_path):
    (tmp_path / "data.py").write_text("import torch\ndef f(): yield torch.ones(4), 'cat'\n")
    inputs = input_set_from_json({"file": f"{tmp_path / 'data.py'}:f"}, role="evaluation")
    with pytest.raises(RequestError, match="a label that is no integer"):
        make_labelled_samples(inputs, [InputSpec((4,))])


def expect(models, name, folder, **expected):
    """Makes a reference of kind "file" from a file that sorts the names of its outputs."""
    x = torch.arange(4.0)
    save_file({"0.0": x}, folder / "in.safetensors")
    tensors = {key.replace("_", "."): x * factor for key, factor in expected.items()}
    save_file({f"0.{key}": value for key, value in tensors.items()}, folder / "ex.safetensors")
    (folder / "out").mkdir()
    make_reference(
        **{"model": f"{models}:{name}", "quantization": None, "lowering": None, "kind": "file"},
        inputs={
            "file": str(folder / "in.safetensors"),
            "expected": str(folder / "ex.safetensors"),
        },
        **{"calibration": None, "folder": folder / "out", "stages": StageLog()},
    )
    return load_file(folder / "out/outputs.safetensors")


def test_expected_outputs_with_names_are_refused_where_the_outputs_have_none(models, tmp_path):
    with pytest.raises(RequestError, match=r"the model's outputs have no names; call them"):
        expect(models, "two", tmp_path, logits=2, boxes=3)


def test_expected_outputs_are_found_by_the_keys_of_the_models_structure(models, tmp_path):
    outputs = expect(models, "named", tmp_path, logits=2, boxes_0=3)
    assert outputs["0.0"][1] == 2, "a file that sorts by name has boxes first"
    assert outputs["0.1"][1] == 3


def test_expected_outputs_by_place_need_no_names(models, tmp_path):
    outputs = expect(models, "two", tmp_path, **{"0": 2, "1": 3})
    assert [outputs[f"0.{index}"][1].item() for index in range(2)] == [2, 3]


@pytest.mark.engine
def test_weights_that_torchao_quantized_become_plain_tensors(tmp_path, one_thread):
    (tmp_path / "net.py").write_text(
        "import torch\n"
        "from torchao.quantization import Int8WeightOnlyConfig, quantize_\n"
        "def make():\n"
        "    torch.manual_seed(0)\n"
        "    net = torch.nn.Sequential(torch.nn.Linear(32, 32))\n"
        "    quantize_(net, Int8WeightOnlyConfig())\n"
        "    return net, torch.ones(1, 32)\n"
    )
    model = loader.load_model(ModelSpec(f"{tmp_path / 'net.py'}:make"))
    exported = torch.export.export(model.module, model.example)
    assert {type(value) for value in exported.state_dict.values()} <= {
        torch.Tensor,
        torch.nn.Parameter,
    }
    expected = import_object(f"{tmp_path / 'net.py'}:make")()[0](*model.example)
    torch.testing.assert_close(exported.module()(*model.example), expected)


@pytest.mark.slow
def test_a_float64_reference_has_the_layers_too(models, tmp_path):
    outputs = {}
    for kind in ("float32", "float64"):
        (tmp_path / kind).mkdir()
        make_reference(
            **{"model": f"{models}:two", "quantization": None, "lowering": None, "kind": kind},
            **{"inputs": {"seed": 1, "count": 1}, "calibration": None, "with_layers": True},
            **{"folder": tmp_path / kind, "stages": StageLog()},
        )
        outputs[kind] = load_file(tmp_path / kind / "outputs.safetensors")
    assert len(outputs["float64"]) == len(outputs["float32"]) == 4
    for name, value in outputs["float32"].items():
        torch.testing.assert_close(value.double(), outputs["float64"][name].double())
