"""Whose fault a job's failure is: the request's, the model's or Assay's."""

import json
from importlib import resources

import pytest
import torch

from assay.toolchain.errors import RequestError, failure_from_error
from assay.toolchain.models.inputs import make_samples
from assay.toolchain.models.loader import load_model, torchvision_names
from assay.toolchain.types import InputSet, InputSpec, ModelSpec

NETS = """
import torch

class Net(torch.nn.Module):
    def __init__(self, is_broken=False):
        super().__init__()
        self.linear = torch.nn.Linear(8, 4)
        self.is_broken = is_broken

    def forward(self, features, scale):
        if self.is_broken:
            raise ValueError("a bug of the model")
        return self.linear(features) * scale

def bare():
    return Net()

def make():
    return Net(), (torch.arange(8.0).reshape(1, 8), torch.tensor(2.0))

def broken():
    return Net(is_broken=True), (torch.zeros(1, 8), torch.tensor(2.0))
"""

WRONG = (InputSpec((1, 9)), InputSpec(()))
RIGHT = (InputSpec((1, 8)), InputSpec(()))


@pytest.fixture
def nets(tmp_path):
    path = tmp_path / "nets.py"
    path.write_text(NETS)
    return lambda name, inputs=None: ModelSpec(f"{path}:{name}", inputs=inputs)


def test_the_catalog_of_torchvision_is_that_of_the_installed_one():
    text = resources.files("assay").joinpath("data/torchvision.json").read_text()
    assert json.loads(text)["models"] == torchvision_names()


def test_a_wrong_shape_is_the_requests_fault_and_names_the_input(nets):
    with pytest.raises(RequestError) as caught:
        load_model(nets("make", WRONG))
    assert "features 1x9 float32, scale scalar float32" in caught.value.text
    assert "its own are features 1x8 float32" in caught.value.text
    assert failure_from_error(caught.value, "model")["outcome"] == "aot_error"
    assert failure_from_error(caught.value, "model")["reason_code"] == "invalid_request"


def test_a_wrong_number_of_inputs_is_the_requests_fault(nets):
    with pytest.raises(RequestError, match=r"features 1x8 float32: TypeError"):
        load_model(nets("bare", RIGHT[:1]))


def test_a_model_that_fails_on_its_own_inputs_is_at_fault_itself(nets):
    with pytest.raises(ValueError, match="a bug of the model"):
        load_model(nets("broken", RIGHT))


def test_missing_shapes_are_asked_for_in_the_words_of_the_flag(nets):
    with pytest.raises(RequestError, match="--input-shape 1,3,224,224"):
        load_model(nets("bare"))


def test_own_inputs_of_a_factory_are_its_first_sample(nets):
    model = load_model(nets("make"))
    own = InputSet("model", seed=1, count=3)
    first, second, third = make_samples(own, model.inputs, model.sampled, model.own)
    assert torch.equal(first[0], torch.arange(8.0).reshape(1, 8))
    assert second[0].shape == (1, 8)
    assert not torch.equal(second[0], third[0])
    calibration = InputSet("model", seed=1000, count=2, role="calibration")
    drawn = make_samples(calibration, model.inputs, model.sampled, model.own)
    assert not any(torch.equal(sample[0], first[0]) for sample in drawn)


def test_own_inputs_of_a_factory_without_any_are_refused(nets):
    model = load_model(nets("bare", RIGHT))
    with pytest.raises(RequestError, match=r"returns no \(module, inputs\)"):
        make_samples(InputSet("model"), model.inputs, model.sampled, model.own)
