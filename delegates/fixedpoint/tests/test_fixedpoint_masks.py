"""Masks of attention become places without a weight, and the graph computes what it did."""

import pytest
import torch
from torch.nn import functional

from fixedpoint.masking import masked_inner
from fixedpoint.rewrite import rewrite

PADDING = torch.tensor([[False, True, False, True, True], [True] * 5])
INFINITE = float("-inf")


def scores_of(x):
    return x @ x.transpose(-1, -2)


def attend(x, mask, **options):
    return functional.scaled_dot_product_attention(x, x, x, mask, **options)


class Net(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, padding):
        return self.function(x, padding)


CONSTANT = {
    "causal": lambda x, m: attend(x, None, is_causal=True),
    "constant booleans": lambda x, m: attend(x, torch.ones(5, 5).tril(1).bool()),
    "constant numbers": lambda x, m: attend(x, torch.full((5, 5), INFINITE).triu(1)),
    "relative numbers": lambda x, m: attend(x, -(torch.arange(5.0) - 2).abs().expand(5, 5)),
    "added and masked": lambda x, m: attend(
        x, torch.arange(25.0).view(5, 5).masked_fill(torch.eye(5).bool(), INFINITE)
    ),
    "a sum": lambda x, m: (scores_of(x) + torch.full((5, 5), -1e9).triu(1)).softmax(-1),
    "filled": lambda x, m: (
        scores_of(x).masked_fill(torch.ones(5, 5).triu(1).bool(), INFINITE).softmax(-1)
    ),
    "a tensor of infinities": lambda x, m: torch.where(
        torch.ones(5, 5).triu(2) > 0, torch.full((5, 5), INFINITE), scores_of(x)
    ).softmax(-1),
}
GIVEN = {
    "kept": lambda x, m: attend(x, m[:, None]),
    "not kept": lambda x, m: attend(x, ~m[:, None]),
    "numbers of booleans": lambda x, m: attend(
        x, torch.zeros_like(m, dtype=torch.float32).masked_fill(m, INFINITE)[:, None]
    ),
    "both": lambda x, m: attend(
        x,
        torch.zeros_like(m, dtype=torch.float32).masked_fill(m, INFINITE)[:, None]
        + torch.full((5, 5), INFINITE).triu(1),
    ),
    "filled where not": lambda x, m: scores_of(x).masked_fill(~m[:, None], -1e9).softmax(-1),
    "chosen": lambda x, m: torch.where(m[:, None], -1e9, scores_of(x)).softmax(-1),
    "chosen where not": lambda x, m: torch.where(~m[:, None], scores_of(x), -1e9).softmax(-1),
}


def rewritten(function):
    torch.manual_seed(0)
    example = (torch.randn(2, 5, 4), PADDING)
    net = Net(function).eval()
    graph = rewrite(torch.export.export(net, example).module())
    torch.testing.assert_close(graph(*example), net(*example), rtol=0, atol=1e-6)
    return [node for node in graph.graph.nodes if node.op == "call_function"]


def names_of(nodes):
    return [str(node.target) for node in nodes]


@pytest.mark.parametrize("name", CONSTANT)
def test_a_constant_mask_is_computed_once(name):
    nodes = rewritten(CONSTANT[name])
    masks = [node for node in nodes if masked_inner(node) is not None]
    assert len(masks) == (0 if name == "relative numbers" else 1)
    for node in masks:
        assert node.args[1].op == "get_attr"
    assert ("aten.add.Tensor" in names_of(nodes)) == (
        name in ("relative numbers", "added and masked")
    )
    assert not any(word in target for target in names_of(nodes) for word in ("full", "tri", "ones"))


@pytest.mark.parametrize("name", GIVEN)
def test_a_mask_that_is_given_stays_boolean(name):
    nodes = rewritten(GIVEN[name])
    (mask,) = [node for node in nodes if masked_inner(node) is not None]
    places = [n for n in mask.all_input_nodes if n.meta["val"].dtype == torch.bool]
    assert len(places) == 1
    assert not any("not" in target or "zeros" in target for target in names_of(nodes))


def test_numbers_of_an_input_stay_as_they_are():
    nodes = rewritten(lambda x, m: attend(x, x @ x.transpose(1, 2)))
    assert "aten.scaled_dot_product_attention.default" in names_of(nodes)


def test_open_sizes_stay_as_they_are():
    x, batch = torch.randn(2, 5, 4), torch.export.Dim("batch", max=8)
    for function in (CONSTANT["causal"], GIVEN["kept"], GIVEN["chosen"]):
        net = Net(function).eval()
        sizes = ({0: batch}, {0: batch})
        graph = rewrite(torch.export.export(net, (x, PADDING), dynamic_shapes=sizes).module())
        assert not any(masked_inner(node) for node in graph.graph.nodes)
        torch.testing.assert_close(graph(x, PADDING), net(x, PADDING), rtol=0, atol=0)


def test_a_mask_that_leaves_a_weight_stays_as_it_is():
    nodes = rewritten(lambda x, m: scores_of(x).masked_fill(m[:, None], -3.0).softmax(-1))
    assert not any(masked_inner(node) for node in nodes)


@pytest.mark.parametrize("filled", [-1e9, INFINITE])
def test_constant_numbers_that_mask_whole_rows(filled):
    """Minus infinity leaves zeros, a large number what the scores say: then nothing changes."""
    rows = torch.zeros(5, 5)
    rows[2] = filled
    nodes = rewritten(lambda x, m: attend(x, rows))
    has_masks = any(masked_inner(node) for node in nodes)
    assert has_masks == (filled == INFINITE)
    assert ("aten._safe_softmax.default" in names_of(nodes)) == has_masks


@pytest.mark.engine
def test_whole_rows_of_zeros_and_of_equal_weights():
    pytest.importorskip("executorch")
    from fixedpoint import evaluate
    from fixedpoint.convert import convert, quantize

    def apart(x, m):
        return attend(x, ~m[:, None]), scores_of(x).masked_fill(m[:, None], -1e9).softmax(-1)

    example = (torch.randn(2, 5, 4), PADDING)
    quantized = quantize(Net(apart).eval(), example, [example])
    ((program, _),) = convert(quantized, require_integer=True).programs()
    mixed, weights = evaluate.evaluate(program, [x.numpy() for x in example])
    assert (mixed[0] != 0).any()
    assert (mixed[1] == 0).all()
    assert (weights[1] == weights[1, 0, 0]).all()
    assert weights[1, 0, 0] == pytest.approx(1 / 5, abs=1 / 512)
    assert (weights[0][:, PADDING[0].numpy()] == 0).all()
    assert weights[0].sum(-1) == pytest.approx(1, abs=0.02)
