import pytest
import torch

from assay.conformance import models
from assay.conformance.listing import list_cases
from assay.toolchain import model_folders
from assay.toolchain.errors import RequestError
from assay.toolchain.server.model_families import load
from assay.toolchain.types import ModelSpec

SMALL = [name for name in models.known_models() if not name.startswith("torchvision")]


def test_there_are_thirty_models_and_a_quick_tier():
    assert len(models.known_models()) >= 30
    cases = list_cases("models", "quick", [], None)["cases"]
    assert 30 <= len(cases) < len(models.known_models())
    assert all(case["model"]["ref"].startswith("conform:") for case in cases)


@pytest.mark.parametrize("name", SMALL)
def test_a_model_is_healthy_and_the_same_twice(name):
    one, two = (load(ModelSpec(models.PREFIX + name)) for _ in range(2))
    assert one.health["is_healthy"], one.health["reason"]
    assert one.weights_sha256 == two.weights_sha256
    assert one.sampled is not None
    first, second = one.sampled.make_sample(1, 0), two.sampled.make_sample(1, 0)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("name", ["decoder_with_cache", "buffer_written_first"])
def test_the_answer_does_not_depend_on_the_samples_before(name):
    model = load(ModelSpec(models.PREFIX + name))
    samples = [model.sampled.make_sample(1, index) for index in range(2)]
    first = model.module(*samples[0]).clone()
    model.module(*samples[1])
    torch.testing.assert_close(model.module(*samples[0]), first, rtol=0, atol=0)


def test_a_folder_of_the_user_joins(tmp_path, monkeypatch):
    source = (
        "import torch\n"
        "def make():\n    return torch.nn.Linear(3, 2), (torch.zeros(2, 3),)\n"
        "conformance_models = {'mine': make}\n"
    )
    (tmp_path / "mine.py").write_text(source)
    monkeypatch.setenv(model_folders.FOLDERS, str(tmp_path))
    assert "mine" in models.known_models()
    assert load(ModelSpec("conform:mine")).parameters == 8
    assert [case["name"] for case in list_cases("models", "full", ["mine"], None)["cases"]] == [
        "models/mine"
    ]


def test_a_file_without_models_is_named(tmp_path, monkeypatch):
    (tmp_path / "empty.py").write_text("")
    monkeypatch.setenv(model_folders.FOLDERS, str(tmp_path))
    with pytest.raises(RequestError, match="no dict conformance_models"):
        models.known_models()


def test_two_models_of_one_name_are_refused(tmp_path, monkeypatch):
    (tmp_path / "again.py").write_text("conformance_models = {'identity': None}\n")
    monkeypatch.setenv(model_folders.FOLDERS, str(tmp_path))
    with pytest.raises(RequestError, match="two conformance models are called 'identity'"):
        models.known_models()


def test_an_unknown_model_is_named():
    with pytest.raises(RequestError, match="did you mean diamond"):
        load(ModelSpec("conform:daimond"))
