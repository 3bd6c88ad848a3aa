import pytest
import torch

from assay.toolchain.errors import RequestError
from assay.toolchain.models.inputs import make_labelled_samples, make_samples
from assay.toolchain.types import InputSet, InputSpec

DATA = """
import torch

def labelled():
    for i in range(3):
        yield torch.full((1, 2), float(i)), i

def pairs():
    yield (torch.zeros(1, 2), torch.ones(1)), None

def some():
    yield torch.zeros(1, 2), 1
    yield torch.zeros(1, 2), None

def bare():
    yield torch.zeros(1, 2)

def nothing():
    return iter(())
"""
SPECS = (InputSpec((1, 2)),)


@pytest.fixture
def inputs(tmp_path):
    (tmp_path / "data.py").write_text(DATA)
    return lambda name: InputSet(None, 0, 0, "evaluation", f"{tmp_path / 'data.py'}:{name}")


def test_a_callable_yields_samples_and_labels(inputs):
    samples = make_samples(inputs("labelled"), SPECS)
    assert [sample[0][0, 0].item() for sample in samples] == [0, 1, 2]
    assert torch.cat(make_labelled_samples(inputs("labelled"), SPECS)[1]).tolist() == [0, 1, 2]


def test_several_inputs_come_as_a_tuple_and_labels_may_be_none(inputs):
    specs = (*SPECS, InputSpec((1,)))
    assert len(make_samples(inputs("pairs"), specs)[0]) == 2
    assert make_labelled_samples(inputs("pairs"), specs)[1] is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bare", "pairs of inputs and labels"),
        ("nothing", "no sample"),
        ("pairs", "2 inputs, the model takes 1"),
        ("absent", "absent"),
    ],
)
def test_what_makes_no_sense_is_refused(inputs, name, text):
    with pytest.raises(RequestError, match=text):
        make_samples(inputs(name), SPECS)


def test_labels_are_of_all_samples_or_of_none(inputs):
    with pytest.raises(RequestError, match="some samples only"):
        make_labelled_samples(inputs("some"), SPECS)
    assert make_labelled_samples(InputSet("normal", 1, 2), SPECS)[1] is None


def test_shapes_must_be_the_models(inputs):
    with pytest.raises(RequestError, match="the model takes"):
        make_samples(inputs("labelled"), (InputSpec((1, 3)),))
