"""Modules that write to their inputs, keep a state or give out a buffer that they use again."""

import copy

import pytest
import torch
from safetensors.torch import load_file

from assay.toolchain.errors import RequestError
from assay.toolchain.models.loader import load_model, weights_sha256
from assay.toolchain.reference.reference import make_reference
from assay.toolchain.stages import StageLog
from assay.toolchain.tensors import kept_buffers, samples_sha256
from assay.toolchain.types import ModelSpec

MODELS = """
import torch

class Writes(torch.nn.Module):
    def forward(self, x, y):
        x.add_(1)
        return x * 2 + y

class Reuses(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("out", torch.zeros(2, 4))
    def forward(self, x):
        self.out.copy_(x * 2)
        return self.out

class Counts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(4))
        self.register_buffer("last", torch.zeros(4))
    def forward(self, x):
        self.total.add_(x.sum(0))
        self.last = x[0]
        return x + self.total

def writes(): return Writes(), (torch.ones(4), torch.ones(4))
def reuses(): return Reuses(), (torch.ones(2, 4),)
def counts(): return Counts(), (torch.ones(2, 4),)

def unseeded():
    torch.seed()
    return torch.nn.Linear(4, 4), (torch.ones(1, 4),)
"""


@pytest.fixture
def models(tmp_path, one_thread):
    """The path of a file with these factories."""
    path = tmp_path / "models.py"
    path.write_text(MODELS)
    return path


def make_float32(model, folder, **inputs):
    """Inputs and outputs of a float32 reference, and its document."""
    folder.mkdir()
    document = make_reference(
        **{"model": model, "quantization": None, "lowering": None, "kind": "float32"},
        **{"inputs": inputs or {"seed": 1, "count": 3}, "calibration": None},
        folder=folder,
        stages=StageLog(),
    )
    tensors = [load_file(folder / f"{name}.safetensors") for name in ("inputs", "outputs")]
    return *tensors, document


def test_a_model_that_writes_to_its_input_leaves_the_stored_samples(models, tmp_path):
    inputs, outputs, _ = make_float32(f"{models}:writes", tmp_path / "r")
    assert len(outputs) == 3
    for sample in range(3):
        x, y = inputs[f"{sample}.0"], inputs[f"{sample}.1"]
        torch.testing.assert_close(outputs[f"{sample}.0"], (x + 1) * 2 + y)


def test_a_program_of_a_model_that_writes_to_its_input_has_its_outputs_only(models):
    model = load_model(ModelSpec(f"{models}:writes"))
    for module in (model.module, copy.deepcopy(model.module).double()):
        example = tuple(tensor.to(torch.float64) for tensor in model.example)
        exported = torch.export.export(module, example)
        assert exported.graph_signature.user_inputs_to_mutate == {}
        assert len(exported.graph_signature.user_outputs) == 1
        before = [tensor.clone() for tensor in example]
        module(*example)
        assert all(map(torch.equal, before, example))


def test_an_exported_program_that_writes_to_its_input_is_refused(models, tmp_path):
    from assay.toolchain.models.plugins import import_object

    module, example = import_object(f"{models}:writes")()
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(module, example), path)
    with pytest.raises(RequestError, match=r"net\.pt2 writes to its inputs \(0\)"):
        load_model(ModelSpec(str(path)))


def test_outputs_in_one_buffer_are_those_of_each_sample(models, tmp_path):
    inputs, outputs, _ = make_float32(f"{models}:reuses", tmp_path / "r")
    for sample in range(3):
        torch.testing.assert_close(outputs[f"{sample}.0"], inputs[f"{sample}.0"] * 2)


def test_a_model_begins_in_the_state_that_its_factory_gave_it(models):
    model = load_model(ModelSpec(f"{models}:counts"))
    for name in ("total", "last"):
        torch.testing.assert_close(model.module.get_buffer(name), torch.zeros(4))
    fresh = load_model(ModelSpec(f"{models}:counts", seed=3))
    assert fresh.weights_sha256 == model.weights_sha256


class Lazy(torch.nn.Module):
    """Allocates its state, and another buffer, at its first call."""

    state: torch.Tensor | None

    def __init__(self):
        super().__init__()
        self.register_buffer("state", None)
        self.register_buffer("wide", torch.zeros(1).expand(4))

    def forward(self, x):
        if self.state is None:
            self.state = torch.zeros_like(x)
            self.register_buffer("found", x.clone())
        self.state = self.state + x
        return self.state + self.wide


def test_buffers_that_a_call_allocates_are_gone_afterwards():
    module = Lazy()
    with kept_buffers(module):
        module(torch.ones(4))
        assert module.state is not None
    assert module.state is None
    assert not hasattr(module, "found")


def test_a_factory_that_draws_anew_is_told_apart_by_its_digest(models, tmp_path):
    digests = [
        make_float32(f"{models}:unseeded", tmp_path / name)[2]["model"]["weights_sha256"]
        for name in ("first", "second")
    ]
    assert digests[0] != digests[1]
    documents = [
        make_float32(f"{models}:reuses", tmp_path / name)[2] for name in ("third", "fourth")
    ]
    assert documents[0]["model"]["weights_sha256"] == documents[1]["model"]["weights_sha256"]
    assert documents[0]["inputs_sha256"] == documents[1]["inputs_sha256"]


def test_samples_of_any_shape_and_type_have_a_digest():
    dtypes = (torch.float32, torch.bfloat16, torch.bool, torch.int64, torch.complex64)
    samples = [
        (torch.zeros(shape, dtype=dtype),) for shape in ((), (0,), (2, 3)) for dtype in dtypes
    ]
    digests = {samples_sha256([sample]) for sample in samples}
    assert len(digests) == len(samples)
    assert samples_sha256([(torch.ones(3, 2).T,)]) == samples_sha256([(torch.ones(2, 3),)])


@pytest.mark.engine
def test_a_module_that_torchao_quantized_has_a_digest_of_its_weights():
    from torchao.quantization import Int8WeightOnlyConfig, quantize_

    def quantized(scale):
        module = torch.nn.Linear(4, 4)
        torch.nn.init.constant_(module.weight, scale)
        torch.nn.init.zeros_(module.bias)
        quantize_(module, Int8WeightOnlyConfig())
        return weights_sha256(module)

    assert quantized(1.0) == quantized(1.0) != quantized(2.0)


SAMPLES = """
import numpy, random, torch

def reused():
    buffer = numpy.empty((2, 4), dtype=numpy.float32)
    for number in range(3):
        buffer[:] = number
        yield buffer, number

def drawn():
    for _ in range(2):
        yield torch.randn(2, 4) + random.random() + float(numpy.random.rand()), None

def listed():
    yield [torch.ones(2, 4)], None
"""


def test_a_callable_may_yield_one_buffer_again(models, tmp_path):
    (tmp_path / "data.py").write_text(SAMPLES)
    inputs, _, _ = make_float32(
        f"{models}:reuses", tmp_path / "r", file=f"{tmp_path / 'data.py'}:reused"
    )
    assert [inputs[f"{sample}.0"][0, 0].item() for sample in range(3)] == [0, 1, 2]


def test_a_callable_that_draws_from_global_generators_gives_every_job_the_same(models, tmp_path):
    (tmp_path / "data.py").write_text(SAMPLES)
    file = f"{tmp_path / 'data.py'}:drawn"
    first = make_float32(f"{models}:reuses", tmp_path / "first", file=file)
    torch.randn(7)  # A quantization may have drawn, too.
    second = make_float32(f"{models}:reuses", tmp_path / "second", file=file)
    assert first[2]["inputs_sha256"] == second[2]["inputs_sha256"]
    assert torch.equal(first[0]["0.0"], second[0]["0.0"])


def test_a_callable_that_yields_no_tensor_is_the_requests_fault(models, tmp_path):
    (tmp_path / "data.py").write_text(SAMPLES)
    with pytest.raises(RequestError, match="type list, which is no tensor"):
        make_float32(f"{models}:reuses", tmp_path / "r", file=f"{tmp_path / 'data.py'}:listed")
