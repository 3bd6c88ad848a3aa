"""Rewrites a captured graph before it is annotated: into operators that each have one int8 result.

Attention becomes two products and a softmax, its mask the places without a weight, LSTM and GRU
their steps, pieces of a split become slices, shuffled pixels a permutation; operators of a tensor
and a number take the overload that says so.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from fixedpoint.constant_values import constant_value, is_written
from fixedpoint.functions import base_name, named_arguments
from fixedpoint.graph_edit import (
    attribute_of,
    call_before,
    constant_before,
    erase_unused,
    replace,
)
from fixedpoint.gru import unroll_gru
from fixedpoint.lstm import unroll_lstm
from fixedpoint.masking import (
    Mask,
    attention_mask,
    causal_mask,
    is_static,
    mask_softmax,
    masked_scores,
)

_aten = torch.ops.aten


def rewrite(model: GraphModule) -> GraphModule:
    """Changes the graph in place and returns it."""
    for node in list(model.graph.nodes):
        rule = _RULES.get(base_name(node.target)) if node.op == "call_function" else None
        if rule is not None:
            with model.graph.inserting_before(node):
                rule(node)
    model.recompile()
    return model


def _attention(node: Node) -> None:
    """softmax(scale * q k^T + mask) v; attention with numbers of an input as its mask stays."""
    a = named_arguments(node.target, node.args, dict(node.kwargs))
    query, key, value, given = (a[name] for name in ("query", "key", "value", "attn_mask"))
    if a.get("enable_gqa") or a["dropout_p"] != 0.0:
        return
    mask: Mask | None = Mask(None, may_empty_rows=False)
    is_masked = a["is_causal"] or given is not None
    if not isinstance(query.meta["val"].shape[-1], int):
        return
    if is_masked and not (is_static(query) and is_static(key)):
        return
    if a["is_causal"]:
        mask = causal_mask(node, query.meta["val"].shape[-2], key.meta["val"].shape[-2])
    elif given is not None:
        mask = attention_mask(node, given)
    if mask is None:
        return
    scale = a["scale"] or query.meta["val"].shape[-1] ** -0.5
    keys = call_before(node, _aten.transpose.int, key, -2, -1)
    scores = call_before(node, _aten.matmul.default, query, keys)
    scaled = call_before(node, _aten.mul.Scalar, scores, scale)
    softmax = _aten._safe_softmax.default if mask.may_empty_rows else _aten.softmax.int
    weights = call_before(node, softmax, masked_scores(node, scaled, mask), -1)
    replace(node, call_before(node, _aten.matmul.default, weights, value))
    if given is not None:
        erase_unused(given)


def _embedding(node: Node) -> None:
    """Rows that constants choose are a constant: positions."""
    table, indices = node.args[0], node.args[1]
    chosen = constant_value(indices)
    if chosen is None or not isinstance(table, Node) or table.op != "get_attr":
        return
    if is_written(table):
        return
    assert isinstance(indices, Node)
    rows = torch.nn.functional.embedding(chosen, attribute_of(table).detach())
    replace(node, constant_before(node, f"{node.name}_rows", rows))
    erase_unused(indices)


def _unbind(node: Node) -> None:
    source, dim = node.args[0], node.args[1] if len(node.args) > 1 else 0
    _replace_pieces(node, lambda i: call_before(node, _aten.select.int, source, dim, i))


def _split(node: Node) -> None:
    """Pieces of split, split_with_sizes and chunk."""
    source = node.args[0]
    a = named_arguments(node.target, node.args, dict(node.kwargs))
    dim = a["dim"]
    if not all(isinstance(piece.shape[dim], int) for piece in node.meta["val"]):
        return
    ends = [0]
    for piece in node.meta["val"]:
        ends.append(ends[-1] + int(piece.shape[dim]))
    _replace_pieces(
        node, lambda i: call_before(node, _aten.slice.Tensor, source, dim, ends[i], ends[i + 1])
    )


def _replace_pieces(node: Node, make: Callable[[int], Node]) -> None:
    for user in list(node.users):
        piece: Any = user.args[1]
        replace(user, make(piece))
    node.graph.erase_node(node)


def _pixel_shuffle(node: Node) -> None:
    """Channels in blocks of factor x factor become pixels."""
    source, factor = node.args[0], node.args[1]
    assert isinstance(source, Node) and isinstance(factor, int)  # noqa: PT018
    if not is_static(source):
        return
    *outer, channels, height, width = source.meta["val"].shape
    rank, kept = len(outer), channels // factor**2
    split = call_before(
        node, _aten.view.default, source, [*outer, kept, factor, factor, height, width]
    )
    dims = [*range(rank), *(rank + d for d in (0, 3, 1, 4, 2))]
    moved = call_before(node, _aten.permute.default, split, dims)
    shape = [*outer, kept, height * factor, width * factor]
    replace(node, call_before(node, _aten.reshape.default, moved, shape))


def _with_number(node: Node) -> None:
    """aten.mul.Tensor(x, 0.5) is aten.mul.Scalar."""
    x, *others = node.args
    overload = getattr(_aten, base_name(node.target).removeprefix("aten."))
    is_number = others and isinstance(others[0], int | float) and isinstance(x, Node)
    if is_number and not node.kwargs and node.target is overload.Tensor:
        replace(node, call_before(node, overload.Scalar, x, others[0]))


_RULES: dict[str, Callable[[Node], None]] = {
    "aten.scaled_dot_product_attention": _attention,
    "aten.softmax": mask_softmax,
    "aten.embedding": _embedding,
    "aten.lstm": unroll_lstm,
    "aten.gru": unroll_gru,
    "aten.pixel_shuffle": _pixel_shuffle,
    "aten.unbind": _unbind,
    "aten.split": _split,
    "aten.split_with_sizes": _split,
    "aten.chunk": _split,
    **dict.fromkeys(("aten.add", "aten.sub", "aten.mul", "aten.div"), _with_number),
}
