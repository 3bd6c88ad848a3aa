"""Programs that write to their inputs, and errors that quote paths, in the engines in Python."""

from pathlib import Path

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
