"""Recorded calls made to tell: what a check needs so that a wrong answer to it shows.

Torch's samples were not drawn for that: a size of 11 that stands for itself, the maximum of 500
integers of sixteen, the comparison of two numbers.
"""

import contextlib
import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from assay.conformance.calls import map_tensors
from assay.conformance.case import edge_pairs, least_samples
from assay.conformance.controls import smallest_sample_count
from assay.conformance.operators import find_entry
from assay.conformance.recorded_calls import RecordedCall, with_dtype

MORE_SAMPLES = (8, 24)
"""Numbers of samples of a case if fewer do not show whether it answers alike to anything."""

_WIDER = ((2, 2), (0, 2), (0, 8), (32, 32))
"""Widths added to the range of a constant integer; the first that eager allows counts."""


def with_sample_counts(rows: Sequence[RecordedCall]) -> list[RecordedCall]:
    """The rows, marked where they answer alike to anything, widened, and with their samples."""
    tuned = [_tuned(_marked(row)) for row in rows]
    edges = {(row.operator, row.name, dtype) for row, dtype in edge_pairs(tuned)}
    return [_with_edges(row, edges) for row in tuned]


def with_edge_counts(
    made: Sequence[RecordedCall], rows: Sequence[RecordedCall]
) -> list[RecordedCall]:
    """Calls made beside recorded ones, with their samples. `rows`: all of the operator."""
    tuned = [_tuned(row) for row in made]
    names = {row.name for row in made}
    kept = [row for row in rows if row.name not in names]
    edges = {(row.operator, row.name, dtype) for row, dtype in edge_pairs([*kept, *tuned])}
    return [_with_edges(row, edges) for row in tuned]


def _marked(row: RecordedCall) -> RecordedCall:
    """Sets "same", or another kind of values, on calls for which the table says so."""
    if _find_entry(row, "same_calls"):
        return replace(row, call={**row.call, "same": True})
    entry = _find_entry(row, "call_domains")
    if entry is None:
        return row
    return replace(row, call=map_tensors(row.call, partial(_with_domain, entry["domain"])))


def _with_domain(domain: Mapping[str, Any], tensor: Mapping[str, Any]) -> dict[str, Any]:
    """The tensor with other values; null takes a key away."""
    return {key: one for key, one in {**tensor, **domain}.items() if one is not None}


def _find_entry(row: RecordedCall, section: str) -> Mapping[str, Any] | None:
    return find_entry(
        row.operator,
        section,
        lambda entry: any(fnmatch.fnmatchcase(row.name, one) for one in entry["calls"]),
    )


def _tuned(row: RecordedCall) -> RecordedCall:
    if row.shape_class == "zero_size" or row.values == "refused":
        return replace(row, samples={})
    best = _counted(row)
    for wider in _widened(row):
        if 0 not in best.samples.values():
            break
        found = _counted(wider)
        best = found if 0 not in found.samples.values() else best
    return best


def _counted(row: RecordedCall) -> RecordedCall:
    needed = {dtype: find_sample_count(row, dtype, row.values) for dtype in row.dtypes}
    few = least_samples(row)
    return replace(row, samples={key: one for key, one in needed.items() if one != few})


def _with_edges(row: RecordedCall, edges: set[tuple[str, str, str]]) -> RecordedCall:
    samples = dict(row.samples)
    for dtype in row.dtypes:
        if (row.operator, row.name, dtype) in edges:
            needed = find_sample_count(row, dtype, "edge")
            samples |= {f"{dtype}-edge": needed} if needed != least_samples(row) else {}
    return replace(row, samples=samples)


def find_sample_count(row: RecordedCall, dtype: str, values: str) -> int:
    """The samples that a case needs; 0 if none are enough, or eager refuses some."""
    args = {**with_dtype(row.call, dtype), "values": values}
    with contextlib.suppress(Exception):
        return smallest_sample_count(row.ref, args, (least_samples(row), *MORE_SAMPLES)) or 0
    return 0


def _widened(row: RecordedCall) -> Iterator[RecordedCall]:
    """The row with wider ranges in the place of those that hold one integer."""
    for below, above in _WIDER:
        call = map_tensors(row.call, partial(_wider, below=below, above=above))
        if call != row.call:
            yield replace(row, call=call)


def _wider(tensor: Mapping[str, Any], below: int, above: int) -> dict[str, Any]:
    is_fixed = str(tensor["dtype"]).startswith("int") and "low" in tensor
    if not is_fixed or (tensor["high"] - tensor["low"] > 1 and below < 32):
        return dict(tensor)
    return {**tensor, "low": tensor["low"] - below, "high": tensor["high"] + above}
