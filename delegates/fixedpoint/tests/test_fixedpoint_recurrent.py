"""An LSTM and a GRU in steps compute what torch's do."""

import itertools
from collections import Counter

import pytest
import torch

from fixedpoint.rewrite import rewrite


class Cells(torch.nn.Module):
    """Two layers, with the states given or zero."""

    layers = torch.nn.LSTM

    def __init__(self, has_states, **options):
        super().__init__()
        self.cells = self.layers(6, 8, 2, **options)
        self.has_states = has_states

    def forward(self, x, *states):
        y, (h, c) = self.cells(x, states if self.has_states else None)
        return y, h, c


class Gates(Cells):
    """Two layers of a GRU, with the state given or zero."""

    layers = torch.nn.GRU

    def forward(self, x, *states):
        return self.cells(x, states[0] if self.has_states else None)


def captured(net, *example):
    return torch.export.export(net.eval(), example).module()


def operators_of(graph):
    return {str(node.target) for node in graph.graph.nodes if node.op == "call_function"}


@pytest.mark.parametrize(
    ("batch_first", "bidirectional", "bias", "has_states"),
    itertools.product((True, False), repeat=4),
)
def test_steps_compute_what_the_layer_does(batch_first, bidirectional, bias, has_states):
    torch.manual_seed(0)
    net = Cells(has_states, batch_first=batch_first, bidirectional=bidirectional, bias=bias)
    states = [torch.randn(4 if bidirectional else 2, 3, 8) for _ in range(2)]
    example = (torch.randn(3, 5, 6) if batch_first else torch.randn(5, 3, 6), *states)
    example = example if has_states else example[:1]
    graph = rewrite(captured(net, *example))
    assert not any("lstm" in name or "zeros" in name for name in operators_of(graph))
    for found, expected in zip(graph(*example), net(*example), strict=True):
        # Sums of another order in float32, through five steps.
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("batch_first", "bidirectional", "bias", "has_states"),
    itertools.product((True, False), repeat=4),
)
def test_steps_compute_what_gates_do(batch_first, bidirectional, bias, has_states):
    torch.manual_seed(0)
    net = Gates(has_states, batch_first=batch_first, bidirectional=bidirectional, bias=bias)
    state = torch.randn(4 if bidirectional else 2, 3, 8)
    x = torch.randn(3, 4, 6) if batch_first else torch.randn(4, 3, 6)
    example = (x, state) if has_states else (x,)
    graph = rewrite(captured(net, *example))
    assert not any("gru" in name or "zeros" in name for name in operators_of(graph))
    for found, expected in zip(graph(*example), net(*example), strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


class Mixed(torch.nn.Module):
    """A gate over parts of two vectors, and a difference that is none of a gate."""

    def forward(self, x, y):
        gate = torch.sigmoid(x)[:, :3]
        return gate * y + (1 - gate) * (1 - y)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("activations", "of_gate"), [("int8", (2**-8, -128)), ("int16", (2**-15, 0))]
)
def test_the_rest_of_a_gate_has_the_gate_s_parameters(activations, of_gate):
    pytest.importorskip("executorch")
    from fixedpoint.convert import quantize

    example = (torch.randn(4, 6), 9 * torch.randn(4, 3))
    made = quantize(Mixed(), example, [example], observer="minmax", activations=activations)
    found = [
        node.args[1:3]
        for node in made.graph.nodes
        if "quantize_per_tensor" in str(node.target) and "rsub" in node.args[0].name
    ]
    assert found[0] == of_gate
    assert found[1][0] > 10 * of_gate[0]


def test_projections_have_no_steps():
    graph = rewrite(captured(Cells(False, proj_size=4), torch.randn(5, 3, 6)))
    assert "aten.lstm.input" in operators_of(graph)


@pytest.mark.engine
def test_steps_share_their_weights():
    pytest.importorskip("executorch")
    from fixedpoint.convert import convert, quantize

    example = (torch.randn(5, 3, 6),)
    quantized = quantize(Cells(False).eval(), example, [example])
    ((program, blob),) = convert(quantized, require_integer=True).programs()
    contents = Counter(
        tensor.data.tobytes()
        for tensor in program.tensors
        if tensor.data is not None and tensor.data.nbytes >= 64
    )
    repeated = [content for content, count in contents.items() if count > 1]
    assert repeated
    assert {blob.count(content) for content in repeated} == {1}
