"""Programs that write to their inputs, and errors that quote paths, in the engines in Python."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from assay.engines.base import LoadRequest
from assay.engines.litert import engine as litert
from assay.engines.onnxruntime import engine as onnxruntime

HERE = Path("/home/unsupported/NOT_IMPLEMENTED/net")


@pytest.mark.parametrize("engine", [litert, onnxruntime], ids=["litert", "onnxruntime"])
def test_the_name_of_a_folder_is_no_refusal(engine):
    assert engine.readable_failure(ValueError(f"{HERE} is damaged"), HERE).code != "unsupported"
    refusal = "operator is unsupported: NOT_IMPLEMENTED"
    assert engine.readable_failure(ValueError(refusal), HERE).code == "unsupported"


def test_a_program_that_writes_to_its_input_leaves_the_callers(tmp_path):
    torch = pytest.importorskip("torch")
    from assay.engines.torch.engine import TorchSession

    class Writes(torch.nn.Module):
        def forward(self, x, y):
            y.view(3)[:].add_(1)
            return x * y

    path = tmp_path / "program.torch.pt2"
    ones = torch.ones(3)
    torch.export.save(torch.export.export(Writes(), (ones, ones.clone())), path)
    session = TorchSession(torch, LoadRequest(path, options={"mode": "eager"}))
    inputs = [np.full(3, 2.0, np.float32), np.full(3, 3.0, np.float32)]
    for _ in range(2):
        session.bind(inputs)
        session.execute()
        assert session.fetch()[-1].tolist() == [8.0] * 3
    assert inputs[1].tolist() == [3.0] * 3


def write_in_place(y):
    y.view(3)[:].add_(1)


def write_to_chunks(y):
    y.chunk(3)[1].add_(1)


def write_to_rows(y):
    y.unbind(0)[2].mul_(2)


def write_to_out(y):
    import torch

    torch.add(y, 1, out=y)


def write_to_several(y):
    import torch

    torch._foreach_add_([y.view(3), y[:1]], 1.0)


@pytest.mark.parametrize(
    "write", [write_in_place, write_to_chunks, write_to_rows, write_to_out, write_to_several]
)
def test_every_way_to_write_to_an_input_is_found(write):
    torch = pytest.importorskip("torch")
    from assay.toolchain.graph.written_inputs import find_written_inputs

    class Writes(torch.nn.Module):
        def forward(self, x, y):
            write(y)
            return x * y

    class Reads(torch.nn.Module):
        def forward(self, x, y):
            a, b, c = (x + y).chunk(3)
            return torch.stack([a.relu_(), b, c.add_(y[:1])])

    inputs = (torch.ones(3), torch.ones(3))
    assert find_written_inputs(torch.export.export(Writes(), inputs)) == [1]
    assert find_written_inputs(torch.export.export(Reads(), inputs)) == []


def test_a_package_tells_which_inputs_it_writes_to():
    pytest.importorskip("torch")
    from assay.engines.torch.engine import read_package
    from assay.toolchain.flows.aoti import SIGNATURE, signature_from_source

    port = {"name": "x", "dtype": "float32", "shape": [3]}
    source = SimpleNamespace(inputs=[port, port], outputs=[port])
    metadata = {SIGNATURE: signature_from_source(source, [1])}
    package = SimpleNamespace(loader=SimpleNamespace(get_metadata=lambda: metadata))
    inductor = SimpleNamespace(aoti_load_package=lambda path: package)
    loaded = read_package(SimpleNamespace(_inductor=inductor), Path("program"))
    assert loaded[-1] == {1}
