"""Finds the operators of a program that draw at random."""

import pytest
import torch
from torch.nn import functional

from assay.toolchain.graph.operators import random_operators


class Calls(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (lambda x: x + torch.rand_like(x), ["aten.rand_like.default"]),
        (lambda x: functional.dropout(x, 0.5, training=True), ["aten.dropout.default"]),
        (lambda x: functional.dropout(x, 0.5, training=False), []),
        (lambda x: functional.scaled_dot_product_attention(x, x, x), []),
        (torch.relu, []),
    ],
)
def test_operators_that_draw_are_named(function, names):
    exported = torch.export.export(Calls(function).eval(), (torch.rand(1, 3, 4),))
    assert random_operators(exported) == names
