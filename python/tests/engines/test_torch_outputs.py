import pytest

from assay.engines.base import LoadRequest

torch = pytest.importorskip("torch")


class Beside(torch.nn.Module):
    def forward(self, x):
        return x + 1, None, 3, x * 2


def test_what_is_no_tensor_is_left_out(tmp_path):
    from assay.engines.torch.engine import TorchEngine

    x = torch.ones(2)
    path = tmp_path / "program.torch.pt2"
    torch.export.save(torch.export.export(Beside(), (x,)), path)
    engine = TorchEngine()
    engine.prepare()
    session = engine.load(LoadRequest(entry=path, options={"mode": "eager"}))
    assert len(session.report.outputs) == 2
    session.bind([x.numpy()])
    session.execute()
    assert [one.tolist() for one in session.fetch()] == [[2, 2], [2, 2]]
