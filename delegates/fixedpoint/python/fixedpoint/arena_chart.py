"""The arena over time as a picture: what lies where, from its maker to its last reader.

Reads a blob alone, so that it shows what a runtime is given, whoever placed it.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fixedpoint.blob import ABSENT, ARENA
from fixedpoint.planner import align
from fixedpoint.program import Kind

_HEADER_BYTES, _TENSOR_BYTES, _OPERATION_BYTES = 64, 64, 128
_KIB = 1024


@dataclass(frozen=True)
class Span:
    """A tensor of the arena: its place in bytes, the steps in which it lives (both included)."""

    tensor: int
    made_by: str
    offset: int
    bytes: int
    first: int
    last: int


def spans(blob: bytes) -> list[Span]:
    """The arena's tensors in the order in which they are made. The blob must be well formed."""
    tensors, operations, _ = struct.unpack_from("<3I", blob, 40)
    operations_at = align(_HEADER_BYTES + tensors * _TENSOR_BYTES)
    indices_at = align(operations_at + operations * _OPERATION_BYTES)
    made: dict[int, tuple[int, str]] = {}
    last: dict[int, int] = {}
    for step in range(operations):
        at = operations_at + step * _OPERATION_BYTES
        kind, count, first, output = struct.unpack_from("<HHII", blob, at)
        made[output] = (step, Kind(kind).name.lower())
        last[output] = step
        for index in struct.unpack_from(f"<{count}I", blob, indices_at + 4 * first):
            if index != ABSENT:
                last[index] = step
    return [
        Span(tensor, name, *_place(blob, tensor), step, last[tensor])
        for tensor, (step, name) in made.items()
        if blob[_HEADER_BYTES + tensor * _TENSOR_BYTES + 1] == ARENA
    ]


def _place(blob: bytes, tensor: int) -> tuple[int, int]:
    offset, size = struct.unpack_from("<QQ", blob, _HEADER_BYTES + tensor * _TENSOR_BYTES + 8)
    return offset, size


def fullest(placed: Sequence[Span]) -> int:
    """Bytes of the arena that hold something that lives, at the step where they are most.

    Tensors that share their place count once, so that this is the planner's lower bound.
    """
    most = 0
    for step in {span.first for span in placed}:
        live = {
            (span.offset, align(span.bytes)) for span in placed if span.first <= step <= span.last
        }
        most = max(most, sum(size for _, size in live))
    return most


def chart(placed: Sequence[Span], title: str = "") -> dict[str, Any]:
    """A Vega-Lite picture: steps to the right, KiB of the arena upward, a rule at the fullest."""
    rows = [
        {
            "tensor": span.tensor,
            "made by": span.made_by,
            "step": span.first,
            "until": span.last + 1,
            "from": span.offset / _KIB,
            "to": (span.offset + span.bytes) / _KIB,
            "bytes": span.bytes,
        }
        for span in placed
    ]
    boxes = {
        "mark": {"type": "rect", "stroke": "white", "strokeWidth": 0.5},
        "data": {"values": rows},
        "encoding": {
            "x": {"field": "step", "type": "quantitative", "title": "operation"},
            "x2": {"field": "until"},
            "y": {"field": "from", "type": "quantitative", "title": "arena, KiB"},
            "y2": {"field": "to"},
            "color": {"field": "made by", "type": "nominal"},
            "tooltip": [{"field": name} for name in ("tensor", "made by", "bytes", "step")],
        },
    }
    bound = {
        "mark": {"type": "rule", "strokeDash": [4, 4]},
        "data": {"values": [{"bound": fullest(placed) / _KIB}]},
        "encoding": {"y": {"field": "bound", "type": "quantitative"}},
    }
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": title,
        "width": 900,
        "height": 400,
        "layer": [boxes, bound],
    }
