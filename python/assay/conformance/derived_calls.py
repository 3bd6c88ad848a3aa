"""Calls made of recorded ones: with dimensions left open, and with arguments that are refused."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from assay.conformance.calls import TensorSpec, get_tensors, map_tensors
from assay.conformance.child import in_child
from assay.conformance.dimensions import LEAST, ROUND
from assay.conformance.operator_model import make_operator
from assay.conformance.operators import find_reason, split_name, table
from assay.conformance.recorded_calls import RecordedCall, with_dtype
from assay.toolchain.models.dynamic_shapes import dynamic_shapes
from assay.toolchain.sampled_model import VALID_SAMPLES

DYNAMIC, REFUSED = "dynamic", "refused"
DTYPES = ("float32", "float16", "int32")
"""Types of cases with open dimensions, where the operator takes them."""

_PLAIN = ("typical", "odd", "broadcast", "size_one", "high_rank")
_AXES: tuple[tuple[int, ...], ...] = ((0, -1), (0,), (-1,), (1,))
_NAMES = ("n", "m")
_CALLS = 4
"""Calls of an operator that are tried."""

_SEARCHED = 64
"""Distance beyond its range up to which the first index is searched that eager refuses."""

Opening = Sequence[Mapping[int, str]]
"""Names of the dimensions to leave open, for each tensor of a call, by position."""


def derive_calls(rows: Sequence[RecordedCall]) -> list[RecordedCall]:
    """Makes for each operator a call with open dimensions, and calls that have to be refused."""
    _stays_open(rows[0])  # Children have then what torch.export imports.
    dynamic = [one for some in _first_rows(rows).values() if (one := _first_open(some))]
    beyond = [one for row in dynamic if (one := _beyond_dimensions(row))]
    indices = [one for row in rows if _is_indexed(row) for one in _with_wrong_indices(row)]
    return [*dynamic, *beyond, *_first_of_each(indices)]


def _first_rows(rows: Sequence[RecordedCall]) -> dict[str, list[RecordedCall]]:
    """Maps operators to their first plain calls of tensors that have a dimension."""
    first: dict[str, list[RecordedCall]] = {}
    for row in rows:
        is_plain = row.shape_class in _PLAIN and row.values == "normal"
        is_plain &= find_reason(row.operator, "not_drawn") is None
        if is_plain and any(spec.shape for spec in _specs(row.call) if not spec.is_constant):
            first.setdefault(row.operator, []).append(row)
    return {operator: some[:_CALLS] for operator, some in first.items()}


def _first_open(rows: Sequence[RecordedCall]) -> RecordedCall | None:
    """The first of some calls that can have open dimensions."""
    return next((one for row in rows if (one := _with_open_dimensions(row))), None)


def _specs(call: Mapping[str, Any], dtype: str = "float32") -> list[TensorSpec]:
    return get_tensors(with_dtype(call, dtype))


# ---- open dimensions ----------------------------------------------------------------------------


def _with_open_dimensions(row: RecordedCall) -> RecordedCall | None:
    """The first way to leave dimensions open that eager and torch.export agree to."""
    dtypes = tuple(dtype for dtype in row.dtypes if dtype in DTYPES) or row.dtypes[:1]
    ways = [
        replace(
            row,
            name=f"{row.name}-{DYNAMIC}",
            call=_opened(row.call, *way),
            dtypes=dtypes,
            shape_class=DYNAMIC,
            samples={},
        )
        for way in _openings(row)
    ]
    number = in_child(lambda: next((n for n, way in enumerate(ways) if _stays_open(way)), None))
    return None if number is None else ways[number]


def _openings(row: RecordedCall) -> Iterator[tuple[Opening, bool]]:
    """Ways to try: several dimensions before one, all sizes that are alike before the first's.

    The second value: whether the sizes begin at the least there is, or at the recorded ones.
    """
    specs = _specs(row.call)
    first = next(spec for spec in specs if spec.shape and not spec.is_constant)
    for axes in _AXES:
        if any(not -len(first.shape) <= axis < len(first.shape) for axis in axes):
            continue
        places = {axis % len(first.shape) for axis in axes}
        names = dict(zip(sorted(places), _NAMES, strict=False))
        if len(places) != len(axes) or any(first.shape[place] < LEAST for place in places):
            continue
        for scope in (_alike, _same_axis, _same_size):
            opening = [{} if spec.is_constant else scope(first, spec, names) for spec in specs]
            yield from ((opening, is_least) for is_least in (True, False))


def _alike(first: TensorSpec, spec: TensorSpec, names: Mapping[int, str]) -> dict[int, str]:
    return dict(names) if spec.shape == first.shape else {}


def _same_axis(first: TensorSpec, spec: TensorSpec, names: Mapping[int, str]) -> dict[int, str]:
    return {
        place: name
        for place, name in names.items()
        if place < len(spec.shape) and spec.shape[place] == first.shape[place]
    }


def _same_size(first: TensorSpec, spec: TensorSpec, names: Mapping[int, str]) -> dict[int, str]:
    by_size = {first.shape[place]: name for place, name in names.items()}
    return {place: by_size[size] for place, size in enumerate(spec.shape) if size in by_size}


def _opened(call: Mapping[str, Any], opening: Opening, is_least: bool) -> dict[str, Any]:
    """The call with open dimensions, of up to a little over twice their recorded sizes."""
    waiting, dimensions = iter(opening), {}

    def opened(tensor: Mapping[str, Any]) -> dict[str, Any]:
        names, shape = next(waiting), tensor["shape"]
        for place, name in names.items():
            size = int(shape[place])
            dimensions[name] = [LEAST if is_least else size, 2 * size + 1]
        places = [names.get(place) for place in range(len(shape))]
        return {**tensor, "open": places} if names else dict(tensor)

    args = [map_tensors(value, opened) for value in call["args"]]
    kwargs = {key: map_tensors(value, opened) for key, value in call["kwargs"].items()}
    return {**call, "args": args, "kwargs": kwargs, "dimensions": dimensions}


def _stays_open(row: RecordedCall) -> bool:
    """True if eager takes every size, and torch.export makes one program of all of them."""
    with contextlib.suppress(Exception):
        sampled = make_operator(row.ref, with_dtype(row.call, row.dtypes[0]))
        samples = [sampled.make_sample(1, index) for index in range(ROUND)]
        with torch.no_grad():
            expected = [sampled.module(*sample) for sample in samples]
            shapes = dynamic_shapes(sampled.module, sampled)
            exported = torch.export.export(sampled.module, samples[0], dynamic_shapes=shapes)
            module = exported.module()
            found = [module(*sample) for sample in samples]
        pairs = zip(found, expected, strict=True)
        return all(
            a.shape == b.shape for some, other in pairs for a, b in zip(some, other, strict=True)
        )
    return False


def _beyond_dimensions(row: RecordedCall) -> RecordedCall | None:
    """A call of sizes that the program was not made for."""
    if not _is_named(row, "beyond_dimensions"):
        return None
    return replace(row, name=f"{row.name}-beyond", dtypes=row.dtypes[:1], values=REFUSED)


# ---- wrong indices ------------------------------------------------------------------------------


def _is_indexed(row: RecordedCall) -> bool:
    return row.shape_class in _PLAIN and _is_named(row, "indexed")


def _is_named(row: RecordedCall, section: str) -> bool:
    return any(name in table()[section] for name in split_name(row.operator))


def _with_wrong_indices(row: RecordedCall) -> Iterator[RecordedCall]:
    """The call with the first indices beyond and below their range that eager refuses."""
    highs = [spec.high for spec in _specs(row.call) if spec.dtype == "int64" and spec.high]
    if not highs:
        return
    high = int(max(highs))
    ways = {"beyond": range(high, high + _SEARCHED), "below": range(-1, -_SEARCHED, -1)}
    for name, wrong in ways.items():
        for index in wrong:
            call = map_tensors(row.call, partial(_misled, index=index))
            found = replace(
                row, name=f"{row.name}-{name}", call=call, dtypes=row.dtypes[:1], values=REFUSED
            )
            if _is_refused(found):
                yield replace(found, samples={})
                break


def _misled(tensor: Mapping[str, Any], index: int) -> dict[str, Any]:
    is_index = tensor["dtype"] == "int64" and "high" in tensor
    refused = {"low": index, "high": index + 1, "order": None}
    return {**tensor, "refused": refused} if is_index else dict(tensor)


def _is_refused(row: RecordedCall) -> bool:
    """True if eager takes the first samples and refuses those that follow."""
    args = {**with_dtype(row.call, row.dtypes[0]), "values": REFUSED}
    sampled = make_operator(row.ref, args)
    good, bad = (
        sampled.samples(1, VALID_SAMPLES + 1)[:VALID_SAMPLES],
        sampled.samples(1, VALID_SAMPLES + 1)[VALID_SAMPLES],
    )
    try:
        for sample in good:
            sampled.module(*sample)
    except (IndexError, RuntimeError):
        return False
    try:
        sampled.module(*bad)
    except (IndexError, RuntimeError):
        return True
    return False


def _first_of_each(rows: Sequence[RecordedCall]) -> list[RecordedCall]:
    """The first row of each operator and way."""
    first_rows: dict[tuple[str, str], RecordedCall] = {}
    for row in rows:
        first_rows.setdefault((row.operator, row.name.rpartition("-")[2]), row)
    return list(first_rows.values())
