"""Tests what lowering reports about operators."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("executorch")

from assay.toolchain.graph.operators import operator_name  # noqa: E402


def test_an_operator_is_named_with_namespace_and_overload() -> None:
    assert operator_name(torch.ops.aten.add.Tensor) == "aten.add.Tensor"


def test_an_edge_operator_is_named_as_the_one_it_stands_for() -> None:
    from executorch.exir.dialects._ops import ops

    assert operator_name(ops.edge.aten.add.Tensor) == "aten.add.Tensor"
