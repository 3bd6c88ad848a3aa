"""Models that live in memory: what they may be, and where they are kept."""

import pathlib

import pytest

import assay
from assay import _models

torch = pytest.importorskip("torch")
FP32 = "executorch/xnnpack-fp32"
X = (torch.zeros(2, 8),)


class SmallNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear = torch.nn.Linear(8, 4)

    def forward(self, x):
        return self.linear(x).relu()


def make_net():
    return SmallNet(), X


def double(x):
    return x * 2


def test_the_same_module_has_the_same_reference_and_the_name_of_its_class():
    first = _models.reference_from_model(SmallNet(), X)
    second = _models.reference_from_model((SmallNet(), X), None)
    assert first == second
    assert first.ref.endswith("/SmallNet.pt2")
    assert first.origin == "python:SmallNet"
    assert "/tmp/assay" not in first.ref


def test_a_comment_and_another_folder_make_no_other_model(tmp_path):
    """Nor does its file tell where its source lies."""
    source = "import torch\n{}class Net(torch.nn.Module):\n    def forward(self, x):\n"
    source += "        return x + 1\n"
    references = []
    for number, comment in enumerate(("", "# a comment\n")):
        path = tmp_path / f"folder{number}" / "net.py"
        path.parent.mkdir()
        path.write_text(source.format(comment))
        names = {}
        exec(compile(path.read_text(), str(path), "exec"), names)
        references.append(_models.reference_from_model(names["Net"](), X).ref)
    assert references[0] == references[1]
    assert str(tmp_path).encode() not in pathlib.Path(references[0]).read_bytes()


def test_another_module_has_another_reference():
    other = torch.nn.Linear(8, 4)
    one = _models.reference_from_model(other, X).ref
    with torch.no_grad():
        other.weight += 1
    assert one != _models.reference_from_model(other, X).ref


@pytest.mark.parametrize(
    ("model", "inputs", "name"),
    [(make_net, None, "make_net"), (double, X, "double"), (lambda x: x + 1, X, "function")],
)
def test_functions_are_models(model, inputs, name):
    found = _models.reference_from_model(model, inputs)
    assert found.origin == f"python:{name}"
    torch.export.load(found.ref)


def test_a_module_keeps_its_mode():
    module = SmallNet().train()
    _models.reference_from_model(module, X)
    assert module.training


def test_an_exported_model_is_a_file_that_torch_reads(tmp_path):
    path = assay.export(SmallNet(), tmp_path / "net.pt2", example_inputs=X)
    expected = SmallNet()(*X)
    torch.testing.assert_close(torch.export.load(path).module()(*X), expected)


def test_a_model_is_exported_under_its_ending_only(tmp_path):
    with pytest.raises(assay.UsageError, match=r"end in \.pt2"):
        assay.export(SmallNet(), tmp_path / "net.pth", example_inputs=X)
    with pytest.raises(assay.UnavailableError, match="cannot save"):
        assay.export(SmallNet(), tmp_path / "absent" / "net.pt2", example_inputs=X)


def test_a_module_without_inputs_says_what_to_pass():
    with pytest.raises(assay.UsageError, match="example_inputs=\\(x, …\\)"):
        assay.bench(SmallNet(), recipe=FP32)


@pytest.mark.engine
def test_a_run_notes_that_its_model_came_from_python(programs):
    quick = {"launches": 1, "iterations": 3, "warmup": 1, "threads": 1, "sandbox": "off"}
    first = assay.bench(SmallNet(), recipe=FP32, example_inputs=X, **quick)
    again = assay.bench(SmallNet(), recipe=FP32, example_inputs=X, **quick)
    assert first.document["run"]["labels"] == {"origin": "python:SmallNet"}
    assert first.case.label.startswith("SmallNet ")
    assert first.case.case_key == again.case.case_key
