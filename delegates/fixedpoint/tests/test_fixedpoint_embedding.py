"""Embeddings: rows that no sample has chosen, tables as a program holds them, constant indices."""

import pytest
import torch

from fixedpoint.rewrite import rewrite

ALL = torch.arange(9)[None]
INT16 = {"activations": "int16", "observer": "minmax", "headroom_bits": 1}


class Rows(torch.nn.Module):
    """The last row is the largest, and calibration never chooses it."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(9, 6)
        with torch.no_grad():
            self.table.weight[8] *= 20

    def forward(self, indices):
        return self.table(indices)


def quantized(**options):
    pytest.importorskip("executorch")
    from fixedpoint.convert import quantize

    torch.manual_seed(0)
    net = Rows().eval()
    return net, quantize(net, (ALL,), [(ALL.where(ALL < 8, 0),)], **options)


@pytest.mark.engine
@pytest.mark.parametrize("options", [{}, INT16, {"scales": "power_of_two"}])
def test_no_row_is_clipped(options):
    from fixedpoint import evaluate
    from fixedpoint.convert import convert

    net, exported = quantized(**options)
    ((program, _),) = convert(exported, require_integer=True).programs()
    (found,) = evaluate.evaluate(program, [ALL.numpy()])
    exact, step = net(ALL).detach(), program.tensors[program.operations[0].output].scale
    rounded = torch.full((9, 1), step / 2)
    if options is INT16:  # and a table of int8, each row by itself
        rounded += net.table.weight.detach().abs().amax(1, keepdim=True) / 127 / 2
    assert ((torch.from_numpy(found) - exact).abs() <= rounded * 1.0001).all()
    largest = {"int8": 127, "int16": 32767}[program.tensors[program.operations[0].output].dtype]
    if "scales" not in options:
        assert step * largest * 2.02 >= exact.max() - exact.min()


@pytest.mark.engine
@pytest.mark.parametrize("options", [{}, INT16])
def test_a_table_is_int8_and_in_int8_nothing_is_requantized(options):
    from fixedpoint.convert import convert
    from fixedpoint.program import Kind

    _, exported = quantized(**options)
    ((program, _),) = convert(exported, require_integer=True).programs()
    operation = program.operations[0]
    assert operation.kind is Kind.EMBEDDING
    table, multiplier, shift, bias = (program.tensors[i].data for i in operation.inputs[1:])
    assert table.dtype == "int8"
    is_copied = (multiplier == 1 << 30).all() and (shift == 30).all() and (bias == 1 << 29).all()
    assert is_copied == (not options)
    assert len(set(multiplier.tolist())) == (9 if options else 1)


class Shown(torch.nn.Module):
    """A part of the indices is a result, too; the table is that of a linear layer as well."""

    def __init__(self):
        super().__init__()
        self.table, self.head = torch.nn.Embedding(9, 6), torch.nn.Linear(6, 9, bias=False)
        self.head.weight = self.table.weight

    def forward(self, indices):
        part = indices[:, 1:].view(2, 4)
        return part, self.head(self.table(part))


@pytest.mark.engine
@pytest.mark.parametrize("options", [{}, INT16])
def test_views_that_are_read_outside_stay_outside(options):
    pytest.importorskip("executorch")
    from fixedpoint import evaluate
    from fixedpoint.convert import convert, quantize

    torch.manual_seed(0)
    net = Shown().eval()
    made = convert(quantize(net, (ALL,), [(ALL,)], **options), require_integer=True)
    ((program, _),) = made.programs()
    assert [program.tensors[i].shape for i in program.inputs] == [(2, 4)]
    assert [program.tensors[i].dtype for i in program.inputs] == ["int64"]
    part, exact = (made.detach() for made in net(ALL))
    (found,) = evaluate.evaluate(program, [part.numpy()])
    assert float(((torch.from_numpy(found) - exact) ** 2).sum()) < 1e-3 * float((exact**2).sum())


class Positions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(9, 6)
        self.register_buffer("order", torch.arange(4).flip(0))

    def forward(self, x):
        return x + self.table(torch.arange(4)) + self.table(self.order[None])


def test_rows_that_no_input_chooses_are_a_constant():
    net, example = Positions().eval(), (torch.randn(2, 4, 6),)
    graph = rewrite(torch.export.export(net, example).module())
    torch.testing.assert_close(graph(*example), net(*example), rtol=0, atol=0)
    names = {str(n.target) for n in graph.graph.nodes if n.op == "call_function"}
    assert names == {"aten.add.Tensor"}


def test_rows_that_an_input_chooses_stay():
    graph = rewrite(torch.export.export(Rows().eval(), (ALL,)).module())
    assert any(str(node.target) == "aten.embedding.default" for node in graph.graph.nodes)
