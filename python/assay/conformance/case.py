"""One conformance case, and the cases that a recorded call makes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.conformance.bounds import find_rule
from assay.conformance.calls import get_tensors
from assay.conformance.dimensions import ROUND
from assay.conformance.operators import find_reason, packet_name, table
from assay.conformance.recorded_calls import RecordedCall, with_dtype

FUZZ = "fuzz"
"""The tier whose cases are drawn anew."""

EDGE_DTYPES = ("float32", "float16", "bfloat16", "int32", "int8")
EDGE_RULES = ("exact", "ulp", "composite", "sum_of_two")
"""Rules under which special values keep their meaning element by element."""

MODEL_INPUTS: dict[str, Any] = {"generator": "model", "count": 3, "seed": 1}

_ELEMENTS_OF_A_LOWERING = 20_000
"""Elements that take about as long as lowering a call takes."""


@dataclass(frozen=True)
class Case:
    """One case. `cost`: about how much longer than a small operator it takes.

    `refuses`: the program has to refuse the last of its samples, by an error.
    """

    name: str
    model: dict[str, Any]
    operator: str
    dtype: str
    shape_class: str
    values: str = "normal"
    tier: str = "full"
    joinable: bool = True
    refuses: bool = False
    cost: float = 1.0
    inputs: dict[str, Any] = field(default_factory=lambda: dict(MODEL_INPUTS))

    def to_json(self) -> dict[str, Any]:
        """The case in the form of the job's answer."""
        return dict(vars(self))


def edge_pairs(rows: Sequence[RecordedCall]) -> list[tuple[RecordedCall, str]]:
    """The calls and types in which special values have a meaning."""
    return [
        (row, dtype)
        for row in _first_rows(rows)
        for dtype in row.dtypes
        if dtype in EDGE_DTYPES and _has_edges(row, dtype)
    ]


def sample_count(row: RecordedCall, dtype: str, values: str) -> int:
    """Number of samples of a case of the row."""
    return row.samples.get(type_key(row, dtype, values), least_samples(row))


def type_key(row: RecordedCall, dtype: str, values: str) -> str:
    """The key of a type in `samples` and `copies`: "int8", or also "int8-edge"."""
    return f"{dtype}-edge" if values == "edge" and row.values == "normal" else dtype


def is_copy(row: RecordedCall, dtype: str, values: str) -> bool:
    """True if a case of the row answers with an input unchanged."""
    return type_key(row, dtype, values) in row.copies


def least_samples(row: RecordedCall) -> int:
    """Three, or where dimensions are open as many as have one size twice."""
    return ROUND if "dimensions" in row.call else int(MODEL_INPUTS["count"])


def operator_case(row: RecordedCall, dtype: str, values: str) -> Case:
    """The case of a call in one type; `values`: "normal", "edge" or "refused"."""
    call = with_dtype(row.call, dtype)
    suffix = "-edge" if values == "edge" else ""
    args = {
        **call,
        "values": values,
        **({"unchanged": True} if is_copy(row, dtype, values) else {}),
    }
    size = sum(math.prod(spec.shape) for spec in get_tensors(call))
    return Case(
        name=f"{row.operator}/{dtype}/{row.name}{suffix}",
        model={"ref": row.operator.replace(".", ":", 1), "args": args},
        operator=row.operator,
        dtype=dtype,
        shape_class=row.shape_class,
        values=values,
        joinable=_is_joinable(row),
        refuses=values == "refused",
        cost=round(1.0 + size / _ELEMENTS_OF_A_LOWERING, 2),
        inputs={**MODEL_INPUTS, "count": sample_count(row, dtype, values)},
    )


def _is_joinable(row: RecordedCall) -> bool:
    """True if a program of many cases may have it."""
    return row.values != "refused" and find_reason(row.operator, "not_joinable") is None


def _first_rows(rows: Sequence[RecordedCall]) -> list[RecordedCall]:
    """Picks for each operator its first call with enough elements for special values."""
    first_rows: dict[str, RecordedCall] = {}
    for row in rows:
        if row.shape_class in ("typical", "odd", "broadcast") and row.values == "normal":
            first_rows.setdefault(row.operator, row)
    return list(first_rows.values())


def _has_edges(row: RecordedCall, dtype: str) -> bool:
    """True if special values have a meaning here: with ties, no index is the right one."""
    specs = get_tensors(with_dtype(row.call, dtype))
    is_ordered = any(spec.order == "distinct" for spec in specs)
    takes = any(spec.dtype == dtype and not spec.is_constant for spec in specs)
    is_known = packet_name(row.operator) not in table()["no_edges"]
    return is_known and takes and not is_ordered and find_rule(row.operator).name in EDGE_RULES
