"""assay.load with a real engine, compared with PyTorch in eager mode."""

import sys
from pathlib import Path

import numpy as np
import pytest

import assay

torch = pytest.importorskip("torch")
pytest.importorskip("executorch")
pytestmark = pytest.mark.engine

FP32 = "executorch/xnnpack-fp32"
TINY = f"{Path(__file__).parent / 'models' / 'tiny.py'}:make"


@pytest.fixture(scope="module")
def tiny():
    """The module with the weights that seed 0 gives, as the ahead-of-time path makes them."""
    sys.path.insert(0, str(Path(__file__).parent / "models"))
    try:
        import tiny

        torch.manual_seed(0)
        return tiny.make()[0].eval()
    finally:
        sys.path.pop(0)


def test_a_program_file_computes_what_eager_computes(tiny, tiny_pte):
    x = torch.randn(2, 8)
    with assay.load(tiny_pte) as f:
        y = f(x)
        assert y.dtype == torch.float32
        assert f.signature.inputs[0].shape == (2, 8)
    torch.testing.assert_close(y, tiny(x))


def test_a_reference_with_a_recipe_is_made_and_loaded(tiny):
    x = torch.randn(2, 8, requires_grad=True)
    with assay.load(TINY, recipe=FP32, options={"threads": 1}) as f:
        torch.testing.assert_close(f(x), tiny(x).detach())


def test_a_live_module_is_exported_and_keeps_its_mode(tiny):
    x = torch.randn(2, 8)
    module = torch.nn.Sequential(tiny, torch.nn.Dropout(0.5)).train()
    with assay.load(module, recipe=FP32, example_inputs=(x,)) as f:
        torch.testing.assert_close(f(x), tiny(x))
    assert module.training
    assert module[1].training


def test_an_exported_program_is_a_model(tiny):
    x = torch.randn(2, 8)
    with assay.load(torch.export.export(tiny, (x,)), recipe=FP32) as f:
        torch.testing.assert_close(f(x), tiny(x))


def test_arrays_give_arrays(tiny, tiny_pte):
    x = np.ones((2, 8), np.float32)
    with assay.load(tiny_pte) as f:
        y = f(x)
    assert isinstance(y, np.ndarray)
    np.testing.assert_allclose(y, tiny(torch.from_numpy(x)).detach().numpy(), rtol=1e-5)


def test_a_transposed_tensor_is_made_contiguous(tiny, tiny_pte):
    x = torch.randn(8, 2).T
    with assay.load(tiny_pte) as f:
        torch.testing.assert_close(f(x), tiny(x))


def test_wrong_dtype_and_shape_are_errors_that_name_both(tiny_pte):
    with assay.load(tiny_pte) as f:
        with pytest.raises(assay.AssayError, match="is int64, the program takes float32"):
            f(torch.zeros(2, 8, dtype=torch.int64))
        with pytest.raises(assay.AssayError) as caught:
            f(torch.zeros(3, 9))
        assert caught.value.code == "invalid_argument"
        assert "2x8" in caught.value.message
        assert "3x9" in caught.value.message


def test_an_unknown_recipe_lists_the_known(programs):
    with pytest.raises(assay.AssayError, match="unknown recipe 'nope/nope'; known: ") as caught:
        assay.load(TINY, recipe="nope/nope")
    assert caught.value.code == "invalid_argument"


def test_a_module_without_inputs_asks_for_them(tiny):
    with pytest.raises(assay.AssayError, match="example_inputs"):
        assay.load(tiny, recipe=FP32)


def test_a_factory_that_fails_tells_the_stage(programs):
    with pytest.raises(assay.AssayError) as caught:
        assay.load(TINY.replace(":make", ":absent"), recipe=FP32)
    assert "absent" in caught.value.message
