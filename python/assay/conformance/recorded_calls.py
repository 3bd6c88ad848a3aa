"""Rows of data/operators/calls.jsonl: a recorded call, the types it runs in, what it is like."""

import contextlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import resources
from typing import Any

import torch

from assay.conformance.calls import LAYOUTS, get_tensors, map_tensors
from assay.conformance.operators import find_entry, find_reason

DTYPES = ("float32", "float16", "bfloat16", "int64", "int32", "int8", "uint8", "bool")
CALL_KEYS = ("args", "kwargs", "same", "dimensions")
MAX_ELEMENTS = 20_000
MAX_CALLS = 8
"""Recorded calls that are kept of one overload, those most unlike each other."""

_KINDS = ("integer", "bool")

SHAPES = {
    "typical": [4, 16, 8],
    "odd": [3, 7, 5],
    "size_one": [1, 6, 1],
    "zero_size": [2, 0, 3],
    "high_rank": [2, 3, 1, 2, 3, 2],
    "scalar": [],
}
"""Further shapes for operators whose tensors all have one shape."""


@dataclass(frozen=True)
class RecordedCall:
    """A call whose tensors of the case's type are written as "case".

    `samples`: by type, "int8" or for special values "int8-edge", how many a case has where three
    answers may all be alike; 0 where no number is enough. `values`: "refused" for a call of which
    the later samples have to be refused. `shows`: faults of arguments that stand to its account.
    `copies`: types, written as in `samples`, in which it answers with an input unchanged.
    """

    operator: str
    name: str
    call: dict[str, Any]
    dtypes: tuple[str, ...] = ()
    shape_class: str = "typical"
    samples: dict[str, int] = field(default_factory=dict)
    values: str = "normal"
    shows: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()

    @property
    def ref(self) -> str:
        """The reference of its model."""
        return self.operator.replace(".", ":", 1)


def call_to_json(row: RecordedCall) -> dict[str, Any]:
    """A row as the file has it."""
    return {
        "operator": row.operator,
        "name": row.name,
        "shape_class": row.shape_class,
        "dtypes": list(row.dtypes),
        **({"values": row.values} if row.values != "normal" else {}),
        **({"samples": row.samples} if row.samples else {}),
        **({"shows": list(row.shows)} if row.shows else {}),
        **({"copies": list(row.copies)} if row.copies else {}),
        **row.call,
    }


@cache
def read_calls() -> tuple[RecordedCall, ...]:
    """The recorded calls and those written by hand."""
    folder = resources.files("assay").joinpath("data/operators")
    lines = folder.joinpath("calls.jsonl").read_text().splitlines()
    return tuple(read_call(json.loads(line)) for line in lines)


def read_call(document: Mapping[str, Any]) -> RecordedCall:
    """Reads what `call_to_json` writes."""
    call = {key: document[key] for key in CALL_KEYS if key in document}
    shape_class = str(document["shape_class"])
    dtypes = tuple(document["dtypes"])
    samples, values = dict(document.get("samples", {})), str(document.get("values", "normal"))
    lists = {key: tuple(document.get(key, ())) for key in ("shows", "copies")}
    return RecordedCall(
        document["operator"], document["name"], call, dtypes, shape_class, samples, values, **lists
    )


def make_call(operator: str, name: str, call: dict[str, Any]) -> RecordedCall | None:
    """A row with its class; None for a call that is too large, or of an operator without cases."""
    shapes = _shapes(call)
    if find_reason(operator, "no_case") or sum(map(math.prod, shapes)) > MAX_ELEMENTS:
        return None
    return RecordedCall(operator, name, call, (), shape_class_from_call(call))


def shape_class_from_call(call: Mapping[str, Any]) -> str:
    """The class of a call, by its inputs: the first that applies."""
    specs = [spec for spec in get_tensors(with_dtype(call, "float32")) if not spec.is_constant]
    shapes = [spec.shape for spec in specs]
    layouts = {spec.layout for spec in specs} - {"contiguous"}
    if layouts:
        return "channels_last" if "channels_last" in layouts else "noncontiguous"
    if any(0 in shape for shape in shapes):
        return "zero_size"
    if all(shape == () for shape in shapes):
        return "scalar"
    if any(len(shape) > 4 for shape in shapes):
        return "high_rank"
    if len(set(shapes)) > 1 and _is_broadcast(shapes):
        return "broadcast"
    if any(1 in shape for shape in shapes):
        return "size_one"
    return "odd" if any(size % 2 for shape in shapes for size in shape) else "typical"


def _is_broadcast(shapes: Sequence[tuple[int, ...]]) -> bool:
    with contextlib.suppress(RuntimeError):
        torch.broadcast_shapes(*shapes)
        return True
    return False


def with_dtype(call: Mapping[str, Any], dtype: str) -> dict[str, Any]:
    """The call with the case's type in it.

    A tensor of the case's type may say under "integer" and "bool" what is another matter there.
    """
    kind = "bool" if dtype == "bool" else "integer" if "int" in dtype else "float"

    def typed(tensor: Mapping[str, Any]) -> dict[str, Any]:
        plain = {key: one for key, one in tensor.items() if key not in _KINDS}
        if tensor["dtype"] != "case":
            return plain
        return {**plain, **tensor.get(kind, {}), "dtype": dtype}

    parts = {key: map_tensors(call[key], typed) for key in ("args", "kwargs")}
    return {**call, **parts}


def _shapes(call: Mapping[str, Any]) -> list[tuple[int, ...]]:
    return [spec.shape for spec in get_tensors(with_dtype(call, "float32"))]


def choose_calls(rows: Sequence[RecordedCall]) -> list[RecordedCall]:
    """The rows worth keeping, with their variants, and with the types in which eager runs them."""
    by_operator: dict[str, dict[str, RecordedCall]] = {}
    for row in rows:
        key = json.dumps(row.call, sort_keys=True)
        by_operator.setdefault(row.operator, {}).setdefault(key, row)
    kept: list[RecordedCall] = []
    for operator in sorted(by_operator):
        chosen = _choose(list(by_operator[operator].values()))
        candidates = [*chosen, *(variant for row in chosen[:1] for variant in variants(row))]
        kept += _distinct_names(with_types(candidates))
    return kept


def with_types(rows: Sequence[RecordedCall]) -> list[RecordedCall]:
    """The rows with the types in which eager runs them; without those that it never does."""
    return [row for row in map(_with_types, rows) if row.dtypes]


def _choose(rows: list[RecordedCall]) -> list[RecordedCall]:
    """One row of each class first, then rows whose other arguments are new."""
    rows = sorted(rows, key=lambda row: not row.name.startswith(row.operator.split(".")[1]))
    seen: set[str] = set()
    first, second, rest = [], [], []
    for row in rows:
        form = json.dumps(map_tensors(row.call, lambda tensor: len(tensor["shape"])))
        if row.shape_class not in seen:
            first.append(row)
        elif form not in seen:
            second.append(row)
        else:
            rest.append(row)
        seen |= {row.shape_class, form}
    return [*first, *second, *rest][:MAX_CALLS]


def variants(row: RecordedCall) -> Iterator[RecordedCall]:
    """The call in other layouts, and in other shapes where all of its tensors have one shape."""
    shapes = _shapes(row.call)
    if not shapes or find_reason(row.operator, "no_variants"):
        return
    for shape_class, shape in SHAPES.items():
        if len(set(shapes)) == 1 and list(shapes[0]) != shape:
            call = map_tensors(row.call, partial(_reshaped, shape=shape))
            yield replace(row, name=f"{row.name}-{shape_class}", call=call, shape_class=shape_class)
    for layout in LAYOUTS[1:]:
        call = map_tensors(row.call, partial(_laid_out, layout=layout))
        if call != row.call:
            shape_class = "channels_last" if layout == "channels_last" else "noncontiguous"
            yield replace(row, name=f"{row.name}-{layout}", call=call, shape_class=shape_class)
    if len(set(shapes)) == 1 and len(shapes) > 1:
        sizes = iter([[3, 1, 5], [4, 1], [1, 4, 5]])
        call = map_tensors(row.call, lambda tensor: {**tensor, "shape": next(sizes, [5])})
        yield replace(row, name=f"{row.name}-broadcast", call=call, shape_class="broadcast")


def _reshaped(tensor: Mapping[str, Any], shape: list[int]) -> dict[str, Any]:
    return {**tensor, "shape": shape}


def _laid_out(tensor: Mapping[str, Any], layout: str) -> dict[str, Any]:
    rank = len(tensor["shape"])
    is_possible = rank == 4 if layout == "channels_last" else rank > 1
    is_left = tensor.get("constant") or tensor["dtype"] != "case" or not is_possible
    return dict(tensor) if is_left else {**tensor, "layout": layout}


def _find_types(row: RecordedCall) -> tuple[str, ...]:
    """The types to try: those of the table where it limits them."""
    limit = find_entry(row.operator, "only_dtypes")
    return DTYPES if limit is None else tuple(limit["dtypes"])


def _with_types(row: RecordedCall) -> RecordedCall:
    has_case = any(tensor == "case" for tensor in _dtypes_from_call(row.call))
    tried = _find_types(row) if has_case else ("float32",)
    row = replace(row, dtypes=tuple(dtype for dtype in tried if runs(row, dtype)))
    return replace(row, shape_class="zero_size") if row.dtypes and _is_empty(row) else row


def _dtypes_from_call(call: Mapping[str, Any]) -> list[str]:
    dtypes: list[str] = []
    map_tensors(call, lambda tensor: dtypes.append(str(tensor["dtype"])))
    return dtypes


def runs(row: RecordedCall, dtype: str) -> bool:
    """True if eager executes the call in a type, and its float64 form too, with tensors out."""
    with contextlib.suppress(Exception):
        outputs = _outputs(row, dtype)
        return bool(outputs) and not any(one.is_complex() for one in outputs)
    return False


def _is_empty(row: RecordedCall) -> bool:
    """True if none of the outputs has an element."""
    return not any(output.numel() for output in _outputs(row, row.dtypes[0]))


def _outputs(row: RecordedCall, dtype: str) -> tuple[torch.Tensor, ...]:
    from assay.conformance.operator_model import make_operator
    from assay.toolchain.tensors import cast_sample

    sampled = make_operator(row.operator.replace(".", ":", 1), with_dtype(row.call, dtype))
    sample = sampled.make_sample(1, 0)
    assert sampled.float64_module is not None
    with torch.no_grad():
        outputs: tuple[torch.Tensor, ...] = sampled.module(*sample)
        again = sampled.module(*sample)
        pairs = zip(outputs, again, strict=True)
        if not all(torch.allclose(a, b, equal_nan=True) for a, b in pairs):
            raise ValueError("answers at random")
        sampled.float64_module(*cast_sample(sample, torch.float64))
    return outputs


def _distinct_names(rows: Sequence[RecordedCall]) -> list[RecordedCall]:
    """A call that one sample makes twice is numbered by a letter."""
    seen: dict[str, int] = {}
    named = []
    for row in rows:
        count = seen.get(row.name, 0)
        seen[row.name] = count + 1
        named.append(replace(row, name=f"{row.name}{chr(ord('a') + count)}") if count else row)
    return named
